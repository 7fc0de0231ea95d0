/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralntf: factors of cubes of known terms, and invalid input. With
 * CUV_TEST_CUDA=1 on the GPU. */
#include "ntf-scene.h"

#include <math.h>
#include <string.h>

#define WELL "rank=3 iterations=300 algorithm=hals init=nndsvd tolerance=1e-7 "

/* ---- pictures ---- */

/* Checks that channel c shows only block channels[c], or nothing if it is -1.
 */
static void
check_picture (GstBuffer *picture, const gint channels[3])
{
  for (gint y = 1; y < SCENE_HEIGHT; y += 5) {
    for (gint x = 1; x < SCENE_WIDTH; x += 7) {
      gint block = scene_block (x, y);
      guint8 rgb[3];

      ntf_pixel (picture, SCENE_WIDTH, x, y, rgb);
      for (gint c = 0; c < 3; c++)
        fail_unless (
            block >= 0 && channels[c] == block ? rgb[c] > 250 : rgb[c] < 5,
            "pixel %d,%d, block %d: %d %d %d", x, y, block, rgb[0], rgb[1],
            rgb[2]);
    }
  }
}

/* Checks that w holds the spectra times a norm: the columns of u and v have
 * unit length. */
static void
check_spectra (GstBuffer *picture, gdouble gain)
{
  GstCuvTable w = ntf_table (picture, "w"), u = ntf_table (picture, "u");
  const gdouble area =
      sqrt (SCENE_WIDTH / SCENE_TERMS * (gdouble) (SCENE_HEIGHT / SCENE_TERMS));
  guint rank;

  fail_unless_equals_int (w.n_rows, SCENE_BANDS);
  fail_unless_equals_int (w.n_columns, SCENE_TERMS);
  fail_unless_equals_int (u.n_rows, SCENE_HEIGHT);
  fail_unless_equals_int (ntf_table (picture, "v").n_rows, SCENE_WIDTH);
  fail_unless (gst_structure_get_uint (u.structure, "effective_rank", &rank));
  fail_unless_equals_int (rank, SCENE_TERMS);
  for (guint k = 0; k < SCENE_TERMS; k++) {
    for (guint band = 0; band < SCENE_BANDS; band++) {
      gdouble wanted = gain * area * scene_sample ((gint) k, (gint) band);

      fail_unless (fabs (gst_cuv_table_double (&w, band, k) - wanted)
              < 0.01 * gain * area * 250,
          "term %u, band %u: %g, not %g", k, band,
          gst_cuv_table_double (&w, band, k), wanted);
    }
  }
}

CUV_LOOP_TEST (cubes_of_every_layout, 9)
{
  static const gchar *const formats[] = { "U8", "U16LE", "F32LE" };
  static const gchar *const interleaves[] = { "bip", "bil", "bsq" };
  static const gdouble gains[] = { 1, 200, 1e-7 };
  static const gint in_order[] = { 0, 1, 2 };
  const gchar *format = formats[__i__ / 3],
              *interleave = interleaves[__i__ % 3];
  g_autoptr (GstHarness) h = ntf_harness (WELL);
  g_autoptr (GstBuffer) picture = NULL;

  ntf_set_cube_caps (h, format, interleave, "");
  picture = ntf_push (h, ntf_scene (format, interleave, gains[__i__ / 3]));
  device_check (h, "spectralntf");
  check_picture (picture, in_order);
  check_spectra (picture, gains[__i__ / 3]);
  fail_unless (ntf_last_error (picture) < 1e-3, "%g", ntf_last_error (picture));
  fail_unless_equals_uint64 (cuv_stat (h->element, "runs"), 1);
}

CUV_TEST (components_choose_channels)
{
  static const gint chosen[] = { 2, -1, 0 };
  g_autoptr (GstHarness) h = ntf_harness (WELL "components=3,0,1");
  g_autoptr (GstBuffer) picture = NULL;

  ntf_set_cube_caps (h, "U8", "bip", "");
  picture = ntf_push (h, ntf_scene ("U8", "bip", 1));
  check_picture (picture, chosen);
}

