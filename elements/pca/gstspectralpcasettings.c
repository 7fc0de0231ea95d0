/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralpcasettings.h"

#include "gstcuvfilter.h"
#include "gstcuvproperties.h"
#include "gstspectralbasis.h"
#include "pca-maker.h"

#define AT(field) G_STRUCT_OFFSET (GstSpectralPcaValues, field)

/* ---- enums ---- */

static GType
mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_PCA_CORRELATION, "The mean of s s^T, without a centre",
        "correlation" },
    { CUV_PCA_COVARIANCE, "The same of what differs from the mean",
        "covariance" },
    { CUV_PCA_PEARSON, "Covariance of bands divided by their deviation",
        "pearson" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstSpectralPcaMode", values);
}

static GType
basis_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_PCA_EXACT, "Each frame's own components: read it twice", "exact" },
    { CUV_PCA_LAGGED, "Those of the frame before: read each once", "lagged" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstSpectralPcaBasis", values);
}

static GType
stabilise_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_PCA_FREE, "Order by eigenvalue in each frame", "none" },
    { CUV_PCA_SIGN, "Components keep their places and signs", "sign" },
    { CUV_PCA_PROCRUSTES,
        "And those of near eigenvalues do not turn into each other",
        "procrustes" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstSpectralPcaStabilise", values);
}

static GType
mapping_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_PCA_SIGMA, "The mean is grey, sigmas deviations black and white",
        "sigma" },
    { CUV_PCA_RANGE, "range-min is black, range-max white", "fixed" },
    { CUV_PCA_PERCENTILE, "That many percent of the frame are black, and white",
        "percentile" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstSpectralPcaMapping", values);
}

/* ---- properties ---- */

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
 * A frame's share of the sums that components come from, against all frames
 * before it. 1: each frame for itself.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "mode", "Mode", "The matrix whose eigenvectors are the components",
      AT (mode), 0, mode_get_type, 0, 0, CUV_PCA_COVARIANCE, 0 },
  { "basis", "Basis", "Which frame's components a frame is shown by",
      AT (basis), 0, basis_get_type, 0, 0, CUV_PCA_EXACT, 0 },
  { "smoothing", "Smoothing",
      "A frame's share of what components are made of (1 = all)",
      AT (smoothing), G_TYPE_DOUBLE, NULL, 0.001, 1, 0.1, 0 },
  { "stabilise", "Stabilise", "What keeps components from flickering",
      AT (stabilise), 0, stabilise_get_type, 0, 0, CUV_PCA_SIGN, 0 },
  { "mapping", "Mapping", "How a component's values become bytes", AT (mapping),
      0, mapping_get_type, 0, 0, CUV_PCA_SIGMA, 0 },
  { "sigmas", "Sigmas", "Deviations from grey to white (mapping=sigma)",
      AT (sigmas), G_TYPE_DOUBLE, NULL, 0.1, 100, 3, 0 },
  { "range-min", "Range minimum", "Value that is black (mapping=fixed)",
      AT (range_min), G_TYPE_DOUBLE, NULL, -1e12, 1e12, 0, 0 },
  { "range-max", "Range maximum", "Value that is white (mapping=fixed)",
      AT (range_max), G_TYPE_DOUBLE, NULL, -1e12, 1e12, 255, 0 },
  { "percentile", "Percentile",
      "Percent of the frame that are black, and white (mapping=percentile)",
      AT (percentile), G_TYPE_DOUBLE, NULL, 0, 49, 1, 0 },
  { "mask-band-ignore", "Mask bad bands and ignored values",
      "Leave out the bands, and pixels with the value, that the caps say are "
      "no measurement",
      AT (mask_band_ignore), G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
  { "scores", "Scores",
      "Components of a cube of scores, if that is what follows takes",
      AT (scores), G_TYPE_INT, NULL, 1, CUV_CUBE_MAX_BANDS, 10, 0 },
};

