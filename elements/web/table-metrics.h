/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables that say which of their columns are metrics: the field "metrics" of
 * gst/gstcuvmeta.h. */
#ifndef CUV_WEB_TABLE_METRICS_H
#define CUV_WEB_TABLE_METRICS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends the metrics of the buffer's tables in Prometheus' text format:
 * cuvision_table_KEY_COLUMN for each column that is one, and a sample for each
 * row, whose labels are path and the row's texts. Of rows with the same texts,
 * the first counts. */
void cuv_web_append_table_metrics (
    GString *out, GstBuffer *buffer, const gchar *path);

G_END_DECLS

#endif
