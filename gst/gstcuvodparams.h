/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of ODMtds: the GstStructures that regions of interest have, in an
 * entry of our own in the relation meta, which other readers ignore. */
#ifndef GST_CUV_OD_PARAMS_H
#define GST_CUV_OD_PARAMS_H

#include "config.h"
#include "gstcuvmeta.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* Returns the relation meta's parameters, or NULL if it has none. */
GHashTable *gst_cuv_od_params_find (GstAnalyticsRelationMeta *meta);

/* Adds an entry for parameters to a relation meta without one. Returns NULL
 * before GStreamer 1.26, which does not free what entries refer to. */
GHashTable *gst_cuv_od_params_new (GstAnalyticsRelationMeta *meta);

/* Take the parameters out of a relation meta, and put them into its copy, so
 * that pointers to them stay valid. */
GHashTable *gst_cuv_od_params_steal (GstAnalyticsRelationMeta *meta);
void gst_cuv_od_params_restore (
    GstAnalyticsRelationMeta *meta, GHashTable *params);

/* Returns the parameters of an ODMtd. params may be NULL. */
const GList *gst_cuv_od_params_get (GHashTable *params, guint od);

/* Adds a parameter to an ODMtd, and takes ownership. */
void gst_cuv_od_params_add (
    GHashTable *params, guint od, GstStructure *structure);
#endif

#endif
