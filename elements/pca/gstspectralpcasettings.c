/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralpcasettings.h"

#include "backend.h"

#define AT(field) G_STRUCT_OFFSET (GstSpectralPcaSettings, field)

GST_CUV_DEFINE_ENUM (mode_get_type, "GstSpectralPcaMode",
    { CUV_PCA_SECOND_MOMENTS, "The mean of s s^T, without a centre",
        "second-moments" },
    { CUV_PCA_SECOND_MOMENTS, "The old nick of second-moments", "correlation" },
    { CUV_PCA_COVARIANCE, "The same of what differs from the mean",
        "covariance" },
    { CUV_PCA_PEARSON, "Covariance of bands divided by their deviation",
        "pearson" })

GST_CUV_DEFINE_ENUM (basis_get_type, "GstSpectralPcaBasis",
    { CUV_PCA_EXACT, "Each frame's own components: read it twice", "exact" },
    { CUV_PCA_LAGGED, "Those of the frame before: read each once", "lagged" })

GST_CUV_DEFINE_ENUM (stabilise_get_type, "GstSpectralPcaStabilise",
    { CUV_PCA_FREE, "Order by eigenvalue in each frame", "none" },
    { CUV_PCA_SIGN, "Components keep their places and signs", "sign" },
    { CUV_PCA_PROCRUSTES,
        "And those of near eigenvalues do not turn into each other",
        "procrustes" })

GST_CUV_DEFINE_ENUM (mapping_get_type, "GstSpectralPcaMapping",
    { CUV_PCA_SIGMA, "The mean is grey, sigmas deviations black and white",
        "sigma" },
    { CUV_PCA_RANGE, "range-min is black, range-max white", "fixed" },
    { CUV_PCA_PERCENTILE, "That many percent of the frame are black, and white",
        "percentile" })

static gchar *
load_basis (gpointer settings)
{
  GstSpectralPcaSettings *self = settings;
  GstSpectralBasis *basis = NULL;
  GError *error = NULL;
  gchar *problem;

  if (self->basis_location != NULL) {
    basis = gst_spectral_basis_load (self->basis_location, &error);
    if (basis == NULL) {
      problem = g_strdup_printf (
          "%s; set it to a file written by freeze-basis", error->message);
      g_error_free (error);
      return problem;
    }
  }
  g_clear_pointer (&self->given, gst_spectral_basis_unref);
  self->given = basis;
  return NULL;
}

/**
 * GstSpectralPca:mode:
 *
 * The matrix whose eigenvectors are the components.
 *
 * Since: 0.1
 */
/**
 * GstSpectralPca:smoothing:
 *
 * Weight of a frame in the running moments that components are computed from;
 * with 1, components depend on the current frame only.
 *
 * Since: 0.1
 */
