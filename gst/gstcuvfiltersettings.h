/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that every GstCuvFilter has. */
#ifndef GST_CUV_FILTER_SETTINGS_H
#define GST_CUV_FILTER_SETTINGS_H

#include "gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_CUV_FILTER_PROP_STATS 1 /* read-only: not a setting */

typedef struct {
  guint inference_interval;
  gboolean hold_results;
  gboolean skip_late;
  gint n_threads;
  GstCuvMessage message;
  guint stats_interval;
} GstCuvFilterSettings;

void gst_cuv_filter_settings_init (GstCuvFilterSettings *self);
void gst_cuv_filter_settings_install (GObjectClass *klass);

/* FALSE for a property that is not of here. */
gboolean gst_cuv_filter_settings_set (
    GstCuvFilterSettings *self, guint id, const GValue *value);
gboolean gst_cuv_filter_settings_get (
    const GstCuvFilterSettings *self, guint id, GValue *value);

G_END_DECLS

#endif
