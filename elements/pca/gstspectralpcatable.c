/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralpcatable.h"

#include "gstcuvmeta.h"
#include "gstspectralbasis.h"
#include "gstcuvstructure.h"

static const GstCuvColumn columns[] = {
  { "eigenvalue", GST_CUV_TYPE_F64 },
  { "explained", GST_CUV_TYPE_F64 },
};

static void
append_numbers (GValue *array, const gdouble *numbers, gint n)
{
  g_value_init (array, GST_TYPE_ARRAY);
  for (gint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, numbers[i]);
    gst_value_array_append_and_take_value (array, &value);
  }
}

/* Sets the vectors of the shown components in the order R, G, B; empty for
 * black and missing components. */
static void
set_vectors (
    GstStructure *table, const CuvPcaBasis *basis, const gint *components)
{
  GValue all = G_VALUE_INIT, shown = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  g_value_init (&shown, GST_TYPE_ARRAY);
  for (gint c = 0; c < GST_CUV_SPECTRAL_SHOWN; c++) {
    gint k = components[c] - 1;
    gboolean is_one = k >= 0 && k < basis->n;
    GValue vector = G_VALUE_INIT, number = G_VALUE_INIT;

    append_numbers (&vector, is_one ? &basis->vectors[k * basis->n] : NULL,
        is_one ? basis->n : 0);
    gst_value_array_append_and_take_value (&all, &vector);
    g_value_init (&number, G_TYPE_INT);
    g_value_set_int (&number, components[c]);
    gst_value_array_append_and_take_value (&shown, &number);
  }
  gst_cuv_structure_take_value (table, "vectors", &all);
  gst_cuv_structure_take_value (table, "components", &shown);
}

void
gst_spectral_pca_add_table (GstBuffer *buffer, const CuvPcaBasis *basis,
    const gint components[GST_CUV_SPECTRAL_SHOWN], const CuvPcaResult *result,
    const GstCuvSpectralPicture *picture)
{
  gdouble total = cuv_pca_basis_total (basis);
  gdouble rows[CUV_CUBE_MAX_BANDS][2];
  GValue mean = G_VALUE_INIT;
  GstStructure *table;

  if (!basis->is_known)
    return;
  for (gint k = 0; k < basis->n; k++) {
    rows[k][0] = basis->values[k];
    rows[k][1] = total > 0 ? basis->values[k] / total : 0;
  }
  table = gst_cuv_meta_add_table (buffer, "pca", 1, (guint) picture->width,
      (guint) picture->height, "none", columns, G_N_ELEMENTS (columns), rows,
      (guint) basis->n);
  gst_cuv_structure_set (table, "key", G_TYPE_STRING, "spectral", "mode",
      G_TYPE_STRING, gst_spectral_mode_name (basis->mode), "pixels",
      G_TYPE_UINT64, (guint64) result->pixels, "left_out", G_TYPE_UINT64,
      (guint64) result->left_out, "cut", G_TYPE_BOOLEAN, result->update.is_cut,
      NULL);
  append_numbers (&mean, basis->mean, basis->n);
  gst_cuv_structure_take_value (table, "mean", &mean);
  set_vectors (table, basis, components);
}

void
gst_spectral_pca_add_result (GstStructure *stats, const CuvPcaResult *result)
{
  gst_cuv_structure_set (stats, "pixels", G_TYPE_UINT64,
      (guint64) result->pixels, "left-out", G_TYPE_UINT64,
      (guint64) result->left_out, "sweeps", G_TYPE_UINT,
      (guint) result->update.sweeps, "microseconds-sums", G_TYPE_DOUBLE,
      (gdouble) result->sums_us, "microseconds-basis", G_TYPE_DOUBLE,
      (gdouble) result->basis_us, "microseconds-picture", G_TYPE_DOUBLE,
      (gdouble) result->picture_us, NULL);
}
