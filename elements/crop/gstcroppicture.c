/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcroppicture.h"
#include "gstcuvstructure.h"

/* GStreamer's converter cannot interpolate packed 4:2:2 rows of fewer than 8
 * pixels, which have too few chroma samples; they are scaled with the nearest
 * pixels. */
static GstVideoResamplerMethod
resampler_of (const GstVideoFormatInfo *format, const CuvCropPlan *plan)
{
  const gboolean packed = GST_VIDEO_FORMAT_INFO_N_PLANES (format) == 1
      && GST_VIDEO_FORMAT_INFO_W_SUB (format, 1) == 1;

  return packed && MIN (plan->source.width, plan->dest.width) < 8
      ? GST_VIDEO_RESAMPLER_METHOD_NEAREST
      : GST_VIDEO_RESAMPLER_METHOD_CUBIC;
}

static GstStructure *
converter_config (const GstVideoFormatInfo *format, const CuvCropPlan *plan)
{
  return gst_cuv_structure_new ("GstVideoConverter",
      GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, plan->source.x,
      GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, plan->source.y,
      GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, plan->source.width,
      GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, plan->source.height,
      GST_VIDEO_CONVERTER_OPT_DEST_X, G_TYPE_INT, plan->dest.x,
      GST_VIDEO_CONVERTER_OPT_DEST_Y, G_TYPE_INT, plan->dest.y,
      GST_VIDEO_CONVERTER_OPT_DEST_WIDTH, G_TYPE_INT, plan->dest.width,
      GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, plan->dest.height,
      GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_VIDEO_RESAMPLER_METHOD,
      resampler_of (format, plan), NULL);
}

/* GstVideoConverter requires two infos with equal colorimetry and the like. */
static gboolean
convert_picture (GstVideoFrame *in, GstVideoFrame *out, const CuvCropPlan *plan)
{
  GstVideoInfo in_info = in->info, out_info = out->info;
  GstVideoConverter *converter;

  in_info.interlace_mode = out_info.interlace_mode;
  in_info.colorimetry = out_info.colorimetry;
  in_info.chroma_site = out_info.chroma_site;
  in_info.fps_n = out_info.fps_n;
  in_info.fps_d = out_info.fps_d;
  converter = gst_video_converter_new (
      &in_info, &out_info, converter_config (in_info.finfo, plan));
  if (converter == NULL)
    return FALSE;
  gst_video_converter_frame (converter, in, out);
  gst_video_converter_free (converter);
  return TRUE;
}

GstBuffer *
gst_crop_draw (
    GstVideoFrame *in, const GstVideoInfo *info, const CuvCropPlan *plan)
{
  GstBuffer *picture = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame out;
  gboolean ok = FALSE;

  if (picture != NULL
      && gst_video_frame_map (&out, info, picture, GST_MAP_WRITE)) {
    ok = convert_picture (in, &out, plan);
    gst_video_frame_unmap (&out);
  }
  if (!ok)
    gst_clear_buffer (&picture);
  return picture;
}

void
gst_crop_add_object (GstCuvWriter *writer, const GstVideoInfo *frame_info,
    const GstCuvObject *object, const CuvCropPlan *plan)
{
  const CuvCropRect box =
      cuv_crop_map (plan, object->x, object->y, object->w, object->h);
  const GstStructure *detection = gst_cuv_object_param (object, "detection");
  GstCuvObject added = gst_cuv_meta_add_object (writer, object->id,
      g_quark_to_string (object->label), (guint) box.x, (guint) box.y,
      (guint) box.width, (guint) box.height, object->confidence,
      detection != NULL ? gst_structure_copy (detection) : NULL);

  for (const GList *l = object->params; l != NULL; l = l->next) {
    if (l->data != detection && !gst_structure_has_name (l->data, "object_id"))
      gst_cuv_meta_add_param (writer, &added, gst_structure_copy (l->data));
  }
  gst_cuv_meta_add_param (writer, &added,
      gst_cuv_structure_new ("crop", "x", G_TYPE_INT, plan->source.x, "y",
          G_TYPE_INT, plan->source.y, "w", G_TYPE_INT, plan->source.width, "h",
          G_TYPE_INT, plan->source.height, "frame_width", G_TYPE_INT,
          GST_VIDEO_INFO_WIDTH (frame_info), "frame_height", G_TYPE_INT,
          GST_VIDEO_INFO_HEIGHT (frame_info), NULL));
  if (object->track >= 0 && object->track <= G_MAXINT)
    gst_cuv_meta_set_track (writer, &added, (gint) object->track,
        GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  gst_cuv_meta_add_class (writer, &added);
}
