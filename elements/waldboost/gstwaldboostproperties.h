/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of waldboostdetect: names, ranges, where their values are. */
#ifndef GST_WALDBOOST_PROPERTIES_H
#define GST_WALDBOOST_PROPERTIES_H

#include "gstcuvproperties.h"

G_BEGIN_DECLS

typedef enum {
  GST_WALDBOOST_FULL_FRAME,
  GST_WALDBOOST_ROI_LIST,
} GstWaldboostRegionMode;

/* Texts; the others are in the table. */
enum {
  GST_WALDBOOST_PROP_MODEL = 1,
  GST_WALDBOOST_PROP_LABEL,
  GST_WALDBOOST_PROP_LABELS,
  GST_WALDBOOST_PROP_ROI,
  GST_WALDBOOST_PROP_OBJECT_CLASS,
  GST_WALDBOOST_PROP_REARRANGEMENT_STAGES,
  GST_WALDBOOST_N_TEXTS,
};

#define GST_WALDBOOST_DEFAULT_STAGES "1,8,64,256,512"

/* What a new value asks for. */
enum {
  GST_WALDBOOST_MODEL = -1, /* another reading of the model's file */
  GST_WALDBOOST_NOTHING,
  GST_WALDBOOST_PLAN, /* another plan */
};

/* NULL for a text. */
const GstCuvProperty *gst_waldboost_property (guint id);

/* Sets all numbers of the settings to their defaults. */
void gst_waldboost_properties_reset (gpointer settings);

void gst_waldboost_properties_install (GObjectClass *klass);

/* gstwaldboostenums.c */
GType gst_waldboost_scan_get_type (void);
GType gst_waldboost_grouping_get_type (void);
GType gst_waldboost_rearrangement_get_type (void);
GType gst_waldboost_block_size_get_type (void);
GType gst_waldboost_arithmetic_get_type (void);
GType gst_waldboost_lrp_order_get_type (void);
GType gst_waldboost_block_value_get_type (void);
GType gst_waldboost_region_mode_get_type (void);

G_END_DECLS

#endif
