/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionpublish: records of a frame's metadata against text written by hand; jq
 * checks that they are JSON with sorted keys. */
#include <math.h>
#include <string.h>
#include "helper.h"

static void
fail_unless_record (GstBuffer *buffer, const gchar *expected)
{
  GstHarness *h;

  fail_unless (g_file_set_contents (path, "", 0, NULL));
  h = harness_new ("json-lines");
  push (h, buffer);
  fail_unless_written (h, expected);
  if (*expected != '\0')
    fail_unless_jq_agrees ();
}

/* ---- objects ---- */

CUV_TEST (test_object)
{
  GstBuffer *buffer = frame_new (1000);

  set_id (gst_cuv_meta_add_object (
              &(GstCuvWriter){ .buffer = buffer, .info = &info },
              gst_cuv_meta_next_id (buffer), "face", 64, 48, 128, 96, 0.97,
              gst_structure_new ("x", "raw", G_TYPE_DOUBLE, 1.25, "stages",
                  G_TYPE_INT, 20, NULL))
              .roi,
      7);
  gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = buffer, .info = &info },
      gst_cuv_meta_next_id (buffer), "face", 0, 0, 640, 480, 0.5, NULL);
  fail_unless_record (buffer,
      "{\"frame_num\":0,\"objects\":[{\"detection\":{\"bounding_box\":{"
      "\"x_max\":0.3,\"x_min\":0.1,\"y_max\":0.3,\"y_min\":0.1},\"confidence\":"
      "0.97,\"label\":\"face\",\"label_id\":0},\"extra_params\":{\"raw\":1.25,"
      "\"stages\":20},\"h\":96,\"id\":7,\"region_id\":0,\"roi_type\":\"face\","
      "\"w\":128,\"x\":64,\"y\":48},{\"detection\":{\"bounding_box\":{\"x_"
      "max\":"
      "1.0,\"x_min\":0.0,\"y_max\":1.0,\"y_min\":0.0},\"confidence\":0.5,"
      "\"label\":\"face\",\"label_id\":0},\"h\":480,\"region_id\":1,"
      "\"roi_type\":\"face\",\"w\":640,\"x\":0,\"y\":0}]," FRAME
      ",\"timestamp\":1000,\"wallclock\":\"T\"}\n");
}

/* Regions of other elements are written, even without label and params. */
CUV_TEST (test_foreign_objects)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 1, 2, 3, 4);
  roi = gst_buffer_add_video_region_of_interest_meta_id (buffer, 0, 5, 6, 7, 8);
  roi->id = 4;
  roi->parent_id = 0;
  set_id (roi, 0);
  fail_unless_record (buffer,
      "{\"frame_num\":0,\"objects\":[{\"h\":4,\"region_id\":0,\"roi_type\":"
      "\"car\",\"w\":3,\"x\":1,\"y\":2},{\"h\":8,\"parent_id\":0,"
      "\"region_id\":4,\"w\":7,\"x\":5,\"y\":6}]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

/* Checks that the object has this text before and after its member "h". */
static void
fail_unless_extras (GstBuffer *buffer, const gchar *before, const gchar *after)
{
  g_autofree gchar *expected = g_strdup_printf (
      "{\"frame_num\":0,\"objects\":[{%s\"h\":4,%s\"region_id\":0,\"roi_type\":"
      "\"a\",\"w\":3,\"x\":1,\"y\":2}]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n",
      before, after);

  fail_unless_record (buffer, expected);
}

static GstBuffer *
frame_with_param (const gchar *text)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, "a", 1, 2, 3, 4);
  GstStructure *param = gst_structure_from_string (text, NULL);

  fail_unless (param != NULL, "%s", text);
  gst_video_region_of_interest_meta_add_param (roi, param);
  return buffer;
}

