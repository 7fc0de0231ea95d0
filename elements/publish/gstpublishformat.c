/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstpublishformat.h"

#include "settings/gstcuvsettings.h"

GType
gst_cuv_publish_format_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CUV_PUBLISH_JSON, "One JSON array of records, in a new file",
        "json" },
    { GST_CUV_PUBLISH_JSON_LINES, "A JSON object per line, appended",
        "json-lines" },
    { GST_CUV_PUBLISH_CSV, "Comma-separated values, a row per object, appended",
        "csv" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstCuvPublishFormat", values);
}

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
