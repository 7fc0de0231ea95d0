/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* envisink: files, their names, and errors. */
#include "cubes.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>

#define CAPS                                                                   \
  "video/x-spectral,format=U8,width=5,height=4,bands=3,interleave=bil"

static GstHarness *
new_harness (const gchar *location, const gchar *caps)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("envisink", NULL);
  GstHarness *h;

  g_object_set (element, "location", location, "async", FALSE, NULL);
  h = gst_harness_new_with_element (element, "sink", NULL);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static GstBuffer *
counting_buffer (guint start, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  for (gsize i = 0; i < size; i++) {
    guint8 byte = (guint8) (start + i);

    gst_buffer_fill (buffer, i, &byte, 1);
  }
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static void
expect_files (const gchar *expected)
{
  g_autofree gchar *files = files_here ();

  fail_unless_equals_string (files, expected);
}

static void
expect_text (const gchar *name, const gchar *expected)
{
  g_autofree gchar *text = NULL;

  fail_unless (g_file_get_contents (name, &text, NULL, NULL), "%s", name);
  fail_unless_equals_string (text, expected);
}

static void
expect_counting (const gchar *name, guint start, gsize size)
{
  g_autofree gchar *bytes = NULL;
  gsize length;

  fail_unless (g_file_get_contents (name, &bytes, &length, NULL), "%s", name);
  fail_unless_equals_uint64 (length, size);
  for (gsize i = 0; i < size; i++)
    fail_unless_equals_int ((guint8) bytes[i], (guint8) (start + i));
}

CUV_TEST (writes_both_files)
{
  GstHarness *h = new_harness ("cube.hdr",
      CAPS ",framerate=25/1,wavelengths=(double)<400,500.25,600>,"
           "bad-bands=<1>,ignore-value=(double)-1");

  fail_unless_equals_int (
      gst_harness_push (h, counting_buffer (7, N_SAMPLES)), GST_FLOW_OK);
  fail_unless_equals_uint64 (cuv_stat (h->element, "cubes"), 1);
  fail_unless_equals_uint64 (cuv_stat (h->element, "bytes"), N_SAMPLES);
  gst_harness_teardown (h);
  expect_files ("cube.hdr cube.img");
  expect_counting ("cube.img", 7, N_SAMPLES);
  expect_text ("cube.hdr",
      "ENVI\nsamples = 5\nlines = 4\nbands = 3\nheader offset = 0\n"
      "file type = ENVI Standard\ndata type = 1\ninterleave = bil\n"
      "byte order = 0\nwavelength units = Nanometers\n"
      "wavelength = {\n 400, 500.25, 600}\nbbl = {\n 1, 0, 1}\n"
      "data ignore value = -1\n");
}

CUV_TEST (file_names_follow_location)
{
  static const gchar *const names[][2] = { { "a.hdr", "a.hdr a.img" },
    { "a.HDR", "a.HDR a.img" }, { "a", "a a.hdr" }, { "a.raw", "a.hdr a.raw" },
    { "a.b.dat", "a.b.dat a.b.hdr" }, { ".hdr", ".hdr .hdr.hdr" },
    { "a%03d.hdr", "a000.hdr a000.img" }, { "100%", "100% 100%.hdr" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstHarness *h = new_harness (names[i][0], CAPS);

    fail_unless_equals_int (
        gst_harness_push (h, counting_buffer (0, N_SAMPLES)), GST_FLOW_OK);
    gst_harness_teardown (h);
    expect_files (names[i][1]);
    cuv_folder_leave ();
    cuv_folder_enter ();
  }
}

CUV_TEST (sequence_is_numbered)
{
  GstHarness *h = new_harness ("c%02d.hdr", CAPS);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (
        gst_harness_push (h, counting_buffer (i, N_SAMPLES)), GST_FLOW_OK);
  gst_harness_set_src_caps_str (h,
      "video/x-spectral,format=F32LE,width=1,"
      "height=1,bands=2,interleave=bip");
  fail_unless_equals_int (
      gst_harness_push (h, counting_buffer (90, 8)), GST_FLOW_OK);
  gst_harness_teardown (h);
  expect_files ("c00.hdr c00.img c01.hdr c01.img c02.hdr c02.img c03.hdr "
                "c03.img");
  expect_counting ("c02.img", 2, N_SAMPLES);
  expect_counting ("c03.img", 90, 8);
}

/* Writes to the files that are being read. */
CUV_TEST (input_files_can_be_replaced)
{
  write_text ("cube.hdr", U16 "header offset = 3\n");
  write_counting ("cube.img", 5, 3 + 2 * N_SAMPLES);
  cuv_play ("envisrc location=cube.hdr ! envisink location=cube.hdr");
  expect_files ("cube.hdr cube.img");
  expect_counting ("cube.img", 8, 2 * N_SAMPLES);
}

/* ---- errors ---- */

static void
expect_harness_error (GstHarness *h, GstBuffer *buffer, const gchar *part)
{
  cuv_harness_push_error (h, buffer, part);
  gst_harness_teardown (h);
}

CUV_TEST (second_cube_needs_a_placeholder)
{
  GstHarness *h = new_harness ("cube.hdr", CAPS);

  fail_unless_equals_int (
      gst_harness_push (h, counting_buffer (0, N_SAMPLES)), GST_FLOW_OK);
  expect_harness_error (h, counting_buffer (1, N_SAMPLES), "%05d");
  expect_counting ("cube.img", 0, N_SAMPLES);
}

CUV_TEST (buffers_of_wrong_size_are_errors)
{
  expect_harness_error (new_harness ("cube.hdr", CAPS),
      counting_buffer (0, N_SAMPLES - 1), "has 59 bytes, but its caps need 60");
  expect_harness_error (new_harness ("cube.hdr", CAPS),
      counting_buffer (0, N_SAMPLES + 1), "61 bytes");
  expect_harness_error (
      new_harness ("cube.hdr", CAPS), gst_buffer_new (), "0 bytes");
  expect_files ("");
}

/* A file size limit simulates a full disk. No partial files are left, and
 * existing files are kept. */
CUV_TEST (full_disk_is_an_error)
{
  struct rlimit before, limit;
  GstHarness *h = new_harness ("cube.hdr", CAPS);

  write_cube ("cube", 99);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  limit = (struct rlimit){ 40, before.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limit);
  expect_harness_error (
      h, counting_buffer (0, N_SAMPLES), "Cannot write 'cube.hdr'");
  setrlimit (RLIMIT_FSIZE, &before);
  expect_files ("cube.hdr cube.img");
  expect_counting ("cube.img", 99, N_SAMPLES);
}

CUV_TEST (unwritable_locations_are_errors)
{
  expect_harness_error (new_harness ("none/cube.hdr", CAPS),
      counting_buffer (0, N_SAMPLES), "Cannot write 'none/cube.hdr': No such");
  g_mkdir ("cube.img", 0700);
  expect_harness_error (new_harness ("cube.hdr", CAPS),
      counting_buffer (0, N_SAMPLES),
      "Cannot write 'cube.img': Is a directory");
  expect_files ("cube.img");
}

CUV_TEST (invalid_locations_are_errors)
{
  write_cube ("cube", 0);
  cuv_expect_error (
      "envisrc location=cube.hdr ! envisink", "location is not set");
  cuv_expect_error ("envisrc location=cube.hdr ! envisink location=%d%d.hdr",
      "more than one placeholder");
}

static void
write_16_mib (const guint8 *zeros)
{
  write_file ("in.img", zeros, 16 << 20);
  write_text ("in.hdr",
      "ENVI\nsamples=1024\nlines=1024\nbands=16\n"
      "interleave=bsq\ndata type=1\n");
}

/* A pause waits for the cube being written: all files are complete. */
CUV_TEST (pauses_do_not_truncate_cubes)
{
  const gsize size = (gsize) 16 << 20;
  g_autofree guint8 *zeros = g_malloc0 (size);
  GstElement *pipeline;
  gchar *error;

  write_16_mib (zeros);
  pipeline = cuv_pipeline_new ("envisrc location=in.hdr loop=true "
                               "num-buffers=8 ! envisink location=out%d.hdr");
  for (guint i = 0; i < 10; i++) {
    gst_element_set_state (
        pipeline, i % 2 ? GST_STATE_PAUSED : GST_STATE_PLAYING);
    /* without this wait any sink may hang in GStreamer 1.22 */
    fail_unless (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND)
        == GST_STATE_CHANGE_SUCCESS);
    g_usleep (i % 7 * 1000);
  }
  error = cuv_pipeline_play (pipeline);
  fail_unless (error == NULL, "%s", error);
  gst_object_unref (pipeline);
  expect_files ("in.hdr in.img out0.hdr out0.img out1.hdr out1.img out2.hdr "
                "out2.img out3.hdr out3.img out4.hdr out4.img out5.hdr "
                "out5.img out6.hdr out6.img out7.hdr out7.img");
  for (guint i = 0; i < 8; i++) {
    gchar *name = g_strdup_printf ("out%u.img", i), *bytes;
    gsize length;

    fail_unless (g_file_get_contents (name, &bytes, &length, NULL));
    fail_unless (length == size && memcmp (bytes, zeros, size) == 0);
    g_free (bytes);
    g_free (name);
  }
}

CUV_FIXTURE (cuv_folder_enter, cuv_folder_leave)
