/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralpca: output of scores as cubes. */
#include "pca-scene.h"

static GstBuffer *
push_for_scores (const gchar *settings, const gchar *interleave)
{
  g_autofree gchar *line =
      g_strdup_printf ("spectralpca %s ! capsfilter "
                       "caps=video/x-spectral,interleave=%s",
          settings, interleave);
  g_autoptr (GstHarness) h = pca_harness_new (line, CUBE_CAPS);
  GstBuffer *out = NULL;

  fail_unless_equals_int (gst_harness_push (h, pca_cube_new (0)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  return out;
}

static void
check_scores (GstBuffer *buffer, const GstCuvTable *table, gint n)
{
  const GValue *mean = gst_structure_get_value (table->structure, "mean");
  const GValue *all = gst_structure_get_value (table->structure, "vectors");
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (
      map.size, sizeof (gfloat) * WIDTH * HEIGHT * (gsize) n);
  for (gint i = 0; i < n * WIDTH * HEIGHT; i++) {
    const gint p = i % (WIDTH * HEIGHT), k = i / (WIDTH * HEIGHT);
    const GValue *v = gst_value_array_get_value (all, (guint) k);
    gdouble y = 0;

    for (gint b = 0; b < BANDS; b++)
      y += pca_number (v, (guint) b)
          * (pca_sample (p % WIDTH, p / WIDTH, b, 0)
              - pca_number (mean, (guint) b));
    fail_unless (((const gfloat *) map.data)[i] == (gfloat) y,
        "pixel %d, score %d: %g, not %g", p, k,
        (gdouble) ((const gfloat *) map.data)[i], y);
  }
  gst_buffer_unmap (buffer, &map);
}

CUV_TEST (scores_match_the_table)
{
  g_autoptr (GstBuffer) out = push_for_scores ("scores=3", "bsq");
  g_autoptr (GstBuffer) one = push_for_scores ("scores=3 n-threads=1", "bsq");
  g_autoptr (GstBuffer) bip = push_for_scores ("scores=3", "bip");
  gfloat a[3], b[3];
  GstCuvTable table;

  pca_table_of (out, &table);
  check_scores (out, &table, 3);
  pca_check_same (out, one, TRUE);
  for (gsize p = 0; p < WIDTH * HEIGHT; p += 17) {
    for (gsize k = 0; k < 3; k++)
      gst_buffer_extract (
          out, sizeof *a * (k * WIDTH * HEIGHT + p), &a[k], sizeof *a);
    gst_buffer_extract (bip, sizeof b * p, b, sizeof b);
    fail_unless (memcmp (a, b, sizeof a) == 0);
  }
}

/* There is a score for each component, unless the property or the caps give a
 * number. */
CUV_TEST (number_of_scores)
{
  static const struct {
    const gchar *settings;
    gsize n;
  } cases[] = { { "", BANDS }, { "scores=2", 2 },
    { "scores=2 ! video/x-spectral,bands=4", 4 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out = push_for_scores (cases[i].settings, "bil");

    fail_unless_equals_uint64 (gst_buffer_get_size (out),
        sizeof (gfloat) * WIDTH * HEIGHT * cases[i].n);
    gst_buffer_unref (out);
  }
}

CUV_TEST (invalid_input_is_an_error)
{
  pca_expect_error ("spectralpca ! capsfilter caps=video/x-spectral", CUBE_CAPS,
      gst_buffer_new_allocate (NULL, 9, NULL), "A buffer has 9 bytes");
  pca_expect_error ("spectralpca ! capsfilter caps=video/x-spectral,bands=7",
      CUBE_CAPS, pca_cube_new (0), "set bands to at most 6 in the caps");
}
