/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of entries, and progress messages. */
#include "config.h"
#include "indexsink-harness.h"

#include <glib/gstdio.h>
#include <string.h>

/* ---- names ---- */

static void
expect_third (const gchar *properties, const gchar *name)
{
  GstHarness *h = sink_new (properties, "NV12", 64, 48);
  CuvLdpIndex *index;

  push_random (h, "NV12", 64, 48, 3);
  gst_harness_teardown (h);
  index = index_open (INDEX, 3);
  fail_unless_equals_string (cuv_ldp_index_name (index, 2), name);
  cuv_ldp_index_free (index);
  g_remove (INDEX);
}

CUV_TEST (name_patterns)
{
  expect_third ("", "000002");
  expect_third ("start-index=7", "000009");
  expect_third ("entry-name=img%05d.png start-index=98", "img00100.png");
  expect_third ("entry-name=%d", "2");
  expect_third ("entry-name=<%4d>", "<   2>");
  expect_third ("entry-name=<%0d>", "<2>");
  expect_third ("entry-name=100%%-%d-%%d%%", "100%-2-%d%");
  expect_third ("entry-name=same", "same");
  expect_third ("entry-name=\"\"", "000002");
  expect_third ("start-index=2147483647", "2147483649");
  expect_third ("entry-name=\"a b/\303\244.jpg\"", "a b/\303\244.jpg");
}

static void
expect_invalid (const gchar *name, const gchar *part)
{
  g_autoptr (GstElement) pipeline =
      cuv_pipeline_new ("videotestsrc num-buffers=1 ! "
                        "ldpindexsink name=sink location=" INDEX);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autofree gchar *text = NULL;

  g_object_set (sink, "entry-name", name, NULL);
  text = cuv_pipeline_play (pipeline);
  fail_unless (
      text != NULL && strstr (text, part) != NULL, "%s: '%s'", name, text);
  fail_if (
      g_file_test (INDEX, G_FILE_TEST_EXISTS) && strstr (part, "entry-name"),
      "%s", name);
  g_remove (INDEX);
}

CUV_TEST (invalid_patterns)
{
  static const gchar *const bad[] = { "%s", "%n", "a%", "%05", "%u", "%ld",
    "%-5d", "%+d", "%*d", "%5.3d", "%x", "% d", "%100d", "%99999999999d",
    "%1$d", "%%%" };
  g_autofree gchar *name = g_strnfill (1025, 'n');

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    expect_invalid (bad[i],
        "is not valid: use UTF-8 with at most one placeholder for a "
        "number, %d");
  expect_invalid ("%d-%d",
      "entry-name '%d-%d' is not valid: use UTF-8 with at most one "
      "placeholder");
  expect_invalid ("\377.jpg", "entry-name '\357\277\275.jpg' is not valid");
  expect_invalid (
      name, "a name has 1025 bytes, but at most 1023 fit: shorten 'nnn");
}

static void
push_title (GstHarness *h, GstTagScope scope, const gchar *title)
{
  GstTagList *tags = gst_tag_list_new (GST_TAG_TITLE, title, NULL);

  gst_tag_list_set_scope (tags, scope);
  gst_harness_push_event (h, gst_event_new_tag (tags));
}

/* A stream title names one frame; a global title names none. */
CUV_TEST (titles_name_entries)
{
  GstHarness *h = sink_new ("", "NV12", 64, 48);

  push_title (h, GST_TAG_SCOPE_GLOBAL, "the film");
  push_random (h, "NV12", 64, 48, 1);
  push_title (h, GST_TAG_SCOPE_STREAM, "not this");
  push_title (h, GST_TAG_SCOPE_STREAM, "%d %n \303\244");
  push_random (h, "NV12", 64, 48, 2);
  push_title (h, GST_TAG_SCOPE_STREAM, "third");
  push_random (h, "NV12", 64, 48, 1);
  gst_harness_teardown (h);
  expect_names ("000000|%d %n \303\244|000002|third");
}

