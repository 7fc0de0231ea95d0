/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visioncrop
 * @title: visioncrop
 * @short_description: makes a picture of each object
 *
 * Takes video with objects as metadata and outputs a buffer for each object:
 * its pixels, scaled to #GstVisionCrop:width x #GstVisionCrop:height, in host
 * memory, with the timestamp of the frame and the object as metadata. For a
 * frame without objects it sends a GAP event, so that sinks do not wait for a
 * buffer.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q filesrc location=messi5.jpg ! decodebin ! videoconvert !
 * waldboostdetect model=haarcascade_frontalface_alt2.xml ! visioncrop width=112
 * height=112 ! videoconvert ! jpegenc ! multifilesink location=face-%05d.jpg
 * ]|
 *
 * Since: 0.1
 */
#include "config.h"

#include "base/gstcuvtransform.h"
#include "context/gstcuvframe.h"
#include "gstcroppicture.h"
#include "gstcuvbudget.h"
#include "gstvisioncropsettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_crop_debug);
#define GST_CAT_DEFAULT gst_vision_crop_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_CUV_HOST_FORMATS)));

typedef struct {
  guint64 frames, crops, too_small, outside;
} Counts;

#define GST_TYPE_VISION_CROP (gst_vision_crop_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionCrop, gst_vision_crop, GST, VISION_CROP, GstCuvTransform)

struct _GstVisionCrop {
  GstCuvTransform parent;

  GstCuvSettings settings; /* GstVisionCropSettings */
  Counts counts;           /* protected by the object lock */

  /* used by the streaming thread only */
  gboolean any_width, any_height; /* downstream accepts any size: use the
                                   * object's */
  gint width, height;   /* the negotiated size, if downstream demands one */
  GstVideoInfo picture; /* caps of the last picture */
  GstBuffer *frame;     /* frame whose objects are being cropped, or
                         * NULL */
  GArray *objects;      /* GstCuvObject, the objects of frame */
  guint next, n_crops;  /* index of the next object; pictures made */
  GstCuvBudget budget;  /* budget of frame's pictures */
};

G_DEFINE_TYPE_WITH_CODE (GstVisionCrop, gst_vision_crop, GST_TYPE_CUV_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (
        gst_vision_crop_debug, "visioncrop", 0, "makes pictures of objects"))
GST_ELEMENT_REGISTER_DECLARE (visioncrop);
GST_ELEMENT_REGISTER_DEFINE (
    visioncrop, "visioncrop", GST_RANK_NONE, GST_TYPE_VISION_CROP)

/* ---- caps ---- */

static void
set_side (GstStructure *structure, const gchar *field, gint size)
{
  if (size > 0)
    gst_structure_set (structure, field, G_TYPE_INT, size, NULL);
  else
    gst_structure_set (structure, field, GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
}

/* Returns the caps of the other pad. Sizes are free, except that pictures have
 * the width and height set as properties; pictures have a variable rate and are
 * progressive. */
static GstStructure *
other_structure (
    const GstStructure *structure, gboolean to_src, gint width, gint height)
{
  GstStructure *other = gst_structure_copy (structure);

  set_side (other, "width", to_src ? width : 0);
  set_side (other, "height", to_src ? height : 0);
  gst_structure_remove_fields (other, "framerate", "max-framerate",
      "interlace-mode", "field-order", NULL);
  if (to_src)
    gst_structure_set (other, "framerate", GST_TYPE_FRACTION, 0, 1,
        "interlace-mode", G_TYPE_STRING, "progressive", NULL);
  return other;
}

static GstCaps *
gst_vision_crop_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);
  const gboolean to_src = direction == GST_PAD_SINK;
  GstCaps *other = gst_caps_new_empty ();
  gint width, height;

  GST_OBJECT_LOCK (self);
  width = ((const GstVisionCropSettings *) self->settings.pending)->width;
  height = ((const GstVisionCropSettings *) self->settings.pending)->height;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *structure = gst_caps_get_structure (caps, i);

    gst_caps_append_structure (
        other, other_structure (structure, to_src, width, height));
    if (!to_src)
      gst_caps_append_structure_full (other,
          other_structure (structure, to_src, width, height),
          gst_caps_features_new (GST_CUV_FEATURE_CUDA, NULL));
  }
  if (filter != NULL) {
    GstCaps *all = other;

    other = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
  }
  return other;
}

