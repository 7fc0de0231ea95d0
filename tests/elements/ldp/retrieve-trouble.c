/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors of ldpretrieve, and files that change while it reads them. */
#include "config.h"
#include "retrieve-harness.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#if HAVE_CUDA
#include "cuvhooks.h"
#endif

/* ---- files that change while they are read ---- */

/* The element stops using a file that is truncated or overwritten, and reports
 * that once, until index is set again. */
CUV_TEST (test_file_is_truncated_or_overwritten)
{
  static const gchar *const problems[] = { "is truncated", "overwritten" };

  for (guint i = 0; i < G_N_ELEMENTS (problems); i++) {
    gchar *path = library_new (9, 4), *other = library_new (3, 0), *bytes;
    gsize size;
    Run run;

    run_with_index (&run, path, "refresh-interval=1 k=100");
    expect_rows (&run, 1, 9);
    fail_unless (
        g_file_get_contents (i == 0 ? path : other, &bytes, &size, NULL));
    {
      FILE *file = g_fopen (path, "r+"); /* the same inode */

      fail_unless (file != NULL);
      if (i == 0)
        fail_unless (ftruncate (fileno (file), (off_t) size / 2) == 0);
      else
        fail_unless (fwrite (bytes, 1, size, file) == size);
      fclose (file);
    }
    g_free (bytes);
    g_usleep (2000);
    for (gint n = 0; n < 3; n++) {
      expect_rows (&run, 1, 0);
      g_usleep (2000);
    }
    expect_problem (run.bus, GST_MESSAGE_WARNING, problems[i]);
    expect_no_warning (run.bus);
    cuv_harness_caps (run.h, "NV12", SIZE, SIZE + 2);
    gst_buffer_unref (gst_harness_push_and_pull (
        run.h, frame_of ("NV12", SIZE, SIZE + 2, 1)));
    cuv_harness_caps (run.h, "NV12", SIZE, SIZE);
    g_object_set (run.element, "index", other, NULL);
    expect_rows (&run, 1, 3);
    run_clear (&run);
    library_remove (path);
    library_remove (other);
  }
}

/* Flips a bit of the file. */
static void
damage (const gchar *path, gsize at)
{
  FILE *file = g_fopen (path, "r+");
  gint byte;

  fail_unless (file != NULL && fseek (file, (long) at, SEEK_SET) == 0);
  byte = fgetc (file);
  fail_unless (fseek (file, (long) at, SEEK_SET) == 0);
  fputc (byte ^ 1, file);
  fclose (file);
}

CUV_TEST (test_damaged_while_playing)
{
  gchar *path = library_new (3, 0);
  GStatBuf before, after;
  Run run;

  run_with_index (&run, path, "refresh-interval=20 k=100");
  expect_rows (&run, 1, 3);
  fail_unless (g_stat (path, &before) == 0);
  library_append (path, 3);
  fail_unless (g_stat (path, &after) == 0);
  library_append (path, 4);
  damage (path, (gsize) (before.st_size + after.st_size) / 2);
  for (gint i = 0; i < 3; i++) {
    g_usleep (21000);
    expect_rows (&run, 1, 3);
  }
  expect_problem (run.bus, GST_MESSAGE_WARNING, "Entry 3 of index ");
  expect_no_warning (run.bus);
  cuv_harness_caps (run.h, "NV12", SIZE, SIZE + 2);
  {
    GstBuffer *buffer =
        gst_harness_push_and_pull (run.h, frame_of ("NV12", SIZE, SIZE + 2, 1));
    gpointer state = NULL;
    GstCuvTable table;

    fail_unless (gst_cuv_meta_next_table (buffer, &state, &table));
    fail_unless_equals_int (table.n_rows, 3);
    gst_buffer_unref (buffer);
  }
  run_clear (&run);
  library_remove (path);
}

/* A replaced file is reported once; the old one stays in use. */
CUV_TEST (test_file_is_replaced)
{
  gchar *path = library_new (3, 0), *other = library_new (5, 0);
  Run run;

  run_with_index (&run, path, "refresh-interval=1 k=100");
  expect_rows (&run, 1, 3);
  fail_unless (g_rename (other, path) == 0);
  for (gint i = 0; i < 3; i++) {
    g_usleep (2000);
    expect_rows (&run, 1, 3);
  }
  expect_problem (run.bus, GST_MESSAGE_WARNING, "the old one is still used");
  expect_no_warning (run.bus);
  g_object_set (run.element, "index", path, NULL);
  for (gint i = 0; i < 2; i++) {
    expect_rows (&run, 1, 5);
    g_usleep (2000);
  }
  expect_no_warning (run.bus);
  run_clear (&run);
  library_remove (path);
  library_remove (other);
}

