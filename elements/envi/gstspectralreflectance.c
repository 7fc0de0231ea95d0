/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralreflectance
 * @title: spectralreflectance
 * @short_description: converts counts of spectral cameras to reflectances
 *
 * Subtracts a dark reference and divides by the difference of a white and a
 * dark one. References are ENVI files of the same camera.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=scene.hdr ! spectralreflectance
 * white=white.hdr dark=dark.hdr ! envisink location=reflectance.hdr
 * ]| Writes the reflectances of a scene.
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstbasetransform.h>
#include <math.h>
#include <stdlib.h>

#include "cuvthreads.h"
#include "gstspectralreference.h"
#include "settings/gstcuvsettings.h"
#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectralheader.h"

GST_DEBUG_CATEGORY_STATIC (spectral_reflectance_debug);
#define GST_CAT_DEFAULT spectral_reflectance_debug

typedef struct {
  gchar *white_location, *dark_location;
  GstSpectralReference *white, *dark; /* NULL: white is 1 above dark, dark is
                                       * 0 */
  gint n_threads;
} Settings;

#define GST_TYPE_SPECTRAL_REFLECTANCE (gst_spectral_reflectance_get_type ())
G_DECLARE_FINAL_TYPE (GstSpectralReflectance, gst_spectral_reflectance, GST,
    SPECTRAL_REFLECTANCE, GstBaseTransform)

struct _GstSpectralReflectance {
  GstBaseTransform parent;

  GstCuvSettings settings;
  guint64 frames; /* under the object lock */

  /* used by the streaming thread only */
  GstCuvSpectralInfo info;
  CuvLevels dark, range; /* range: white - dark, NaN where that is not > 0 */
};

#define gst_spectral_reflectance_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpectralReflectance, gst_spectral_reflectance,
    GST_TYPE_BASE_TRANSFORM, G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DECLARE (spectralreflectance);
GST_ELEMENT_REGISTER_DEFINE (spectralreflectance, "spectralreflectance",
    GST_RANK_NONE, GST_TYPE_SPECTRAL_REFLECTANCE)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (
        "video/x-spectral, format = (string) F32LE, "
        "bands = (int) [ 1, 1024 ], interleave = (string) { bip, bil, bsq }, "
        GST_CUV_SPECTRAL_SIZES));
/* clang-format on */

/* ---- caps ---- */

/* Reflectances are floats, NaN where there is no measurement. */
static GstCaps *
gst_spectral_reflectance_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;
  GstCaps *template = gst_pad_get_pad_template_caps (other);
  const GValue *format =
      gst_structure_get_value (gst_caps_get_structure (template, 0), "format");
  GstCaps *result = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (result); i++) {
    GstStructure *structure = gst_caps_get_structure (result, i);

    gst_structure_set_value (structure, "format", format);
    gst_structure_remove_field (structure, "ignore-value");
  }
  gst_caps_unref (template);
  return gst_cuv_spectral_caps_filter (result, filter);
}

static void
clear_levels (GstSpectralReflectance *self)
{
  g_clear_pointer (&self->dark.values, free);
  g_clear_pointer (&self->range.values, free);
}

static gboolean
gst_spectral_reflectance_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (trans);
  gchar *problem;

  clear_levels (self);
  if (gst_cuv_spectral_info_from_caps (&self->info, in_caps, &problem))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The caps do not describe a spectral image: %s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

/* ---- references ---- */

/* Returns levels in the sample order of a cube of floats of this height; values
 * is NULL if out of memory. */
static CuvLevels
levels_new (const GstCuvSpectralInfo *cubes, gint height)
{
  GstCuvSpectralInfo info = *cubes;
  CuvCube cube;
  gsize size;

  info.format = CUV_CUBE_F32;
  info.height = height;
  size = gst_cuv_spectral_info_size (&info);
  cube = gst_cuv_spectral_info_cube (&info, NULL);
  return (CuvLevels){ size > 0 ? malloc (size) : NULL, info.width, height,
    info.bands, cube.pixel_step / 4, cube.row_step / 4, cube.band_step / 4 };
}

static void
gst_spectral_reflectance_fill (
    CuvLevels *levels, const GstSpectralReference *reference)
{
  const gsize n =
      (gsize) levels->width * (gsize) levels->height * (gsize) levels->bands;

  if (reference != NULL)
    gst_spectral_reference_fill (reference, levels);
  for (gsize i = 0; reference == NULL && i < n; i++)
    levels->values[i] = 0;
}

/* Without a white reference the range is 1. */
static void
subtract_dark (CuvLevels *range, const CuvLevels *dark, gboolean has_white)
{
  const gsize n =
      (gsize) range->width * (gsize) range->height * (gsize) range->bands;

  for (gsize i = 0; i < n; i++) {
    const gfloat difference = range->values[i] - dark->values[i];

    range->values[i] = !has_white ? 1 : difference > 0 ? difference : NAN;
  }
}

static gchar *
check_sizes (const Settings *settings, const GstCuvSpectralInfo *info)
{
  gchar *problem = settings->white != NULL
      ? gst_spectral_reference_check (settings->white, "white", info)
      : NULL;

  return problem == NULL && settings->dark != NULL
      ? gst_spectral_reference_check (settings->dark, "dark", info)
      : problem;
}

