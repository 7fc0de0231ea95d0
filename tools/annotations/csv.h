/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables in CSV (RFC 4180) whose header names the columns, in any order. */
#ifndef CUV_ANNOTATIONS_CSV_H
#define CUV_ANNOTATIONS_CSV_H

#include "annotations.h"

#define CUV_CSV_MAX_COLUMNS 8

/* The columns that a reader needs. words: a row's fields in the order of
 * `columns`; NULL for optional columns that the file lacks. */
typedef struct {
  const gchar *const *columns;
  guint n, n_required; /* the required ones come first */
  gboolean (*read) (
      CuvAnnotations *self, const gchar *const *words, GError **error);
} CuvCsvTable;

/* Calls table->read for each row. Errors begin with the row's number. */
gboolean cuv_csv_read (CuvAnnotations *self, const gchar *bytes,
    const CuvCsvTable *table, GError **error);

/* Parses a number. Returns FALSE with an error that names the column. */
gboolean cuv_csv_number (
    const gchar *column, const gchar *word, gdouble *number, GError **error);

#endif
