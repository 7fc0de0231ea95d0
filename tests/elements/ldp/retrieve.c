/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpretrieve: matches against the C reference, and changes while playing. With
 * CUV_TEST_CUDA=1 the GPU must find the same matches. */
#include "config.h"
#include "retrieve-harness.h"

#include <string.h>

/* ---- matches ---- */

CUV_TEST (test_matches)
{
  gchar *path = library_new (PICTURES, 0);
  Run run;

  run_with_index (&run, path, "k=100");
  for (gint i = 0; i < PICTURES; i += 3) {
    GstCuvTable table;
    GstBuffer *buffer = push_picture (&run, i, &table);

    fail_unless_equals_int (table.n_rows, PICTURES);
    fail_unless_equals_string (table.shape, "none");
    fail_unless_equals_int (cell (&table, 0, "entry"), i);
    fail_unless (cell (&table, 0, "similarity") == 1.0);
    for (guint row = 0; row < table.n_rows; row++) {
      fail_unless_equals_int (cell (&table, row, "region_id"), -1);
      fail_unless_equals_int (cell (&table, row, "rank"), row + 1);
      check_row (&table, row,
          similarity_to (picture (i), SIZE, SIZE, SIZE,
              (gint) cell (&table, row, "entry")));
      fail_unless (row == 0
          || cell (&table, row, "similarity")
              <= cell (&table, row - 1, "similarity"));
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (cuv_stat (run.element, "entries"), PICTURES);
  run_clear (&run);
  library_remove (path);
}

/* Frames of another size are resized to that of the index. */
CUV_TEST (test_other_size)
{
  gchar *path = library_new (PICTURES, 0), *line;
  guint8 pixels[90 * 70];
  Run run;

  line =
      g_strdup_printf ("ldpretrieve orientations=upright index=%s k=20", path);
  run_init (&run, line, 90, 70);
  for (gint y = 0; y < 70; y++)
    for (gint x = 0; x < 90; x++)
      pixels[y * 90 + x] = picture (5)[y % SIZE * SIZE + x % SIZE];
  {
    GstBuffer *buffer =
        gst_harness_push_and_pull (run.h, frame_of ("NV12", 90, 70, 5));
    gpointer state = NULL;
    GstCuvTable table;

    fail_unless (gst_cuv_meta_next_table (buffer, &state, &table));
    for (guint row = 0; row < table.n_rows; row++)
      check_row (&table, row,
          similarity_to (
              pixels, 90, 90, 70, (gint) cell (&table, row, "entry")));
    fail_unless (cell (&table, 0, "similarity") < 1.0);
    gst_buffer_unref (buffer);
  }
  run_clear (&run);
  g_free (line);
  library_remove (path);
}

/* Copies a picture: mirrored (1), upside down (2), rows and columns exchanged
 * (4). */
static void
turn (const guint8 *from, gint orientation, guint8 *to)
{
  for (gint i = 0; i < SIZE * SIZE; i++) {
    gint x = i % SIZE, y = i / SIZE;

    if (orientation & 4) {
      x = i / SIZE;
      y = i % SIZE;
    }
    if (orientation & 1)
      x = SIZE - 1 - x;
    if (orientation & 2)
      y = SIZE - 1 - y;
    to[i] = from[y * SIZE + x];
  }
}

static gdouble
largest_similarity (const guint8 *pixels, gint orientations, gint entry)
{
  guint8 turned[SIZE * SIZE];
  gdouble largest = 0;

  for (gint i = 0; i < orientations; i++) {
    turn (pixels, i, turned);
    largest = MAX (largest, similarity_to (turned, SIZE, SIZE, SIZE, entry));
  }
  return largest;
}

static void
check_orientations (Run *run, const guint8 *pixels, gint orientations)
{
  g_autoptr (GstBuffer) buffer = gst_harness_push_and_pull (
      run->h, frame_with ("NV12", SIZE, SIZE, pixels));
  gpointer state = NULL;
  GstCuvTable table;

  fail_unless (gst_cuv_meta_next_table (buffer, &state, &table));
  for (guint row = 0; row < table.n_rows; row++)
    check_row (&table, row,
        largest_similarity (
            pixels, orientations, (gint) cell (&table, row, "entry")));
}

/* Mirrored and turned frames are found, too; orientations changes while
 * playing. */
CUV_TEST (test_orientations)
{
  gchar *path = library_new (PICTURES, 0);
  g_autofree gchar *line =
      g_strdup_printf ("ldpretrieve index=%s k=20 share=0.5", path);
  guint8 pixels[SIZE * SIZE];
  Run run;

  run_init (&run, line, SIZE, SIZE);
  turn (picture (3), 1, pixels);
  fail_unless (largest_similarity (pixels, 2, 3) == 1.0);
  check_orientations (&run, pixels, 2); /* the default */
  gst_util_set_object_arg (G_OBJECT (run.element), "orientations", "all");
  for (gint i = 2; i < 8; i += 5) {
    turn (picture (3), i, pixels);
    check_orientations (&run, pixels, 8);
  }
  gst_util_set_object_arg (G_OBJECT (run.element), "orientations", "upright");
  check_orientations (&run, pixels, 1);
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_k_and_threshold)
{
  gchar *path = library_new (PICTURES, 0);
  gdouble third;
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "");
  gst_buffer_unref (push_picture (&run, 2, &table));
  g_object_set (run.element, "k", 3, NULL);
  {
    GstBuffer *buffer = push_picture (&run, 2, &table);

    fail_unless_equals_int (table.n_rows, 3);
    third = cell (&table, 2, "similarity");
    gst_buffer_unref (buffer);
  }
  g_object_set (run.element, "k", 10, "threshold", third, NULL);
  {
    GstBuffer *buffer = push_picture (&run, 2, &table);

    fail_unless_equals_int (table.n_rows, 3);
    gst_buffer_unref (buffer);
  }
  g_object_set (run.element, "threshold", 1.0, NULL);
  {
    GstBuffer *buffer = push_picture (&run, 2, &table);

    fail_unless_equals_int (table.n_rows, 1);
    gst_buffer_unref (buffer);
  }
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_regions)
{
  gchar *path = library_new (PICTURES, 0);
  GstBuffer *frame = frame_of ("NV12", 3 * SIZE, SIZE, 4), *buffer;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  GstCuvTable table;
  g_autofree gchar *line = NULL;
  Run run;

  line = g_strdup_printf (
      "ldpretrieve index=%s k=2 region=roi-list object-class=face", path);
  run_init (&run, line, 3 * SIZE, SIZE);
  roi = gst_buffer_add_video_region_of_interest_meta (
      frame, "face", SIZE, 0, SIZE, SIZE);
  roi->id = 7;
  gst_buffer_add_video_region_of_interest_meta (frame, "eye", 0, 0, 9, 9);
  roi = gst_buffer_add_video_region_of_interest_meta (
      frame, "face", 2 * SIZE, 0, 1000, SIZE);
  roi->id = 9;
  buffer = gst_harness_push_and_pull (run.h, frame);
  fail_unless (gst_cuv_meta_next_table (buffer, &state, &table));
  fail_unless_equals_int (table.n_rows, 4);
  for (guint row = 0; row < 4; row++) {
    fail_unless_equals_int (cell (&table, row, "region_id"), row < 2 ? 7 : 9);
    fail_unless_equals_int (cell (&table, row, "rank"), row % 2 + 1);
  }
  fail_unless_equals_int (cell (&table, 0, "entry"), 4);
  fail_unless (cell (&table, 2, "similarity") == 1.0);
  fail_unless_equals_int (cuv_stat_uint (run.element, "regions"), 2);
  fail_unless_equals_int (cuv_stat_uint (run.element, "matches"), 4);
  gst_buffer_unref (buffer);
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_thumbnails)
{
  gchar *path = library_new (6, 4);
  GstCuvTable table;
  const guint8 *pictures;
  GstBuffer *buffer;
  guint width, height;
  Run run;

  run_with_index (&run, path, "k=3");
  buffer = push_picture (&run, 5, &table);
  fail_unless_equals_string (table.shape, "pictures");
  pictures = gst_cuv_table_pictures (&table, &width, &height);
  fail_unless (pictures != NULL && width == 4 && height == 4);
  for (guint row = 0; row < 3; row++)
    for (guint i = 0; i < 48; i++)
      fail_unless_equals_int (pictures[row * 48 + i],
          (i % 3 + 1) * (guint) cell (&table, row, "entry"));
  gst_buffer_unref (buffer);
  g_object_set (run.element, "thumbnails", FALSE, NULL);
  buffer = push_picture (&run, 5, &table);
  fail_unless_equals_string (table.shape, "none");
  fail_unless (gst_cuv_table_pictures (&table, &width, &height) == NULL);
  gst_buffer_unref (buffer);
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_message)
{
  gchar *path = library_new (3, 0);
  GstCuvTable table;
  gint n = 0;
  Run run;

  run_with_index (&run, path, "k=2");
  for (gint i = 0; i < 6; i++) /* 0 0 1 1 2 2 */
    gst_buffer_unref (push_picture (&run, i / 2, &table));
  for (GstMessage *m;
       (m = gst_bus_pop_filtered (run.bus, GST_MESSAGE_ELEMENT)) != NULL;) {
    const GstStructure *s = gst_message_get_structure (m);
    const GValue *list = gst_structure_get_value (s, "matches");
    const GstStructure *best;
    guint64 entry;

    fail_unless_equals_string (gst_structure_get_name (s), "ldpretrieve");
    fail_unless_equals_int (gst_value_list_get_size (list), 2);
    best = gst_value_get_structure (gst_value_list_get_value (list, 0));
    fail_unless (gst_structure_get_uint64 (best, "entry", &entry));
    fail_unless_equals_uint64 (entry, n++);
    fail_unless (gst_structure_has_field (best, "name"));
    gst_message_unref (m);
  }
  fail_unless_equals_int (n, 3);
  run_clear (&run);
  library_remove (path);
}

/* Matches do not depend on how the work and the index are split between host
 * and device: 100 entries take more than 1 MiB. */
CUV_TEST (test_share_and_memory_limit)
{
  static const gchar *const settings[] = { "share=0", "share=1", "share=0.3",
    "share=-1", "gpu-memory-limit=1", "gpu-memory-limit=1 share=0.5",
    "gpu-memory-limit=1 share=-1", "n-threads=1" };
  gchar *path = library_new (100, 0);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    Run run;

    run_with_index (&run, path, settings[i]);
    for (gint n = 0; n < 7; n++) {
      GstCuvTable table;
      GstBuffer *buffer = push_picture (&run, n, &table);

      fail_unless_equals_int (table.n_rows, 5);
      for (guint row = 0; row < 5; row++) {
        check_row (
            &table, row, 1.0); /* the index has each picture five times */
        fail_unless_equals_int (
            cell (&table, row, "entry"), n + (gint) row * PICTURES);
      }
      gst_buffer_unref (buffer);
    }
    if (!use_cuda || i == 1)
      fail_unless_equals_int (cuv_stat (run.element, "entries-on-cpu"), 100);
    if (use_cuda && (i == 0 || i == 2))
      fail_unless_equals_int (
          cuv_stat (run.element, "entries-on-cpu"), i == 0 ? 0 : 30);
    run_clear (&run);
  }
  library_remove (path);
}

