/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of elements that describe frames: what a descriptor is. */
#ifndef GST_LDP_PARAMETERS_H
#define GST_LDP_PARAMETERS_H

#include "gstcuvproperties.h"
#include "ldp.h"

G_BEGIN_DECLS

/* As the properties have them. */
typedef struct {
  gint order, grid, block;
  gint directions; /* a set of CUV_LDP_0 and so on */
  gboolean merge;
  gint border; /* CuvLdpBorder */
  gint bins;   /* CuvLdpBins */
  gint levels;
  gint width, height; /* 0 = that of what is described */
} GstLdpParameters;

enum { GST_LDP_N_PARAMETERS = 10 };

/* Installs them with ids from first on. */
void gst_ldp_parameters_install (GObjectClass *klass, guint first);
void gst_ldp_parameters_reset (GstLdpParameters *self);

/* Where the value of property first + nth is. */
gpointer gst_ldp_parameters_place (GstLdpParameters *self, guint nth);

CuvLdpParams gst_ldp_parameters_params (const GstLdpParameters *self);

/* The shape of what is width x height. NULL, or what is wrong and what to do;
 * free it. */
gchar *gst_ldp_parameters_layout (const GstLdpParameters *self, gint width,
    gint height, CuvLdpLayout *layout);

/* How many regions of a frame such a shape leaves memory and time for, at least
 * one. */
guint gst_ldp_max_regions (const CuvLdpLayout *layout);

/* The nicks of values. */
const gchar *gst_ldp_border_nick (gint border);
const gchar *gst_ldp_bins_nick (gint bins);
/* -1 if there is no such nick. */
gint gst_ldp_border_of_nick (const gchar *nick);
gint gst_ldp_bins_of_nick (const gchar *nick);

G_END_DECLS

#endif
