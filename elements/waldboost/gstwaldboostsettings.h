/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of waldboostdetect, and what is derived from them, such as the
 * models. The base class copies them before each frame; see gst/settings. */
#ifndef GST_WALDBOOST_SETTINGS_H
#define GST_WALDBOOST_SETTINGS_H

#include "cuvroi.h"
#include "settings/gstcuvsettings.h"
#include "detector.h"
#include "gstwaldboostmodels.h"
#include "gstwaldboostobjects.h"
#include "waldboost.h"

G_BEGIN_DECLS

typedef enum {
  GST_WALDBOOST_FULL_FRAME,
  GST_WALDBOOST_ROI_LIST,
  GST_WALDBOOST_ROI_CENTERS,
} GstWaldboostRegionMode;

typedef struct {
  gchar *model_names, *label, *labels, *roi, *object_class, *stages, *rotations;
  CuvModelOptions options;
  CuvWaldboostParams params; /* n_segments, segment_end: parsed from stages */
  CuvGrouping grouping;
  gint region_mode; /* GstWaldboostRegionMode */
  gint max_objects;
  gint metadata; /* GstCuvMetadata */
  gdouble threshold;

  GstWaldboostModels *models;    /* NULL while stopped */
  CuvModelOptions model_options; /* options with which the models were read */
  /* label and model of objects found with these settings */
  GstWaldboostOrigins *origins;
  CuvRoi area; /* parsed roi */
  /* parsed rotations */
  gint n_rotations, rotation[CUV_DETECTOR_MAX_ROTATIONS];
  GQuark region_label; /* parsed object_class; 0 = any */
} GstWaldboostSettings;

extern const GstCuvSettingsTable gst_waldboost_settings;

G_END_DECLS

#endif