/* ---- changes while playing ---- */

CUV_TEST (test_appended)
{
  gchar *path = library_new (3, 0);
  GstBuffer *buffer;
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "refresh-interval=1 k=100");
  for (gint n = 3; n < 12; n++) {
    buffer = push_picture (&run, n, &table);
    fail_unless_equals_int (table.n_rows, n);
    fail_unless (cell (&table, 0, "similarity") < 1.0);
    gst_buffer_unref (buffer);
    library_append (path, n);
    g_usleep (2000);
    buffer = push_picture (&run, n, &table);
    fail_unless_equals_int (table.n_rows, n + 1);
    fail_unless_equals_int (cell (&table, 0, "entry"), n);
    gst_buffer_unref (buffer);
  }
  g_object_set (run.element, "refresh-interval", 0, NULL);
  library_append (path, 12);
  g_usleep (2000);
  buffer = push_picture (&run, 12, &table);
  fail_unless_equals_int (table.n_rows, 12);
  gst_buffer_unref (buffer);
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_change_index)
{
  gchar *small = library_new (2, 0), *large = library_new (9, 4);
  GstBuffer *buffer;
  GstCuvTable table;
  Run run;

  run_with_index (&run, small, "k=100");
  gst_buffer_unref (push_picture (&run, 1, &table));
  g_object_set (run.element, "index", large, NULL);
  buffer = push_picture (&run, 1, &table);
  fail_unless_equals_int (table.n_rows, 9);
  gst_buffer_unref (buffer);
  g_object_set (run.element, "index", "/nowhere/at.all", NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "/nowhere/at.all");
  g_object_set (run.element, "index", NULL, NULL);
  expect_problem (
      run.bus, GST_MESSAGE_WARNING, "The previous value stays in force");
  buffer = push_picture (&run, 1, &table);
  fail_unless_equals_int (table.n_rows, 9);
  gst_buffer_unref (buffer);
  {
    gchar *path;

    g_object_get (run.element, "index", &path, NULL);
    fail_unless_equals_string (path, large);
    g_free (path);
  }
  run_clear (&run);
  library_remove (small);
  library_remove (large);
}

