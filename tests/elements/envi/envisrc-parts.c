/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* envisrc: images that are read in several cubes. */
#include "cubes.h"

#include <stdlib.h>

#include "spectral/gstcuvspectralheader.h"

/* Returns band b, line y, sample x of an image of 2 x 10 x 3 samples. */
static guint16
long_sample (gint b, gint y, gint x)
{
  return (guint16) (1000 * b + 10 * y + x + 1);
}

static void
write_long_image (const gchar *interleave, gboolean big_endian)
{
  const gboolean is_bsq = strcmp (interleave, "bsq") == 0;
  const gboolean is_bip = strcmp (interleave, "bip") == 0;
  guint16 samples[60];
  g_autofree gchar *header = g_strdup_printf (
      "ENVI\nsamples=2\nlines=10\nbands=3\ndata type=12\nheader offset=7\n"
      "byte order=%d\ninterleave=%s\nmap info = {UTM}\nband names={a,b,c}\n",
      big_endian, interleave);

  for (gint i = 0; i < 60; i++) {
    const gint b = is_bsq ? i / 20 : is_bip ? i % 3 : i / 2 % 3;
    const gint y = is_bsq ? i / 2 % 10 : i / 6;
    const gint x = is_bip ? i / 3 % 2 : i % 2;

    samples[i] = long_sample (b, y, x);
    if (big_endian)
      samples[i] = GUINT16_SWAP_LE_BE (samples[i]);
  }
  write_text ("long.hdr", header);
  write_file ("long.img", "offset.", 7);
  g_file_set_contents (
      "samples", (const gchar *) samples, sizeof samples, NULL);
  fail_unless (system ("cat samples >> long.img") == 0);
}

/* Checks a cube of the image's lines from `start` on; returns its number of
 * lines. */
static gint
check_part (GstSample *sample, gint start)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  gchar *header, *problem;
  GstCuvSpectralInfo info;
  GstMapInfo map;
  CuvCube cube;

  fail_unless (gst_cuv_spectral_info_from_caps (
      &info, gst_sample_get_caps (sample), &problem));
  fail_unless (gst_cuv_spectral_info_map (&info, buffer, &map, &cube) == NULL);
  for (gint y = 0; y < cube.height; y++)
    for (gint i = 0; i < 6; i++)
      fail_unless (cuv_cube_sample (&cube,
                       cube.data + y * cube.row_step + i % 2 * cube.pixel_step
                           + i / 2 * cube.band_step)
          == long_sample (i / 2, start + y, i % 2));
  gst_buffer_unmap (buffer, &map);
  header = gst_cuv_spectral_header_text (buffer, &info);
  fail_unless (strstr (header, "band names") != NULL);
  fail_unless ((strstr (header, "map info") != NULL) == (cube.height == 10));
  g_free (header);
  gst_sample_unref (sample);
  return cube.height;
}

static void
check_parts (guint lines_per_cube)
{
  g_autofree gchar *line = g_strdup_printf (
      "envisrc location=long.hdr lines-per-cube=%u framerate=10/1" APPSINK,
      lines_per_cube);
  Player player = player_new (line);
  gint64 duration;
  gint line_number = 0, n = 0;

  for (; line_number < 10; n++) {
    GstSample *sample = player_pull (&player);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)),
        (guint64) n * GST_SECOND / 10);
    line_number += check_part (sample, line_number);
  }
  fail_unless_equals_int (line_number, 10);
  fail_unless_equals_int (n,
      lines_per_cube > 0 ? (9 + (gint) lines_per_cube) / (gint) lines_per_cube
                         : 1);
  fail_unless (
      gst_element_query_duration (player.pipeline, GST_FORMAT_TIME, &duration));
  fail_unless_equals_int64 (duration, n * (gint64) GST_SECOND / 10);
  expect_end (&player);
  if (n > 1) {
    fail_unless (gst_element_seek_simple (player.pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH, GST_SECOND / 10));
    check_part (player_pull (&player), (gint) lines_per_cube);
  }
  player_free (&player);
}

CUV_TEST (images_are_read_in_parts)
{
  static const gchar *const interleaves[] = { "bsq", "bil", "bip" };
  static const guint lines[] = { 0, 1, 4, 5, 10, 99 };

  for (guint i = 0; i < 6 * G_N_ELEMENTS (lines); i++) {
    write_long_image (interleaves[i % 3], i / 3 % 2);
    check_parts (lines[i / 6]);
  }
}

/* 20001 lines of one sample become two cubes, without a property. */
CUV_TEST (long_scans_are_divided)
{
  static const gchar header[] =
      "ENVI\nsamples=1\nlines=20001\nbands=1\ndata type=1\ninterleave=bil\n";
  Player player;
  GstSample *sample;

  write_text ("s0.hdr", header);
  write_counting ("s0.img", 0, 20001);
  player = player_new ("envisrc location=s0.hdr" APPSINK);
  sample = player_pull (&player);
  fail_unless_equals_uint64 (
      gst_buffer_get_size (gst_sample_get_buffer (sample)), 10001);
  fail_unless_equals_int (first_byte (sample), 0);
  sample = player_pull (&player);
  fail_unless_equals_uint64 (
      gst_buffer_get_size (gst_sample_get_buffer (sample)), 10000);
  fail_unless_equals_int (first_byte (sample), 10001 % 256);
  expect_end (&player);
  player_free (&player);
  cuv_expect_error ("envisrc location=s0.hdr max-bytes=10000 ! fakesink",
      "or set lines-per-cube to read fewer lines at a time");
  cuv_play ("envisrc location=s0.hdr max-bytes=10001 ! fakesink");
  write_cube ("s1", 0);
  cuv_expect_error ("envisrc location=s%d.hdr ! fakesink",
      "'s1.hdr' has 4 lines, but the first image of the sequence has 20001");
}
