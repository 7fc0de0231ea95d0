/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "context/gstcuvframe.h"

static const gchar *
format_name (GstVideoFormat format)
{
  const gchar *name = format != GST_VIDEO_FORMAT_UNKNOWN
      ? gst_video_format_to_string (format)
      : NULL;

  return name != NULL ? name : "an unknown format";
}

static gchar *
meta_problem (const GstVideoMeta *meta, const GstVideoInfo *info)
{
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT (info);

  if (meta == NULL
      || (meta->format == format
          && meta->n_planes == GST_VIDEO_INFO_N_PLANES (info)
          && meta->width >= (guint) info->width
          && meta->height >= (guint) info->height))
    return NULL;
  return g_strdup_printf ("The GstVideoMeta of a buffer describes %ux%u %s in "
                          "%u planes, but the caps describe %dx%d %s in %u "
                          "planes: fix the element that made the buffer",
      meta->width, meta->height, format_name (meta->format), meta->n_planes,
      info->width, info->height, format_name (format),
      GST_VIDEO_INFO_N_PLANES (info));
}

/* Returns the bytes of a row and the number of rows. Pixels of packed 4:2:2
 * come in pairs. */
static void
plane_size (
    const GstVideoInfo *info, guint plane, guint64 *bytes, guint64 *rows)
{
  *bytes = *rows = 0;
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS (info); i++) {
    const guint64 row = (guint64) GST_VIDEO_INFO_COMP_WIDTH (info, i)
        * (guint64) GST_VIDEO_INFO_COMP_PSTRIDE (info, i);

    if (GST_VIDEO_INFO_COMP_PLANE (info, i) != plane)
      continue;
    *bytes = MAX (*bytes, row);
    *rows = (guint64) GST_VIDEO_INFO_COMP_HEIGHT (info, i);
  }
}

/* Memory that a GstVideoMeta maps by a function of its own has no known bounds:
 * map->data is NULL. */
static gchar *
plane_problem (const GstVideoFrame *frame, guint plane)
{
  const GstMapInfo *map = &frame->map[frame->meta != NULL ? plane : 0];
  const guint64 start = (guint64) ((guint8 *) frame->data[plane] - map->data);
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
  guint64 bytes, rows, size;

  plane_size (&frame->info, plane, &bytes, &rows);
  if (stride < 0 || (guint64) stride < bytes)
    return g_strdup_printf ("Plane %u of a frame has a stride of %d bytes, "
                            "less than the %" G_GUINT64_FORMAT
                            " of a row: fix the element that made the buffer",
        plane, stride, bytes);
  size = (guint64) stride * (rows - 1) + bytes;
  if (map->data == NULL || (start <= map->size && size <= map->size - start))
    return NULL;
  return g_strdup_printf (
      "Plane %u of a frame, %" G_GUINT64_FORMAT
      " rows with a stride of %d bytes from byte %" G_GUINT64_FORMAT
      " on, ends beyond its memory of %" G_GSIZE_FORMAT
      " bytes: fix the element that made the buffer",
      plane, rows, stride, start, map->size);
}

gchar *
gst_cuv_video_map (GstVideoFrame *frame, const GstVideoInfo *info,
    GstBuffer *buffer, GstMapFlags flags)
{
  gchar *problem = meta_problem (gst_buffer_get_video_meta (buffer), info);

  if (problem != NULL)
    return problem;
  *frame = (GstVideoFrame){ 0 };
  if (!gst_video_frame_map (frame, info, buffer, flags))
    return g_strdup_printf ("Cannot map a frame of %" G_GSIZE_FORMAT
                            " bytes in a buffer of %" G_GSIZE_FORMAT
                            " bytes: fix the element that made the buffer; a "
                            "buffer must match its caps",
        info->size, gst_buffer_get_size (buffer));
  frame->info.width = info->width;
  frame->info.height = info->height;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info) && problem == NULL; i++)
    problem = plane_problem (frame, i);
  if (problem != NULL)
    gst_video_frame_unmap (frame);
  return problem;
}

gboolean
gst_cuv_frame_accept_caps (
    GstElement *element, GstCaps *caps, GstVideoInfo *info)
{
  const gchar *problem = NULL;

  if (!gst_video_info_from_caps (info, caps))
    return FALSE;
  if (gst_cuv_caps_is_cuda (caps))
    problem = gst_cuv_cuda_format_problem (info);
  if (problem != NULL)
    GST_ELEMENT_ERROR (
        element, STREAM, FORMAT, ("%s.", problem), ("%" GST_PTR_FORMAT, caps));
  return problem == NULL;
}