/* A single term fits the brightest block; the others are the residual. */
CUV_TEST (residual_shows_other_blocks)
{
  g_autoptr (GstHarness) h =
      ntf_harness ("rank=1 iterations=100 show=residual");
  g_autoptr (GstBuffer) picture = NULL;
  guint8 first[3], second[3], nothing[3];

  ntf_set_cube_caps (h, "U8", "bip", "");
  picture = ntf_push (h, ntf_scene ("U8", "bip", 1));
  ntf_pixel (picture, SCENE_WIDTH, 2, 2, first);
  ntf_pixel (picture, SCENE_WIDTH, 14, 10, second);
  ntf_pixel (picture, SCENE_WIDTH, 14, 2, nothing);
  fail_unless (first[0] < 10 && second[0] > 150 && nothing[0] < 10, "%d %d %d",
      first[0], second[0], nothing[0]);
  fail_unless (second[0] == second[1] && second[0] == second[2]);
}

/* ---- the error curve ---- */

CUV_TEST (errors_fall)
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=2 iterations=45 tolerance=0");
  g_autoptr (GstBuffer) picture = NULL;
  GstCuvTable errors;
  guint n;

  ntf_set_cube_caps (h, "U8", "bip", "");
  picture = ntf_push (h, ntf_scene ("U8", "bip", 1));
  errors = ntf_table (picture, "errors");
  fail_unless_equals_int (errors.n_rows, 5);
  for (guint i = 0; i < 5; i++) {
    fail_unless_equals_int (
        gst_cuv_table_int (&errors, i, 0), i < 4 ? 10 * (i + 1) : 45);
    fail_unless (i == 0
        || gst_cuv_table_double (&errors, i, 1)
            < gst_cuv_table_double (&errors, i - 1, 1) + 1e-6);
  }
  fail_unless (gst_structure_get_uint (
      ntf_table (picture, "u").structure, "iterations", &n));
  fail_unless_equals_int (n, 45);
}

/* ---- invalid input ---- */

static GstBuffer *
scene_with (gint x, gint y, gint band, gfloat value)
{
  GstBuffer *scene = ntf_scene ("F32LE", "bip", 1);

  gst_buffer_fill (scene, 4 * ntf_offset ("bip", x, y, band), &value, 4);
  return scene;
}

CUV_LOOP_TEST (invalid_values_are_errors, 3)
{
  static const gfloat values[] = { -1, NAN, INFINITY };
  g_autoptr (GstHarness) h = ntf_harness ("rank=3");

  ntf_set_cube_caps (h, "F32LE", "bip", "");
  cuv_harness_push_error (
      h, scene_with (5, 3, 6, values[__i__]), "5,3 of band 6");
}

CUV_LOOP_TEST (invalid_values_are_clamped, 3)
{
  static const gfloat values[] = { -1000, NAN, -INFINITY };
  static const gint in_order[] = { 0, 1, 2 };
  g_autoptr (GstHarness) h = ntf_harness (WELL "bad-values=clamp");
  g_autoptr (GstBuffer) picture = NULL;

  ntf_set_cube_caps (h, "F32LE", "bip", "");
  /* the pixel is black in any case */
  picture = ntf_push (h, scene_with (35, 0, 2, values[__i__]));
  check_picture (picture, in_order);
  check_spectra (picture, 1);
}

