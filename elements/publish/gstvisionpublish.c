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

#include "output/writer.h"
#include "record/record.h"
#include "settings/gstcuvsettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_publish_debug);
#define GST_CAT_DEFAULT gst_vision_publish_debug

/* How long EOS and stopping wait for what is still queued. */
#define EOS_MS 10000
#define STOP_MS 2000

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

typedef enum {
  JSON = 1,
  JSON_LINES = 2,
  CSV = 3,
} Format;

/* How files of a format are written. */
typedef struct {
  CuvFraming framing;
  CuvTargetMode mode;
  /* Returns the text of one record, to be freed; json is empty before and
   * after. */
  gchar *(*make_record) (CuvJson *json, const CuvRecordFrame *frame,
      GstBuffer *buffer, gsize *size);
} Layout;

typedef struct {
  gint format; /* a Format */
  gchar *path; /* NULL, "" or "-" is standard output */
  gint add_empty_results;
  gchar *source;    /* NULL = none */
  gchar *tags_text; /* as it was set */
  JsonNode *tags;   /* an object; NULL = none */
} Settings;

struct _GstVisionPublish {
  GstBaseTransform parent;

  GstCuvSettings settings; /* Settings */

  /* under the object lock */
  guint64 frames;
  CuvWriter *writer;      /* from start to stop */
  CuvWriterCounts counts; /* while there is no writer */

  /* of the streaming thread */
  CuvJson json;
  GArray *objects; /* GstCuvObject, those of this frame */
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

/* ---- formats ---- */

static gchar *
make_json (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  cuv_record_to_json (json, frame, buffer);
  return cuv_json_steal (json, size);
}

static gchar *
make_json_line (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  cuv_record_to_json (json, frame, buffer);
  g_string_append_c (json->text, '\n');
  return cuv_json_steal (json, size);
}

static gchar *
make_csv (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  GString *text = g_string_new (NULL);

  cuv_record_to_csv (text, frame, buffer);
  *size = text->len;
  return g_string_free (text, FALSE);
}

static const Layout *
layout_of (gint format)
{
  static const Layout layouts[] = {
    [JSON] = { { "[\n", ",\n", "\n]\n" }, CUV_TARGET_REPLACE, make_json },
    [JSON_LINES] = { { "", "", "" }, CUV_TARGET_SHARE, make_json_line },
    [CSV] = { { cuv_record_csv_header, "", "" }, CUV_TARGET_APPEND, make_csv },
  };

  return &layouts[format];
}

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
    self->height, NULL, NULL, self->objects };
  const Settings *settings;
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
  gst_cuv_objects_read (self->objects, buffer);
  if (settings->add_empty_results || cuv_record_has_results (&frame, buffer)) {
    text = layout_of (settings->format)
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
  const Settings *settings = self->settings.in_force;
  const gchar *path = settings->path;
  gboolean to_stdout = path == NULL || *path == '\0' || g_str_equal (path, "-");
  const Layout *layout = layout_of (settings->format);
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

static void
get_dropped (GstElement *element, GValue *value)
{
  CuvWriterCounts counts;

  GST_OBJECT_LOCK (element);
  get_counts (GST_VISION_PUBLISH (element), &counts);
  GST_OBJECT_UNLOCK (element);
  g_value_set_uint64 (value, counts.dropped);
}

static void
get_stats (GstElement *element, GValue *value)
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

/* ---- properties ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

GST_CUV_DEFINE_ENUM (format_get_type, "GstCuvPublishFormat",
    { JSON, "One JSON array of records, in a new file", "json" },
    { JSON_LINES, "A JSON object per line, appended", "json-lines" },
    { CSV, "Comma-separated values, a row per object, appended", "csv" })

static gchar *
parse_tags (gpointer settings)
{
  Settings *self = settings;
  GError *error = NULL;
  gchar *problem = NULL;

  g_clear_pointer (&self->tags, json_node_unref);
  if (self->tags_text == NULL || *self->tags_text == '\0')
    return NULL;
  self->tags = cuv_json_parse_object (self->tags_text, &error);
  if (error != NULL)
    problem = g_strdup_printf ("%s; set tags to the text of a JSON object, as "
                               "in {\"camera\": \"door\"}",
        error->message);
  g_clear_error (&error);
  return problem;
}

static GParamSpec *
make_dropped (void)
{
  return g_param_spec_uint64 ("dropped", "Dropped",
      "Number of records since the start that could not be written", 0,
      G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

/**
 * GstVisionPublish:file-format:
 *
 * How records are written. json replaces an existing file; the others append.
 * Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:file-path:
 *
 * The file, FIFO or device to write to; none or "-" is standard output.
 * Several elements may append json-lines to one file; a file of json or csv
 * has one writer. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:tags:
 *
 * The text of a JSON object that is written in each record. Any other text is
 * refused, with an error at the start, with a warning while running.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:stats:
 *
 * frames, records (written), dropped, bytes (written) (guint64), queue
 * (guint, records that wait).
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "file-format", "File format", "Format of the records",
      .offset = AT (format), .get_type = format_get_type, .value = JSON_LINES,
      .only_stopped = TRUE },
  { "file-path", "File path",
      "Path of the file to write records to (none or - = standard output)",
      .offset = AT (path), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "add-empty-results", "Add empty results",
      "Write records also for frames without results",
      .offset = AT (add_empty_results), .type = G_TYPE_BOOLEAN },
  { "source", "Source", "Name of the video's source, written in each record",
      .offset = AT (source), .type = G_TYPE_STRING },
  { "tags", "Tags", "Text of a JSON object that is written in each record",
      .offset = AT (tags_text), .type = G_TYPE_STRING, .parse = parse_tags },
  { "dropped", .type = G_TYPE_UINT64, .make_spec = make_dropped,
      .get = get_dropped },
  { "stats", "Statistics", "Statistics of the element's work",
      .get_type = gst_structure_get_type, .get = get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (tags), json_node_get_type },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
  GST_CUV_OWNED_FIELDS (owned),
};

/* ---- class ---- */

static void
gst_vision_publish_finalize (GObject *object)
{
  GstVisionPublish *self = GST_VISION_PUBLISH (object);

  cuv_json_clear (&self->json);
  g_array_unref (self->objects);
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
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision publisher",
      "Filter/Metadata/Video", "Writes analysis results as JSON or CSV",
      "The gst-cuvision authors");
}

static void
gst_vision_publish_init (GstVisionPublish *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
  cuv_json_init (&self->json);
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