gboolean
gst_cuv_frame_propose_allocation (gpointer parent_class,
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  const gboolean answered =
      GST_BASE_TRANSFORM_CLASS (parent_class)
          ->propose_allocation (trans, decide_query, query);
  guint i;

  while (
      gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, &i))
    gst_query_remove_nth_allocation_meta (query, i);
  return answered;
}

GstFlowReturn
gst_cuv_frame_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer **out)
{
  *out = gst_buffer_is_writable (in) ? in : gst_buffer_copy (in);
  return GST_FLOW_OK;
}

CuvFrame
gst_cuv_frame_of_video (const GstVideoFrame *video)
{
  const GstVideoFormatInfo *format = video->info.finfo;
  CuvFrame frame = { .model = GST_VIDEO_FORMAT_INFO_IS_RGB (format)
        ? CUV_MODEL_RGB
        : GST_VIDEO_FORMAT_INFO_IS_GRAY (format) ? CUV_MODEL_GREY
                                                 : CUV_MODEL_YUV,
    .width = GST_VIDEO_FRAME_WIDTH (video),
    .height = GST_VIDEO_FRAME_HEIGHT (video),
    .n_components = GST_VIDEO_FRAME_N_COMPONENTS (video) };

  for (gint i = 0; i < frame.n_components; i++) {
    CuvComponent *component = &frame.component[i];

    component->data = GST_VIDEO_FRAME_COMP_DATA (video, i);
    component->stride = GST_VIDEO_FRAME_COMP_STRIDE (video, i);
    component->step = GST_VIDEO_FRAME_COMP_PSTRIDE (video, i);
    component->xsub = GST_VIDEO_FORMAT_INFO_W_SUB (format, i);
    component->ysub = GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
  }
  return frame;
}

CuvRgbMatrix
gst_cuv_frame_rgb_matrix (const GstVideoInfo *info)
{
  gdouble kr = 0.299, kb = 0.114;

  gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb);
  return cuv_rgb_matrix (
      kr, kb, info->colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255);
}

gboolean
gst_cuv_frame_map (GstCuvFrame *self, GstCuvContext *context,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  gchar *problem;

  self->context = context;
  self->stream = NULL;
  self->memory = NULL;
  self->writable = (flags & GST_MAP_WRITE) != 0;
  self->cuda = gst_cuv_context_follow (context, buffer) && context->kernels
      && gst_cuv_context_push (context);
  /* the caller holds the buffer: another reference would make it read-only */
  flags |= GST_VIDEO_FRAME_MAP_FLAG_NO_REF;
  if (self->cuda)
    flags |= gst_cuv_map_cuda ();
  problem = gst_cuv_video_map (&self->video, info, buffer, flags);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (context->element, STREAM, FORMAT, ("%s.", problem),
        ("%" GST_PTR_FORMAT, buffer));
    g_free (problem);
    if (self->cuda)
      gst_cuv_context_pop (context);
    return FALSE;
  }
  if (self->cuda)
    self->stream = gst_cuv_context_stream (context, buffer);
  self->frame = gst_cuv_frame_of_video (&self->video);
  return TRUE;
}

void
gst_cuv_frame_unmap (GstCuvFrame *self)
{
  if (self->memory == NULL)
    gst_video_frame_unmap (&self->video);
  g_clear_pointer (&self->memory, gst_memory_unref);
  if (self->cuda)
    gst_cuv_context_pop (self->context);
}

void
gst_cuv_frame_suspend (GstCuvFrame *self)
{
  self->memory = gst_buffer_get_memory (self->video.buffer, 0);
  gst_video_frame_unmap (&self->video);
}

CuvProcessor
gst_cuv_frame_processor (const GstCuvFrame *self, gint n_threads)
{
  return (CuvProcessor){ self->cuda, self->stream, n_threads };
}

gboolean
gst_cuv_frame_failed (const GstCuvFrame *self, const gchar *problem)
{
  GST_ELEMENT_ERROR (self->context->element, RESOURCE, FAILED,
      ("Processing a frame of %dx%d on the %s failed: %s. %s.",
          self->frame.width, self->frame.height, self->cuda ? "GPU" : "CPU",
          problem, gst_cuv_frame_remedy (self)),
      (NULL));
  return FALSE;
}

const gchar *
gst_cuv_frame_remedy (const GstCuvFrame *self)
{
  return self->cuda ? GST_CUV_USE_CPU
                    : "Use smaller frames, or end other processes";
}