/**
 * GstSpectralPca:basis-location:
 *
 * A JSON file, as freeze-basis writes it, with the basis to use instead of
 * learning one. NULL: learn.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "mode", "Mode", "Matrix whose eigenvectors are the components",
      .offset = AT (params.learning.mode), .get_type = mode_get_type,
      .value = CUV_PCA_COVARIANCE },
  { "basis", "Basis",
      "Whether a frame is shown with its own components or with those of the "
      "previous frame",
      .offset = AT (params.timing), .get_type = basis_get_type,
      .value = CUV_PCA_EXACT },
  { "smoothing", "Smoothing",
      "Weight of the current frame in the smoothed moments (1 = no smoothing)",
      .offset = AT (params.learning.smoothing), .type = G_TYPE_DOUBLE,
      .minimum = 0.001, .maximum = 1, .value = 0.1 },
  { "stabilise", "Stabilise", "How components are kept from flickering",
      .offset = AT (params.learning.stabilise), .get_type = stabilise_get_type,
      .value = CUV_PCA_SIGN },
  { "mapping", "Mapping", "How a component's values are mapped to grey levels",
      .offset = AT (params.display.mapping), .get_type = mapping_get_type,
      .value = CUV_PCA_SIGMA },
  { "sigmas", "Sigmas",
      "Number of standard deviations from grey to white (mapping=sigma)",
      .offset = AT (params.display.sigmas), .type = G_TYPE_DOUBLE,
      .minimum = 0.1, .maximum = 100, .value = 3 },
  { "range-min", "Range minimum", "Value that becomes black (mapping=fixed)",
      .offset = AT (params.display.range[0]), .type = G_TYPE_DOUBLE,
      .minimum = -1e12, .maximum = 1e12 },
  { "range-max", "Range maximum", "Value that becomes white (mapping=fixed)",
      .offset = AT (params.display.range[1]), .type = G_TYPE_DOUBLE,
      .minimum = -1e12, .maximum = 1e12, .value = 255 },
  { "percentile", "Percentile",
      "Percentage of the frame's pixels shown as black, and the same "
      "percentage as white (mapping=percentile)",
      .offset = AT (params.display.percentile), .type = G_TYPE_DOUBLE,
      .maximum = 49, .value = 1 },
  { "mask-band-ignore", "Mask bad bands and ignored values",
      "Leave out the bands that the caps mark as bad, and pixels with the "
      "ignore value",
      .offset = AT (mask_band_ignore), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "scores", "Scores",
      "Number of components in a cube of scores, if the next element accepts "
      "cubes",
      .offset = AT (scores), .type = G_TYPE_INT, .minimum = 1,
      .maximum = CUV_CUBE_MAX_BANDS, .value = 10 },
  { "basis-location", "Basis location",
      "Path of a JSON file with the basis to use (default: learn one)",
      .offset = AT (basis_location), .type = G_TYPE_STRING, .parse = load_basis,
      .is_file = TRUE },
};

static const GstCuvOwnedField owned[] = {
  { AT (given), gst_spectral_basis_get_type },
};

static gchar *
gst_spectral_pca_check (gconstpointer settings)
{
  const CuvPcaDisplay *display =
      &((const GstSpectralPcaSettings *) settings)->params.display;

  if (display->mapping != CUV_PCA_RANGE
      || display->range[0] != display->range[1])
    return NULL;
  return g_strdup_printf (
      "range-min and range-max are both %g with mapping=fixed: set different "
      "values, or another mapping",
      display->range[0]);
}

const GstCuvSettingsTable gst_spectral_pca_settings = {
  GST_CUV_SETTINGS (GstSpectralPcaSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = gst_spectral_pca_check,
};

CuvPcaBands
gst_spectral_pca_bands (const GstCuvSpectralInfo *info, gboolean mask)
{
  CuvPcaBands bands = { .has_ignore = mask && info->has_ignore,
    .ignore = info->ignore };

  for (gint b = 0; b < info->bands; b++)
    if (!mask || !info->bad[b])
      bands.index[bands.n++] = b;
  return bands;
}

gint
gst_spectral_pca_n_bands (GstCaps *caps, gboolean mask)
{
  GstCuvSpectralInfo info;
  gchar *problem;

  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return 3;
  if (!gst_cuv_spectral_info_from_caps (&info, caps, &problem)) {
    g_free (problem);
    return 0;
  }
  return mask ? (gint) gst_cuv_spectral_info_n_good (&info) : info.bands;
}

gboolean
gst_spectral_pca_fits_device (
    GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info)
{
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  gboolean fits = TRUE;

  if (gst_cuv_context_push (context)) {
    fits = cuv_pca_fits_device (info->bands, info->format);
    gst_cuv_context_pop (context);
  }
  if (!fits)
    GST_ELEMENT_INFO (self, RESOURCE, SETTINGS,
        ("%d bands need more shared memory than this GPU has, so the CPU is "
         "used: mark bands as bad to use the GPU.",
            info->bands),
        (NULL));
  return fits;
}

gboolean
gst_spectral_pca_save_basis (
    GstElement *self, const CuvPcaBasis *basis, const gchar *location)
{
  GError *error = NULL;

  if (location == NULL || *location == '\0'
      || gst_spectral_basis_save (basis, location, &error))
    return TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("Cannot save the basis: %s. Call freeze-basis with a file in a writable "
       "folder.",
          error->message),
      (NULL));
  g_error_free (error);
  return FALSE;
}

void
gst_spectral_pca_signals_install (GType type, GCallback freeze, GCallback thaw)
{
  /**
   * GstSpectralPca::freeze-basis:
   * @self: the element
   * @location: (nullable): a file to save the basis to
   *
   * Freezes the current components for all further frames, and saves them. If
   * there are none yet, those of the first frame will be frozen.
   *
   * Returns: whether there were components and they could be saved
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("freeze-basis", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, freeze, NULL, NULL, NULL,
      G_TYPE_BOOLEAN, 1, G_TYPE_STRING);
  /**
   * GstSpectralPca::thaw-basis:
   * @self: the element
   *
   * Resumes learning components from frames.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("thaw-basis", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, thaw, NULL, NULL, NULL, G_TYPE_NONE,
      0);
}