CUV_TEST (entry_name_overrides_title)
{
  GstHarness *h = sink_new ("entry-name=file.png", "NV12", 64, 48);

  push_title (h, GST_TAG_SCOPE_STREAM, "a title");
  push_random (h, "NV12", 64, 48, 1);
  gst_harness_teardown (h);
  expect_names ("file.png");
}

CUV_TEST (names_of_regions)
{
  GstHarness *h = sink_new ("region=roi-list grid=2 descriptor-width=16 "
                            "descriptor-height=16 entry-name=f%d.png",
      "NV12", 64, 48);
  GstBuffer *frame = cuv_frame_new ("NV12", 64, 48);

  add_region (frame, 3, 0, 0, 20, 20);
  push (h, frame);
  frame = cuv_frame_new ("NV12", 64, 48);
  add_region (frame, 3, 0, 0, 20, 20);
  add_region (frame, 8, 9, 0, 20, 20);
  push (h, frame);
  gst_harness_teardown (h);
  expect_names ("f0.png|f1.png#3|f1.png#8");
}

/* ---- names of files ---- */

#define PICTURES "/usr/share/doc/opencv-doc/examples/data/"
#define FILES(more) "multifilesrc location=f%02d.jpg start-index=1 " more " ! "
#define JPEGS FILES ("caps=image/jpeg,framerate=1/1")

/* Writes f01.jpg to f06.jpg. The broken one contains these bytes or, for
 * NULL, only the beginning of its picture. */
static void
write_files (guint broken, const gchar *bytes, gsize size)
{
  for (guint i = 1; i <= 6; i++) {
    gchar *from = g_strdup_printf (PICTURES "left%02u.jpg", i);
    gchar *to = g_strdup_printf ("f%02u.jpg", i), *jpeg;
    gsize n;

    fail_unless (
        g_file_get_contents (from, &jpeg, &n, NULL), "%s is missing", from);
    fail_unless (i == broken
            ? g_file_set_contents (
                to, bytes != NULL ? bytes : jpeg, (gssize) size, NULL)
            : g_file_set_contents (to, jpeg, (gssize) n, NULL));
    g_free (jpeg);
    g_free (from);
    g_free (to);
  }
}

/* Indexes the source and checks the error, NULL for none, and the names. */
static void
expect_files (const gchar *source, const gchar *properties,
    const gchar *problem, const gchar *names)
{
  g_autofree gchar *line =
      g_strdup_printf ("%s videoconvert ! ldpindexsink location=" INDEX " %s",
          source, properties);
  GstElement *pipeline = cuv_pipeline_new (line);
  g_autofree gchar *text = cuv_pipeline_play (pipeline);

  fail_unless (problem == NULL ? text == NULL
                               : text != NULL && strstr (text, problem) != NULL,
      "%s: %s", line, text);
  gst_object_unref (pipeline);
  if (names != NULL)
    expect_names (names);
  g_remove (INDEX);
}

CUV_TEST (names_of_files)
{
  write_files (0, NULL, 0);
  expect_files (JPEGS "jpegdec !", "", NULL,
      "f01.jpg|f02.jpg|f03.jpg|f04.jpg|f05.jpg|f06.jpg");
  expect_files (
      FILES ("stop-index=2") "decodebin !", "entry-name=n%d", NULL, "n1|n2");
  expect_files (FILES ("stop-index=2") "decodebin !",
      "entry-name=n%d start-index=1", NULL, "n1|n2");
  expect_files (FILES ("stop-index=2") "decodebin !",
      "entry-name=n%d start-index=70", NULL, "n70|n71");
  expect_files (FILES ("stop-index=2") "decodebin !", "entry-name=same", NULL,
      "same|same");
}

