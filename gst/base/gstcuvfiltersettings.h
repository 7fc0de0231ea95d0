/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of every GstCuvFilter. */
#ifndef GST_CUV_FILTER_SETTINGS_H
#define GST_CUV_FILTER_SETTINGS_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

typedef struct {
  gint inference_interval;
  gboolean hold_results;
  gboolean skip_late;
  gint message; /* GstCuvMessage */
  gint stats_interval;
} GstCuvFilterSettings;

extern const GstCuvSettingsTable gst_cuv_filter_settings;

G_END_DECLS

#endif
