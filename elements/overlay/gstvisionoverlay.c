/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionoverlay
 * @title: visionoverlay
 * @short_description: draws metadata on the frame
 *
 * Draws boxes with labels, confidences and ids of a buffer's regions of
 * interest, and the rows of any custom metadata that describes itself as
 * segments, points or pictures. Hides regions, such as faces, with one colour,
 * a blur or large pixels. Works in place, in host memory and in CUDA memory,
 * with the same pixels on both. A frame with nothing to draw passes untouched;
 * one that is not writable is copied first.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! waldboostdetect
 * model=haarcascade_frontalface_alt2.xml ! visionoverlay ! videoconvert !
 * fakesink
 * ]| Looks for faces and draws a box around each.
 *
 * Since: 0.1
 */
#include "config.h"

#include "backend.h"
#include "base/gstcuvpending.h"
#include "context/gstcuvframe.h"
#include "gstcuvmeta.h"
#include "gsthidden.h"
#include "gsttrails.h"
#include "scene/scene.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_overlay_debug);
#define GST_CAT_DEFAULT gst_vision_overlay_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));

typedef struct {
  guint64 frames, drawn, copied, hidden, primitives, lost;
  GstClockTime last, sum;
  gboolean cuda;
} Counts;

#define GST_TYPE_VISION_OVERLAY (gst_vision_overlay_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionOverlay, gst_vision_overlay, GST, VISION_OVERLAY, GstCuvTransform)

struct _GstVisionOverlay {
  GstCuvTransform parent;

  GstCuvSettings settings; /* a GstCuvStyle */
  Counts counts;           /* protected by the object lock */

  /* used by the streaming thread only */
  CuvDrawing drawing;
  CuvText *text;
  GArray *trails;
  GArray *hidden; /* GstCuvHidden, for frames of this size: */
  gint width, height;
  GArray *objects; /* GstCuvObject, those of this frame */
  CuvBackend backend;
  GstClockTime build_time; /* time to build the list for this frame */
  gpointer copying; /* the stream in which this frame is still being copied */
};

G_DEFINE_TYPE_WITH_CODE (GstVisionOverlay, gst_vision_overlay,
    GST_TYPE_CUV_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_vision_overlay_debug, "visionoverlay", 0,
        "draws metadata on frames"))
GST_ELEMENT_REGISTER_DECLARE (visionoverlay);
GST_ELEMENT_REGISTER_DEFINE (
    visionoverlay, "visionoverlay", GST_RANK_NONE, GST_TYPE_VISION_OVERLAY)

/* ---- frames ---- */

/* Returns FALSE if a region cannot be hidden. */
static gboolean
build_list (GstVisionOverlay *self, GstBuffer *buffer)
{
  GstClockTime start = gst_util_get_timestamp ();
  GstClockTime stream_time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), buffer);
  const GstCuvStyle *style;
  gboolean ok;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  if (self->text == NULL)
    self->text = cuv_text_new ();
  if (gst_cuv_settings_changed (&self->settings))
    gst_cuv_settings_apply (&self->settings, NULL, NULL);
  style = self->settings.in_force;
  GST_OBJECT_LOCK (self);
  self->counts.frames++;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_objects_read (self->objects, buffer);
  gst_cuv_trails_add_frame (self->trails, self->objects,
      GST_BUFFER_PTS (buffer), style->trail_length);
  gst_cuv_hidden_add_frame (
      self->hidden, self->objects, buffer, style, style->hold_regions);
  ok = gst_cuv_scene_build (&self->drawing, self->text, style, self->hidden,
      self->trails, self->objects, buffer,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)));
  if (self->drawing.n_lost > 0)
    GST_WARNING_OBJECT (self,
        "%u primitives are not drawn: the limits are %d primitives and %d "
        "bytes of text and pictures per frame; lines are only drawn on frames "
        "of at most %d pixels a side",
        self->drawing.n_lost, CUV_DRAWING_MAX_PRIMITIVES, CUV_DRAWING_MAX_BYTES,
        CUV_DRAWING_MAX_SIZE);
  self->build_time = gst_util_get_timestamp () - start;
  return ok;
}

