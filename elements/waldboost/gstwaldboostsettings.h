/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of waldboostdetect, and the models that they name. The base
 * class copies them before a frame; see gst/settings. */
#ifndef GST_WALDBOOST_SETTINGS_H
#define GST_WALDBOOST_SETTINGS_H

#include "cuvroi.h"
#include "settings/gstcuvsettings.h"
#include "gstwaldboostmodels.h"
#include "gstwaldboostobjects.h"
#include "waldboost.h"

G_BEGIN_DECLS

typedef enum {
  GST_WALDBOOST_FULL_FRAME,
  GST_WALDBOOST_ROI_LIST,
} GstWaldboostRegionMode;

#define GST_WALDBOOST_MAX_ROTATIONS 12

typedef struct {
  gchar *model_names, *label, *labels, *roi, *object_class, *stages, *rotations;
  CuvModelOptions options;
  CuvWaldboostParams params; /* n_segments, segment_end: parsed from stages */
  CuvGrouping grouping;
  gint region_mode; /* GstWaldboostRegionMode */
  gint max_objects;
  gdouble threshold;

  GstWaldboostModels *models;    /* while started */
  CuvModelOptions model_options; /* options that they were read with */
  GstWaldboostOrigins *origins;  /* label and model of the objects found with
                                  * these settings */
  CuvRoi area;                   /* roi, parsed */
  gint n_rotations, rotation[GST_WALDBOOST_MAX_ROTATIONS]; /* parsed */
  GQuark region_label; /* object_class, 0 = any */
} GstWaldboostSettings;

extern const GstCuvSettingsTable gst_waldboost_settings;

G_END_DECLS

#endif
