/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of waldboostdetect: its properties, and the model that
 * they name. */
#ifndef GST_WALDBOOST_SETTINGS_H
#define GST_WALDBOOST_SETTINGS_H

#include "gstcuvfilter.h"
#include "gstwaldboostproperties.h"
#include "model/model.h"
#include "scanner.h"

G_BEGIN_DECLS

/* All under the owner's object lock, but for loading. */
typedef struct {
  GstCuvFilter *owner;
  GMutex loading;                      /* one change of the model at a time */
  gchar *texts[GST_WALDBOOST_N_TEXTS]; /* of the properties, as they were set */
  const CuvWaldboostModel *model;      /* loaded while started */
  gchar *model_label;                  /* what its file's name says */
  gchar **labels;                      /* or NULL */
  CuvRoi roi;
  GQuark object_class; /* 0 = any */

  CuvModelOptions options;
  CuvWaldboostParams params;
  CuvGrouping grouping;
  GstWaldboostRegionMode region_mode;
  guint max_objects;
  gdouble threshold;
  gboolean started;
} GstWaldboostSettings;

void gst_waldboost_settings_init (
    GstWaldboostSettings *self, GstCuvFilter *owner);
void gst_waldboost_settings_clear (GstWaldboostSettings *self);

void gst_waldboost_settings_set (
    GstWaldboostSettings *self, guint id, const GValue *value);
void gst_waldboost_settings_get (
    GstWaldboostSettings *self, guint id, GValue *value);

/* Loads the model; FALSE after an element error. */
gboolean gst_waldboost_settings_start (GstWaldboostSettings *self);
void gst_waldboost_settings_stop (GstWaldboostSettings *self);

/* The label of objects, and its place in labels; -1 if it is not among them.
 * The object lock is held. */
const gchar *gst_waldboost_settings_label (
    const GstWaldboostSettings *self, gint *id);

G_END_DECLS

#endif