static gboolean
has_whole (const Settings *settings, const GstCuvSpectralInfo *info)
{
  return (settings->white != NULL
             && gst_spectral_reference_is_whole (settings->white, info))
      || (settings->dark != NULL
          && gst_spectral_reference_is_whole (settings->dark, info));
}

/* Posts the same warnings that envisrc posts about cubes. */
static void
warn_of (GstSpectralReflectance *self, const GstSpectralReference *reference,
    const gchar *path)
{
  guint warned = 0;

  if (reference != NULL)
    gst_envi_warn_of_file (GST_ELEMENT (self), &reference->file, path, &warned);
}

static gchar *
use_references (gpointer element, gconstpointer settings, gconstpointer unused)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (element);
  const Settings *s = settings;
  const gint height = has_whole (s, &self->info) ? self->info.height : 1;
  CuvLevels dark, range;
  gchar *problem = check_sizes (s, &self->info);

  if (problem != NULL)
    return problem;
  dark = levels_new (&self->info, height);
  range = levels_new (&self->info, height);
  if (dark.values == NULL || range.values == NULL) {
    free (dark.values);
    free (range.values);
    self->settings.is_resource_problem = TRUE;
    return g_strdup_printf (
        "Out of memory for references of %d x %d pixels and %d bands: use "
        "smaller cubes, or end other processes",
        self->info.width, height, self->info.bands);
  }
  gst_spectral_reflectance_fill (&dark, s->dark);
  gst_spectral_reflectance_fill (&range, s->white);
  subtract_dark (&range, &dark, s->white != NULL);
  clear_levels (self);
  self->dark = dark;
  self->range = range;
  warn_of (self, s->white, s->white_location);
  warn_of (self, s->dark, s->dark_location);
  return NULL;
}

/* ---- a frame ---- */

enum { TASK_SAMPLES = 1 << 18 }; /* minimum, unless a run has fewer */

/* Runs are contiguous samples that have levels in the same order: lines or, in
 * bsq cubes, bands or their lines. */
typedef struct {
  const GstSpectralReflectance *self;
  const guint8 *in;
  gfloat *out;
  gsize n_runs, run, step; /* step: successive runs that share levels */
  gsize task_runs;
} Work;

static void
run_task (void *data, int task)
{
  const Work *work = data;
  const GstCuvSpectralInfo *info = &work->self->info;
  const gsize first = (gsize) task * work->task_runs;
  const gsize end = MIN (first + work->task_runs, work->n_runs);

  for (gsize i = first; i < end; i++) {
    const gsize at = i * work->run, level = i / work->step * work->run;

    cuv_reflectance (info->format,
        work->in + at * (gsize) cuv_cube_sample_size (info->format), work->run,
        info->has_ignore ? &info->ignore : NULL,
        work->self->dark.values + level, work->self->range.values + level,
        work->out + at);
  }
}

static void
gst_spectral_reflectance_convert (
    GstSpectralReflectance *self, const CuvCube *cube, gfloat *out)
{
  const Settings *settings = self->settings.in_force;
  const gboolean is_bsq = self->info.interleave == GST_CUV_SPECTRAL_BSQ;
  const gsize height = (gsize) cube->height, bands = (gsize) cube->bands;
  const gboolean one_line = self->dark.height < cube->height;
  Work work = { self, cube->data, out, .step = one_line ? height : 1 };

  work.n_runs = is_bsq ? bands * height : height;
  work.run = (gsize) cube->width * (is_bsq ? 1 : bands);
  work.task_runs = MAX (TASK_SAMPLES / work.run, 1);
  cuv_threads_run (settings->n_threads,
      (int) ((work.n_runs - 1) / work.task_runs + 1), run_task, &work);
}

/* Keeps the keys that describe bands, and drops those that describe values, as
 * the values have changed. */
static void
update_header (GstSpectralReflectance *self, GstBuffer *in, GstBuffer *out)
{
  gchar *header = gst_cuv_spectral_header_text (in, &self->info);
  char *bands = header != NULL ? cuv_envi_extract_bands (header) : NULL;

  if (bands != NULL) {
    GBytes *bytes = g_bytes_new (bands, strlen (bands));

    gst_cuv_spectral_header_add (out, &self->info, NULL, bytes);
    g_bytes_unref (bytes);
  }
  free (bands);
  g_free (header);
}

static gchar *
convert_buffer (GstSpectralReflectance *self, GstBuffer *in, GstBuffer *out)
{
  GstMapInfo in_map, out_map;
  CuvCube cube;
  gchar *problem = gst_cuv_spectral_info_map (&self->info, in, &in_map, &cube);

  if (problem != NULL)
    return problem;
  if (gst_buffer_map (out, &out_map, GST_MAP_WRITE)) {
    gst_spectral_reflectance_convert (self, &cube, (gfloat *) out_map.data);
    gst_buffer_unmap (out, &out_map);
  } else {
    problem = g_strdup ("Cannot map an output buffer for writing: the next "
                        "element's buffer pool provides memory that the CPU "
                        "cannot write");
  }
  gst_buffer_unmap (in, &in_map);
  return problem;
}

