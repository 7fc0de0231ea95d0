/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which bands of a cube are red, green and blue. */
#ifndef GST_SPECTRAL_RGB_BANDS_H
#define GST_SPECTRAL_RGB_BANDS_H

#include "gstspectralinfo.h"
#include "rgb.h"

G_BEGIN_DECLS

#define GST_SPECTRAL_RGB_AUTO "auto"

/* Of a text: "auto", or three bands by number from 1 on, or by wavelength as
 * "650nm" or "0.65um". auto takes those that the header, text or NULL, has as
 * its default bands, else those nearest to 650, 550 and 450 nm, else 1, 2, 3.
 * Wavelengths are those of bands that are not bad. NULL, or what is wrong:
 * g_free() it. */
gchar *gst_spectral_rgb_bands (const gchar *text, const GstSpectralInfo *info,
    const gchar *header, CuvRgbBands *bands);

/* Whether a text may say which, for some cube. */
gboolean gst_spectral_rgb_bands_check (const gchar *text);

G_END_DECLS

#endif
