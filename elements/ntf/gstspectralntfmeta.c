/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralntfmeta.h"

#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

typedef struct {
  GstCuvColumn columns[CUV_NTF_MAX_RANK];
  gchar names[CUV_NTF_MAX_RANK][8];
} Columns;

static void
name_columns (Columns *self, gint rank)
{
  for (gint k = 0; k < rank; k++) {
    g_snprintf (self->names[k], sizeof self->names[k], "term%d", k + 1);
    self->columns[k] = (GstCuvColumn){ self->names[k], GST_CUV_TYPE_F32 };
  }
}

/* Returns rows without padding. Row `first` comes first; the others follow in a
 * circle. */
static gfloat *
pack_rows (const CuvNtfFactors *factors, gint mode, gint first)
{
  const gint n = factors->size[mode];
  const gsize rank = (gsize) factors->rank;
  gfloat *rows = g_new (gfloat, (gsize) n * rank);

  for (gint i = 0; i < n; i++)
    memcpy (&rows[(gsize) i * rank],
        cuv_ntf_at (factors, mode, (first + i) % n, 0), rank * sizeof *rows);
  return rows;
}

/* Sets the table's mode, and its name in JSON: "ntf_u" etc. */
static void
name_table (GstStructure *table, const gchar *mode)
{
  gchar *key = g_strconcat ("ntf_", mode, NULL);

  gst_cuv_structure_set (
      table, "mode", G_TYPE_STRING, mode, "key", G_TYPE_STRING, key, NULL);
  g_free (key);
}

static GstStructure *
add_factor (const GstNtfTables *self, const gchar *name, gint mode, gint first,
    const Columns *columns)
{
  const CuvNtfFactors *factors = self->factors;
  gfloat *rows = pack_rows (factors, mode, first);
  GstStructure *table = gst_cuv_meta_add_table (self->buffer, "ntf", 1,
      (guint) self->width, (guint) self->height, "none", columns->columns,
      (guint) factors->rank, rows, (guint) factors->size[mode]);

  g_free (rows);
  name_table (table, name);
  return table;
}

#pragma pack(push, 1)
typedef struct {
  guint32 iteration;
  gdouble error;
} ErrorRow;
#pragma pack(pop)

static void
add_errors (const GstNtfTables *self, const CuvNtfResult *result)
{
  static const GstCuvColumn columns[] = {
    { "iteration", GST_CUV_TYPE_U32 },
    { "error", GST_CUV_TYPE_F64 },
  };
  ErrorRow *rows = g_new (ErrorRow, result->n_errors);
  GstStructure *table;

  for (gint i = 0; i < result->n_errors; i++)
    rows[i] = (ErrorRow){ (guint32) MIN (
                              (i + 1) * CUV_NTF_TEST_EVERY, result->iterations),
      result->errors[i] };
  table = gst_cuv_meta_add_table (self->buffer, "ntf", 1, (guint) self->width,
      (guint) self->height, "none", columns, G_N_ELEMENTS (columns), rows,
      (guint) result->n_errors);
  name_table (table, "errors");
  g_free (rows);
}

void
gst_ntf_meta_add (
    const GstNtfTables *self, gint first, const CuvNtfResult *result)
{
  GstStructure *table;
  Columns columns;

  name_columns (&columns, self->factors->rank);
  table = self->is_matrix ? add_factor (self, "a", CUV_NTF_V, 0, &columns)
                          : add_factor (self, "u", CUV_NTF_U, 0, &columns);
  gst_cuv_structure_set (table, "iterations", G_TYPE_UINT,
      (guint) result->iterations, "effective_rank", G_TYPE_UINT,
      (guint) result->effective_rank, "error", G_TYPE_DOUBLE,
      result->errors[result->n_errors - 1], "converged", G_TYPE_BOOLEAN,
      result->converged, NULL);
  if (!self->is_matrix)
    add_factor (self, "v", CUV_NTF_V, 0, &columns);
  add_factor (self, "w", CUV_NTF_W, first, &columns);
  add_errors (self, result);
}

GstStructure *
gst_ntf_meta_progress (
    GstBuffer *buffer, const CuvNtfResult *result, gint iterations)
{
  return gst_cuv_structure_new ("spectralntf", "timestamp", G_TYPE_UINT64,
      GST_BUFFER_PTS (buffer), "iteration", G_TYPE_UINT,
      (guint) result->iterations, "percent", G_TYPE_DOUBLE,
      100. * result->iterations / iterations, "error", G_TYPE_DOUBLE,
      result->errors[result->n_errors - 1], NULL);
}
