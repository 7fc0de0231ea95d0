/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralntfsettings.h"

#include "gstcuvproperties.h"

#define AT(field) G_STRUCT_OFFSET (GstNtfValues, field)

/* ---- what the values come to ---- */

CuvNtfParams
gst_ntf_values_params (const GstNtfValues *self)
{
  return (CuvNtfParams){
    .algorithm = (CuvNtfAlgorithm) self->algorithm,
    .schedule = (CuvNtfSchedule) self->schedule,
    .init = (CuvNtfInit) self->init,
    .seed = (guint32) self->seed,
    .iterations = self->iterations,
    .tolerance = self->tolerance,
    .sparsity = self->sparsity,
    .normalise = self->normalise,
    .reinit_dead = self->reinit_dead,
  };
}

const gchar *
gst_ntf_values_problem (const GstNtfValues *self)
{
  return self->algorithm == CUV_NTF_HALS && self->schedule == CUV_NTF_JACOBI
      ? "algorithm=hals with schedule=jacobi: HALS needs each factor's new "
        "values for the next; set schedule to gs or algorithm to mu"
      : NULL;
}

/* ---- enums ---- */

static GType
algorithm_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_NTF_MU, "Multiplicative updates", "mu" },
    { CUV_NTF_HALS, "One column after the other", "hals" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstNtfAlgorithm", values);
}

static GType
schedule_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_NTF_GS, "u, v with the new u, then w: the error only falls", "gs" },
    { CUV_NTF_JACOBI, "All from the old ones, by cube roots of ratios",
        "jacobi" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstNtfSchedule", values);
}

static GType
init_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_NTF_RANDOM, "Random numbers, by the seed", "random" },
    { CUV_NTF_NNDSVD, "Singular vectors of pixels by bands", "nndsvd" },
    { CUV_NTF_PREVIOUS, "The factors of the frame before", "previous" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstNtfInit", values);
}

static GType
show_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_NTF_SHOW_RECONSTRUCTION, "Maps of the terms in components",
        "reconstruction" },
    { GST_NTF_SHOW_RESIDUAL, "What all terms leave, in grey", "residual" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstNtfShow", values);
}

static GType
bad_values_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_NTF_BAD_ERROR, "Stop with an error", "error" },
    { GST_NTF_BAD_CLAMP, "Take them for 0", "clamp" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstNtfBadValues", values);
}

/* ---- the table ---- */

/**
 * GstSpectralNtf:rank:
 *
 * Terms. More than any side of the image, even than all of its samples, are
 * allowed; stats and metadata say how many of them count.
 *
 * Since: 0.1
 */
/**
 * GstSpectralNtf:window:
 *
 * Frames of GRAY8 video that one factorisation sees: they take the place of
 * bands. Another number starts to gather anew. The LATENCY answer includes it.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "rank", "Rank", "Terms to factorise into", AT (rank), G_TYPE_UINT, NULL, 1,
      CUV_NTF_MAX_RANK, 8, 0 },
  { "iterations", "Iterations", "Most iterations to make", AT (iterations),
      G_TYPE_UINT, NULL, 1, CUV_NTF_MAX_ITERATIONS, 100, 0 },
  { "tolerance", "Tolerance",
      "Stop when ten iterations change the error, a part of the image, by less "
      "(0 = never)",
      AT (tolerance), G_TYPE_DOUBLE, NULL, 0, 1, 1e-6, 0 },
  { "algorithm", "Algorithm", "How factors are updated", AT (algorithm), 0,
      algorithm_get_type, 0, 0, CUV_NTF_MU, 0 },
  { "schedule", "Schedule", "Which values an update starts from", AT (schedule),
      0, schedule_get_type, 0, 0, CUV_NTF_GS, 0 },
  { "init", "Start", "Where factors start", AT (init), 0, init_get_type, 0, 0,
      CUV_NTF_RANDOM, 0 },
  { "seed", "Seed", "Of random numbers: the same seed, the same factors",
      AT (seed), G_TYPE_UINT, NULL, 0, G_MAXUINT32, 1, 0 },
  { "normalise", "Normalise",
      "Unit columns of u and v, scale in w, terms in order of strength",
      AT (normalise), G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
  { "reinit-dead", "Start dead terms afresh",
      "Give terms that vanished new random columns", AT (reinit_dead),
      G_TYPE_BOOLEAN, NULL, 0, 1, FALSE, 0 },
  { "sparsity", "Sparsity",
      "Weight of a penalty on the sum of the factors' values: what is taken "
      "off "
      "each, by its column's root mean square",
      AT (sparsity), G_TYPE_DOUBLE, NULL, 0, 1, 0, 0 },
  { "window", "Window", "Frames of GRAY8 video that are factorised together",
      AT (window), G_TYPE_UINT, NULL, 1, CUV_CUBE_MAX_BANDS, 16, 0 },
  { "hop", "Hop", "Frames of GRAY8 video from one factorisation to the next",
      AT (hop), G_TYPE_UINT, NULL, 1, 10000, 16, 0 },
  { "show", "Show", "What the picture is of", AT (show), 0, show_get_type, 0, 0,
      GST_NTF_SHOW_RECONSTRUCTION, 0 },
  { "bad-values", "Bad values",
      "What to do with samples that are below 0 or not a number",
      AT (bad_values), 0, bad_values_get_type, 0, 0, GST_NTF_BAD_ERROR, 0 },
  { "progress-interval", "Progress interval",
      "Milliseconds from one message of progress to the next (0 = none)",
      AT (progress_interval), G_TYPE_UINT, NULL, 0, G_MAXINT, 500, 0 },
};

void
gst_ntf_values_reset (GstNtfValues *self)
{
  *self = (GstNtfValues){ 0 };
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), self);
}

void
gst_ntf_properties_install (GObjectClass *klass, guint first)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), first);
}

gpointer
gst_ntf_property_place (GstNtfValues *self, guint nth)
{
  return G_STRUCT_MEMBER_P (self, properties[nth].offset);
}

guint
gst_ntf_n_properties (void)
{
  return G_N_ELEMENTS (properties);
}
