/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* envisrc: large files, warnings, errors. */
#include "cubes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB ((gint64) 1 << 30)

/* ---- large files, sparse on the disk ---- */

static void
write_sparse (const gchar *name, gint64 size, const gchar *end)
{
  int fd = open (name, O_WRONLY | O_CREAT, 0600);

  fail_unless (fd >= 0 && ftruncate (fd, size) == 0);
  fail_unless (pwrite (fd, end, strlen (end), size - (gint64) strlen (end))
      == (gssize) strlen (end));
  close (fd);
}

CUV_TEST (header_offset_of_five_gib)
{
  Player player;

  write_text ("cube.hdr", U8 "header offset = 5368709120\n");
  write_sparse ("cube.img", 5 * GIB + N_SAMPLES,
      "x...........................................................");
  player = player_new ("envisrc location=cube.hdr" APPSINK);
  fail_unless_equals_int (first_byte (player_pull (&player)), 'x');
  player_free (&player);
}

CUV_TEST_IF (cube_of_five_gib, GLIB_SIZEOF_SIZE_T == 8)
{
  GstSample *sample;
  GstMapInfo map;
  Player player;

  write_text ("cube.hdr",
      "ENVI\nsamples=16384\nlines=16384\nbands=20\n"
      "interleave=bsq\ndata type=1\n");
  write_sparse ("cube.img", 5 * GIB, "end");
  player = player_new ("envisrc location=cube.hdr" APPSINK);
  sample = player_pull (&player);
  fail_unless (
      gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  fail_unless (map.size == (gsize) (5 * GIB));
  fail_unless (memcmp (map.data + map.size - 4, "\0end", 4) == 0);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  player_free (&player);
}

/* max-bytes is checked before memory is allocated. */
CUV_TEST (max_bytes_limits_memory)
{
  write_text ("huge.hdr",
      "ENVI\nsamples=16384\nlines=16384\nbands=20\ninterleave=bsq\n"
      "data type=2\nbyte order=0\n");
  write_sparse ("huge.img", 10 * GIB, "end");
  cuv_expect_error ("envisrc location=huge.hdr ! fakesink",
      "needs 21474836480 bytes of memory as F32LE, but max-bytes is "
      "17179869184: raise max-bytes");
  write_cube ("small", 1);
  cuv_expect_error ("envisrc location=small.hdr max-bytes=59 ! fakesink",
      "needs 60 bytes of memory as U8");
  cuv_play ("envisrc location=small.hdr max-bytes=60 ! fakesink");
}

/* ---- errors ---- */

CUV_TEST (errors_name_file_and_cause)
{
  write_text ("short.hdr", U8 "header offset = 10\n");
  write_counting ("short.img", 0, 69);
  write_text ("bad.hdr", "ENVI\nsamples = 5\nlines = -4\n");
  write_text ("bad", "");
  write_text ("empty.hdr", "");
  write_text ("empty", "");
  write_text ("alone.hdr", U8);
  write_text ("alone.tif", "");
  fail_unless (mkfifo ("fifo.img", 0600) == 0);
  write_text ("fifo.hdr", U8);
  cuv_expect_error ("envisrc ! fakesink", "location is not set");
  cuv_expect_error (
      "envisrc location=none.hdr ! fakesink", "No such file: 'none.hdr'");
  cuv_expect_error ("envisrc location=. ! fakesink", "No such file: '.'");
  cuv_expect_error ("envisrc location=n%d.hdr ! fakesink", "start-index");
  cuv_expect_error (
      "envisrc location=n%d-%d.hdr ! fakesink", "more than one placeholder");
  cuv_expect_error (
      "envisrc location=alone.hdr ! fakesink", "No data file for");
  cuv_expect_error ("envisrc location=alone.tif ! fakesink",
      "Correct the header or copy the file again");
  cuv_expect_error ("envisrc location=bad ! fakesink",
      "'bad.hdr' cannot be used: line 3: lines is '-4'");
  cuv_expect_error ("envisrc location=empty.hdr ! fakesink", "line 1");
  cuv_expect_error ("envisrc location=fifo.hdr ! fakesink", "No data file for");
  cuv_expect_error ("envisrc location=fifo.img ! fakesink", "No such file");
  cuv_expect_error ("envisrc location=short.hdr ! fakesink",
      "'short.img' is too short: it has 69 bytes, but 5 samples * 4 lines * 3 "
      "bands of 1 bytes after an offset of 10 need 70");
}

/* Returns the number of warnings until EOS that contain the part. */
static guint
count_warnings (const gchar *line, const gchar *part)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gboolean ended = FALSE; !ended;) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    GError *warning;

    fail_unless (
        message != NULL && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!ended) {
      gst_message_parse_warning (message, &warning, NULL);
      n += strstr (warning->message, part) != NULL;
      g_error_free (warning);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return n;
}

