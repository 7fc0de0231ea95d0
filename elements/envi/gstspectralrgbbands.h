/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which bands of a cube are red, green and blue. */
#ifndef GST_SPECTRAL_RGB_BANDS_H
#define GST_SPECTRAL_RGB_BANDS_H

#include "spectral/gstcuvspectralinfo.h"
#include "rgb.h"

G_BEGIN_DECLS

#define GST_SPECTRAL_RGB_AUTO "auto"

/* Resolves "auto" or a list of three bands, each a number counted from 1 or a
 * wavelength ("650nm", "0.65um"; bad bands are skipped). auto: the header's
 * "default bands", otherwise the bands nearest to 650, 550 and 450 nm,
 * otherwise 1, 2, 3. header may be NULL. Returns NULL or an error message;
 * g_free() it. */
gchar *gst_spectral_rgb_bands (const gchar *text,
    const GstCuvSpectralInfo *info, const gchar *header, CuvRgbBands *bands);

/* Whether the syntax is valid. */
gboolean gst_spectral_rgb_bands_check (const gchar *text);

G_END_DECLS

#endif
