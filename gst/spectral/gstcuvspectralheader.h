/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Carries ENVI header keys from a source to a sink as a GstCustomMeta named
 * GstSpectralHeaderMeta. It has no tags, so that it survives copies. Fields:
 * width, height, bands (int: size of the cube described), image and samples
 * (GBytes: header text, a line "ENVI" and keys). image says where and when the
 * scene was recorded; samples says what bands and values mean, and must be
 * replaced or removed by elements that compute other values. */
#ifndef GST_CUV_SPECTRAL_HEADER_H
#define GST_CUV_SPECTRAL_HEADER_H

#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

/* Adds the meta, or updates the fields of an existing one. A NULL image or
 * samples leaves that field as it is. */
CUV_API void gst_cuv_spectral_header_add (GstBuffer *buffer,
    const GstCuvSpectralInfo *info, GBytes *image, GBytes *samples);

/* Returns the keys that are valid for a cube of this size, as header text, or
 * NULL; g_free() it. */
CUV_API gchar *gst_cuv_spectral_header_text (
    GstBuffer *buffer, const GstCuvSpectralInfo *info);

G_END_DECLS

#endif