static gboolean
ensure_levels (GstSpectralReflectance *self)
{
  if (!gst_cuv_settings_apply_changes (&self->settings, use_references, NULL))
    return FALSE;
  return self->range.values != NULL
      || gst_cuv_settings_apply (&self->settings, use_references, NULL);
}

static GstFlowReturn
gst_spectral_reflectance_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (trans);
  gchar *problem;

  if (!ensure_levels (self))
    return GST_FLOW_ERROR;
  problem = convert_buffer (self, in, out);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("%s.", problem), (NULL));
    g_free (problem);
    return GST_FLOW_ERROR;
  }
  update_header (self, in, out);
  GST_OBJECT_LOCK (self);
  self->frames++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* The geometry is unchanged: custom metas stay valid. */
static gboolean
gst_spectral_reflectance_transform_meta (
    GstBaseTransform *trans, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return gst_meta_info_is_custom (meta->info)
      || GST_BASE_TRANSFORM_CLASS (parent_class)
             ->transform_meta (trans, out, meta, in);
}

static gboolean
gst_spectral_reflectance_start (GstBaseTransform *trans)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (trans);

  GST_OBJECT_LOCK (self);
  self->frames = 0;
  GST_OBJECT_UNLOCK (self);
  return gst_cuv_settings_start (&self->settings);
}

static gboolean
gst_spectral_reflectance_stop (GstBaseTransform *trans)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (trans);

  clear_levels (self);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

/* ---- properties ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

static gchar *
gst_spectral_reflectance_load (
    const gchar *location, GstSpectralReference **reference)
{
  GstSpectralReference *opened = NULL;
  GError *error = NULL;
  gchar *problem;

  if (location != NULL) {
    opened = gst_spectral_reference_open (location, &error);
    if (opened == NULL) {
      problem = g_strdup (error->message);
      if (g_str_has_suffix (problem, "."))
        problem[strlen (problem) - 1] = '\0';
      g_error_free (error);
      return problem;
    }
  }
  g_clear_pointer (reference, gst_spectral_reference_unref);
  *reference = opened;
  return NULL;
}

static gchar *
load_white (gpointer settings)
{
  Settings *self = settings;

  return gst_spectral_reflectance_load (self->white_location, &self->white);
}

static gchar *
load_dark (gpointer settings)
{
  Settings *self = settings;

  return gst_spectral_reflectance_load (self->dark_location, &self->dark);
}

static void
gst_spectral_reflectance_get_stats (GstElement *element, GValue *value)
{
  GstSpectralReflectance *self = GST_SPECTRAL_REFLECTANCE (element);

  GST_OBJECT_LOCK (self);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, self->frames, NULL));
  GST_OBJECT_UNLOCK (self);
}

/**
 * GstSpectralReflectance:white:
 *
 * An ENVI file of a white target, with the width and bands of the cubes. If it
 * also has their height, each pixel has a level of its own; otherwise levels
 * are means over its lines. NULL: values are not divided.
 *
 * Since: 0.1
 */
/**
 * GstSpectralReflectance:dark:
 *
 * An ENVI file like #GstSpectralReflectance:white, but recorded with the
 * shutter closed. NULL: nothing is subtracted.
 *
 * Since: 0.1
 */
/**
 * GstSpectralReflectance:stats:
 *
 * frames (guint64): converted since the start.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "white", "White reference",
      "Path of an ENVI file of a white target, to divide by (default: no "
      "division)",
      .offset = AT (white_location), .type = G_TYPE_STRING, .parse = load_white,
      .is_file = TRUE },
  { "dark", "Dark reference",
      "Path of an ENVI file recorded without light, to subtract (default: "
      "none)",
      .offset = AT (dark_location), .type = G_TYPE_STRING, .parse = load_dark,
      .is_file = TRUE },
  { "n-threads", "Threads", "Number of threads (0 = one per processor)",
      .offset = AT (n_threads), .type = G_TYPE_INT,
      .maximum = CUV_THREADS_MAX_WORKERS },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type,
      .get = gst_spectral_reflectance_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (white), gst_spectral_reference_get_type },
  { AT (dark), gst_spectral_reference_get_type },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
  GST_CUV_OWNED_FIELDS (owned),
};

/* ---- class ---- */

static void
gst_spectral_reflectance_class_init (GstSpectralReflectanceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spectral_reflectance_debug, "spectralreflectance", 0,
      "reflectances of spectral images");
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_spectral_reflectance_transform_caps);
  trans_class->transform_size =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_caps_transform_size);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_spectral_reflectance_set_caps);
  trans_class->transform =
      GST_DEBUG_FUNCPTR (gst_spectral_reflectance_transform);
  trans_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_spectral_reflectance_transform_meta);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_reflectance_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_reflectance_stop);
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Reflectance",
      "Filter/Converter/Video",
      "Converts counts of spectral cameras to reflectances",
      "The gst-cuvision authors");
}

static void
gst_spectral_reflectance_init (GstSpectralReflectance *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
}