/* Replaces the base class's answer, which prefers downstream's caps: sources
 * would produce frames of the pictures' size and rate. */
static GstCaps *
sink_caps (GstBaseTransform *trans, GstCaps *filter)
{
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD (trans);
  GstCaps *templ = gst_pad_get_pad_template_caps (src);
  GstCaps *peer = gst_pad_peer_query_caps (src, templ);
  GstCaps *any =
      gst_vision_crop_transform_caps (trans, GST_PAD_SRC, peer, NULL);
  GstCaps *caps;

  gst_caps_unref (templ);
  gst_caps_unref (peer);
  templ = gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (trans));
  caps = gst_caps_intersect_full (any, templ, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (any);
  gst_caps_unref (templ);
  if (filter != NULL) {
    any = caps;
    caps = gst_caps_intersect_full (filter, any, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (any);
  }
  return caps;
}

static gboolean
gst_vision_crop_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCaps *filter, *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS || direction != GST_PAD_SINK)
    return GST_BASE_TRANSFORM_CLASS (gst_vision_crop_parent_class)
        ->query (trans, direction, query);
  gst_query_parse_caps (query, &filter);
  caps = sink_caps (trans, filter);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  gst_cuv_query_cuda_first (query);
  return TRUE;
}

/* Called if a size is free: then pictures have the size of the object. */
static GstCaps *
gst_vision_crop_fixate_caps (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *other)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);
  const GstStructure *in = gst_caps_get_structure (caps, 0);
  GstStructure *out;
  gint width = 1, height = 1;

  other = gst_caps_make_writable (gst_caps_truncate (other));
  if (direction == GST_PAD_SINK) {
    out = gst_caps_get_structure (other, 0);
    self->any_width = !gst_structure_has_field_typed (out, "width", G_TYPE_INT);
    self->any_height =
        !gst_structure_has_field_typed (out, "height", G_TYPE_INT);
    gst_structure_get_int (in, "width", &width);
    gst_structure_get_int (in, "height", &height);
    gst_structure_fixate_field_nearest_int (out, "width", width);
    gst_structure_fixate_field_nearest_int (out, "height", height);
  }
  return gst_caps_fixate (other);
}

static gboolean
gst_vision_crop_set_info (GstCuvTransform *transform, GstCaps *in_caps,
    const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  GstVisionCrop *self = GST_VISION_CROP (transform);

  self->width = self->any_width ? 0 : GST_VIDEO_INFO_WIDTH (out_info);
  self->height = self->any_height ? 0 : GST_VIDEO_INFO_HEIGHT (out_info);
  self->any_width = self->any_height = FALSE; /* until fixate_caps() sets
                                               * them */
  self->picture = *out_info;
  return TRUE;
}

/* ---- pictures ---- */

static gboolean
matches_labels (
    const GstVisionCropSettings *settings, const GstCuvObject *object)
{
  const gchar *label = g_quark_to_string (object->label);

  return settings->labels == NULL
      || (label != NULL
          && g_strv_contains ((const gchar *const *) settings->labels, label));
}

/* Plans the picture of an object. Returns FALSE if the object gets no
 * picture. */