static GstFlowReturn
make_writable (GstVisionOverlay *self, GstBuffer *in, GstBuffer **out)
{
  const GstFlowReturn flow = gst_cuv_transform_make_writable (
      GST_CUV_TRANSFORM (self), in, out, &self->copying);

  if (flow == GST_FLOW_OK && *out != in) {
    GST_OBJECT_LOCK (self);
    self->counts.copied++;
    GST_OBJECT_UNLOCK (self);
  }
  return flow;
}

/* Waits for the copy of a frame that is not drawn on. */
static gboolean
end_copy (GstVisionOverlay *self)
{
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  gboolean ok = self->copying == NULL || gst_cuv_context_push (context);

  if (ok && self->copying != NULL) {
    ok = gst_cuv_context_wait (context, self->copying);
    gst_cuv_context_pop (context);
  }
  self->copying = NULL;
  if (!ok)
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("Copying a shared frame on the GPU failed: the device was lost. "
         "GST_DEBUG=2 shows the driver's error. " GST_CUV_USE_CPU "."),
        (NULL));
  return ok;
}

/* Builds the list for a frame that all analyses have finished. */
static gboolean
finish_list (GstVisionOverlay *self, GstBuffer *buffer)
{
  if (!gst_cuv_pending_finish (buffer))
    return FALSE;
  if (build_list (self, buffer))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("A region cannot be hidden: out of memory. The frame is not passed on."),
      (NULL));
  return FALSE;
}

/* Builds the list first: a frame with nothing to draw need not be made
 * writable. But if analyses are pending and the last frame was drawn on, a
 * shared frame is copied while they run; their results are then attached to the
 * copy, which is passed on even if there is nothing to draw. */
static GstFlowReturn
gst_vision_overlay_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer **out)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (trans);
  GstFlowReturn flow = GST_FLOW_OK;

  *out = in;
  if (gst_cuv_pending_any () && self->drawing.n_primitives > 0)
    flow = make_writable (self, in, out);
  if (flow == GST_FLOW_OK && !finish_list (self, *out))
    flow = GST_FLOW_ERROR;
  if (flow == GST_FLOW_OK && *out == in && self->drawing.n_primitives > 0)
    flow = make_writable (self, in, out);
  if (flow != GST_FLOW_OK && *out != in) {
    end_copy (self);
    gst_clear_buffer (out);
  }
  return flow;
}

static gboolean
draw_list (GstVisionOverlay *self, const CuvOverlayList *list,
    const GstCuvFrame *frame)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvOverlayJob job = { list, &frame->frame };
  const char *error = NULL;

  if (self->backend.klass == NULL)
    error = cuv_backend_open (&self->backend, &cuv_overlay_backend_classes,
        NULL, &frame->frame, &processor);
  if (error == NULL)
    error = cuv_backend_run (&self->backend, &job, &processor);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("Drawing on the GPU failed: %s. Frames in host memory are drawn on the "
       "CPU: put cudadownload before this element.",
          error),
      (NULL));
  return FALSE;
}

static gboolean
draw_buffer (GstVisionOverlay *self, GstBuffer *buffer, gboolean *cuda)
{
  GstCuvTransform *transform = GST_CUV_TRANSFORM (self);
  GstCuvContext *context = gst_cuv_transform_context (transform);
  CuvOverlayList list = cuv_drawing_list (&self->drawing);
  GstCuvFrame frame;
  gboolean ok;

  if (!gst_cuv_frame_map (&frame, context,
          gst_cuv_transform_in_info (transform), buffer, GST_MAP_READWRITE))
    return FALSE;
  *cuda = frame.cuda;
  if (self->copying != NULL) /* draws after the copy, without waiting for it */
    frame.stream = self->copying;
  if (self->backend.on_device != frame.cuda)
    gst_cuv_transform_close_backend (transform, &self->backend);
  ok = draw_list (self, &list, &frame);
  gst_cuv_frame_unmap (&frame);
  if (frame.cuda)
    gst_cuv_context_written (context, buffer);
  return ok;
}

