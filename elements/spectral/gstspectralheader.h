/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of an ENVI header on their way to another: a GstCustomMeta without tags,
 * so that copies keep it, named GstSpectralHeaderMeta. Its structure has width,
 * height and bands (int, what the keys are of), image and samples (GBytes: a
 * line "ENVI", and the keys as headers have them). image is of where and when
 * pixels were recorded, samples of what bands and values are: who makes other
 * values of them removes it. */
#ifndef GST_SPECTRAL_HEADER_H
#define GST_SPECTRAL_HEADER_H

#include "gstspectralinfo.h"

G_BEGIN_DECLS

/* Adds them, or replaces those that there are; either may be NULL. */
void gst_spectral_header_add (GstBuffer *buffer, const GstSpectralInfo *info,
    GBytes *image, GBytes *samples);

/* What the buffer's header says that still holds of such a cube: lines of text,
 * or NULL; g_free() it. */
gchar *gst_spectral_header_text (
    GstBuffer *buffer, const GstSpectralInfo *info);

G_END_DECLS

#endif
