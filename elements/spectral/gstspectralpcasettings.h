/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of spectralpca. */
#ifndef GST_SPECTRAL_PCA_SETTINGS_H
#define GST_SPECTRAL_PCA_SETTINGS_H

#include "gstspectraltransform.h"
#include "pca-cpu.h"

G_BEGIN_DECLS

enum {
  GST_SPECTRAL_PCA_PROP_BASIS_LOCATION = GST_SPECTRAL_PROP_FIRST,
  GST_SPECTRAL_PCA_PROP_FIRST,
};

/* As the properties have them. */
typedef struct {
  gint mode, basis, stabilise, mapping;
  gdouble smoothing, sigmas, range_min, range_max, percentile;
  gboolean mask_band_ignore;
} GstSpectralPcaValues;

void gst_spectral_pca_properties_install (GObjectClass *klass);
void gst_spectral_pca_values_reset (GstSpectralPcaValues *self);

/* Where a property's value is; NULL for basis-location. */
gpointer gst_spectral_pca_values_place (GstSpectralPcaValues *self, guint id);

/* NULL, or which values contradict each other, and what to do; free it. */
gchar *gst_spectral_pca_values_problem (const GstSpectralPcaValues *self);

CuvPcaParams gst_spectral_pca_values_params (const GstSpectralPcaValues *self,
    const gint components[GST_SPECTRAL_SHOWN]);

/* The bands that count: mask-band-ignore says whether the caps have a say. */
CuvPcaBands gst_spectral_pca_bands (const GstSpectralInfo *info, gboolean mask);

G_END_DECLS

#endif
