/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralpca
 * @title: spectralpca
 * @short_description: shows the principal components of spectral images
 *
 * Finds the principal components of the pixels of a cube of up to 512 bands, or
 * of RGB video, and shows three of them as red, green and blue, or passes on
 * some as a cube of scores if what follows takes cubes only. Components keep
 * their places and signs from frame to frame, so that colours do not flicker.
 * On the GPU, where cubes are copied to by the way, or on the CPU's threads.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=scene.hdr ! spectralpca !
 * videoconvert ! autovideosink
 * ]| Shows an ENVI file's first three components.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstspectralpca.h"

#include "gstcuvproperties.h"
#include "gstspectralbasis.h"
#include "gstspectralpcascores.h"
#include "gstspectralpcasettings.h"
#include "gstspectralpcatable.h"
#include "pca-maker.h"

GST_DEBUG_CATEGORY_STATIC (spectral_pca_debug);
#define GST_CAT_DEFAULT spectral_pca_debug

typedef struct {
  guint64 cuts;
  CuvPcaResult last;
} Counts;

struct _GstSpectralPca {
  GstCuvSpectralTransform parent;

  /* under the object lock */
  GstSpectralPcaValues values;
  gchar *location;
  gboolean started, is_frozen;
  gint n_given;        /* vectors of the basis that is loaded; 0: all */
  CuvPcaBasis *loaded; /* to be used from the next frame on */
  Counts counts;

  /* held while a frame is looked at: the basis is another one after it */
  GMutex lock;
  CuvPcaBasis basis; /* the last; n is 0 before the first */

  /* of the streaming thread */
  CuvPcaMaker *maker;
  GstSpectralPcaChoice choice;
  gboolean was_masked;
  CuvPcaBands bands;
};

#define gst_spectral_pca_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSpectralPca, gst_spectral_pca, GST_TYPE_CUV_SPECTRAL_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (
    spectralpca, "spectralpca", GST_RANK_NONE, GST_TYPE_SPECTRAL_PCA)

static GstSpectralPcaValues
values_of (GstSpectralPca *self)
{
  GstSpectralPcaValues values;

  GST_OBJECT_LOCK (self);
  values = self->values;
  GST_OBJECT_UNLOCK (self);
  return values;
}

/* FALSE after an element error. */
static gboolean
went_well (GstSpectralPca *self, gboolean on_device, const gchar *problem)
{
  if (problem != NULL)
    gst_cuv_spectral_transform_failed (
        GST_CUV_SPECTRAL_TRANSFORM (self), on_device, problem);
  return problem == NULL;
}

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_SPECTRAL_PICTURE_CAPS "; " GST_SPECTRAL_SCORES_CAPS));

/* ---- a basis of others ---- */

/* Of k vectors. */
static void
take_loaded (GstSpectralPca *self, CuvPcaBasis *basis, gint k)
{
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->loaded, gst_spectral_basis_free);
  self->loaded = basis;
  self->n_given = k;
  self->is_frozen = basis != NULL;
  GST_OBJECT_UNLOCK (self);
}

static void
set_location (GstSpectralPca *self, const gchar *location)
{
  gboolean started;
  CuvPcaBasis *basis = NULL;
  gint k = 0;

  GST_OBJECT_LOCK (self);
  started = self->started;
  GST_OBJECT_UNLOCK (self);
  if (started && location != NULL) {
    basis =
        gst_spectral_pca_load_basis (GST_ELEMENT (self), location, TRUE, &k);
    if (basis == NULL)
      return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->location);
  self->location = g_strdup (location);
  GST_OBJECT_UNLOCK (self);
  if (started)
    take_loaded (self, basis, k);
}

/* FALSE after an element error: the file is of other bands. */
static gboolean
use_loaded (GstSpectralPca *self)
{
  const gchar *problem;
  CuvPcaBasis *basis;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  basis = g_steal_pointer (&self->loaded);
  GST_OBJECT_UNLOCK (self);
  if (basis == NULL)
    return TRUE;
  ok = gst_spectral_pca_check_basis (
      GST_ELEMENT (self), basis, self->bands.n, FALSE);
  if (ok) {
    problem = cuv_pca_maker_set_basis (self->maker, basis);
    ok = went_well (self, self->maker->on_device, problem);
  }
  gst_spectral_basis_free (basis);
  return ok;
}