void
gst_spectral_pca_properties_install (GObjectClass *klass)
{
  gst_cuv_properties_install (klass, properties, G_N_ELEMENTS (properties),
      GST_SPECTRAL_PCA_PROP_FIRST);
  /**
   * GstSpectralPca:basis-location:
   *
   * A JSON file, as freeze-basis writes it, with the basis to use instead of
   * learning one. NULL: learn.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_SPECTRAL_PCA_PROP_BASIS_LOCATION,
      g_param_spec_string ("basis-location", "Basis location",
          "JSON file with the basis to use (default: learn one)", NULL,
          GST_CUV_PARAM_LIVE));
}

void
gst_spectral_pca_values_reset (GstSpectralPcaValues *self)
{
  *self = (GstSpectralPcaValues){ 0 };
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), self);
}

gpointer
gst_spectral_pca_values_place (GstSpectralPcaValues *self, guint id)
{
  return id < GST_SPECTRAL_PCA_PROP_FIRST
      ? NULL
      : G_STRUCT_MEMBER_P (
          self, properties[id - GST_SPECTRAL_PCA_PROP_FIRST].offset);
}

gchar *
gst_spectral_pca_values_problem (const GstSpectralPcaValues *self)
{
  if (self->mapping != CUV_PCA_RANGE || self->range_min != self->range_max)
    return NULL;
  return g_strdup_printf ("range-min and range-max are both %g with "
                          "mapping=fixed: set them apart, or another mapping",
      self->range_min);
}

gboolean
gst_spectral_pca_choose (GstSpectralPcaChoice *self, GstElement *element,
    const GstSpectralPcaValues *values)
{
  gchar *problem;

  if (self->is_made && memcmp (values, &self->seen, sizeof *values) == 0)
    return TRUE;
  self->seen = *values;
  problem = gst_spectral_pca_values_problem (values);
  if (problem == NULL) {
    self->in_force = *values;
    self->is_made = TRUE;
  } else if (self->is_made) {
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("%s. Until then the settings before stay in force.", problem), (NULL));
  } else {
    GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  }
  g_free (problem);
  return self->is_made;
}

CuvPcaParams
gst_spectral_pca_values_params (const GstSpectralPcaValues *self,
    const gint components[GST_CUV_SPECTRAL_SHOWN])
{
  CuvPcaParams params = {
    .learning = { self->mode, self->stabilise, self->smoothing },
    .display = { { components[0], components[1], components[2] }, self->mapping,
        self->sigmas, { self->range_min, self->range_max }, self->percentile },
    .timing = self->basis,
  };

  return params;
}

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
    fits = cuv_pca_maker_fits (info->bands, info->format);
    gst_cuv_context_pop (context);
  }
  if (!fits)
    GST_ELEMENT_INFO (self, RESOURCE, SETTINGS,
        ("%d bands need more shared memory than this GPU has: the CPU does the "
         "work.",
            info->bands),
        (NULL));
  return fits;
}

/* ---- a file ---- */

CuvPcaBasis *
gst_spectral_pca_load_basis (
    GstElement *self, const gchar *location, gboolean started, gint *k)
{
  CuvPcaBasis *basis = g_new0 (CuvPcaBasis, 1);
  GError *error = NULL;

  if (gst_spectral_basis_load (basis, location, k, &error))
    return basis;
  if (started)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("basis-location '%s' is refused, all goes on as before: %s.", location,
            error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot load the basis: %s. Set basis-location to a file that "
         "freeze-basis wrote.",
            error->message),
        (NULL));
  g_error_free (error);
  g_free (basis);
  return NULL;
}

gboolean
gst_spectral_pca_check_basis (
    GstElement *self, const CuvPcaBasis *basis, gint n, gboolean is_frozen)
{
  if (basis->n == n)
    return TRUE;
  if (is_frozen)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The basis is frozen and for %d bands, and now %d count: emit "
         "thaw-basis or unset basis-location before bands change.",
            basis->n, n),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The basis of basis-location is for %d bands, and the frames have %d "
         "that count: set a file that was made of such frames.",
            basis->n, n),
        (NULL));
  return FALSE;
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
      ("Cannot save the basis: %s.", error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

/* ---- signals ---- */

void
gst_spectral_pca_signals_install (GType type, GCallback freeze, GCallback thaw)
{
  /**
   * GstSpectralPca::freeze-basis:
   * @self: the element
   * @location: (nullable): a file to save the basis to
   *
   * Has all frames from now on shown by the components that are in force, and
   * saves them. Before the first frame there are none: those of the first are
   * then frozen.
   *
   * Returns: whether there were any, and they could be saved
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
   * Has components learned from frames again.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("thaw-basis", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, thaw, NULL, NULL, NULL, G_TYPE_NONE,
      0);
}
