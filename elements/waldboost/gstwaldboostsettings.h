/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of waldboostdetect: its properties, and the model that
 * they name. */
#ifndef GST_WALDBOOST_SETTINGS_H
#define GST_WALDBOOST_SETTINGS_H

#include "gstcuvfilter.h"
#include "model.h"
#include "scanner.h"

G_BEGIN_DECLS

/* All under the owner's object lock. */
typedef struct {
  GstCuvFilter *owner;
  gchar *model_name, *label, *roi_text;
  const CuvWaldboostModel *model; /* loaded while started */
  gchar *model_label;
  CuvWaldboostParams params;
  CuvRoi roi;
  guint min_neighbors, max_objects;
  gdouble threshold;
  gboolean started;
} GstWaldboostSettings;

void gst_waldboost_settings_install (GObjectClass *klass);
void gst_waldboost_settings_init (
    GstWaldboostSettings *self, GstCuvFilter *owner);
void gst_waldboost_settings_clear (GstWaldboostSettings *self);

/* FALSE for a property that is not of here. */
gboolean gst_waldboost_settings_set (
    GstWaldboostSettings *self, guint id, const GValue *value);
gboolean gst_waldboost_settings_get (
    GstWaldboostSettings *self, guint id, GValue *value);

/* Loads the model; FALSE after an element error. */
gboolean gst_waldboost_settings_start (GstWaldboostSettings *self);
void gst_waldboost_settings_stop (GstWaldboostSettings *self);

G_END_DECLS

#endif
