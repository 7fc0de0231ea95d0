/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralpca: caps, pictures, metadata, live changes, basis files, invalid
 * input. With CUV_TEST_CUDA=1 on the GPU. */
#include "pca-scene.h"

#include <glib/gstdio.h>
#include <math.h>

/* ---- pictures ---- */

/* Checks each pixel against its value computed from the metadata table. */
static void
check_picture (GstBuffer *buffer, const GstCuvTable *table)
{
  const GValue *mean = gst_structure_get_value (table->structure, "mean");
  const GValue *all = gst_structure_get_value (table->structure, "vectors");
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gint p = 0; p < WIDTH * HEIGHT; p++) {
    for (guint c = 0; c < 3; c++) {
      const GValue *v = gst_value_array_get_value (all, c);
      gdouble sigma = sqrt (gst_cuv_table_double (table, c, 0)), y = 0;

      for (gint b = 0; b < BANDS; b++)
        y += pca_number (v, (guint) b)
            * (pca_sample (p % WIDTH, p / WIDTH, b, 0)
                - pca_number (mean, (guint) b));
      y = CLAMP (128 + 127 * y / (3 * sigma), 0, 255);
      fail_unless (fabs (map.data[4 * p + (gint) c] - y) < 0.51,
          "pixel %d, channel %u: %u, not %g", p, c, map.data[4 * p + (gint) c],
          y);
    }
    fail_unless_equals_int (map.data[4 * p + 3], 255);
  }
  gst_buffer_unmap (buffer, &map);
}

CUV_TEST (pictures_match_the_table)
{
  g_autoptr (GstHarness) h = pca_harness_new (
      "spectralpca ! capsfilter caps=video/x-raw,format=RGBA", CUBE_CAPS);
  g_autoptr (GstBuffer) out = pca_push (h, 0);
  gdouble explained = 0;
  GstCuvTable table;

  pca_table_of (out, &table);
  fail_unless_equals_int (table.n_rows, BANDS);
  for (guint k = 0; k < BANDS; k++) {
    explained += gst_cuv_table_double (&table, k, 1);
    fail_unless (k == 0
        || gst_cuv_table_double (&table, k, 0)
            <= gst_cuv_table_double (&table, k - 1, 0));
  }
  fail_unless (fabs (explained - 1) < 1e-12);
  check_picture (out, &table);
}

