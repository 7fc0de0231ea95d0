/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties and signals of spectralpca, and the parameters made from them.
 */
#ifndef GST_SPECTRAL_PCA_SETTINGS_H
#define GST_SPECTRAL_PCA_SETTINGS_H

#include "cpu/pca-cpu.h"
#include "gstspectralbasis.h"
#include "spectral/gstcuvspectraltransform.h"

G_BEGIN_DECLS

typedef struct {
  CuvPcaParams params; /* all but components and is_frozen */
  gboolean mask_band_ignore;
  gint scores;
  gchar *basis_location;
  GstSpectralBasis *given; /* from basis_location; NULL = learn one */
} GstSpectralPcaSettings;

extern const GstCuvSettingsTable gst_spectral_pca_settings;

/* Whether the device's shared memory suffices for the cube's bands. If not,
 * posts a message that the CPU is used. */
gboolean gst_spectral_pca_fits_device (
    GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

/* Saves a basis if there is a location. Returns FALSE after a warning. */
gboolean gst_spectral_pca_save_basis (
    GstElement *self, const CuvPcaBasis *basis, const gchar *location);

void gst_spectral_pca_signals_install (
    GType type, GCallback freeze, GCallback thaw);

/* Returns the bands to analyse. mask: leave out bad bands, and samples with the
 * ignore value. */
CuvPcaBands gst_spectral_pca_bands (
    const GstCuvSpectralInfo *info, gboolean mask);
gint gst_spectral_pca_n_bands (GstCaps *caps, gboolean mask); /* 0 = invalid */

G_END_DECLS

#endif
