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

#include "base/gstcuvfilter.h"
#include "gstpublishformat.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_publish_debug);
#define GST_CAT_DEFAULT gst_vision_publish_debug

enum {
  PROP_0,
  PROP_FILE_FORMAT,
  PROP_FILE_PATH,
  PROP_ADD_EMPTY_RESULTS,
  PROP_SOURCE,
  PROP_TAGS,
  PROP_DROPPED,
  PROP_STATS,
};

#define DEFAULT_FILE_FORMAT GST_CUV_PUBLISH_JSON_LINES
#define DEFAULT_ADD_EMPTY_RESULTS FALSE

/* How long EOS and stopping wait for what is still queued. */
#define EOS_MS 10000
#define STOP_MS 2000

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

typedef struct {
  gboolean add_empty_results;
  gchar *source;
  JsonNode *tags;
} Settings;

struct _GstVisionPublish {
  GstBaseTransform parent;

  /* under the object lock */
  GstCuvPublishFormat format;
  gchar *path;
  Settings settings;
  gchar *tags_text;
  gchar *tags_problem; /* of tags that were refused before the start */
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
settings_copy (Settings *copy, const Settings *settings)
{
  copy->add_empty_results = settings->add_empty_results;
  copy->source = g_strdup (settings->source);
  copy->tags = settings->tags != NULL ? json_node_ref (settings->tags) : NULL;
}

static void
settings_clear (Settings *settings)
{
  g_clear_pointer (&settings->source, g_free);
  g_clear_pointer (&settings->tags, json_node_unref);
}

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
  Settings settings;
  gchar *text;
  gsize size;

  GST_OBJECT_LOCK (self);
  settings_copy (&settings, &self->settings);
  frame.number = self->frames++;
  GST_OBJECT_UNLOCK (self);
  frame.source = settings.source;
  frame.tags = settings.tags;
  if (settings.add_empty_results || cuv_record_has_results (buffer)) {
    text = gst_cuv_publish_format_layout (self->format)
               ->make_record (&self->json, &frame, buffer, &size);
    cuv_writer_push (self->writer, text, size);
  }
  settings_clear (&settings);
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
  gboolean to_stdout = self->path == NULL || *self->path == '\0'
      || g_str_equal (self->path, "-");
  const GstCuvPublishLayout *layout =
      gst_cuv_publish_format_layout (self->format);
  CuvTarget *target =
      cuv_target_file_new (to_stdout ? NULL : self->path, layout->mode);
  GError *error = NULL;
  CuvWriter *writer = cuv_writer_new (target, &layout->framing, &error);

  if (writer == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot write to file-path '%s': %s.", to_stdout ? "-" : self->path,
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

  if (self->tags_problem != NULL) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, SETTINGS, ("%s", self->tags_problem), (NULL));
    return FALSE;
  }
  writer = open_writer (self);
  if (writer == NULL)
    return FALSE;
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
  return TRUE;
}

/* ---- properties ---- */

/* Locked. */
static void
get_counts (GstVisionPublish *self, CuvWriterCounts *counts)
{
  if (self->writer != NULL)
    cuv_writer_get_counts (self->writer, counts);
  else
    *counts = self->counts;
}

static GstStructure *
get_stats (GstVisionPublish *self)
{
  CuvWriterCounts counts;
  guint64 frames;

  GST_OBJECT_LOCK (self);
  get_counts (self, &counts);
  frames = self->frames;
  GST_OBJECT_UNLOCK (self);
  return gst_structure_new ("stats", "frames", G_TYPE_UINT64, frames, "records",
      G_TYPE_UINT64, counts.records, "dropped", G_TYPE_UINT64, counts.dropped,
      "bytes", G_TYPE_UINT64, counts.bytes, "queue", G_TYPE_UINT, counts.queue,
      NULL);
}

/* Invalid tags are refused and the old ones kept. Before the start nobody may
 * listen to the bus yet, so start() fails with the same message. */
static void
set_tags (GstVisionPublish *self, const gchar *text)
{
  gboolean given = text != NULL && *text != '\0', running;
  GError *error = NULL;
  JsonNode *node = given ? cuv_json_parse_object (text, &error) : NULL;
  gchar *problem = NULL;

  if (error != NULL)
    problem = g_strdup_printf (
        "Property tags: '%s' is not usable: %s. Set the text of a JSON object, "
        "as in {\"camera\": \"door\"}.",
        text, error->message);
  g_clear_error (&error);
  GST_OBJECT_LOCK (self);
  running = self->writer != NULL;
  if (problem == NULL) {
    g_clear_pointer (&self->settings.tags, json_node_unref);
    self->settings.tags = node;
    g_free (self->tags_text);
    self->tags_text = given ? g_strdup (text) : NULL;
  }
  g_clear_pointer (&self->tags_problem, g_free);
  if (!running)
    self->tags_problem = g_strdup (problem);
  GST_OBJECT_UNLOCK (self);
  if (problem != NULL && running)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s", problem), (NULL));
  g_free (problem);
}

/* Warns if the property can no longer change. */
static gboolean
refuse_while_running (GstVisionPublish *self, GParamSpec *pspec)
{
  gboolean running;

  GST_OBJECT_LOCK (self);
  running = self->writer != NULL;
  GST_OBJECT_UNLOCK (self);
  if (running)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Property %s keeps its value: it can change in state NULL or READY "
         "only.",
            pspec->name),
        (NULL));
  return running;
}