CUV_TEST (channel_order_does_not_matter)
{
  static const gchar *const formats[] = { "RGB", "BGRx", "RGBA" };
  GstBuffer *out[3];

  for (gint i = 0; i < 3; i++) {
    gchar *line = g_strdup_printf (
        "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=33,"
        "height=17 ! videoconvert ! video/x-raw,format=%s ! spectralpca ! "
        "video/x-raw,format=RGBx ! fakesink name=sink enable-last-sample=true",
        formats[i]);
    GstElement *pipeline = cuv_pipeline_new (line), *sink;
    GstSample *last;

    g_free (line);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_message_unref (gst_bus_timed_pop_filtered (
        GST_ELEMENT_BUS (pipeline), 10 * GST_SECOND, GST_MESSAGE_EOS));
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    g_object_get (sink, "last-sample", &last, NULL);
    out[i] = gst_buffer_ref (gst_sample_get_buffer (last));
    gst_sample_unref (last);
    gst_object_unref (sink);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
  pca_check_same (out[0], out[1], TRUE);
  pca_check_same (out[0], out[2], TRUE);
  for (gint i = 0; i < 3; i++)
    gst_buffer_unref (out[i]);
}

/* One component in all channels makes a grey picture, which NV12 has in Y. */
CUV_TEST (nv12_luma_matches_rgb)
{
  GstHarness *h =
      pca_harness_new ("spectralpca components=1,1,1 ! capsfilter "
                       "caps=video/x-raw,format=NV12,colorimetry=bt601",
          CUBE_CAPS);
  GstHarness *rgb = pca_harness_new (
      "spectralpca components=1,1,1 ! capsfilter caps=video/x-raw,format=RGBx",
      CUBE_CAPS);
  GstBuffer *a = pca_push (h, 0), *b = pca_push (rgb, 0);
  guint8 y, r;

  for (gsize p = 0; p < WIDTH; p++) {
    gst_buffer_extract (a, p, &y, 1);
    gst_buffer_extract (b, 4 * p, &r, 1);
    fail_unless (ABS (y - (16 + r * 219 / 255)) <= 1, "%u of %u", y, r);
  }
  gst_buffer_unref (a);
  gst_buffer_unref (b);
  gst_harness_teardown (h);
  gst_harness_teardown (rgb);
}

CUV_TEST (bad_bands_and_ignored_pixels_are_skipped)
{
  g_autofree gchar *caps = g_strdup_printf (CUBE_CAPS
      ",bad-bands=(int)<0,4>,ignore-value=(double)%u",
      pca_sample (5, 6, 2, 0));
  GstHarness *h = pca_harness_new (
      "spectralpca name=pca ! capsfilter caps=video/x-raw,format=RGBA", caps);
  GstElement *pca = gst_bin_get_by_name (GST_BIN (h->element), "pca");
  GstBuffer *out = pca_push (h, 0);
  guint8 pixel[4];
  GstCuvTable table;

  pca_table_of (out, &table);
  fail_unless_equals_int (table.n_rows, BANDS - 2);
  fail_unless (cuv_stat (pca, "left-out") > 0);
  gst_buffer_extract (out, 4 * (6 * WIDTH + 5), pixel, 4);
  fail_unless (memcmp (pixel, "\0\0\0\377", 4) == 0);
  gst_buffer_unref (out);
  g_object_set (pca, "mask-band-ignore", FALSE, NULL);
  out = pca_push (h, 1);
  pca_table_of (out, &table);
  fail_unless_equals_int (table.n_rows, BANDS);
  fail_unless_equals_uint64 (cuv_stat (pca, "left-out"), 0);
  gst_buffer_unref (out);
  gst_object_unref (pca);
  gst_harness_teardown (h);
}

/* Returns a cube whose bands 0 and 3 are 0, except in some pixels if `lit`. */
static GstBuffer *
cube_with_empty_bands (guint frame, gboolean lit)
{
  GstBuffer *buffer = pca_cube_new (frame);
  const gsize line = WIDTH * 2;

  for (gsize i = 0; i < HEIGHT * BANDS; i++)
    if (!lit || i % BANDS == 0 || i % BANDS == 3)
      gst_buffer_memset (buffer, i * line, 0, line);
  return buffer;
}

/* Returns the number of rows of the table on a cube's picture, or 0 without a
 * table. */
static guint
push_and_count_rows (GstHarness *h, GstBuffer *cube)
{
  GstCuvTable table = { 0 };
  gpointer state = NULL;
  GstBuffer *out;

  fail_unless_equals_int (gst_harness_push (h, cube), GST_FLOW_OK);
  out = gst_harness_pull (h);
  gst_cuv_meta_next_table (out, &state, &table);
  gst_buffer_unref (out);
  return table.n_rows;
}

/* Bands without valid samples would exclude all pixels. A frame without a valid
 * sample does not decide which bands are left out, nor does any frame after the
 * first valid one. */
CUV_TEST (bands_without_valid_samples_are_left_out)
{
  g_autoptr (GstHarness) h =
      pca_harness_new ("spectralpca name=pca ! capsfilter "
                       "caps=video/x-raw,format=RGBA",
          CUBE_CAPS ",bad-bands=(int)<5>,ignore-value=(double)0");
  g_autoptr (GstElement) pca =
      gst_bin_get_by_name (GST_BIN (h->element), "pca");
  GstBus *bus = cuv_harness_watch (h);

  fail_unless_equals_int (
      push_and_count_rows (h, cube_with_empty_bands (0, FALSE)), 0);
  expect_problem (bus, GST_MESSAGE_WARNING, "A frame has no valid pixel");
  fail_unless_equals_int (
      push_and_count_rows (h, cube_with_empty_bands (1, TRUE)), BANDS - 3);
  expect_problem (bus, GST_MESSAGE_WARNING,
      "Bands 1, 4 (counted from 1) have no valid sample, only the ignore value "
      "0, NaN or infinity, and are left out: set them to 0 in bbl");
  fail_unless_equals_uint64 (cuv_stat (pca, "left-out"), 0);
  fail_unless_equals_uint64 (cuv_stat (pca, "pixels"), WIDTH * HEIGHT);
  fail_unless_equals_int (push_and_count_rows (h, pca_cube_new (2)), BANDS - 3);
  push_and_count_rows (h, cube_with_empty_bands (3, FALSE));
  expect_no_warning (bus);
  g_object_set (pca, "mask-band-ignore", FALSE, NULL);
  fail_unless_equals_int (push_and_count_rows (h, pca_cube_new (4)), BANDS);
  cuv_harness_unwatch (h, bus);
}

/* ---- changes ---- */

CUV_TEST (caps_change_between_frames)
{
  g_autoptr (GstHarness) h = pca_harness_new ("spectralpca", CUBE_CAPS);
  GstBuffer *out = pca_push (h, 0), *frame;

  gst_buffer_unref (out);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=RGB,width=64,height=48,framerate=30/1");
  frame = cuv_frame_new ("RGB", 64, 48);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless_equals_int (gst_buffer_get_size (out), 64 * 48 * 4);
  gst_buffer_unref (out);
  gst_harness_set_src_caps_str (h, CUBE_CAPS);
  gst_buffer_unref (pca_push (h, 1));
}

CUV_TEST (invalid_values_keep_the_previous_ones)
{
  g_autoptr (GstHarness) h = pca_harness_new (
      "spectralpca name=pca mapping=fixed smoothing=1 range-min=-100 "
      "range-max=100",
      CUBE_CAPS);
  g_autoptr (GstElement) pca =
      gst_bin_get_by_name (GST_BIN (h->element), "pca");
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *before, *after;

  before = pca_push (h, 0);
  g_object_set (pca, "range-max", -100.0, "components", "1,2", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "components '1,2'");
  after = pca_push (h, 0);
  expect_problem (bus, GST_MESSAGE_WARNING, "range-min and range-max");
  pca_check_same (before, after, TRUE);
  gst_buffer_unref (before);
  gst_buffer_unref (after);
  cuv_harness_unwatch (h, bus);
}

/* After a flush the next frame is treated as the first. */
CUV_TEST (flush_resets)
{
  GstHarness *one = pca_harness_new ("spectralpca", CUBE_CAPS);
  GstHarness *other = pca_harness_new ("spectralpca", CUBE_CAPS);
  GstBuffer *a, *b;

  gst_buffer_unref (pca_push (one, 0));
  gst_buffer_unref (pca_push (one, 1));
  a = pca_push (one, 20);
  b = pca_push (other, 20);
  pca_check_same (a, b, FALSE);
  gst_buffer_unref (a);
  cuv_harness_flush (one);
  a = pca_push (one, 20);
  pca_check_same (a, b, TRUE);
  gst_buffer_unref (a);
  gst_buffer_unref (b);
  gst_harness_teardown (one);
  gst_harness_teardown (other);
}

/* ---- bases ---- */

/* Writes a new file and returns its path; remove it with remove_basis(). */
static gchar *
write_basis (const gchar *text)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "pca-XXXXXX.json", NULL);

  g_close (g_mkstemp (path), NULL);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