static CuvPcaBasis *
copy_known_basis (GstSpectralPca *self)
{
  CuvPcaBasis *copy = NULL;

  g_mutex_lock (&self->lock);
  if (self->basis.is_known)
    copy = gst_spectral_basis_copy (&self->basis);
  g_mutex_unlock (&self->lock);
  return copy;
}

static gboolean
gst_spectral_pca_freeze_basis (GstSpectralPca *self, const gchar *location)
{
  CuvPcaBasis *basis;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  self->is_frozen = TRUE;
  GST_OBJECT_UNLOCK (self);
  basis = copy_known_basis (self);
  if (basis == NULL)
    return FALSE;
  ok = gst_spectral_pca_save_basis (GST_ELEMENT (self), basis, location);
  gst_spectral_basis_free (basis);
  return ok;
}

static void
gst_spectral_pca_thaw_basis (GstSpectralPca *self)
{
  take_loaded (self, NULL, 0);
}

static gboolean
is_frozen (GstSpectralPca *self)
{
  gboolean frozen;

  GST_OBJECT_LOCK (self);
  frozen = self->is_frozen;
  GST_OBJECT_UNLOCK (self);
  return frozen;
}

/* ---- preparing ---- */

static void
reset_basis (GstSpectralPca *self)
{
  g_mutex_lock (&self->lock);
  self->basis.is_known = FALSE;
  g_mutex_unlock (&self->lock);
}

/* On the device its context has to be current. */
static void
drop_maker (GstSpectralPca *self)
{
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  const gboolean pushed = gst_cuv_context_push (context);

  g_clear_pointer (&self->maker, cuv_pca_maker_free);
  if (pushed)
    gst_cuv_context_pop (context);
}

static gboolean
use_bands (GstSpectralPca *self, const GstCuvSpectralInfo *info, gboolean mask)
{
  drop_maker (self);
  if (!is_frozen (self))
    reset_basis (self);
  self->bands = gst_spectral_pca_bands (info, mask);
  self->was_masked = mask;
  if (self->bands.n == 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("All %d bands are bad, and nothing is left to look at: set "
         "mask-band-ignore to false to look at them all the same.",
            info->bands),
        (NULL));
  return self->bands.n > 0;
}

static gboolean
gst_spectral_pca_prepare (
    GstCuvSpectralTransform *transform, const GstCuvSpectralInfo *info)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);

  return use_bands (self, info, values_of (self).mask_band_ignore);
}

/* A frozen basis outlives its maker. */
static gboolean
keep_basis (GstSpectralPca *self)
{
  const gchar *problem;

  if (!gst_spectral_pca_check_basis (
          GST_ELEMENT (self), &self->basis, self->bands.n, TRUE))
    return FALSE;
  problem = cuv_pca_maker_set_basis (self->maker, &self->basis);
  return went_well (self, self->maker->on_device, problem);
}

static gboolean
new_basis (GstSpectralPca *self)
{
  cuv_pca_basis_clear (&self->basis);
  if (cuv_pca_basis_init (&self->basis, self->bands.n))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("No memory for a basis of %d bands.", self->bands.n), (NULL));
  return FALSE;
}

/* For the bands, where the frame is. */
static gboolean
ensure_maker (GstSpectralPca *self, gboolean on_device)
{
  const gchar *problem;

  if (self->maker != NULL && self->maker->on_device == on_device)
    return TRUE;
  drop_maker (self);
  self->maker = cuv_pca_maker_new (self->bands.n, on_device, &problem);
  if (!went_well (self, on_device, problem))
    return FALSE;
  return is_frozen (self) && self->basis.is_known ? keep_basis (self)
                                                  : new_basis (self);
}

/* ---- a frame ---- */

