/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a table describes its metrics: its fields metrics, metrics_unit and
 * row_names (gstcuvmeta.h). For elements that pass metrics on. */
#ifndef GST_CUV_TABLE_METRICS_H
#define GST_CUV_TABLE_METRICS_H

#include "gstcuvmeta.h"

G_BEGIN_DECLS

/* A column of numbers that is a metric. */
typedef struct {
  guint column;
  gboolean counter; /* otherwise a gauge */
} GstCuvMetric;

/* Reads which columns are metrics. Each column counts once.
 *
 * @table: a table
 * @metrics: set to the metrics
 *
 * Returns: number of metrics */
CUV_API guint gst_cuv_table_metrics (
    const GstCuvTable *table, GstCuvMetric metrics[GST_CUV_MAX_COLUMNS]);

/* Reads which columns have the texts that identify a row.
 *
 * @table: a table
 * @columns: set to the indices of the columns
 *
 * Returns: number of columns, 0 if the table has a single row */
CUV_API guint gst_cuv_table_row_names (
    const GstCuvTable *table, guint columns[GST_CUV_MAX_COLUMNS]);

G_END_DECLS

#endif