CUV_TEST (larger_file_is_warned_about_once)
{
  write_cube ("c0", 1);
  write_text ("c1.hdr", U8);
  write_counting ("c1.img", 0, N_SAMPLES + 7);
  write_text ("c2.hdr", U8);
  write_counting ("c2.img", 0, N_SAMPLES + 1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c0.hdr ! fakesink", ""), 0);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c%d.hdr loop=true num-buffers=9 "
                      "! fakesink",
          "'c1.hdr' have 67 bytes, but the header describes 60: the last 7"),
      1);
}

CUV_TEST (assumptions_are_warned_about_once)
{
  write_text ("c0.hdr",
      "ENVI\nsamples = 5\nlines = 4\nbands = 3\ninterleave = bil\n"
      "data type = 12\nwavelength = {400, 500, 600}\nfwhm = {10}\n");
  write_counting ("c0.img", 0, 2 * N_SAMPLES);
  write_text ("c1.hdr", U16);
  write_counting ("c1.img", 0, 2 * N_SAMPLES);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c%d.hdr loop=true num-buffers=5 ! "
                      "fakesink",
          "'c0.hdr' has no byte order: little endian is assumed"),
      1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c0.hdr ! fakesink",
          "fwhm in the header of 'c0.hdr' is ignored: it should have 3 values"),
      1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c1.hdr ! fakesink", ""), 0);
}

/* Headers are read up to the documented limit. */
CUV_TEST (large_headers)
{
  const gsize limit = 16 << 20;
  g_autofree gchar *text = g_malloc (limit + 2);
  Player player;

  memset (text, ' ', limit + 2);
  for (gsize i = 100; i < limit; i += 100)
    text[i] = '\n';
  memcpy (text, U8, strlen (U8));
  write_counting ("cube.img", 9, N_SAMPLES);
  for (gsize size = 65484; size <= limit;
       size = size == limit ? size + 1 : limit) {
    write_file ("cube.hdr", text, size);
    player = player_new ("envisrc location=cube.hdr" APPSINK);
    fail_unless_equals_int (first_byte (player_pull (&player)), 9);
    player_free (&player);
  }
  write_file ("cube.hdr", text, limit + 1);
  cuv_expect_error ("envisrc location=cube.hdr ! fakesink",
      "the file has more than 16777216 bytes");
}

CUV_TEST (other_file_formats_are_rejected)
{
  static const struct {
    const gchar *start, *name;
  } cases[] = { { "II*\0", "a TIFF image" }, { "MM\0*", "a TIFF image" },
    { "II+\0", "a BigTIFF image" }, { "\211PNG\r\n\032\n", "a PNG image" },
    { "\377\330\377\340", "a JPEG image" },
    { "\211HDF\r\n\032\n", "an HDF5 or netCDF-4 file" },
    { "CDF\002", "a netCDF file" }, { "PK\003\004", "a ZIP archive" },
    { "ENVI\n", "an ENVI header" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint8 bytes[2 * N_SAMPLES] = { 0 };

    memcpy (bytes, cases[i].start, MAX (strlen (cases[i].start), 4));
    write_file ("mine.tif", bytes, sizeof bytes);
    write_text ("mine.hdr", U8);
    cuv_expect_error ("envisrc location=mine.tif ! fakesink", cases[i].name);
  }
  /* accepted with a header offset that skips the foreign header */
  write_text ("mine.hdr", U8 "header offset = 60\n");
  cuv_play ("envisrc location=mine.tif ! fakesink");
}

CUV_TEST (sequence_with_an_invalid_cube)
{
  write_cube ("c0", 1);
  write_text ("c1.hdr", "ENVI\n");
  write_text ("c1.img", "");
  cuv_expect_error ("envisrc location=c%d.hdr ! fakesink", "c1.hdr");
  cuv_expect_error (
      "envisrc location=c0.hdr ! video/x-spectral,bands=4 ! fakesink",
      "Internal data stream error");
}
