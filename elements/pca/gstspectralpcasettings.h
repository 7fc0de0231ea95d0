/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of spectralpca. */
#ifndef GST_SPECTRAL_PCA_SETTINGS_H
#define GST_SPECTRAL_PCA_SETTINGS_H

#include "spectral/gstcuvspectraltransform.h"
#include "cpu/pca-cpu.h"

G_BEGIN_DECLS

enum {
  GST_SPECTRAL_PCA_PROP_BASIS_LOCATION = GST_CUV_SPECTRAL_PROP_FIRST,
  GST_SPECTRAL_PCA_PROP_FIRST,
};

/* As the properties have them. */
typedef struct {
  gint mode, basis, stabilise, mapping;
  gdouble smoothing, sigmas, range_min, range_max, percentile;
  gboolean mask_band_ignore;
  gint scores;
} GstSpectralPcaValues;

void gst_spectral_pca_properties_install (GObjectClass *klass);
void gst_spectral_pca_values_reset (GstSpectralPcaValues *self);

/* Where a property's value is; NULL for basis-location. */
gpointer gst_spectral_pca_values_place (GstSpectralPcaValues *self, guint id);

/* NULL, or which values contradict each other, and what to do; free it. */
gchar *gst_spectral_pca_values_problem (const GstSpectralPcaValues *self);

CuvPcaParams gst_spectral_pca_values_params (const GstSpectralPcaValues *self,
    const gint components[GST_CUV_SPECTRAL_SHOWN]);

/* Values in force, and those that were looked at last. */
typedef struct {
  GstSpectralPcaValues in_force, seen;
  gboolean is_made;
} GstSpectralPcaChoice;

/* Has values be in force, but for such as contradict each other: those before
 * stay, with a warning. FALSE after an error: there were none before. */
gboolean gst_spectral_pca_choose (GstSpectralPcaChoice *self,
    GstElement *element, const GstSpectralPcaValues *values);

/* Whether the device's shared memory suffices for the cube's bands. If not,
 * posts a message that the CPU is used. */
gboolean gst_spectral_pca_fits_device (
    GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

/* A basis of k vectors of a file; NULL after a warning, or an error before the
 * start. */
CuvPcaBasis *gst_spectral_pca_load_basis (
    GstElement *self, const gchar *location, gboolean started, gint *k);

/* FALSE after an element error: it is for other bands than those n. */
gboolean gst_spectral_pca_check_basis (
    GstElement *self, const CuvPcaBasis *basis, gint n, gboolean is_frozen);

/* To no file if there is no location; FALSE after a warning. */
gboolean gst_spectral_pca_save_basis (
    GstElement *self, const CuvPcaBasis *basis, const gchar *location);

void gst_spectral_pca_signals_install (
    GType type, GCallback freeze, GCallback thaw);

/* The bands that count: mask-band-ignore says whether the caps have a say. */
CuvPcaBands gst_spectral_pca_bands (
    const GstCuvSpectralInfo *info, gboolean mask);
gint gst_spectral_pca_n_bands (GstCaps *caps, gboolean mask); /* 0: of none */

G_END_DECLS

#endif
