/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstvisionpublishsettings.h"

#define AT(field) G_STRUCT_OFFSET (GstVisionPublishSettings, field)

/* ---- file-format ---- */

GST_CUV_DEFINE_ENUM (format_get_type, "GstCuvPublishFormat",
    { GST_CUV_PUBLISH_JSON, "One JSON array of records, in a new file",
        "json" },
    { GST_CUV_PUBLISH_JSON_LINES, "A JSON object per line, appended",
        "json-lines" },
    { GST_CUV_PUBLISH_CSV, "Comma-separated values, a row per object, appended",
        "csv" })

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

const GstCuvPublishLayout *
gst_cuv_publish_format_layout (GstCuvPublishFormat format)
{
  static const GstCuvPublishLayout layouts[] = {
    [GST_CUV_PUBLISH_JSON] = { { "[\n", ",\n", "\n]\n" }, CUV_TARGET_REPLACE,
        make_json },
    [GST_CUV_PUBLISH_JSON_LINES] = { { "", "", "" }, CUV_TARGET_SHARE,
        make_json_line },
    [GST_CUV_PUBLISH_CSV] = { { cuv_record_csv_header, "", "" },
        CUV_TARGET_APPEND, make_csv },
  };

  return &layouts[format];
}

/* ---- table ---- */

static gchar *
parse_tags (gpointer settings)
{
  GstVisionPublishSettings *self = settings;
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
      .offset = AT (format), .get_type = format_get_type,
      .value = GST_CUV_PUBLISH_JSON_LINES, .only_stopped = TRUE },
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
      .get = gst_vision_publish_get_dropped },
  { "stats", "Statistics", "Statistics of the element's work",
      .get_type = gst_structure_get_type, .get = gst_vision_publish_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (tags), json_node_get_type },
};

const GstCuvSettingsTable gst_vision_publish_settings = {
  GST_CUV_SETTINGS (GstVisionPublishSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
};
