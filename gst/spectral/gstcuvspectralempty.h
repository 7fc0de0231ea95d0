/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bands without a valid sample. A pixel is excluded if one of its bands is
 * invalid, so a single empty band would exclude all pixels. */
#ifndef GST_CUV_SPECTRAL_EMPTY_H
#define GST_CUV_SPECTRAL_EMPTY_H

#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

/* Marks good bands of a cube in host memory as bad if they have no valid
 * sample, but only the ignore value, NaN and infinity. Returns FALSE, and marks
 * none, if no band has one. *warning: a sentence that names the marked bands,
 * or NULL; g_free() it. */
CUV_API gboolean gst_cuv_spectral_info_mark_empty (
    GstCuvSpectralInfo *info, const CuvCube *cube, gchar **warning);

/* Returns a sentence for the case that a frame has no valid pixel; g_free()
 * it. */
CUV_API gchar *gst_cuv_spectral_info_nothing_valid (
    const GstCuvSpectralInfo *info);

G_END_DECLS

#endif