CUV_TEST (test_params)
{
  /* from an unknown element */
  fail_unless_extras (frame_with_param ("depth, near=(double)0.25, ids=<1,2>"),
      "\"depth\":{\"ids\":[1,2],\"near\":0.25},", "");
  /* named like a documented key, which keeps its meaning */
  fail_unless_extras (frame_with_param ("h, a=1"), "", "\"h_2\":{\"a\":1},");
  /* DL Streamer's classification */
  fail_unless_extras (
      frame_with_param (
          "classification_layer, label=(string)red, "
          "model_name=(string)colours, label_id=3, "
          "confidence=(double)0.75, attribute_name=(string)color"),
      "\"color\":{\"confidence\":0.75,\"label\":\"red\",\"label_id\":3,"
      "\"model\":{\"name\":\"colours\"}},",
      "");
  /* a structure with more than an id */
  fail_unless_extras (frame_with_param ("object_id, id=3, age=9"), "",
      "\"id\":3,\"object_id\":{\"age\":9,\"id\":3},");
}

CUV_TEST (test_extra_params)
{
  fail_unless_extras (
      frame_with_param (
          "detection, confidence=(float)0.9, model_name=(string)m, "
          "extra_params_json=(string)\"{\\\"q\\\":[1,{}]}\""),
      "\"detection\":{\"confidence\":0.9,\"label\":\"a\"},"
      "\"extra_params\":{\"model_name\":\"m\",\"q\":[1,{}]},",
      "");
  /* neither JSON nor a number where one is expected: kept as they are */
  fail_unless_extras (
      frame_with_param (
          "detection, confidence=(string)high, x_min=(double)0.5, "
          "extra_params_json=(string)\"{\""),
      "\"detection\":{\"label\":\"a\"},\"extra_params\":{\"confidence\":"
      "\"high\","
      "\"extra_params_json\":\"{\",\"x_min\":0.5},",
      "");
}

