/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Score cubes: F32LE, one component per band. */
#ifndef GST_SPECTRAL_PCA_SCORES_H
#define GST_SPECTRAL_PCA_SCORES_H

#include "spectral/gstcuvspectralcaps.h"
#include "pca.h"

G_BEGIN_DECLS

#define GST_SPECTRAL_SCORES_CAPS                                               \
  "video/x-spectral, format = (string) F32LE, "                                \
  "bands = (int) [ 1, 1024 ], interleave = (string) { bsq, bip, bil "          \
  "}, " GST_CUV_SPECTRAL_SIZES

/* Moves score caps behind picture caps, so that peers that accept both get
 * pictures. Takes ownership of caps. */
GstCaps *gst_spectral_scores_order_caps (GstCaps *caps);

/* Fixates bands of score caps to the value nearest to n; other caps stay as
 * they are. Takes ownership of caps. */
GstCaps *gst_spectral_scores_fixate (GstCaps *caps, gint n);

/* Posts an element error and returns FALSE if more than n components are
 * wanted. */
gboolean gst_spectral_scores_check (GstElement *element, gint wanted, gint n);

CuvPcaScores gst_spectral_scores_of (
    const GstCuvSpectralInfo *info, gfloat *values);

/* Sets the band names of the header meta: "component 1", ... */
void gst_spectral_scores_name (
    GstBuffer *buffer, const GstCuvSpectralInfo *info);

G_END_DECLS

#endif
