/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralntf factorisation=matrix: abundances of cubes of known mixtures,
 * changes while playing. With CUV_TEST_CUDA=1 on the GPU. */
#include "ntf-scene.h"

#include <math.h>

#define UNMIX                                                                  \
  "factorisation=matrix sum-to-one=true init=nfindr rank=2 iterations=3 "

/* Returns the abundance of the first spectrum: 1 on one side of a diagonal, 0
 * on the other, a mixture on it. No map of rank one has this shape. */
static gdouble
share_at (gint x, gint y)
{
  const gint distance = 2 * x - 3 * y;

  return distance > 3 ? 1 : distance < -3 ? 0 : 0.4;
}

static GstBuffer *
mixtures (void)
{
  guint8 *data = g_malloc (SCENE_WIDTH * SCENE_HEIGHT * SCENE_BANDS);

  for (gint y = 0; y < SCENE_HEIGHT; y++) {
    for (gint x = 0; x < SCENE_WIDTH; x++) {
      for (gint band = 0; band < SCENE_BANDS; band++)
        data[ntf_offset ("bip", x, y, band)] =
            (guint8) (share_at (x, y) * scene_sample (0, band)
                + (1 - share_at (x, y)) * scene_sample (1, band) + 0.5);
    }
  }
  return gst_buffer_new_wrapped (
      data, SCENE_WIDTH * SCENE_HEIGHT * SCENE_BANDS);
}

static GstBuffer *
unmix (GstHarness *h)
{
  ntf_set_cube_caps (h, "U8", "bip", "");
  return ntf_push (h, mixtures ());
}

/* Returns the term of the first spectrum, that of the pixel at the top right.
 */
static guint
first_term (const GstCuvTable *a)
{
  return gst_cuv_table_double (a, SCENE_WIDTH - 1, 0) > 0.5 ? 0 : 1;
}

static void
check_abundances (GstBuffer *picture)
{
  const GstCuvTable a = ntf_table (picture, "a");
  const guint one_term = first_term (&a);

  fail_unless_equals_int (a.n_rows, SCENE_WIDTH * SCENE_HEIGHT);
  fail_unless_equals_int (a.n_columns, 2);
  for (gint y = 0; y < SCENE_HEIGHT; y++) {
    for (gint x = 0; x < SCENE_WIDTH; x++) {
      const guint row = (guint) (y * SCENE_WIDTH + x);
      const gdouble one = gst_cuv_table_double (&a, row, one_term);
      const gdouble other = gst_cuv_table_double (&a, row, 1 - one_term);

      fail_unless (fabs (one - share_at (x, y)) < 0.01, "%d,%d: %g", x, y, one);
      fail_unless (fabs (one + other - 1) < 1e-5);
    }
  }
}

static void
check_spectra (GstBuffer *picture)
{
  const GstCuvTable a = ntf_table (picture, "a"), w = ntf_table (picture, "w");
  const guint one_term = first_term (&a);

  fail_unless_equals_int (w.n_rows, SCENE_BANDS);
  for (guint band = 0; band < SCENE_BANDS; band++) {
    for (guint k = 0; k < 2; k++) {
      const gdouble wanted = scene_sample (k == one_term ? 0 : 1, (gint) band);

      fail_unless (fabs (gst_cuv_table_double (&w, band, k) - wanted) < 1,
          "term %u, band %u: %g, not %g", k, band,
          gst_cuv_table_double (&w, band, k), wanted);
    }
  }
}

static void
check_picture (GstBuffer *picture)
{
  const GstCuvTable a = ntf_table (picture, "a");

  for (gint y = 1; y < SCENE_HEIGHT; y += 5) {
    for (gint x = 1; x < SCENE_WIDTH; x += 7) {
      const guint row = (guint) (y * SCENE_WIDTH + x);
      guint8 rgb[3];

      ntf_pixel (picture, SCENE_WIDTH, x, y, rgb);
      for (guint c = 0; c < 3; c++) {
        const gdouble wanted =
            c < 2 ? 255 * gst_cuv_table_double (&a, row, c) : 0;

        fail_unless (fabs (rgb[c] - wanted) < 1, "%d,%d: %d", x, y, rgb[c]);
      }
    }
  }
}

