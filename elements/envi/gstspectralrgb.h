/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_SPECTRAL_RGB_H
#define GST_SPECTRAL_RGB_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_SPECTRAL_RGB (gst_spectral_rgb_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpectralRgb, gst_spectral_rgb, GST, SPECTRAL_RGB, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (spectralrgb)

G_END_DECLS

#endif