CUV_TEST (test_hostile_label)
{
  GstBuffer *buffer = frame_new (0);

  gst_buffer_add_video_region_of_interest_meta (
      buffer, "\"a\\,\n\xff\x01", 1, 2, 3, 4);
  fail_unless_record (buffer,
      "{\"frame_num\":0,\"objects\":[{\"h\":4,\"region_id\":0,\"roi_type\":"
      "\"\\\"a\\\\,\\n\xef\xbf\xbd\\u0001\",\"w\":3,\"x\":1,\"y\":2}]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

/* ---- tables ---- */

#define LINE_1 "{\"id\":-1,\"rho\":10.5,\"theta\":0.1,\"votes\":77}"
#define LINE_2 "{\"id\":2,\"rho\":null,\"theta\":0.0,\"votes\":5}"

CUV_TEST (test_lines)
{
  GstBuffer *buffer = frame_new (0);

  add_lines (buffer, 2, 640);
  fail_unless_record (buffer,
      "{\"frame_num\":0,\"lines\":[" LINE_1 "," LINE_2 "]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

/* A table's scalars, and its size if that is not the frame's, go to "_info",
 * even if the table is the second one of its kind. */
CUV_TEST (test_scalars)
{
  GstBuffer *buffer = frame_new (0);

  add_lines (buffer, 1, 640);
  gst_structure_set (
      add_lines (buffer, 1, 320), "threshold", G_TYPE_DOUBLE, 2.5, NULL);
  fail_unless_record (buffer,
      "{\"frame_num\":0,\"lines\":[" LINE_1 "],\"lines_2\":[" LINE_1
      "],\"lines_2_info\":{\"height\":480,\"threshold\":2.5,\"width\":320}"
      "," FRAME ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

/* Writes an unknown kind that is named like a documented key, and extreme
 * values. */
CUV_TEST (test_unknown_kind)
{
  static const GstCuvColumn columns[] = { { "u64", GST_CUV_TYPE_U64 },
    { "i64", GST_CUV_TYPE_I64 }, { "f64", GST_CUV_TYPE_F64 },
    { "u16", GST_CUV_TYPE_U16 }, { "u8", GST_CUV_TYPE_U8 },
    { "u8", GST_CUV_TYPE_U8 } };
  guint8 row[28];
  GstBuffer *buffer = frame_new (0);
  gdouble infinite = INFINITY;

  memset (row, 0xff, sizeof row);
  memcpy (row + 16, &infinite, sizeof infinite);
  gst_cuv_meta_add_table (
      buffer, "timestamp", 3, 640, 480, "none", columns, 6, row, 1);
  fail_unless_record (buffer,
      "{\"frame_num\":0," FRAME ",\"timestamp\":0,\"timestamp_2\":[{\"f64\":"
      "null,\"i64\":-1,\"u16\":65535,"
      "\"u64\":18446744073709551615,\"u8\":255,\"u8_2\":255}],\"wallclock\":"
      "\"T\""
      "}\n");
}

/* Checks the record that a program reads from the buffer. */
static void
fail_unless_read (GstBuffer *buffer, const gchar *expected)
{
  GstHarness *h = harness_new ("json-lines");
  g_autofree gchar *text = NULL;

  g_signal_emit_by_name (h->element, "read-record", buffer, NULL, &text);
  fail_unless_equals_string (text, expected);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

/* Tables do not get keys that are documented, even in records without these. */
CUV_TEST (test_reserved_keys)
{
  static const gchar *const keys[] = { "captured", "frame_num", "objects",
    "resolution", "roi_type", "source", "tags", "wallclock" };
  static const GstCuvColumn column = { "v", GST_CUV_TYPE_U8 };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE);
    GstStructure *table = gst_cuv_meta_add_table (
        buffer, "table", 1, 640, 480, "none", &column, 1, "\7", 1);
    gchar *expected = g_strdup_printf ("{\"%s_2\":[{\"v\":7}],"
                                       "\"%s_2_info\":{\"a\":true,"
                                       "\"height\":480,\"width\":640}}",
        keys[i], keys[i]);

    gst_structure_set (
        table, "key", G_TYPE_STRING, keys[i], "a", G_TYPE_BOOLEAN, TRUE, NULL);
    fail_unless_read (buffer, expected);
    g_free (expected);
  }
}

CUV_TEST (test_reserved_keys_of_objects)
{
  static const gchar *const keys[] = { "classification", "extra_params", "id",
    "parent_id", "roi_type" };
  GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta_id (buffer, 0, 1, 2, 3, 4);

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new (keys[i], "a", G_TYPE_INT, (gint) i, NULL));
  fail_unless_read (buffer,
      "{\"objects\":[{\"classification_2\":{\"a\":0},\"extra_params_2\":"
      "{\"a\":1},\"h\":4,\"id_2\":{\"a\":2},\"parent_id_2\":{\"a\":3},"
      "\"region_id\":0,\"roi_type_2\":{\"a\":4},\"w\":3,\"x\":1,"
      "\"y\":2}]}");
}

CUV_TEST (test_reserved_keys_in_csv)
{
  static const GstCuvColumn column = { "v", GST_CUV_TYPE_U8 };
  g_autoptr (GstHarness) h = harness_new ("csv");
  GstBuffer *buffer = frame_new (0);
  g_autofree gchar *text = NULL;

  gst_cuv_meta_add_table (
      buffer, "object", 1, 640, 480, "none", &column, 1, "\7", 1);
  gst_video_region_of_interest_meta_add_param (
      gst_buffer_add_video_region_of_interest_meta (buffer, "a", 1, 2, 3, 4),
      gst_structure_new_empty ("tags"));
  push (h, buffer);
  gst_harness_push_event (h, gst_event_new_eos ());
  text = contents ();
  fail_unless (
      strstr (text, "\nobject_2,") && strstr (text, "\"tags_2\""), "%s", text);
}

/* Returns a frame with a table of two rows with a picture each; the second
 * one's text is missing. */
static GstBuffer *
frame_with_texts (void)
{
  static const GstCuvColumn columns[] = { { "name", GST_CUV_TYPE_TEXT },
    { "rank", GST_CUV_TYPE_U8 } };
  static const guint8 rows[] = { 1, 0, 0, 0, 7, 2, 0, 0, 0, 8 };
  static const gchar *const texts[] = { "elm", "\"a\"/\xff" };
  GstBuffer *buffer = frame_new (0);
  GstStructure *table = gst_cuv_meta_add_table (
      buffer, "matches", 1, 640, 480, "pictures", columns, 2, rows, 2);
  GBytes *pictures = g_bytes_new ("rgbRGB", 6);

  gst_cuv_meta_set_texts (table, texts, 2);
  gst_structure_set (table, "pictures", G_TYPE_BYTES, pictures, "picture_width",
      G_TYPE_UINT, 1, "picture_height", G_TYPE_UINT, 1, NULL);
  g_bytes_unref (pictures);
  return buffer;
}

CUV_TEST (test_texts)
{
  fail_unless_record (frame_with_texts (),
      "{\"frame_num\":0,\"matches\":[{\"name\":\"\\\"a\\\"/\xef\xbf\xbd\","
      "\"rank\":7},{\"name\":null,\"rank\":8}]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

#if GST_CHECK_VERSION(1, 24, 0)
/* Returns the table's meta as unixfdsink sends it. */
static GByteArray *
serialize (GstBuffer *buffer)
{
  GByteArray *sent = g_byte_array_new ();
  gpointer state = NULL;

  fail_unless (gst_meta_serialize_simple (
      gst_buffer_iterate_meta (buffer, &state), sent));
  return sent;
}

static GstBuffer *
deserialize (const guint8 *sent, gsize size)
{
  GstBuffer *buffer = frame_new (0);
  guint32 consumed;

  gst_meta_deserialize (buffer, sent, size, &consumed);
  return buffer;
}

CUV_TEST (test_sent_table)
{
  GstBuffer *buffer = frame_with_texts (), *empty = frame_new (0);
  GByteArray *sent = serialize (buffer);
  const GstCuvColumn column = { "x", GST_CUV_TYPE_U8 };
  GstCuvTable table;
  gpointer state = NULL;

  fail_unless_record (deserialize (sent->data, sent->len),
      "{\"frame_num\":0,\"matches\":[{\"name\":\"\\\"a\\\"/\xef\xbf\xbd\","
      "\"rank\":7},{\"name\":null,\"rank\":8}]," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
  g_byte_array_unref (sent);
  gst_buffer_unref (buffer);

  gst_cuv_meta_add_table (
      empty, "lines", 1, 640, 480, "none", &column, 1, "", 0);
  sent = serialize (empty);
  buffer = deserialize (sent->data, sent->len);
  fail_unless (gst_cuv_meta_next_table (buffer, &state, &table));
  ck_assert_str_eq (table.kind, "lines");
  ck_assert_uint_eq (table.n_columns, 1);
  ck_assert_uint_eq (table.n_rows, 0);
  gst_buffer_unref (buffer);
  g_byte_array_unref (sent);
  gst_buffer_unref (empty);
}
#endif

CUV_TEST (test_texts_in_csv)
{
  g_autoptr (GstHarness) h = NULL;
  g_autofree gchar *text = NULL;

  fail_unless (g_file_set_contents (path, "", 0, NULL));
  h = harness_new ("csv");
  push (h, frame_with_texts ());
  gst_harness_push_event (h, gst_event_new_eos ());
  text = contents ();
  fail_unless (strstr (text,
                   "extra\r\nmatches,0,0,T,,640,480,,,,,,,,,,,,,,,"
                   "\"{\"\"row\"\":{\"\"name\"\":\"\"\\\"\"a\\\"\"/"
                   "\xef\xbf\xbd\"\",\"\"rank\"\":7}}\"\r\n"
                   "matches,0,0,T,,640,480,,,,,,,,,,,,,,,"
                   "\"{\"\"row\"\":{\"\"name\"\":null,\"\"rank\"\":8}"
                   "}\"\r\n")
          != NULL,
      "%s", text);
}

/* Invalid tables are ignored; a table without rows is a result only if it has
 * scalars. */
CUV_TEST (test_empty_tables)
{
  static const gchar *no_tags[] = { NULL };
  GstBuffer *buffer = frame_new (0);
  GstStructure *structure;

  gst_meta_register_custom ("PublishTestMeta", no_tags, NULL, NULL, NULL);
  structure = gst_custom_meta_get_structure (
      gst_buffer_add_custom_meta (buffer, "PublishTestMeta"));
  gst_structure_set (structure, "kind", G_TYPE_STRING, "broken", NULL);
  add_lines (buffer, 0, 640);
  fail_unless_record (buffer, "");

  buffer = frame_new (0);
  structure = gst_cuv_meta_add_table (
      buffer, "focus", 1, 640, 480, "none", NULL, 0, NULL, G_MAXUINT);
  gst_structure_set (structure, "sharpness", G_TYPE_DOUBLE, 0.5, NULL);
  fail_unless_record (buffer,
      "{\"focus\":[],\"focus_info\":{\"sharpness\":0.5},\"frame_num\":0," FRAME
      ",\"timestamp\":0,\"wallclock\":\"T\"}\n");
}

/* ---- frames ---- */

CUV_TEST (test_empty_results)
{
  GstHarness *h = harness_new ("json-lines");

  push (h, frame_new (0));
  g_object_set (h->element, "add-empty-results", TRUE, "source", "rtsp://x",
      "tags", "{\"b\":1.10,\"a\":\"d\\u00fcr\"}", NULL);
  push (h, frame_new (GST_CLOCK_TIME_NONE));
  g_object_set (h->element, "source", NULL, "tags", "", NULL);
  push (h, frame_new (40 * GST_MSECOND));
  fail_unless_written (h,
      "{\"frame_num\":1," FRAME ",\"source\":\"rtsp://x\",\"tags\":{\"a\":\"d"
      "\xc3\xbcr\",\"b\":1.1},\"wallclock\":\"T\"}\n"
      "{\"frame_num\":2," FRAME
      ",\"timestamp\":40000000,\"wallclock\":\"T\"}\n");
}

static GstBuffer *
frame_captured (const gchar *clock, guint64 seconds)
{
  GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE);
  g_autoptr (GstCaps) caps = gst_caps_from_string (clock);

  gst_buffer_add_reference_timestamp_meta (
      buffer, caps, seconds * GST_SECOND + 123456789, GST_CLOCK_TIME_NONE);
  return buffer;
}

/* Capture times count from 1900 or from 1970. */
CUV_TEST (test_captured)
{
  const guint64 epoch = 2208988800, end_of_1999 = 946684799;
  g_autoptr (GstHarness) h = NULL;
  g_autofree gchar *text = NULL;

  fail_unless_read (frame_captured ("timestamp/x-unix", end_of_1999),
      "{\"captured\":\"1999-12-31T23:59:59.123456Z\"}");
  fail_unless_read (frame_captured ("timestamp/x-ntp", epoch + end_of_1999),
      "{\"captured\":\"1999-12-31T23:59:59.123456Z\"}");
  fail_unless_read (frame_captured ("timestamp/x-ntp", 1000), "{}");
  fail_unless_read (frame_captured ("timestamp/x-ptp", end_of_1999), "{}");
  h = harness_new ("csv");
  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_captured ("timestamp/x-unix", end_of_1999));
  gst_harness_push_event (h, gst_event_new_eos ());
  text = contents ();
  fail_unless (strstr (text,
                   ",\"{\"\"captured\"\":\"\"1999-12-31T23:59:59."
                   "123456Z\"\"}\""),
      "%s", text);
}

CUV_TEST (test_stream_time)
{
  GstHarness *h = harness_new ("json-lines");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 1000;
  segment.time = 5000;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_new (1030));
  fail_unless_written (h,
      "{\"frame_num\":0," FRAME ",\"timestamp\":5030,\"wallclock\":\"T\"}\n");
}

CUV_TEST (test_any_caps)
{
  GstHarness *h = harness_new_for (
      "video/x-raw(memory:CUDAMemory),format=NV12,width=1920,height=1080",
      "json-lines");

  g_object_set (h->element, "add-empty-results", TRUE, NULL);
  push (h, frame_new (0));
  gst_harness_set_src_caps_str (h, "application/x-what");
  push (h, frame_new (1));
  fail_unless_written (h,
      "{\"frame_num\":0,\"resolution\":{\"height\":1080,\"width\":1920},"
      "\"timestamp\":0,\"wallclock\":\"T\"}\n"
      "{\"frame_num\":1,\"timestamp\":1,\"wallclock\":\"T\"}\n");
}

/* The buffer itself is passed on, even if it is not writable. */
CUV_TEST (test_passthrough)
{
  g_autoptr (GstHarness) h = harness_new ("json-lines");
  g_autoptr (GstBuffer) buffer = frame_new (0);
  g_autoptr (GstBuffer) out = NULL;

  add_lines (buffer, 2, 640);
  gst_buffer_ref (buffer);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (out == buffer);
}

CUV_FIXTURE (set_up, tear_down)
