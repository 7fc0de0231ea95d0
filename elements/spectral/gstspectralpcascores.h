/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cubes of scores: floats, a component in each band. */
#ifndef GST_SPECTRAL_PCA_SCORES_H
#define GST_SPECTRAL_PCA_SCORES_H

#include "gstspectralcaps.h"
#include "pca.h"

G_BEGIN_DECLS

#define GST_SPECTRAL_SCORES_CAPS                                               \
  "video/x-spectral, format = (string) F32LE, "                                \
  "bands = (int) [ 1, 512 ], interleave = (string) { bsq, bip, bil "           \
  "}, " GST_SPECTRAL_SIZES

/* Pictures before scores: who takes both gets those. caps is taken. */
GstCaps *gst_spectral_scores_caps_last (GstCaps *caps);

/* Of scores the number that is nearest to n; all else is as it was. Both caps
 * are taken and given as by GstBaseTransform's fixate_caps. */
GstCaps *gst_spectral_scores_fixate (GstCaps *caps, gint n);

/* FALSE after an element error: there are only n. */
gboolean gst_spectral_scores_check (GstElement *element, gint wanted, gint n);

CuvPcaScores gst_spectral_scores_of (
    const GstSpectralInfo *info, gfloat *values);

/* What a header says of them. */
void gst_spectral_scores_name (GstBuffer *buffer, const GstSpectralInfo *info);

G_END_DECLS

#endif