CUV_TEST (test_long_interval)
{
  gchar *path = library_new (3, 0);
  Run run;

  run_with_index (&run, path, "refresh-interval=2147483647 k=100");
  expect_rows (&run, 1, 3);
  library_append (path, 3);
  expect_rows (&run, 1, 3);
  run_clear (&run);
  library_remove (path);
}

/* A message handler may set properties. */
static GstBusSyncReply
set_another (GstBus *bus, GstMessage *message, gpointer path)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    g_object_set (GST_MESSAGE_SRC (message), "index", path, NULL);
  return GST_BUS_PASS;
}

CUV_TEST (test_set_in_handler)
{
  gchar *path = library_new (3, 0), *other = library_new (5, 0);
  Run run;

  run_with_index (&run, path, "k=100");
  expect_rows (&run, 1, 3);
  gst_bus_set_sync_handler (run.bus, set_another, other, NULL);
  g_object_set (run.element, "index", "/nowhere/at.all", NULL);
  expect_rows (&run, 1, 5);
  gst_bus_set_sync_handler (run.bus, NULL, NULL, NULL);
  run_clear (&run);
  library_remove (path);
  library_remove (other);
}

#if HAVE_CUDA
/* Without enough GPU memory each frame causes an error. */
CUV_TEST_IF (test_out_of_gpu_memory, use_cuda)
{
  gchar *path = library_new (3, 0);
  Run run;

  run_with_index (&run, path, "");
  for (gint i = 0; i < 2; i++) {
    cuv_cuda_fail_allocation (i);
    fail_unless_equals_int (
        gst_harness_push (run.h, frame_of ("NV12", SIZE, SIZE, 1)),
        GST_FLOW_ERROR);
    expect_problem (run.bus, GST_MESSAGE_ERROR, "gpu-memory-limit is 0 MiB");
  }
  cuv_cuda_fail_allocation (-1);
  expect_rows (&run, 1, 3);
  run_clear (&run);
  library_remove (path);
}
#endif

/* ---- invalid indexes and descriptors ---- */

static void
expect_no_start (const gchar *path, const gchar *problem)
{
  GstElement *element = gst_element_factory_make ("ldpretrieve", NULL);

  g_object_set (element, "index", path, NULL);
  cuv_expect_no_start (element, problem);
}

CUV_TEST (test_invalid_indexes)
{
  gchar *path = library_new (5, 0);
  GStatBuf file;

  expect_no_start (NULL, "set index to a file that ldpindexsink wrote");
  expect_no_start ("", "set index to a file that ldpindexsink wrote");
  expect_no_start ("/nowhere/at.all", "/nowhere/at.all: cannot be opened");
  expect_no_start (__FILE__, "is not an index of local derivative patterns");
  fail_unless (g_stat (path, &file) == 0);
  damage (path, (gsize) file.st_size / 2);
  expect_no_start (
      path, "is damaged (checksum mismatch): restore the file from a copy");
  library_remove (path);
}

CUV_TEST (test_upstream_descriptors)
{
  static const struct {
    const gchar *properties;
    gboolean ok;
  } cases[] = { { "grid=4 scales=2", TRUE },
    { "grid=4 scales=2 order=4", FALSE }, { "grid=4", FALSE },
    { "grid=5 scales=2", FALSE },
    { "grid=4 scales=2 descriptor-width=32", FALSE } };
  gchar *path = library_new (5, 0);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf (
        "ldpdescriptor %s ! ldpretrieve index=%s", cases[i].properties, path);
    GstFlowReturn flow;
    Run run;

    run_init (&run, line, SIZE, SIZE);
    flow = gst_harness_push (run.h, frame_of ("NV12", SIZE, SIZE, 1));
    fail_unless_equals_int (flow, cases[i].ok ? GST_FLOW_OK : GST_FLOW_ERROR);
    if (!cases[i].ok) {
      gchar *text = pop_problem (run.bus, GST_MESSAGE_ERROR);

      fail_unless (text != NULL && strstr (text, "order 3, a grid of 4") != NULL
              && strstr (text, "or remove ldpdescriptor"),
          "%s", text);
      g_free (text);
    }
    run_clear (&run);
    g_free (line);
  }
  library_remove (path);
}