static gboolean
plan (GstVisionCrop *self, const GstCuvObject *object, CuvCropPlan *plan)
{
  const GstVisionCropSettings *settings = self->settings.in_force;
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  const GstVideoFormatInfo *format = info->finfo;
  CuvCropRequest request = { settings->margin, self->width, self->height,
    settings->add_borders, 1, 1 };

  if (!matches_labels (settings, object))
    return FALSE;
  if (object->w < (guint) settings->min_width
      || object->h < (guint) settings->min_height) {
    self->counts.too_small++;
    return FALSE;
  }
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    request.align_x = MAX (request.align_x, 1 << format->w_sub[i]);
    request.align_y = MAX (request.align_y, 1 << format->h_sub[i]);
  }
  if (cuv_crop_plan (plan, &request, object->x, object->y, object->w, object->h,
          GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info)))
    return TRUE;
  self->counts.outside++;
  return FALSE;
}

/* Sets the caps of the next pictures. The base class's function for this would
 * renegotiate at the next frame. */
static gboolean
set_size (GstVisionCrop *self, gint width, gint height)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstVideoInfo info;
  GstCaps *caps;
  gboolean ok;

  if (GST_VIDEO_INFO_WIDTH (&self->picture) == width
      && GST_VIDEO_INFO_HEIGHT (&self->picture) == height)
    return TRUE;
  caps = gst_pad_get_current_caps (pad);
  if (caps == NULL)
    return FALSE;
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (
      caps, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  ok = gst_video_info_from_caps (&info, caps)
      && gst_pad_push_event (pad, gst_event_new_caps (caps));
  if (ok)
    self->picture = info;
  gst_caps_unref (caps);
  return ok;
}

static GstFlowReturn
make_crop (GstVisionCrop *self, const GstCuvObject *object,
    const CuvCropPlan *plan, GstBuffer **picture)
{
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  const GstVisionCropSettings *settings = self->settings.in_force;
  GstCuvWriter writer = { .info = &self->picture,
    .metadata = settings->metadata };
  GstVideoFrame frame;
  gchar *problem;

  if (!set_size (self, plan->width, plan->height))
    return GST_PAD_IS_FLUSHING (GST_BASE_TRANSFORM_SRC_PAD (self))
        ? GST_FLOW_FLUSHING
        : GST_FLOW_NOT_NEGOTIATED;
  problem = gst_cuv_video_map (&frame, info, self->frame, GST_MAP_READ);
  if (problem == NULL) {
    *picture = gst_crop_draw (&frame, &self->picture, plan);
    gst_video_frame_unmap (&frame);
    if (*picture == NULL)
      problem =
          g_strdup_printf ("out of memory for a picture of %d x %d pixels",
              plan->width, plan->height);
  }
  if (problem != NULL) {
    GST_ELEMENT_ERROR (
        self, STREAM, FAILED, ("Cannot crop: %s.", problem), (NULL));
    g_free (problem);
    return GST_FLOW_ERROR;
  }
  gst_buffer_copy_into (
      *picture, self->frame, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  writer.buffer = *picture;
  gst_crop_add_object (&writer, info, object, plan);
  return GST_FLOW_OK;
}

/* ---- frames ---- */

/* Negotiates new caps if width or height has been set to another value. */
static GstFlowReturn
gst_vision_crop_submit_input_buffer (
    GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);
  GstClockTime time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), input);
  const GstVisionCropSettings *settings = self->settings.in_force;
  const gint width = settings->width, height = settings->height;

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
  if (gst_cuv_settings_changed (&self->settings))
    gst_cuv_settings_apply (&self->settings, NULL, NULL);
  settings = self->settings.in_force;
  if (settings->width != width || settings->height != height)
    gst_base_transform_reconfigure_src (trans);
  return GST_BASE_TRANSFORM_CLASS (gst_vision_crop_parent_class)
      ->submit_input_buffer (trans, is_discont, input);
}

static void
begin_frame (GstVisionCrop *self, GstBuffer *frame)
{
  gst_clear_buffer (&self->frame);
  self->frame = frame;
  self->next = self->n_crops = 0;
  gst_cuv_objects_read (self->objects, frame);
  gst_cuv_budget_begin (&self->budget, CUV_CROP_FRAME_PIXELS);
  GST_OBJECT_LOCK (self);
  self->counts.frames++;
  GST_OBJECT_UNLOCK (self);
}