static void
gst_vision_publish_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);

  if (id == PROP_TAGS) {
    set_tags (self, g_value_get_string (value));
    return;
  }
  if ((id == PROP_FILE_FORMAT || id == PROP_FILE_PATH)
      && refuse_while_running (self, pspec))
    return;
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_FILE_FORMAT:
      self->format = g_value_get_enum (value);
      break;
    case PROP_FILE_PATH:
      g_free (self->path);
      self->path = g_value_dup_string (value);
      break;
    case PROP_ADD_EMPTY_RESULTS:
      self->settings.add_empty_results = g_value_get_boolean (value);
      break;
    case PROP_SOURCE:
      g_free (self->settings.source);
      self->settings.source = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_vision_publish_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);
  CuvWriterCounts counts;

  if (id == PROP_STATS) {
    g_value_take_boxed (value, get_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_FILE_FORMAT:
      g_value_set_enum (value, self->format);
      break;
    case PROP_FILE_PATH:
      g_value_set_string (value, self->path);
      break;
    case PROP_ADD_EMPTY_RESULTS:
      g_value_set_boolean (value, self->settings.add_empty_results);
      break;
    case PROP_SOURCE:
      g_value_set_string (value, self->settings.source);
      break;
    case PROP_TAGS:
      g_value_set_string (value, self->tags_text);
      break;
    case PROP_DROPPED:
      get_counts (self, &counts);
      g_value_set_uint64 (value, counts.dropped);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_vision_publish_finalize (GObject *object)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);

  cuv_json_clear (&self->json);
  settings_clear (&self->settings);
  g_free (self->path);
  g_free (self->tags_text);
  g_free (self->tags_problem);
  G_OBJECT_CLASS (gst_vision_publish_parent_class)->finalize (object);
}

static void
install_file_properties (GObjectClass *klass)
{
  /**
   * GstVisionPublish:file-format:
   *
   * How records are written. json replaces an existing file; the others append.
   * Can change in NULL and READY only.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_FILE_FORMAT,
      g_param_spec_enum ("file-format", "File format",
          "How records are written", GST_TYPE_CUV_PUBLISH_FORMAT,
          DEFAULT_FILE_FORMAT,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY
              | G_PARAM_STATIC_STRINGS));
  /**
   * GstVisionPublish:file-path:
   *
   * The file, FIFO or device to write to; none or "-" is standard output.
   * Several elements may append json-lines to one file; a file of json or csv
   * has one writer. Can change in NULL and READY only.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_FILE_PATH,
      g_param_spec_string ("file-path", "File path",
          "Where records are written (none or - = standard output)", NULL,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY
              | G_PARAM_STATIC_STRINGS));
}

static void
install_record_properties (GObjectClass *klass)
{
  /**
   * GstVisionPublish:add-empty-results:
   *
   * Write a record for frames without results too.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_ADD_EMPTY_RESULTS,
      g_param_spec_boolean ("add-empty-results", "Add empty results",
          "Write a record for frames without results too",
          DEFAULT_ADD_EMPTY_RESULTS, GST_CUV_PARAM_LIVE));
  /**
   * GstVisionPublish:source:
   *
   * A name for where the video comes from, written in each record.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_SOURCE,
      g_param_spec_string ("source", "Source",
          "Where the video comes from, written in each record", NULL,
          GST_CUV_PARAM_LIVE));
  /**
   * GstVisionPublish:tags:
   *
   * The text of a JSON object that is written in each record. Any other text is
   * refused, with an error at the start, with a warning while running.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_TAGS,
      g_param_spec_string ("tags", "Tags",
          "Text of a JSON object that is written in each record", NULL,
          GST_CUV_PARAM_LIVE));
}

static void
install_statistics (GObjectClass *klass)
{
  /**
   * GstVisionPublish:dropped:
   *
   * Records that could not be written, since the start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_DROPPED,
      g_param_spec_uint64 ("dropped", "Dropped",
          "Records that could not be written", 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /**
   * GstVisionPublish:stats:
   *
   * frames, records (written), dropped, bytes (written) (guint64), queue
   * (guint, records that wait).
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_vision_publish_class_init (GstVisionPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_vision_publish_set_property;
  object_class->get_property = gst_vision_publish_get_property;
  object_class->finalize = gst_vision_publish_finalize;
  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_vision_publish_change_state);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_publish_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_publish_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_vision_publish_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_publish_sink_event);
  trans_class->transform_ip =
      GST_DEBUG_FUNCPTR (gst_vision_publish_transform_ip);
  install_file_properties (object_class);
  install_record_properties (object_class);
  install_statistics (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision publisher",
      "Filter/Metadata/Video", "Writes analysis results as JSON or CSV",
      "The gst-cuvision authors");
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_PUBLISH_FORMAT, 0);
}

static void
gst_vision_publish_init (GstVisionPublish *self)
{
  self->format = DEFAULT_FILE_FORMAT;
  self->settings.add_empty_results = DEFAULT_ADD_EMPTY_RESULTS;
  cuv_json_init (&self->json);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