/* The decoder silently drops or delays a frame. */
CUV_TEST (undecodable_files)
{
  static const gchar text[] = "this is not a picture";

  write_files (3, text, sizeof text);
  expect_files (JPEGS "jpegdec !", "entry-name=f%02d.jpg",
      "Files f03.jpg to f04.jpg produced only one frame", "f01.jpg|f02.jpg");
  expect_files (
      JPEGS "jpegdec !", "", "Files f03.jpg to f04.jpg", "f01.jpg|f02.jpg");
  expect_files (
      JPEGS "jpegdec !", "entry-name=same", NULL, "same|same|same|same|same");
  write_files (4, NULL, 2000);
  expect_files (JPEGS "jpegdec !", "", "Files f04.jpg to f05.jpg",
      "f01.jpg|f02.jpg|f03.jpg");
  write_files (6, text, sizeof text);
  expect_files (
      JPEGS "jpegdec !", "", NULL, "f01.jpg|f02.jpg|f03.jpg|f04.jpg|f05.jpg");
}

CUV_TEST (files_through_a_queue)
{
  write_files (0, NULL, 0);
  expect_files (JPEGS "jpegdec ! queue !", "entry-name=f%02d.jpg",
      "A queue between multifilesrc and this sink", NULL);
  expect_files (
      FILES ("stop-index=2") "decodebin ! queue !", "", NULL, "000000|000001");
}

/* If a file has several frames, entries are named by frame numbers. */
CUV_TEST (frames_of_a_file)
{
  GString *film = g_string_new (NULL);
  g_autofree gchar *jpeg = NULL;
  gsize n;

  fail_unless (g_file_get_contents (PICTURES "left01.jpg", &jpeg, &n, NULL));
  for (guint i = 0; i < 3; i++)
    g_string_append_len (film, jpeg, (gssize) n);
  fail_unless (
      g_file_set_contents ("film.mjpeg", film->str, (gssize) film->len, NULL));
  expect_files ("multifilesrc location=film.mjpeg stop-index=0 ! jpegdec !",
      "entry-name=n%d", NULL, "n0|n1|n2");
  g_string_free (film, TRUE);
}

/* ---- progress ---- */

static guint64
field_of (const GstStructure *structure, const gchar *name)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (structure, name, &value), "%s", name);
  return value;
}

/* Returns the next progress message, or NULL; free it. */
static GstStructure *
pop_progress (GstBus *bus)
{
  GstMessage *message;
  GstStructure *found = NULL;

  while (found == NULL
      && (message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    const GstStructure *structure = gst_message_get_structure (message);

    if (gst_structure_has_name (structure, "ldpindexsink"))
      found = gst_structure_copy (structure);
    gst_message_unref (message);
  }
  return found;
}

static guint
count_progress (const gchar *properties, gboolean with_eos)
{
  GstHarness *h = sink_new (properties, "NV12", 64, 48);
  GstBus *bus = cuv_harness_watch (h);
  GstStructure *structure;
  guint n = 0;

  for (guint i = 0; i < 5; i++) {
    GstBuffer *frame = cuv_frame_new ("NV12", 64, 48);

    GST_BUFFER_PTS (frame) = i * GST_SECOND;
    push (h, frame);
    g_usleep (2000);
  }
  if (with_eos)
    gst_harness_push_event (h, gst_event_new_eos ());
  for (; (structure = pop_progress (bus)) != NULL; n++) {
    const guint64 written = field_of (structure, "written");
    gchar *name = g_strdup_printf ("%06d", (gint) written - 1);

    fail_unless (written > 0 && written <= 5);
    fail_unless_equals_uint64 (field_of (structure, "entries"), written);
    fail_unless (field_of (structure, "bytes") > written * 1024);
    fail_unless_equals_string (
        gst_structure_get_string (structure, "name"), name);
    fail_unless_equals_uint64 (
        field_of (structure, "stream-time"), (written - 1) * GST_SECOND);
    fail_unless_equals_uint64 (
        field_of (structure, "running-time"), (written - 1) * GST_SECOND);
    g_free (name);
    gst_structure_free (structure);
  }
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);
  g_remove (INDEX);
  return n;
}

#define RARELY "progress-interval=3600000" /* an hour */

CUV_TEST (progress)
{
  fail_unless_equals_int (count_progress (RARELY, FALSE), 0);
  fail_unless_equals_int (count_progress (RARELY, TRUE), 1);
  fail_unless (count_progress ("progress-interval=1", FALSE) >= 4);
  fail_unless_equals_int (count_progress ("progress-interval=0", TRUE), 0);
}
