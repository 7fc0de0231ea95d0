/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionpublish
 * @title: visionpublish
 * @short_description: writes analysis results as JSON or CSV
 *
 * Passes every buffer through untouched and writes its metadata, one record per
 * frame, to standard output, a file, a FIFO, or an MQTT or Kafka broker, on a
 * thread of its own. If a reader is slow or absent, or the disk is full,
 * records are dropped and counted in #GstVisionPublish:dropped; frames never
 * wait, unless #GstVisionPublish:on-full is block.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q videotestsrc num-buffers=3 ! visionpublish
 * add-empty-results=true ! fakesink | jq .
 * ]|
 */
#include "config.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "context/gstcuvframe.h"
#include "gstcuvbatch.h"
#include "gstcuvstream.h"
#include "gstpublishoutput.h"
#include "gstpublishsignals.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_publish_debug);
#define GST_CAT_DEFAULT gst_vision_publish_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _GstVisionPublish {
  GstBaseTransform parent;

  GstCuvSettings settings; /* GstCuvPublishSettings */

  /* under the object lock */
  guint64 frames;
  GstCuvPublishOutput *output; /* exists from start to stop */
  GstStructure *stats; /* stats of the last output; used while output is NULL */

  /* used by the streaming thread only */
  CuvJson json;
  GArray *objects;     /* GstCuvObject of this frame */
  GstCuvStream stream; /* that of the sink pad */
};

#define GST_TYPE_VISION_PUBLISH (gst_vision_publish_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionPublish, gst_vision_publish, GST, VISION_PUBLISH, GstBaseTransform)
G_DEFINE_TYPE_WITH_CODE (GstVisionPublish, gst_vision_publish,
    GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL)
        GST_DEBUG_CATEGORY_INIT (gst_vision_publish_debug, "visionpublish", 0,
            "writes analysis results"))
GST_ELEMENT_REGISTER_DECLARE (visionpublish);
GST_ELEMENT_REGISTER_DEFINE (
    visionpublish, "visionpublish", GST_RANK_NONE, GST_TYPE_VISION_PUBLISH);

/* ---- frames ---- */

static void
push_record (GstVisionPublish *self, CuvRecordFrame *frame, GstBuffer *buffer)
{
  const GstCuvPublishSettings *settings = self->settings.in_force;

  gst_cuv_objects_read (self->objects, buffer);
  if (settings->add_empty_results || cuv_record_has_results (frame, buffer))
    gst_cuv_publish_output_push (self->output, &self->json, frame, buffer);
}

static void
publish_frame (GstVisionPublish *self, GstBuffer *buffer,
    const GstCuvStream *stream, const gchar *source)
{
  const GstCuvPublishSettings *settings = self->settings.in_force;
  CuvRecordFrame frame = { 0, gst_cuv_stream_time (&stream->segment, buffer),
    g_get_real_time (), stream->width, stream->height, source, settings->tags,
    self->objects, cuv_record_captured (buffer) };

  GST_OBJECT_LOCK (self);
  frame.number = self->frames++;
  GST_OBJECT_UNLOCK (self);
  if (settings->metrics != GST_CUV_PUBLISH_METRICS_ONLY)
    push_record (self, &frame, buffer);
  gst_cuv_publish_output_push_metrics (self->output, buffer);
}

/* Publishes a frame of a batch. */
static void
publish_numbered (
    GstVisionPublish *self, GstBuffer *buffer, const GstCuvStream *stream)
{
  const gchar *source =
      ((const GstCuvPublishSettings *) self->settings.in_force)->source;
  gchar *numbered = g_strdup_printf ("%s%s%u", source != NULL ? source : "",
      source != NULL ? "/" : "", stream->number);

  publish_frame (self, buffer, stream, numbered);
  g_free (numbered);
}

static void
publish_batch (GstVisionPublish *self, GstBuffer *batch)
{
  GstCuvBatchItem item = { 0 };
  GstCuvStream stream;

  gst_cuv_stream_init (&stream, 0);
  while (gst_cuv_batch_next (batch, &item)) {
    if (item.stream != stream.number) {
      gst_cuv_stream_clear (&stream);
      gst_cuv_stream_init (&stream, item.stream);
    }
    if (item.event != NULL)
      gst_cuv_stream_event (&stream, item.event);
    else
      publish_numbered (self, item.buffer, &stream);
  }
  gst_cuv_stream_clear (&stream);
}

static GstFlowReturn
gst_vision_publish_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  const GstCuvPublishSettings *settings;

  if (gst_cuv_settings_changed (&self->settings))
    gst_cuv_settings_apply (&self->settings, NULL, NULL);
  settings = self->settings.in_force;
  if (gst_cuv_is_batch (buffer))
    publish_batch (self, buffer);
  else
    publish_frame (self, buffer, &self->stream, settings->source);
  gst_cuv_publish_output_post_warning (self->output);
  return GST_FLOW_OK;
}

static gboolean
gst_vision_publish_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_cuv_frame_propose_allocation (
      gst_vision_publish_parent_class, trans, decide_query, query);
}

