/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionpublish
 * @title: visionpublish
 * @short_description: writes analysis results as JSON or CSV
 *
 * Passes every buffer through untouched and writes its metadata, one record per
 * frame, to standard output, a file or a FIFO, on a thread of its own. If a
 * reader is slow or absent, or the disk is full, records are dropped and
 * counted in #GstVisionPublish:dropped; the frames of the pipeline never wait.
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

#include "gstvisionpublishsettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_publish_debug);
#define GST_CAT_DEFAULT gst_vision_publish_debug

/* How long EOS and stopping wait for what is still queued. */
#define EOS_MS 10000
#define STOP_MS 2000

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _GstVisionPublish {
  GstBaseTransform parent;

  GstCuvSettings settings;

  /* under the object lock */
  guint64 frames;
  CuvWriter *writer;      /* from start to stop */
  CuvWriterCounts counts; /* while there is no writer */

  /* of the streaming thread */
  CuvJson json;
  gint width, height;
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
post_warning (GstVisionPublish *self, gchar *warning)
{
  if (warning == NULL)
    return;
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s", warning), (NULL));
  g_free (warning);
}

static GstFlowReturn
gst_vision_publish_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  GstClockTime time = trans->segment.format == GST_FORMAT_TIME
      ? gst_segment_to_stream_time (
          &trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer))
      : GST_CLOCK_TIME_NONE;
  CuvRecordFrame frame = { 0, time, g_get_real_time (), self->width,
    self->height, NULL, NULL };
  const GstVisionPublishSettings *settings;
  gchar *text;
  gsize size;

  if (gst_cuv_settings_changed (&self->settings))
    gst_cuv_settings_apply (&self->settings, NULL, NULL);
  settings = self->settings.in_force;
  GST_OBJECT_LOCK (self);
  frame.number = self->frames++;
  GST_OBJECT_UNLOCK (self);
  frame.source = settings->source;
  frame.tags = settings->tags;
  if (settings->add_empty_results || cuv_record_has_results (buffer)) {
    text = gst_cuv_publish_format_layout (settings->format)
               ->make_record (&self->json, &frame, buffer, &size);
    cuv_writer_push (self->writer, text, size);
  }
  post_warning (self, cuv_writer_take_warning (self->writer));
  return GST_FLOW_OK;
}

static gboolean
gst_vision_publish_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  const GstStructure *structure = gst_caps_get_structure (in_caps, 0);

  if (!gst_structure_get_int (structure, "width", &self->width)
      || !gst_structure_get_int (structure, "height", &self->height))
    self->width = self->height = 0;
  return TRUE;
}

/* Called from any thread: the element may be stopped meanwhile. */
static void
interrupt_finish (GstVisionPublish *self, gboolean interrupt)
{
  GST_OBJECT_LOCK (self);
  if (self->writer != NULL)
    cuv_writer_interrupt (self->writer, interrupt);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_vision_publish_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      interrupt_finish (self, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      interrupt_finish (self, FALSE);
      break;
    case GST_EVENT_EOS:
      cuv_writer_finish (self->writer, EOS_MS);
      post_warning (self, cuv_writer_take_warning (self->writer));
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_vision_publish_parent_class)
      ->sink_event (trans, event);
}

/* ---- states ---- */

/* While EOS waits for the writer it holds the stream lock, which deactivating
 * the pads needs. */
static GstStateChangeReturn
gst_vision_publish_change_state (GstElement *element, GstStateChange change)
{
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    interrupt_finish (GST_VISION_PUBLISH (element), TRUE);
  return GST_ELEMENT_CLASS (gst_vision_publish_parent_class)
      ->change_state (element, change);
}

static CuvWriter *
open_writer (GstVisionPublish *self)
{
  const GstVisionPublishSettings *settings = self->settings.in_force;
  const gchar *path = settings->path;
  gboolean to_stdout = path == NULL || *path == '\0' || g_str_equal (path, "-");
  const GstCuvPublishLayout *layout =
      gst_cuv_publish_format_layout (settings->format);
  CuvTarget *target =
      cuv_target_file_new (to_stdout ? NULL : path, layout->mode);
  GError *error = NULL;
  CuvWriter *writer = cuv_writer_new (target, &layout->framing, &error);

  if (writer == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot write to file-path '%s': %s.", to_stdout ? "-" : path,
            error->message),
        (NULL));
    g_error_free (error);
  }
  return writer;
}

static gboolean
gst_vision_publish_start (GstBaseTransform *trans)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  CuvWriter *writer;

  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL))
    return FALSE;
  writer = open_writer (self);
  if (writer == NULL) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  self->width = self->height = 0;
  GST_OBJECT_LOCK (self);
  self->frames = 0;
  self->writer = writer;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_vision_publish_stop (GstBaseTransform *trans)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (trans);
  CuvWriter *writer;
  CuvWriterCounts counts;
  gchar *warning;

  GST_OBJECT_LOCK (self);
  writer = g_steal_pointer (&self->writer);
  cuv_writer_get_counts (writer, &self->counts);
  GST_OBJECT_UNLOCK (self);
  cuv_writer_stop (writer, STOP_MS, &counts, &warning);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  post_warning (self, warning);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

/* ---- statistics ---- */

/* Locked. */
static void
get_counts (GstVisionPublish *self, CuvWriterCounts *counts)
{
  if (self->writer != NULL)
    cuv_writer_get_counts (self->writer, counts);
  else
    *counts = self->counts;
}

void
gst_vision_publish_get_dropped (GstElement *element, GValue *value)
{
  CuvWriterCounts counts;

  GST_OBJECT_LOCK (element);
  get_counts (GST_VISION_PUBLISH (element), &counts);
  GST_OBJECT_UNLOCK (element);
  g_value_set_uint64 (value, counts.dropped);
}

void
gst_vision_publish_get_stats (GstElement *element, GValue *value)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (element);
  CuvWriterCounts counts;
  guint64 frames;

  GST_OBJECT_LOCK (self);
  get_counts (self, &counts);
  frames = self->frames;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, frames, "records",
          G_TYPE_UINT64, counts.records, "dropped", G_TYPE_UINT64,
          counts.dropped, "bytes", G_TYPE_UINT64, counts.bytes, "queue",
          G_TYPE_UINT, counts.queue, NULL));
}

/* ---- class ---- */

static void
gst_vision_publish_finalize (GObject *object)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);

  cuv_json_clear (&self->json);
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
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_vision_publish_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_publish_sink_event);
  trans_class->transform_ip =
      GST_DEBUG_FUNCPTR (gst_vision_publish_transform_ip);
  gst_cuv_settings_class_install (object_class, &gst_vision_publish_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision publisher",
      "Filter/Metadata/Video", "Writes analysis results as JSON or CSV",
      "The gst-cuvision authors");
}

static void
gst_vision_publish_init (GstVisionPublish *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_vision_publish_settings);
  cuv_json_init (&self->json);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