CUV_TEST (test_restart)
{
  gchar *path = library_new (4, 4);
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "");
  for (gint i = 0; i < 3; i++) {
    gst_buffer_unref (push_picture (&run, i, &table));
    gst_element_set_state (run.h->element, GST_STATE_NULL);
    gst_element_set_state (run.h->element, GST_STATE_PLAYING);
    cuv_harness_caps (run.h, "NV12", SIZE, SIZE);
  }
  run_clear (&run);
  library_remove (path);
}

CUV_TEST (test_empty_index)
{
  gchar *path = library_new (0, 4);
  GstBuffer *buffer;
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "refresh-interval=1");
  buffer = push_picture (&run, 0, &table);
  fail_unless_equals_int (table.n_rows, 0);
  gst_buffer_unref (buffer);
  library_append (path, 0);
  g_usleep (2000);
  buffer = push_picture (&run, 0, &table);
  fail_unless_equals_int (table.n_rows, 1);
  gst_buffer_unref (buffer);
  run_clear (&run);
  library_remove (path);
}

/* While playing, the memory limit is set too low and raised again. */
CUV_TEST (test_limits_and_shares_while_playing)
{
  gchar *path = library_new (100, 0);
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "k=1");
  for (gint n = 0; n < 12; n++) {
    GstBuffer *buffer;

    g_object_set (run.element, "gpu-memory-limit", n % 3 == 1, "share",
        n % 2 == 0 ? -1.0 : 0.0, NULL);
    buffer = push_picture (&run, n, &table);
    fail_unless_equals_int (cell (&table, 0, "entry"), n);
    check_row (&table, 0, 1.0);
    gst_buffer_unref (buffer);
  }
  run_clear (&run);
  library_remove (path);
}