static GstFlowReturn
gst_vision_overlay_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (trans);
  GstClockTime start = gst_util_get_timestamp ();
  gboolean cuda;

  if (self->drawing.n_primitives == 0)
    return end_copy (self) ? GST_FLOW_OK : GST_FLOW_ERROR;
  if (!draw_buffer (self, buffer, &cuda)) {
    end_copy (self);
    return GST_FLOW_ERROR;
  }
  self->copying = NULL;
  GST_OBJECT_LOCK (self);
  self->counts.drawn++;
  self->counts.hidden += (guint64) self->drawing.n_fills;
  self->counts.primitives += self->drawing.n_primitives;
  self->counts.lost += self->drawing.n_lost;
  self->counts.cuda = cuda;
  self->counts.last = self->build_time + gst_util_get_timestamp () - start;
  self->counts.sum += self->counts.last;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* ---- events and states ---- */

/* Held regions stay hidden in frames of another size. */
static gboolean
gst_vision_overlay_set_info (GstCuvTransform *transform, GstCaps *in_caps,
    const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (transform);

  if (self->hidden->len > 0)
    gst_cuv_hidden_scale (self->hidden, self->width, self->height,
        in_info->width, in_info->height);
  self->width = in_info->width;
  self->height = in_info->height;
  return TRUE;
}

static gboolean
gst_vision_overlay_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    g_array_set_size (self->trails, 0);
    g_array_set_size (self->hidden, 0);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_vision_overlay_parent_class)
      ->sink_event (trans, event);
}

static gboolean
gst_vision_overlay_start (GstBaseTransform *trans)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (trans);

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (gst_vision_overlay_parent_class)
      ->start (trans);
}

static gboolean
gst_vision_overlay_stop (GstBaseTransform *trans)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (trans);

  gst_cuv_transform_close_backend (GST_CUV_TRANSFORM (self), &self->backend);
  g_clear_pointer (&self->text, cuv_text_free);
  cuv_drawing_free (&self->drawing);
  g_array_set_size (self->trails, 0);
  g_array_set_size (self->hidden, 0);
  gst_cuv_settings_stop (&self->settings);
  return GST_BASE_TRANSFORM_CLASS (gst_vision_overlay_parent_class)
      ->stop (trans);
}

static void
gst_vision_overlay_leave_context (GstCuvTransform *transform)
{
  cuv_backend_close (&GST_VISION_OVERLAY (transform)->backend);
}

/* ---- class ---- */

void
gst_vision_overlay_get_stats (GstElement *element, GValue *value)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (element);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
          "drawn", G_TYPE_UINT64, counts.drawn, "copied", G_TYPE_UINT64,
          counts.copied, "hidden", G_TYPE_UINT64, counts.hidden, "primitives",
          G_TYPE_UINT64, counts.primitives, "lost", G_TYPE_UINT64, counts.lost,
          "device", G_TYPE_STRING, counts.cuda ? "cuda" : "cpu", "microseconds",
          G_TYPE_UINT64, counts.last / GST_USECOND, "microseconds-mean",
          G_TYPE_UINT64,
          counts.drawn ? counts.sum / counts.drawn / GST_USECOND : 0, NULL));
}

static void
gst_vision_overlay_finalize (GObject *object)
{
  GstVisionOverlay *self = GST_VISION_OVERLAY (object);

  g_array_unref (self->trails);
  g_array_unref (self->hidden);
  g_array_unref (self->objects);
  G_OBJECT_CLASS (gst_vision_overlay_parent_class)->finalize (object);
}

static void
gst_vision_overlay_class_init (GstVisionOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_vision_overlay_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_overlay_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_overlay_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_overlay_sink_event);
  trans_class->prepare_output_buffer =
      GST_DEBUG_FUNCPTR (gst_vision_overlay_prepare_output_buffer);
  trans_class->transform_ip =
      GST_DEBUG_FUNCPTR (gst_vision_overlay_transform_ip);
  transform_class->finishes_pending = TRUE;
  transform_class->set_info = gst_vision_overlay_set_info;
  transform_class->leave_context = gst_vision_overlay_leave_context;
  gst_cuv_settings_class_install (object_class, &gst_cuv_style_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision overlay",
      "Filter/Effect/Video",
      "Draws boxes, labels and shapes from metadata and hides regions, on CPU "
      "and CUDA frames",
      "The gst-cuvision authors");
}

static void
gst_vision_overlay_init (GstVisionOverlay *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_cuv_style_settings);
  self->trails = gst_cuv_trails_new ();
  self->hidden = g_array_new (FALSE, FALSE, sizeof (GstCuvHidden));
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
}