/* May be called from any thread, also while the element stops. */
static void
interrupt_waiting (GstVisionPublish *self, gboolean interrupt)
{
  GST_OBJECT_LOCK (self);
  if (self->output != NULL)
    gst_cuv_publish_output_interrupt (self->output, interrupt);
  GST_OBJECT_UNLOCK (self);
}

void
gst_vision_publish_reopen (GstElement *element)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (element);

  GST_OBJECT_LOCK (self);
  if (self->output != NULL)
    gst_cuv_publish_output_reopen (self->output);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_vision_publish_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);

  gst_cuv_stream_event (&self->stream, event);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      interrupt_waiting (self, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      interrupt_waiting (self, FALSE);
      break;
    case GST_EVENT_EOS:
      gst_cuv_publish_output_finish (self->output);
      gst_cuv_publish_output_post_warning (self->output);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_vision_publish_parent_class)
      ->sink_event (trans, event);
}

/* ---- states ---- */

/* Ends waits at EOS or for room in the queue: they hold the stream lock, which
 * is needed to deactivate the pads. */
static GstStateChangeReturn
gst_vision_publish_change_state (GstElement *element, GstStateChange change)
{
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    interrupt_waiting (GST_VISION_PUBLISH (element), TRUE);
  return GST_ELEMENT_CLASS (gst_vision_publish_parent_class)
      ->change_state (element, change);
}

static gboolean
gst_vision_publish_start (GstBaseTransform *trans)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  GstCuvPublishOutput *output;

  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL))
    return FALSE;
  output =
      gst_cuv_publish_output_new (GST_ELEMENT (self), self->settings.in_force);
  if (output == NULL) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  gst_cuv_stream_init (&self->stream, 0);
  GST_OBJECT_LOCK (self);
  self->frames = 0;
  self->output = output;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_vision_publish_stop (GstBaseTransform *trans)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  GstStructure *stats = gst_structure_new_empty ("stats");
  GstCuvPublishOutput *output;

  GST_OBJECT_LOCK (self);
  output = g_steal_pointer (&self->output);
  gst_structure_free (self->stats);
  self->stats = gst_structure_new_empty ("stats");
  gst_cuv_publish_output_get_stats (output, self->stats);
  GST_OBJECT_UNLOCK (self);
  gst_cuv_publish_output_stop (output, stats);
  GST_OBJECT_LOCK (self);
  gst_structure_free (self->stats);
  self->stats = stats;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_settings_stop (&self->settings);
  gst_cuv_stream_clear (&self->stream);
  return TRUE;
}

/* ---- statistics ---- */

static GstStructure *
make_stats (GstVisionPublish *self)
{
  GstStructure *stats;

  GST_OBJECT_LOCK (self);
  stats = self->output != NULL ? gst_structure_new_empty ("stats")
                               : gst_structure_copy (self->stats);
  if (self->output != NULL)
    gst_cuv_publish_output_get_stats (self->output, stats);
  gst_structure_set (stats, "frames", G_TYPE_UINT64, self->frames, NULL);
  GST_OBJECT_UNLOCK (self);
  return stats;
}

void
gst_vision_publish_get_dropped (GstElement *element, GValue *value)
{
  GstStructure *stats = make_stats (GST_VISION_PUBLISH (element));
  guint64 dropped = 0;

  gst_structure_get_uint64 (stats, "dropped", &dropped);
  gst_structure_free (stats);
  g_value_set_uint64 (value, dropped);
}

void
gst_vision_publish_get_stats (GstElement *element, GValue *value)
{
  g_value_take_boxed (value, make_stats (GST_VISION_PUBLISH (element)));
}

/* ---- class ---- */

static void
gst_vision_publish_finalize (GObject *object)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);

  cuv_json_clear (&self->json);
  g_array_unref (self->objects);
  gst_structure_free (self->stats);
  G_OBJECT_CLASS (gst_vision_publish_parent_class)->finalize (object);
}

static void
gst_vision_publish_class_init (GstVisionPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_vision_publish_finalize;
  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_vision_publish_change_state);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_publish_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_publish_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_publish_sink_event);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_vision_publish_propose_allocation);
  trans_class->transform_ip =
      GST_DEBUG_FUNCPTR (gst_vision_publish_transform_ip);
  gst_cuv_settings_class_install (object_class, &gst_cuv_publish_settings);
  gst_publish_install_signals (G_TYPE_FROM_CLASS (klass));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision publisher",
      "Filter/Metadata/Video", "Writes analysis results as JSON or CSV",
      "The gst-cuvision authors");
}

static void
gst_vision_publish_init (GstVisionPublish *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_cuv_publish_settings);
  cuv_json_init (&self->json);
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  self->stats = gst_structure_new ("stats", "records", G_TYPE_UINT64,
      G_GUINT64_CONSTANT (0), "dropped", G_TYPE_UINT64, G_GUINT64_CONSTANT (0),
      "bytes", G_TYPE_UINT64, G_GUINT64_CONSTANT (0), "queue", G_TYPE_UINT, 0,
      NULL);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
