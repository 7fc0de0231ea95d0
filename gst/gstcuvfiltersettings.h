/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of every GstCuvFilter. */
#ifndef GST_CUV_FILTER_SETTINGS_H
#define GST_CUV_FILTER_SETTINGS_H

#include "gstcuvfilter.h"

G_BEGIN_DECLS

typedef struct {
  gint inference_interval;
  gboolean hold_results;
  gboolean skip_late;
  gint n_threads;
  gint message; /* GstCuvMessage */
  gint stats_interval;
} GstCuvFilterSettings;

extern const GstCuvSettingsTable gst_cuv_filter_settings;

/* The value of the property stats. */
void gst_cuv_filter_get_stats (GstElement *element, GValue *value);

G_END_DECLS

#endif