remove_basis (gchar *path)
{
  g_unlink (path);
  g_free (path);
}

CUV_TEST (frozen_basis_saved_and_loaded)
{
  gchar *path = write_basis ("");
  GstHarness *h = pca_harness_new (
      "spectralpca name=pca mode=pearson smoothing=1", CUBE_CAPS);
  GstElement *pca = gst_bin_get_by_name (GST_BIN (h->element), "pca");
  GstBuffer *frozen, *loaded, *learned;
  gboolean ok;

  gst_buffer_unref (pca_push (h, 0));
  g_signal_emit_by_name (pca, "freeze-basis", path, &ok);
  fail_unless (ok);
  frozen = pca_push (h, 20);
  g_signal_emit_by_name (pca, "thaw-basis");
  learned = pca_push (h, 20);
  pca_check_same (frozen, learned, FALSE);
  gst_buffer_unref (learned);
  g_object_set (pca, "basis-location", path, NULL);
  loaded = pca_push (h, 20);
  pca_check_same (frozen, loaded, TRUE);
  gst_buffer_unref (loaded);
  gst_object_unref (pca);
  gst_harness_teardown (h);

  h = gst_harness_new ("spectralpca");
  g_object_set (h->element, "basis-location", path, NULL);
  gst_element_set_state (h->element, GST_STATE_NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, CUBE_CAPS);
  loaded = pca_push (h, 20);
  pca_check_same (frozen, loaded, TRUE);
  gst_buffer_unref (loaded);
  gst_buffer_unref (frozen);
  gst_harness_teardown (h);
  remove_basis (path);
}