static void
end_frame (GstVisionCrop *self)
{
  gst_cuv_budget_end (&self->budget, GST_ELEMENT (self));
  if (self->n_crops == 0 && GST_BUFFER_PTS_IS_VALID (self->frame))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
        gst_event_new_gap (
            GST_BUFFER_PTS (self->frame), GST_BUFFER_DURATION (self->frame)));
  gst_clear_buffer (&self->frame);
}

/* Outputs one picture of the frame per call: the pictures of all objects may
 * not fit in memory. */
static GstFlowReturn
gst_vision_crop_generate_output (GstBaseTransform *trans, GstBuffer **picture)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);

  *picture = NULL;
  if (trans->queued_buf != NULL)
    begin_frame (self, g_steal_pointer (&trans->queued_buf));
  if (self->frame == NULL)
    return GST_FLOW_OK;
  while (self->next < self->objects->len) {
    const GstCuvObject *object =
        &g_array_index (self->objects, GstCuvObject, self->next++);
    CuvCropPlan crop;
    gboolean wanted;

    GST_OBJECT_LOCK (self);
    wanted = plan (self, object, &crop)
        && gst_cuv_budget_take (
            &self->budget, (guint64) crop.width * (guint64) crop.height);
    self->counts.crops += wanted;
    GST_OBJECT_UNLOCK (self);
    if (wanted) {
      self->n_crops++;
      return make_crop (self, object, &crop, picture);
    }
  }
  end_frame (self);
  return GST_FLOW_OK;
}

/* ---- states ---- */

static gboolean
gst_vision_crop_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_clear_buffer (&GST_VISION_CROP (trans)->frame);
  return GST_BASE_TRANSFORM_CLASS (gst_vision_crop_parent_class)
      ->sink_event (trans, event);
}

static gboolean
gst_vision_crop_start (GstBaseTransform *trans)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);

  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  self->budget.warned = FALSE;
  return GST_BASE_TRANSFORM_CLASS (gst_vision_crop_parent_class)->start (trans);
}

static gboolean
gst_vision_crop_stop (GstBaseTransform *trans)
{
  GstVisionCrop *self = GST_VISION_CROP (trans);

  gst_clear_buffer (&self->frame);
  gst_cuv_settings_stop (&self->settings);
  return GST_BASE_TRANSFORM_CLASS (gst_vision_crop_parent_class)->stop (trans);
}

/* ---- statistics ---- */

void
gst_vision_crop_get_stats (GstElement *element, GValue *value)
{
  GstVisionCrop *self = GST_VISION_CROP (element);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
          "crops", G_TYPE_UINT64, counts.crops, "too-small", G_TYPE_UINT64,
          counts.too_small, "outside", G_TYPE_UINT64, counts.outside, NULL));
}

/* ---- class ---- */

static void
gst_vision_crop_finalize (GObject *object)
{
  g_array_unref (GST_VISION_CROP (object)->objects);
  G_OBJECT_CLASS (gst_vision_crop_parent_class)->finalize (object);
}

static void
gst_vision_crop_class_init (GstVisionCropClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_vision_crop_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_crop_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_crop_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_crop_sink_event);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_vision_crop_transform_caps);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_vision_crop_query);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_vision_crop_fixate_caps);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_vision_crop_submit_input_buffer);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_vision_crop_generate_output);
  GST_CUV_TRANSFORM_CLASS (klass)->set_info = gst_vision_crop_set_info;
  gst_cuv_settings_class_install (object_class, &gst_vision_crop_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision crop",
      "Filter/Effect/Video", "Makes a picture of each object",
      "The gst-cuvision authors");
}

static void
gst_vision_crop_init (GstVisionCrop *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_vision_crop_settings);
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  /* without transform() the base class would pass frames through */
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
