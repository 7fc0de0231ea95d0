/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_SPECTRAL_PCA_H
#define GST_SPECTRAL_PCA_H

#include "spectral/gstcuvspectraltransform.h"

G_BEGIN_DECLS

#define GST_TYPE_SPECTRAL_PCA (gst_spectral_pca_get_type ())
G_DECLARE_FINAL_TYPE (GstSpectralPca, gst_spectral_pca, GST, SPECTRAL_PCA,
    GstCuvSpectralTransform)

GST_ELEMENT_REGISTER_DECLARE (spectralpca)

G_END_DECLS

#endif