/* A picture, whose pixels are NULL where scores are made. */
static GstFlowReturn
make_locked (GstSpectralPca *self, const GstCuvSpectralFrame *frame,
    const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, const CuvPcaScores *scores,
    GstBuffer *out)
{
  CuvPcaParams params = gst_spectral_pca_values_params (
      &self->choice.in_force, settings->components);
  const gchar *problem;
  CuvPcaResult result;

  if (!ensure_maker (self, frame->on_device) || !use_loaded (self))
    return GST_FLOW_ERROR;
  params.is_frozen = is_frozen (self);
  problem = scores != NULL
      ? cuv_pca_maker_score (self->maker, &frame->cube, &self->bands, &params,
          scores, settings->n_threads, &result, &self->basis)
      : cuv_pca_maker_run (self->maker, &frame->cube, &self->bands, &params,
          picture->pixels, (ptrdiff_t) picture->stride, frame->stream,
          settings->n_threads, &result, &self->basis);
  if (!went_well (self, frame->on_device, problem))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  self->counts.cuts += result.update.is_cut;
  self->counts.last = result;
  GST_OBJECT_UNLOCK (self);
  gst_spectral_pca_add_table (
      out, &self->basis, settings->components, &result, picture);
  return GST_FLOW_OK;
}

/* FALSE after an element error. */
static gboolean
use_values (GstSpectralPca *self)
{
  const GstCuvSpectralInfo *info =
      gst_cuv_spectral_transform_info (GST_CUV_SPECTRAL_TRANSFORM (self));
  const GstSpectralPcaValues values = values_of (self);

  return gst_spectral_pca_choose (&self->choice, GST_ELEMENT (self), &values)
      && (self->choice.in_force.mask_band_ignore == self->was_masked
          || use_bands (self, info, self->choice.in_force.mask_band_ignore));
}

/* Those that there are: of the bands, or of the basis that was loaded. */
static gint
count_components (GstSpectralPca *self, gint n_bands)
{
  gint n;

  GST_OBJECT_LOCK (self);
  n = self->n_given > 0 ? MIN (self->n_given, n_bands) : n_bands;
  GST_OBJECT_UNLOCK (self);
  return n;
}

static GstFlowReturn
make_frame (GstSpectralPca *self, const GstCuvSpectralFrame *frame,
    const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, const CuvPcaScores *scores,
    GstBuffer *out)
{
  GstFlowReturn flow;

  if (!use_values (self)
      || (scores != NULL
          && !gst_spectral_scores_check (GST_ELEMENT (self), scores->n,
              count_components (self, self->bands.n))))
    return GST_FLOW_ERROR;
  g_mutex_lock (&self->lock);
  flow = make_locked (self, frame, settings, picture, scores, out);
  g_mutex_unlock (&self->lock);
  return flow;
}

static GstFlowReturn
gst_spectral_pca_make (GstCuvSpectralTransform *transform,
    const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, GstBuffer *in, GstBuffer *out)
{
  return make_frame (
      GST_SPECTRAL_PCA (transform), frame, settings, picture, NULL, out);
}

static GstFlowReturn
gst_spectral_pca_make_scores (GstCuvSpectralTransform *transform,
    const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
    const GstCuvSpectralInfo *info, gfloat *values, GstBuffer *out)
{
  const GstCuvSpectralPicture none = { NULL, 0, info->width, info->height };
  const CuvPcaScores scores = gst_spectral_scores_of (info, values);

  gst_spectral_scores_name (out, info);
  return make_frame (
      GST_SPECTRAL_PCA (transform), frame, settings, &none, &scores, out);
}

/* ---- caps ---- */

static GstCaps *
gst_spectral_pca_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCaps *result = GST_BASE_TRANSFORM_CLASS (parent_class)
                        ->transform_caps (trans, direction, caps, filter);

  return direction == GST_PAD_SINK ? gst_spectral_scores_caps_last (result)
                                   : result;
}

static GstCaps *
gst_spectral_pca_fixate_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);
  const GstSpectralPcaValues values = values_of (self);
  const gint n = gst_spectral_pca_n_bands (caps, values.mask_band_ignore);

  if (direction == GST_PAD_SINK)
    othercaps = gst_spectral_scores_fixate (
        othercaps, MIN (values.scores, count_components (self, n)));
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->fixate_caps (trans, direction, caps, othercaps);
}