static guint
n_messages (Run *self)
{
  guint n = 0;

  for (GstMessage *m;
       (m = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ELEMENT)) != NULL; n++)
    gst_message_unref (m);
  return n;
}

/* A message is posted although the best match has the same number: it is in
 * another index. */
CUV_TEST (test_message_of_another_index)
{
  gchar *one = library_new (4, 0), *other = library_new (4, 0);
  GstCuvTable table;
  Run run;

  run_with_index (&run, one, "");
  gst_buffer_unref (push_picture (&run, 1, &table));
  gst_buffer_unref (push_picture (&run, 1, &table));
  fail_unless_equals_int (n_messages (&run), 1);
  g_object_set (run.element, "index", other, NULL);
  gst_buffer_unref (push_picture (&run, 1, &table));
  gst_buffer_unref (push_picture (&run, 1, &table));
  fail_unless_equals_int (n_messages (&run), 1);
  run_clear (&run);
  library_remove (one);
  library_remove (other);
}

CUV_TEST (test_large_thumbnails)
{
  gchar *path = library_new (30, 1024);
  GstBuffer *buffer;
  GstCuvTable table;
  Run run;

  run_with_index (&run, path, "k=20");
  buffer = push_picture (&run, 1, &table);
  fail_unless_equals_string (table.shape, "pictures");
  gst_buffer_unref (buffer);
  g_object_set (run.element, "k", 30, NULL);
  for (gint i = 0; i < 2; i++) {
    buffer = push_picture (&run, 1, &table);
    fail_unless_equals_int (table.n_rows, 30);
    fail_unless_equals_string (table.shape, "none");
    gst_buffer_unref (buffer);
  }
  expect_problem (run.bus, GST_MESSAGE_WARNING, "30 matches take more than 64");
  expect_no_warning (run.bus);
  run_clear (&run);
  library_remove (path);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  tcase_set_timeout (tcase, 120);
}
