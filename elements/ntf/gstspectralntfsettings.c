/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralntfsettings.h"

#define AT(field) G_STRUCT_OFFSET (GstNtfSettings, field)

/* Rejects settings that need factorisation=matrix. */
static const gchar *
check_tensor (const CuvNtfParams *params)
{
  if (params->init == CUV_NTF_NFINDR)
    return "init=nfindr with factorisation=tensor: spectra of pixels are not "
           "terms of rank one; set factorisation to matrix or init to nndsvd";
  if (params->sum_to_one)
    return "sum-to-one=true with factorisation=tensor: only abundances of "
           "factorisation=matrix can sum to one; set factorisation to matrix";
  return NULL;
}

static gchar *
gst_spectral_ntf_check (gconstpointer settings)
{
  const CuvNtfParams *params = &((const GstNtfSettings *) settings)->params;
  const gboolean is_jacobi = params->schedule == CUV_NTF_JACOBI;

  if (params->algorithm == CUV_NTF_HALS && is_jacobi)
    return g_strdup (
        "algorithm=hals with schedule=jacobi: HALS updates each factor from "
        "the new values of the others; set schedule to gs or algorithm to mu");
  if (params->factorisation == CUV_NTF_TENSOR)
    return g_strdup (check_tensor (params));
  if (is_jacobi)
    return g_strdup (
        "factorisation=matrix with schedule=jacobi: spectra are updated from "
        "new abundances; set schedule to gs");
  return NULL;
}

GST_CUV_DEFINE_ENUM (factorisation_get_type, "GstNtfFactorisation",
    { CUV_NTF_TENSOR, "Columns, rows and spectra: maps of rank one", "tensor" },
    { CUV_NTF_MATRIX, "Pixels and spectra: maps of any shape", "matrix" })

GST_CUV_DEFINE_ENUM (algorithm_get_type, "GstNtfAlgorithm",
    { CUV_NTF_MU, "Multiplicative updates", "mu" },
    { CUV_NTF_HALS, "One column after the other", "hals" })

GST_CUV_DEFINE_ENUM (schedule_get_type, "GstNtfSchedule",
    { CUV_NTF_GS, "u, v with the new u, then w: the error only falls", "gs" },
    { CUV_NTF_JACOBI, "All from the old ones, by cube roots of ratios",
        "jacobi" })

GST_CUV_DEFINE_ENUM (init_get_type, "GstNtfInit",
    { CUV_NTF_RANDOM, "Random numbers, by the seed", "random" },
    { CUV_NTF_NNDSVD, "Singular vectors of pixels by bands", "nndsvd" },
    { CUV_NTF_PREVIOUS, "The factors of the frame before", "previous" },
    { CUV_NTF_NFINDR, "Spectra of the purest pixels, by N-FINDR", "nfindr" })

GST_CUV_DEFINE_ENUM (show_get_type, "GstNtfShow",
    { GST_NTF_SHOW_RECONSTRUCTION, "Maps of the terms in components",
        "reconstruction" },
    { GST_NTF_SHOW_RESIDUAL, "What all terms leave, in grey", "residual" })

GST_CUV_DEFINE_ENUM (bad_values_get_type, "GstNtfBadValues",
    { GST_NTF_BAD_ERROR, "Stop with an error", "error" },
    { GST_NTF_BAD_CLAMP, "Take them for 0", "clamp" })

/**
 * GstSpectralNtf:rank:
 *
 * Number of terms. It may exceed the image's sides and even its number of
 * samples; stats and metadata say how many terms are effective.
 *
 * Since: 0.1
 */
/**
 * GstSpectralNtf:window:
 *
 * Frames of GRAY8 video that are factorised together; they take the place of
 * bands. A new value empties the window. The latency includes the window.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "factorisation", "Factorisation",
      "Whether terms are products of a column, a row and a spectrum, or of a "
      "map and a spectrum",
      .offset = AT (params.factorisation), .get_type = factorisation_get_type,
      .value = CUV_NTF_TENSOR },
  { "sum-to-one", "Sum to one",
      "Make the abundances of each pixel sum to 1 (factorisation=matrix)",
      .offset = AT (params.sum_to_one), .type = G_TYPE_BOOLEAN },
  { "rank", "Rank", "Number of terms of the factorisation", .offset = AT (rank),
      .type = G_TYPE_UINT, .minimum = 1, .maximum = CUV_NTF_MAX_RANK,
      .value = 8 },
  { "iterations", "Iterations", "Maximum number of iterations",
      .offset = AT (params.iterations), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_NTF_MAX_ITERATIONS, .value = 100 },
  { "tolerance", "Tolerance",
      "Stop when ten iterations change the relative error by less than this (0 "
      "= never)",
      .offset = AT (params.tolerance), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = 1e-6 },
  { "algorithm", "Algorithm", "Algorithm that updates the factors",
      .offset = AT (params.algorithm), .get_type = algorithm_get_type,
      .value = CUV_NTF_MU },
  { "schedule", "Schedule",
      "Order in which the factors are updated in an iteration",
      .offset = AT (params.schedule), .get_type = schedule_get_type,
      .value = CUV_NTF_GS },
  { "init", "Start", "Initial factors", .offset = AT (params.init),
      .get_type = init_get_type, .value = CUV_NTF_RANDOM },
  { "seed", "Seed",
      "Seed of the random numbers: the same seed gives the same factors",
      .offset = AT (params.seed), .type = G_TYPE_UINT, .maximum = G_MAXUINT32,
      .value = 1 },
  { "normalise", "Normalise",
      "Normalise the columns of u and v to length 1, keep the scale in w, and "
      "sort terms by strength",
      .offset = AT (params.normalise), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "reinit-dead", "Restart dead terms",
      "Restart terms that have become zero with new random columns",
      .offset = AT (params.reinit_dead), .type = G_TYPE_BOOLEAN },
  { "sparsity", "Sparsity",
      "Sparsity penalty: subtracted from each value of the factors, as a "
      "fraction of the root mean square of the value's column",
      .offset = AT (params.sparsity), .type = G_TYPE_DOUBLE, .maximum = 1 },
  { "window", "Window",
      "Number of frames of GRAY8 video that are factorised together",
      .offset = AT (window), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_CUBE_MAX_BANDS, .value = 16 },
  { "hop", "Hop",
      "Number of frames of GRAY8 video from one factorisation to the next",
      .offset = AT (hop), .type = G_TYPE_UINT, .minimum = 1, .maximum = 10000,
      .value = 16 },
  { "show", "Show", "Content of the output picture", .offset = AT (show),
      .get_type = show_get_type, .value = GST_NTF_SHOW_RECONSTRUCTION },
  { "bad-values", "Bad values",
      "Handling of samples that are negative or not finite",
      .offset = AT (bad_values), .get_type = bad_values_get_type,
      .value = GST_NTF_BAD_ERROR },
  { "progress-interval", "Progress interval",
      "Milliseconds between element messages about the progress (0 = never)",
      .offset = AT (progress_interval), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 500 },
};

const GstCuvSettingsTable gst_ntf_settings = {
  GST_CUV_SETTINGS (GstNtfSettings, list),
  .check = gst_spectral_ntf_check,
};