static void
gst_spectral_pca_reset (GstCuvSpectralTransform *transform)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  gboolean pushed;

  if (self->maker == NULL || is_frozen (self))
    return;
  reset_basis (self);
  pushed = gst_cuv_context_push (context);
  went_well (self, self->maker->on_device, cuv_pca_maker_reset (self->maker));
  if (pushed)
    gst_cuv_context_pop (context);
}

static void
gst_spectral_pca_add_stats (
    GstCuvSpectralTransform *transform, GstStructure *stats)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_spectral_pca_add_result (stats, &counts.last);
  gst_structure_set (stats, "cuts", G_TYPE_UINT64, counts.cuts, "frozen",
      G_TYPE_BOOLEAN, is_frozen (self), NULL);
}

/* ---- states ---- */

static void
gst_spectral_pca_leave_context (GstCuvTransform *transform)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);

  if (self->maker != NULL && self->maker->on_device)
    g_clear_pointer (&self->maker, cuv_pca_maker_free);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_spectral_pca_start (GstBaseTransform *trans)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);
  CuvPcaBasis *basis = NULL;
  gchar *location;
  gint k = 0;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  self->choice.is_made = FALSE;
  if (location != NULL)
    basis =
        gst_spectral_pca_load_basis (GST_ELEMENT (self), location, FALSE, &k);
  if (basis != NULL)
    take_loaded (self, basis, k);
  GST_OBJECT_LOCK (self);
  self->started = location == NULL || basis != NULL;
  GST_OBJECT_UNLOCK (self);
  g_free (location);
  return self->started
      && GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static gboolean
gst_spectral_pca_stop (GstBaseTransform *trans)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);

  drop_maker (self);
  reset_basis (self);
  take_loaded (self, NULL, 0);
  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);
}

/* ---- properties ---- */

static void
gst_spectral_pca_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (object);
  gpointer place = gst_spectral_pca_values_place (&self->values, id);

  if (place == NULL) {
    set_location (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  gst_cuv_value_store (place, value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spectral_pca_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (object);
  gpointer place = gst_spectral_pca_values_place (&self->values, id);

  GST_OBJECT_LOCK (self);
  if (place == NULL)
    g_value_set_string (value, self->location);
  else
    gst_cuv_value_fetch (place, value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spectral_pca_finalize (GObject *object)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (object);

  g_clear_pointer (&self->loaded, gst_spectral_basis_free);
  drop_maker (self);
  cuv_pca_basis_clear (&self->basis);
  g_mutex_clear (&self->lock);
  g_free (self->location);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_spectral_pca_class_init (GstSpectralPcaClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvSpectralTransformClass *spectral_class =
      GST_CUV_SPECTRAL_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spectral_pca_debug, "spectralpca", 0,
      "principal components of spectral images");
  object_class->set_property = gst_spectral_pca_set_property;
  object_class->get_property = gst_spectral_pca_get_property;
  object_class->finalize = gst_spectral_pca_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_pca_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_pca_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_spectral_pca_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_spectral_pca_fixate_caps);
  GST_CUV_TRANSFORM_CLASS (klass)->leave_context =
      GST_DEBUG_FUNCPTR (gst_spectral_pca_leave_context);
  spectral_class->paints_on_device = TRUE;
  spectral_class->fits_device = gst_spectral_pca_fits_device;
  spectral_class->prepare = gst_spectral_pca_prepare;
  spectral_class->make = gst_spectral_pca_make;
  spectral_class->make_scores = gst_spectral_pca_make_scores;
  spectral_class->reset = gst_spectral_pca_reset;
  spectral_class->add_stats = gst_spectral_pca_add_stats;
  gst_spectral_pca_properties_install (object_class);
  gst_spectral_pca_signals_install (G_TYPE_FROM_CLASS (klass),
      G_CALLBACK (gst_spectral_pca_freeze_basis),
      G_CALLBACK (gst_spectral_pca_thaw_basis));
  gst_element_class_add_static_pad_template (
      GST_ELEMENT_CLASS (klass), &src_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Principal components", "Filter/Converter/Video",
      "Shows the principal components of spectral images, on the GPU or the "
      "CPU",
      "The gst-cuvision authors");
}

static void
gst_spectral_pca_init (GstSpectralPca *self)
{
  g_mutex_init (&self->lock);
  gst_spectral_pca_values_reset (&self->values);
}