CUV_TEST (mixtures_are_unmixed)
{
  g_autoptr (GstHarness) h = ntf_harness (UNMIX);
  g_autoptr (GstBuffer) picture = unmix (h);
  guint rank;

  device_check (h, "spectralntf");
  check_abundances (picture);
  check_spectra (picture);
  check_picture (picture);
  fail_unless (ntf_last_error (picture) < 0.01);
  fail_unless (gst_structure_get_uint (
      ntf_table (picture, "a").structure, "effective_rank", &rank));
  fail_unless_equals_int (rank, 2);
}

/* A matrix leaves only rounding errors as residual; a tensor with as many
 * terms cannot represent such maps. */
CUV_TEST (tensors_have_no_diagonal_maps)
{
  static const gchar *const starts[] = { "random", "nndsvd" };
  g_autoptr (GstHarness) h =
      ntf_harness ("rank=2 iterations=300 algorithm=hals");
  GstBuffer *picture = unmix (h);

  fail_unless (ntf_last_error (picture) > 0.1, "%g", ntf_last_error (picture));
  gst_buffer_unref (picture);
  gst_util_set_object_arg (G_OBJECT (h->element), "factorisation", "matrix");
  for (gint i = 0; i < 2; i++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "init", starts[i]);
    picture = ntf_push (h, mixtures ());
    fail_unless (
        ntf_last_error (picture) < 0.01, "%g", ntf_last_error (picture));
    fail_unless_equals_int (
        ntf_table (picture, "a").n_rows, SCENE_WIDTH * SCENE_HEIGHT);
    gst_buffer_unref (picture);
  }
}

/* Computes the residual of a pixel (root mean square over bands) from the
 * tables. */
static gdouble
residual_at (GstBuffer *picture, const guint8 *samples, guint row)
{
  const GstCuvTable a = ntf_table (picture, "a"), w = ntf_table (picture, "w");
  gdouble sum = 0;

  for (guint band = 0; band < SCENE_BANDS; band++)
    sum += pow (samples[row * SCENE_BANDS + band]
            - gst_cuv_table_double (&a, row, 0)
                * gst_cuv_table_double (&w, band, 0),
        2);
  return sqrt (sum / SCENE_BANDS);
}

CUV_TEST (residual_of_a_matrix)
{
  const guint n = SCENE_WIDTH * SCENE_HEIGHT;
  g_autoptr (GstHarness) h =
      ntf_harness ("factorisation=matrix rank=1 show=residual");
  g_autoptr (GstBuffer) picture = unmix (h);
  g_autoptr (GstBuffer) cube = mixtures ();
  gdouble squares = 0;
  GstMapInfo map;

  fail_unless (gst_buffer_map (cube, &map, GST_MAP_READ));
  for (guint i = 0; i < n; i++)
    squares += pow (residual_at (picture, map.data, i), 2);
  for (guint i = 0; i < n; i += 37) {
    const gdouble wanted =
        255 * residual_at (picture, map.data, i) / (3 * sqrt (squares / n));
    guint8 rgb[3];

    ntf_pixel (picture, SCENE_WIDTH, (gint) (i % SCENE_WIDTH),
        (gint) (i / SCENE_WIDTH), rgb);
    fail_unless (
        fabs (rgb[0] - wanted) < 1, "%u: %d, not %g", i, rgb[0], wanted);
  }
  gst_buffer_unmap (cube, &map);
}

static const struct {
  const gchar *properties, *text;
} contradictions[] = {
  { "init=nfindr", "set factorisation to matrix or init to nndsvd" },
  { "sum-to-one=true", "set factorisation to matrix" },
  { "factorisation=matrix schedule=jacobi", "set schedule to gs" },
};

/* The previous settings stay in use. */
CUV_LOOP_TEST (contradictions_while_playing, G_N_ELEMENTS (contradictions))
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=2 iterations=5");
  GstBus *bus = cuv_harness_watch (h);
  gchar **words = g_strsplit (contradictions[__i__].properties, " ", -1);

  gst_buffer_unref (unmix (h));
  for (gint i = 0; words[i] != NULL; i++) {
    gchar **pair = g_strsplit (words[i], "=", 2);

    gst_util_set_object_arg (G_OBJECT (h->element), pair[0], pair[1]);
    g_strfreev (pair);
  }
  gst_buffer_unref (ntf_push (h, mixtures ()));
  expect_problem (bus, GST_MESSAGE_WARNING, contradictions[__i__].text);
  g_strfreev (words);
  cuv_harness_unwatch (h, bus);
}
