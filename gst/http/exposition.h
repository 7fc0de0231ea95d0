/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes metrics in Prometheus' text format 0.0.4. Used by visionwebsink
 * (elements/web/gstvisionwebsinkmonitor.c) and cuvision-farm
 * (tools/farm/metrics.c).
 *
 * For each metric call cuv_exposition_metric(), then for each of its samples
 * cuv_exposition_sample(), cuv_exposition_label() any number of times, and
 * cuv_exposition_value(). */
#ifndef CUV_EXPOSITION_H
#define CUV_EXPOSITION_H

#include <glib.h>

G_BEGIN_DECLS

/* The Content-Type of a response. */
#define CUV_EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Begins a metric. type: counter, gauge or histogram. */
void cuv_exposition_metric (
    GString *out, const gchar *name, const gchar *type, const gchar *help);

/* Begins a sample. name: that of the metric; for a histogram also with _bucket,
 * _sum or _count. */
void cuv_exposition_sample (GString *out, const gchar *name);
/* Adds a label to the sample. The value may be any text. */
void cuv_exposition_label (GString *out, const gchar *name, const gchar *value);
/* Ends the sample. */
void cuv_exposition_value (GString *out, gdouble value);

/* A metric with one sample that has no labels. */
void cuv_exposition_single (GString *out, const gchar *name, const gchar *type,
    const gchar *help, gdouble value);

/* Makes a text a valid name of a label, or part of the name of a metric:
 * lower-case letters, digits and underscores, no digit first. */
gchar *cuv_exposition_name (const gchar *text);

G_END_DECLS

#endif