/* Other bands cause a warning while playing, an error at the start. */
CUV_TEST (basis_of_other_bands_is_rejected)
{
  gchar *path = write_basis (
      "{\"kind\":\"spectralpca-basis\",\"version\":1,\"mode\":\"pearson\","
      "\"mean\":[1],\"deviation\":[1],\"eigenvalues\":[1],\"vectors\":[[1]]}");
  GstHarness *h = pca_harness_new ("spectralpca name=pca", CUBE_CAPS);
  GstElement *pca = gst_bin_get_by_name (GST_BIN (h->element), "pca");
  GstBus *bus = gst_bus_new ();
  GstBuffer *before, *after;
  g_autofree gchar *line = NULL;

  gst_element_set_bus (h->element, bus);
  g_object_set (pca, "smoothing", 1.0, NULL);
  before = pca_push (h, 0);
  g_object_set (pca, "basis-location", path, NULL);
  after = pca_push (h, 0);
  expect_problem (bus, GST_MESSAGE_WARNING, "basis-location is for 1 bands");
  pca_check_same (before, after, TRUE);
  gst_buffer_unref (before);
  gst_buffer_unref (after);
  cuv_harness_unwatch (h, bus);
  gst_object_unref (pca);
  gst_harness_teardown (h);
  line = g_strdup_printf ("spectralpca basis-location=%s", path);
  pca_expect_error (line, CUBE_CAPS, pca_cube_new (0), "is for 1 bands");
  remove_basis (path);
}

#define HEAD "{\"kind\":\"spectralpca-basis\",\"version\":1,\"mode\":"
static const struct {
  const gchar *text, *problem;
} invalid_bases[] = {
  { "", "JSON object" },
  { "[]", "JSON object" },
  { "{\"kind\":", "Parse error" },
  { "{\"kind\":\"lines\"}", "kind is 'lines', but should be" },
  { "{\"kind\":\"spectralpca-basis\",\"version\":2}",
      "version is 2, but should be 1" },
  { HEAD "\"rank\"}", "mode should be" },
  { HEAD "\"pearson\",\"mean\":[]}", "mean should be an array of 1 to 1024" },
  { HEAD "\"pearson\",\"mean\":[1,\"2\"]}",
      "item 1 of mean should be a number" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[-1]}",
      "item 0 of deviation is -1, but should be finite and 0 or more" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[1,1]}",
      "deviation should be an array of 1 numbers" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[1],\"eigenvalues\":[1],"
         "\"vectors\":[1]}",
      "vectors should be an array of 1 numbers" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[1],\"eigenvalues\":[1],"
         "\"vectors\":[]}",
      "vectors should be an array of 1 to 1 arrays" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[1],\"eigenvalues\":[1],"
         "\"vectors\":[[1],[1]]}",
      "vectors should be an array of 1 to 1 arrays" },
  { HEAD "\"pearson\",\"mean\":[1,1],\"deviation\":[1,1],"
         "\"eigenvalues\":[1,1],\"vectors\":[[1,0]]}",
      "eigenvalues should be an array of 1 numbers" },
  { HEAD "\"pearson\",\"mean\":[1],\"deviation\":[1],\"eigenvalues\":[1],"
         "\"vectors\":[[2]]}",
      "vectors should be orthonormal" },
};

CUV_LOOP_TEST (invalid_basis_is_an_error, G_N_ELEMENTS (invalid_bases))
{
  gchar *path = write_basis (invalid_bases[__i__].text);
  GstElement *element = gst_element_factory_make ("spectralpca", NULL);

  g_object_set (element, "basis-location", path, NULL);
  cuv_expect_no_start (element, invalid_bases[__i__].problem);
  remove_basis (path);
}

/* Returns the picture with a basis with these JSON members. */
static GstBuffer *
push_with_basis (const gchar *members)
{
  g_autofree gchar *text =
      g_strconcat (HEAD "\"covariance\",\"mean\":[50,60,70,80,90,100],"
                        "\"deviation\":[1,1,1,1,1,1],",
          members, "}", NULL);
  gchar *path = write_basis (text);
  GstHarness *h = gst_harness_new ("spectralpca");
  GstBuffer *out;

  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_set (h->element, "basis-location", path, NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, CUBE_CAPS);
  out = pca_push (h, 20);
  gst_harness_teardown (h);
  remove_basis (path);
  return out;
}

/* A basis of two vectors gives the same picture as with four more vectors of
 * eigenvalue 0; the third channel is grey. The basis learnt afterwards has
 * all vectors. */
