/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of CSV, RFC 4180, under a header that says which column is where. */
#ifndef CUV_ANNOTATIONS_CSV_H
#define CUV_ANNOTATIONS_CSV_H

#include "annotations.h"

#define CUV_CSV_MAX_COLUMNS 8

/* words: a row's fields in the order of the table's columns, NULL for optional
 * ones that the file does not have. */
typedef struct {
  const gchar *const *columns;
  guint n, n_required; /* the required ones come first */
  gboolean (*read) (
      CuvAnnotations *self, const gchar *const *words, GError **error);
} CuvCsvTable;

/* Errors begin with the row. */
gboolean cuv_csv_read (CuvAnnotations *self, const gchar *bytes,
    const CuvCsvTable *table, GError **error);

/* FALSE with an error that names the column. */
gboolean cuv_csv_number (
    const gchar *column, const gchar *word, gdouble *number, GError **error);

#endif
