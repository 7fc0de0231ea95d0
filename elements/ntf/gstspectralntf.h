/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_SPECTRAL_NTF_H
#define GST_SPECTRAL_NTF_H

#include "spectral/gstcuvspectraltransform.h"

G_BEGIN_DECLS

#define GST_TYPE_SPECTRAL_NTF (gst_spectral_ntf_get_type ())
G_DECLARE_FINAL_TYPE (GstSpectralNtf, gst_spectral_ntf, GST, SPECTRAL_NTF,
    GstCuvSpectralTransform)
GST_ELEMENT_REGISTER_DECLARE (spectralntf)

G_END_DECLS

#endif
