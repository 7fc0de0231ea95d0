/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that define a descriptor, for elements that describe frames.
 */
#ifndef GST_LDP_PARAMETERS_H
#define GST_LDP_PARAMETERS_H

#include "gstcuvproperties.h"
#include "ldp.h"

G_BEGIN_DECLS

/* Values as in the properties. */
typedef struct {
  gint order, grid, block;
  gint directions; /* set of CUV_LDP_0 ... */
  gboolean merge;
  gint border; /* CuvLdpBorder */
  gint bins;   /* CuvLdpBins */
  gint levels;
  gint width, height; /* 0 = as the frame */
} GstLdpParameters;

enum { GST_LDP_N_PARAMETERS = 10 };

/* Installs them with ids first, first + 1, ... */
void gst_ldp_parameters_install (GObjectClass *klass, guint first);
void gst_ldp_parameters_reset (GstLdpParameters *self);

/* Address of the value of property first + nth. */
gpointer gst_ldp_parameters_place (GstLdpParameters *self, guint nth);

CuvLdpParams gst_ldp_parameters_params (const GstLdpParameters *self);

/* The descriptor layout for frames of width x height. Returns NULL, or the
 * problem and what to do; free it. */
gchar *gst_ldp_parameters_layout (const GstLdpParameters *self, gint width,
    gint height, CuvLdpLayout *layout);

/* How many regions per frame the limits on memory and pixels allow, at least 1.
 */
guint gst_ldp_max_regions (const CuvLdpLayout *layout);

/* Enum value to nick and back; -1 if there is no such nick. */
const gchar *gst_ldp_border_nick (gint border);
const gchar *gst_ldp_bins_nick (gint bins);
gint gst_ldp_border_of_nick (const gchar *nick);
gint gst_ldp_bins_of_nick (const gchar *nick);

G_END_DECLS

#endif
