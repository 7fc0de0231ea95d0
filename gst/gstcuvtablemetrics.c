/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvtablemetrics.h"
#include "gstcuvstructure.h"

#include <string.h>

#define COUNTER ":counter"

/* Steps through the words of a field of text. Returns the length of the next
 * word, which begins at *word, 0 at the end. Begin with a length of 0. */
static gsize
next_word (const gchar **word, gsize length)
{
  *word += length;
  *word += strspn (*word, " ");
  return strcspn (*word, " ");
}

/* Returns the index of the column whose name has this length, -1 if there is
 * none. */
static gint
find_column (const GstCuvTable *table, const gchar *name, gsize length)
{
  for (guint i = 0; i < table->n_columns; i++) {
    if (strlen (table->columns[i].name) == length
        && memcmp (table->columns[i].name, name, length) == 0)
      return (gint) i;
  }
  return -1;
}

guint
gst_cuv_table_metrics (
    const GstCuvTable *table, GstCuvMetric metrics[GST_CUV_MAX_COLUMNS])
{
  const gchar *word =
      gst_cuv_structure_get_string (table->structure, "metrics");
  gboolean used[GST_CUV_MAX_COLUMNS] = { FALSE };
  guint n = 0;

  for (gsize length = 0;
       word != NULL && (length = next_word (&word, length)) > 0;) {
    const gsize tail = strlen (COUNTER);
    const gboolean counter =
        length > tail && strncmp (word + length - tail, COUNTER, tail) == 0;
    const gint column =
        find_column (table, word, counter ? length - tail : length);

    if (column < 0 || used[column]
        || table->columns[column].type == GST_CUV_TYPE_TEXT)
      continue;
    used[column] = TRUE;
    metrics[n++] = (GstCuvMetric){ (guint) column, counter };
  }
  return n;
}

guint
gst_cuv_table_row_names (
    const GstCuvTable *table, guint columns[GST_CUV_MAX_COLUMNS])
{
  const gchar *word =
      gst_cuv_structure_get_string (table->structure, "row_names");
  const gboolean all = word == NULL;
  gboolean used[GST_CUV_MAX_COLUMNS] = { FALSE };
  guint n = 0;

  for (guint i = 0; all && i < table->n_columns; i++) {
    if (table->columns[i].type == GST_CUV_TYPE_TEXT)
      columns[n++] = i;
  }
  for (gsize length = 0; !all && (length = next_word (&word, length)) > 0;) {
    const gint column = find_column (table, word, length);

    if (column < 0 || used[column]
        || table->columns[column].type != GST_CUV_TYPE_TEXT)
      continue;
    used[column] = TRUE;
    columns[n++] = (guint) column;
  }
  return n;
}
