/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads tables in CSV with a header: those of visionpublish, and those of
 * TensorFlow's tools, in which a box has xmin, ymin, xmax and ymax. */
#include "csv.h"

#include <string.h>

/* ---- rows ---- */

enum { MOST_FIELDS = 1024 };

/* Returns the fields of the row at *at, and sets *at to the next row. Fields
 * beyond MOST_FIELDS become part of the last one. */
static GPtrArray *
next_row (const gchar **at)
{
  GPtrArray *row = g_ptr_array_new_with_free_func (g_free);
  GString *field = g_string_new (NULL);
  gboolean quoted = FALSE;
  const gchar *c = *at;

  for (; *c != '\0' && (quoted || *c != '\n'); c++) {
    if (*c == '"' && quoted && c[1] == '"')
      g_string_append_c (field, *c++);
    else if (*c == '"')
      quoted = !quoted;
    else if (*c == ',' && !quoted && row->len < MOST_FIELDS) {
      g_ptr_array_add (row, g_strdup (field->str));
      g_string_truncate (field, 0);
    } else if (*c != '\r' || quoted)
      g_string_append_c (field, *c);
  }
  g_ptr_array_add (row, g_string_free (field, FALSE));
  *at = *c == '\n' ? c + 1 : c;
  return row;
}

/* Sets places to the indices of the columns. A # before a name is ignored: VIA
 * 1 writes #filename. */
static void
csv_find_columns (GPtrArray *header, const CuvCsvTable *table, guint *places)
{
  for (guint i = 0; i < table->n; i++) {
    places[i] = header->len;
    for (guint k = 0; k < header->len; k++) {
      const gchar *name = g_strstrip (header->pdata[k]);

      if (g_str_equal (name + (*name == '#'), table->columns[i]))
        places[i] = k;
    }
  }
}

static gboolean
check_columns (GPtrArray *header, const CuvCsvTable *table, const guint *places,
    GError **error)
{
  for (guint i = 0; i < table->n_required; i++) {
    if (places[i] == header->len)
      return cuv_annotations_fail (
          error, "the header has no column %s", table->columns[i]);
  }
  return TRUE;
}

static gboolean
csv_read_row (CuvAnnotations *self, GPtrArray *row, const CuvCsvTable *table,
    const guint *places, GError **error)
{
  const gchar *words[CUV_CSV_MAX_COLUMNS];

  for (guint i = 0; i < table->n; i++) {
    words[i] = places[i] < row->len ? row->pdata[places[i]] : NULL;
    if (words[i] == NULL && i < table->n_required)
      return cuv_annotations_fail (error, "no %s", table->columns[i]);
  }
  return table->read (self, words, error);
}

gboolean
cuv_csv_read (CuvAnnotations *self, const gchar *bytes,
    const CuvCsvTable *table, GError **error)
{
  GPtrArray *row = next_row (&bytes);
  guint places[CUV_CSV_MAX_COLUMNS], n = 1;
  gboolean ok;

  csv_find_columns (row, table, places);
  ok = check_columns (row, table, places, error);
  g_ptr_array_unref (row);
  while (ok && *bytes != '\0') {
    row = next_row (&bytes);
    n++;
    ok = (row->len == 1 && *(gchar *) row->pdata[0] == '\0')
        || csv_read_row (self, row, table, places, error);
    if (!ok)
      g_prefix_error (error, "row %u: ", n);
    g_ptr_array_unref (row);
  }
  return ok;
}

gboolean
cuv_csv_number (
    const gchar *column, const gchar *word, gdouble *number, GError **error)
{
  return cuv_annotations_number (word, number)
      || cuv_annotations_fail (
          error, "%s '%.40s' is not a number", column, word);
}

/* ---- visionpublish ---- */

enum { KIND, FRAME, SOURCE, TYPE, X, Y, W, H, N_COLUMNS };

static const gchar *const columns[N_COLUMNS] = { "kind", "frame_num", "source",
  "roi_type", "x", "y", "w", "h" };

static gboolean
csv_read_record (
    CuvAnnotations *self, const gchar *const *words, GError **error)
{
  CuvAnnotation box = { 0 };
  gdouble *numbers[] = { &box.x, &box.y, &box.width, &box.height };
  CuvAnnotated *picture;
  guint64 frame;

  if (!g_ascii_string_to_unsigned (
          words[FRAME], 10, 0, G_MAXINT64, &frame, NULL))
    return cuv_annotations_fail (error,
        "frame_num '%.40s' is not a frame number (0 or more)", words[FRAME]);
  picture = cuv_annotations_picture (self, words[SOURCE], (gint64) frame);
  if (!g_str_equal (words[KIND], "object"))
    return TRUE;
  for (guint i = 0; i < 4; i++) {
    if (!cuv_csv_number (columns[X + i], words[X + i], numbers[i], error))
      return FALSE;
  }
  box.label = cuv_annotations_label (self->labels, words[TYPE]);
  return cuv_annotated_add (picture, &box, error);
}

gboolean
cuv_read_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  static const CuvCsvTable table = { columns, N_COLUMNS, N_COLUMNS,
    csv_read_record };

  return cuv_csv_read (self, bytes, &table, error);
}

/* ---- TensorFlow ---- */

enum { FILE_NAME, CLASS, X_MIN, Y_MIN, X_MAX, Y_MAX, WIDTH, HEIGHT, N_TENSORS };

static const gchar *const tensor_columns[N_TENSORS] = { "filename", "class",
  "xmin", "ymin", "xmax", "ymax", "width", "height" };

static gboolean
read_tensor (CuvAnnotations *self, const gchar *const *words, GError **error)
{
  CuvAnnotated *picture = cuv_annotations_picture (self, words[FILE_NAME], -1);
  CuvAnnotation box = { .label = cuv_annotations_label (
                            self->labels, words[CLASS]) };
  gdouble sides[4];

  if (words[WIDTH] != NULL && words[HEIGHT] != NULL)
    cuv_annotated_set_size (picture, g_ascii_strtod (words[WIDTH], NULL),
        g_ascii_strtod (words[HEIGHT], NULL));
  for (guint i = 0; i < 4; i++) {
    if (!cuv_csv_number (
            tensor_columns[X_MIN + i], words[X_MIN + i], &sides[i], error))
      return FALSE;
  }
  box.x = sides[0];
  box.y = sides[1];
  box.width = sides[2] - sides[0];
  box.height = sides[3] - sides[1];
  return cuv_annotated_add (picture, &box, error);
}

gboolean
cuv_read_tensorflow_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  static const CuvCsvTable table = { tensor_columns, N_TENSORS, WIDTH,
    read_tensor };

  return cuv_csv_read (self, bytes, &table, error);
}