CUV_TEST (basis_of_fewer_vectors)
{
  g_autoptr (GstBuffer) few =
      push_with_basis ("\"eigenvalues\":[900,400],"
                       "\"vectors\":[[0.6,0,0.8,0,0,0],[0,1,0,0,0,0]]");
  g_autoptr (GstBuffer) all = push_with_basis (
      "\"eigenvalues\":[900,400,0,0,0,0],"
      "\"vectors\":[[0.6,0,0.8,0,0,0],[0,1,0,0,0,0],[0.8,0,-0.6,0,0,0],"
      "[0,0,0,1,0,0],[0,0,0,0,0.8,0.6],[0,0,0,0,0.6,-0.8]]");
  guint8 pixel[4];
  GstCuvTable table;

  pca_check_same (few, all, TRUE);
  gst_buffer_extract (few, 4 * (6 * WIDTH + 5), pixel, 4);
  fail_unless_equals_int (pixel[2], 128);
  pca_table_of (few, &table);
  fail_unless_equals_int (table.n_rows, BANDS);
  fail_unless (gst_cuv_table_double (&table, 1, 0) == 400);
  fail_unless (gst_cuv_table_double (&table, 5, 0) == 0);
}

static void
expect_basis_error (const gchar *path, const gchar *part)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc ! video/x-raw,format=RGB,width=8,height=8 ! "
      "spectralpca basis-location=%s ! fakesink",
      path);

  cuv_expect_error (line, part);
}

/* Nesting and size are limited, and devices are not read. */
CUV_TEST (hostile_basis_is_an_error)
{
  g_autofree gchar *deep = g_strnfill (2000000, '[');
  g_autofree gchar *path = write_basis (deep);

  expect_basis_error (path, "it is nested more than 64 levels deep");
  memset (deep + 1, ',', 1999999);
  fail_unless (g_file_set_contents (path, deep, -1, NULL));
  expect_basis_error (path, "it has more than 1053696 values");
  fail_unless_equals_int (truncate (path, 34 << 20), 0);
  expect_basis_error (path, "bytes, the limit");
  expect_basis_error ("/dev/zero", "not a regular file");
  g_unlink (path);
}

/* ---- invalid input ---- */

CUV_TEST (invalid_input_is_an_error)
{
  pca_expect_error ("spectralpca", CUBE_CAPS,
      gst_buffer_new_allocate (NULL, 9, NULL), "A buffer has 9 bytes");
  pca_expect_error ("spectralpca", CUBE_CAPS ",bad-bands=(int)<0,1,2,3,4,5>",
      pca_cube_new (0), "All 6 bands are bad");
  pca_expect_error ("spectralpca", CUBE_CAPS ",bad-bands=(int)<6>",
      pca_cube_new (0), "bad-bands");
  pca_expect_error ("spectralpca mapping=fixed range-min=7 range-max=7",
      CUBE_CAPS, pca_cube_new (0), "range-min and range-max are both 7");
}

/* A frame of NaN gives a black picture without a table. */
CUV_TEST (frame_of_nan_is_black)
{
  g_autoptr (GstHarness) h = pca_harness_new ("spectralpca",
      "video/x-spectral,format=F32LE,width=8,height=4,bands=5,"
      "interleave=bip,framerate=30/1");
  GstBuffer *in, *out;
  gpointer state = NULL;
  GstCuvTable table;
  GstMapInfo map;

  for (gint frame = 0; frame < 2; frame++) {
    in = gst_buffer_new_allocate (NULL, 8 * 4 * 5 * 4, NULL);
    gst_buffer_map (in, &map, GST_MAP_WRITE);
    for (gint i = 0; i < 8 * 4 * 5; i++)
      ((gfloat *) map.data)[i] = frame == 0 ? (gfloat) NAN : (gfloat) (i % 17);
    gst_buffer_unmap (in, &map);
    fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
    out = gst_harness_pull (h);
    gst_buffer_map (out, &map, GST_MAP_READ);
    fail_unless (memcmp (map.data, "\0\0\0\377\0\0\0\377", 8) == 0 || frame);
    gst_buffer_unmap (out, &map);
    state = NULL;
    fail_unless (gst_cuv_meta_next_table (out, &state, &table) == (frame > 0));
    gst_buffer_unref (out);
  }
}

CUV_TEST (restarts)
{
  g_autoptr (GstElement) pipeline =
      cuv_pipeline_new ("videotestsrc num-buffers=3 ! "
                        "video/x-raw,format=RGB,width=32,height=16 ! "
                        "spectralpca basis=lagged mapping=percentile "
                        "stabilise=procrustes n-threads=2 ! fakesink");

  for (gint i = 0; i < 3; i++) {
    gchar *problem = cuv_pipeline_play (pipeline);

    fail_unless (problem == NULL, "%s", problem);
  }
}