/* Band 1 and the value -9999 must not influence the result. */
CUV_TEST (bad_bands_and_ignored_values_are_skipped)
{
  g_autoptr (GstHarness) h = ntf_harness (WELL);
  GstBuffer *scene = scene_with (35, 0, 3, -9999);
  g_autoptr (GstBuffer) picture = NULL;
  const gfloat bad = -1;
  GstCuvTable w;

  gst_buffer_fill (scene, 4 * ntf_offset ("bip", 4, 4, 1), &bad, 4);
  ntf_set_cube_caps (
      h, "F32LE", "bip", ",bad-bands=<1>,ignore-value=(double)-9999");
  picture = ntf_push (h, scene);
  w = ntf_table (picture, "w");
  fail_unless_equals_int (w.n_rows, SCENE_BANDS - 1);
  for (guint row = 0; row < w.n_rows; row++) {
    gint band = row == 0 ? 0 : (gint) row + 1;
    gdouble wanted = scene_sample (0, band) / (gdouble) scene_sample (0, 0);

    fail_unless (fabs (gst_cuv_table_double (&w, row, 0)
                         / gst_cuv_table_double (&w, 0, 0)
                     - wanted)
        < 0.01);
  }
}

CUV_TEST (all_bands_bad_is_an_error)
{
  g_autoptr (GstHarness) h = ntf_harness ("");
  GstBus *bus = cuv_harness_watch (h);

  ntf_set_cube_caps (h, "U8", "bip", ",bad-bands=<0,1,2,3,4,5,6>");
  gst_harness_push (h, ntf_scene ("U8", "bip", 1));
  expect_problem (bus, GST_MESSAGE_ERROR, "bad-bands");
  cuv_harness_unwatch (h, bus);
}

CUV_TEST (contradictions_are_start_errors)
{
  g_autoptr (GstHarness) h = ntf_harness ("");
  GstBus *bus = gst_bus_new ();

  gst_element_set_state (h->element, GST_STATE_NULL);
  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "algorithm", "hals");
  gst_util_set_object_arg (G_OBJECT (h->element), "schedule", "jacobi");
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  expect_problem (bus, GST_MESSAGE_ERROR, "set schedule to gs");
  cuv_harness_unwatch (h, bus);
}

/* ---- edge cases ---- */

static void
check_edge (const gchar *properties, const gchar *caps, gsize size,
    guint8 value, guint wanted_rank)
{
  g_autoptr (GstHarness) h = ntf_harness (properties);
  guint8 *data = g_malloc (size);
  g_autoptr (GstBuffer) picture = NULL;
  GstCuvTable u;
  guint rank;

  memset (data, value, size);
  gst_harness_set_sink_caps_str (h, "video/x-raw,format=RGBA");
  gst_harness_set_src_caps_str (h, caps);
  picture = ntf_push (h, gst_buffer_new_wrapped (data, size));
  u = ntf_table (picture, "u");
  for (guint row = 0; row < u.n_rows; row++) {
    for (guint k = 0; k < u.n_columns; k++)
      fail_unless (
          gst_cuv_table_double (&u, row, k) >= 0); /* also fails on NaN */
  }
  gst_structure_get_uint (u.structure, "effective_rank", &rank);
  fail_unless (rank >= MIN (wanted_rank, 1) && rank <= wanted_rank,
      "%s: rank %u", caps, rank);
  fail_unless (ntf_last_error (picture) < 0.01, "%s", caps);
}

CUV_TEST (edge_cases)
{
  check_edge ("rank=4",
      "video/x-spectral,format=U8,interleave=bip,width=6,height=5,bands=3", 90,
      0, 0);
  check_edge ("rank=64",
      "video/x-spectral,format=U8,interleave=bsq,width=1,height=1,bands=1", 1,
      200, 64);
  check_edge ("rank=20 algorithm=hals",
      "video/x-spectral,format=U8,interleave=bil,width=3,height=2,bands=5", 30,
      255, 20);
  check_edge ("rank=2 init=nndsvd",
      "video/x-spectral,format=U16LE,interleave=bip,width=7,height=1,bands=2",
      28, 3, 2);
  check_edge ("rank=3 schedule=jacobi iterations=1000",
      "video/x-raw,format=RGB,width=8,height=8,framerate=5/1", 192, 77, 3);
}

CUV_TEST (rgb_video_and_nv12)
{
  cuv_play ("videotestsrc num-buffers=2 ! video/x-raw,format=BGRx,width=30,"
            "height=20 ! spectralntf rank=2 iterations=10 ! "
            "video/x-raw,format=NV12 ! fakesink");
}
