/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralpca
 * @title: spectralpca
 * @short_description: shows the principal components of spectral images
 *
 * Finds the principal components of the pixels of a cube of up to 1024 bands,
 * or of RGB video, and shows three of them as red, green and blue. If the next
 * element accepts cubes only, it gets the first components as a cube of scores.
 * Components keep their places and signs from frame to frame, so that colours
 * do not flicker. Runs on the GPU, to which it uploads cubes itself, or on CPU
 * threads.
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

#include "backend.h"
#include "gstspectralpcascores.h"
#include "gstspectralpcasettings.h"
#include "gstspectralpcatable.h"
#include "spectral/gstcuvspectralempty.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (spectral_pca_debug);
#define GST_CAT_DEFAULT spectral_pca_debug

typedef struct {
  guint64 scene_changes;
  CuvPcaResult last;
} Counts;

#define GST_TYPE_SPECTRAL_PCA (gst_spectral_pca_get_type ())
G_DECLARE_FINAL_TYPE (GstSpectralPca, gst_spectral_pca, GST, SPECTRAL_PCA,
    GstCuvSpectralTransform)

struct _GstSpectralPca {
  GstCuvSpectralTransform parent;

  GstCuvSettings settings; /* GstSpectralPcaSettings */

  /* under the object lock */
  gboolean is_frozen;
  GstSpectralBasis *loaded;   /* the settings' basis */
  gboolean loaded_is_pending; /* to be used from the next frame on */
  gint n_loaded_vectors; /* vectors of the loaded basis while it is in use; 0:
                            all */
  Counts counts;

  /* held while a frame is processed, which changes the basis */
  GMutex lock;
  CuvPcaBasis basis; /* basis of the last frame; n is 0 before the first */

  /* used by the streaming thread only */
  CuvBackend backend;
  gboolean reset_needed;
  gboolean was_masked;
  gboolean warned; /* warned about a frame without valid pixels */
  CuvPcaBands bands;
};

#define gst_spectral_pca_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSpectralPca, gst_spectral_pca, GST_TYPE_CUV_SPECTRAL_TRANSFORM)
GST_ELEMENT_REGISTER_DECLARE (spectralpca);
GST_ELEMENT_REGISTER_DEFINE (
    spectralpca, "spectralpca", GST_RANK_NONE, GST_TYPE_SPECTRAL_PCA)

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_SPECTRAL_PICTURE_CAPS "; " GST_SPECTRAL_SCORES_CAPS));

/* Freezes the basis of basis-location; if that is not set, resumes learning.
 * Call with the object lock held. */
static void
use_loaded (GstSpectralPca *self, const GstSpectralPcaSettings *settings)
{
  GstSpectralBasis *given = settings->given;

  if (given == self->loaded)
    return;
  g_clear_pointer (&self->loaded, gst_spectral_basis_unref);
  if (given != NULL)
    self->loaded = g_atomic_rc_box_acquire (given);
  self->loaded_is_pending = self->is_frozen = given != NULL;
  self->n_loaded_vectors = given != NULL ? given->n_vectors : 0;
}

static void
thaw (GstSpectralPca *self)
{
  self->loaded_is_pending = self->is_frozen = FALSE;
  self->n_loaded_vectors = 0;
}

/* Returns the basis to start the next frame from, if it has changed. */
static GstSpectralBasis *
take_pending_basis (GstSpectralPca *self)
{
  GstSpectralBasis *given = NULL;

  GST_OBJECT_LOCK (self);
  if (self->loaded_is_pending)
    given = g_atomic_rc_box_acquire (self->loaded);
  self->loaded_is_pending = FALSE;
  GST_OBJECT_UNLOCK (self);
  return given;
}

static GstSpectralBasis *
copy_known_basis (GstSpectralPca *self)
{
  GstSpectralBasis *copy = NULL;

  g_mutex_lock (&self->lock);
  if (self->basis.is_known)
    copy = gst_spectral_basis_new (&self->basis);
  g_mutex_unlock (&self->lock);
  return copy;
}

static gboolean
gst_spectral_pca_freeze_basis (GstSpectralPca *self, const gchar *location)
{
  GstSpectralBasis *basis;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  self->is_frozen = TRUE;
  GST_OBJECT_UNLOCK (self);
  basis = copy_known_basis (self);
  if (basis == NULL)
    return FALSE;
  ok =
      gst_spectral_pca_save_basis (GST_ELEMENT (self), &basis->basis, location);
  gst_spectral_basis_unref (basis);
  return ok;
}

static void
gst_spectral_pca_thaw_basis (GstSpectralPca *self)
{
  GST_OBJECT_LOCK (self);
  use_loaded (self, self->settings.pending);
  thaw (self);
  GST_OBJECT_UNLOCK (self);
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

static void
reset_basis (GstSpectralPca *self)
{
  g_mutex_lock (&self->lock);
  self->basis.is_known = FALSE;
  g_mutex_unlock (&self->lock);
}

static void
close_backend (GstSpectralPca *self)
{
  gst_cuv_transform_close_backend (GST_CUV_TRANSFORM (self), &self->backend);
}

static void
use_bands (GstSpectralPca *self, const CuvPcaBands *bands, gboolean mask)
{
  close_backend (self);
  if (!is_frozen (self))
    reset_basis (self);
  self->bands = *bands;
  self->was_masked = mask;
}

static gchar *
no_bands (const GstCuvSpectralInfo *info)
{
  return g_strdup_printf ("All %d bands are bad: set mask-band-ignore to false "
                          "to analyse them anyway",
      info->bands);
}

static gboolean
gst_spectral_pca_excludes_pixels (GstCuvSpectralTransform *transform)
{
  return GST_SPECTRAL_PCA (transform)->was_masked;
}

static gboolean
gst_spectral_pca_prepare (
    GstCuvSpectralTransform *transform, const GstCuvSpectralInfo *info)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  const GstSpectralPcaSettings *pending;
  CuvPcaBands bands;
  gboolean mask;
  gchar *problem;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  mask = pending->mask_band_ignore;
  GST_OBJECT_UNLOCK (self);
  bands = gst_spectral_pca_bands (info, mask);
  use_bands (self, &bands, mask);
  if (bands.n > 0)
    return TRUE;
  problem = no_bands (info);
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

static gchar *
gst_spectral_pca_configure (
    gpointer element, gconstpointer settings, gconstpointer unused)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (element);
  const GstSpectralPcaSettings *s = settings;
  const GstCuvSpectralInfo *info =
      gst_cuv_spectral_transform_info (GST_CUV_SPECTRAL_TRANSFORM (self));
  const CuvPcaBands bands = gst_spectral_pca_bands (info, s->mask_band_ignore);
  gboolean fits;

  if (bands.n == 0)
    return no_bands (info);
  GST_OBJECT_LOCK (self);
  fits = s->given == NULL || s->given->basis.n == bands.n
      || (s->given == self->loaded && !self->loaded_is_pending);
  if (fits)
    use_loaded (self, s);
  GST_OBJECT_UNLOCK (self);
  if (!fits)
    return g_strdup_printf (
        "The basis of basis-location is for %d bands, but the frames have %d: "
        "set a file that was saved from frames with the same number of bands",
        s->given->basis.n, bands.n);
  if (s->mask_band_ignore != self->was_masked)
    use_bands (self, &bands, s->mask_band_ignore);
  return NULL;
}

/* Resets the basis to an unknown one of the selected bands. */
static gboolean
init_basis (GstSpectralPca *self)
{
  cuv_pca_basis_clear (&self->basis);
  if (cuv_pca_basis_init (&self->basis, self->bands.n))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Out of memory for a basis of %d bands: send cubes with fewer bands, or "
       "end other processes.",
          self->bands.n),
      (NULL));
  return FALSE;
}

static gboolean
check_frozen_basis (GstSpectralPca *self)
{
  if (self->basis.n == self->bands.n)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("The frozen basis is for %d bands, but %d are selected: emit thaw-basis "
       "or unset basis-location before bands change.",
          self->basis.n, self->bands.n),
      (NULL));
  return FALSE;
}

/* Opens a backend where the frame is. Sets *start to a frozen basis that the
 * new backend has to use. Returns FALSE after an element error. */
static gboolean
ensure_backend (GstSpectralPca *self, const CuvProcessor *processor,
    const CuvPcaBasis **start)
{
  const gchar *error;

  if (self->backend.klass != NULL
      && self->backend.on_device == processor->on_device)
    return TRUE;
  close_backend (self);
  error = cuv_backend_open (
      &self->backend, &cuv_pca_backends, &self->bands.n, NULL, processor);
  if (error != NULL) {
    gst_cuv_spectral_transform_failed (
        GST_CUV_SPECTRAL_TRANSFORM (self), processor->on_device, error);
    return FALSE;
  }
  if (!is_frozen (self) || !self->basis.is_known)
    return init_basis (self);
  *start = &self->basis;
  return check_frozen_basis (self);
}

static GstFlowReturn
gst_spectral_pca_run (
    GstSpectralPca *self, CuvPcaJob *job, const CuvProcessor *processor)
{
  GstSpectralBasis *given;
  const gchar *error;

  if (!ensure_backend (self, processor, &job->start))
    return GST_FLOW_ERROR;
  given = take_pending_basis (self);
  if (given != NULL)
    job->start = &given->basis;
  job->reset = self->reset_needed;
  self->reset_needed = FALSE;
  error = cuv_backend_run (&self->backend, job, processor);
  g_clear_pointer (&given, gst_spectral_basis_unref);
  return error == NULL
      ? GST_FLOW_OK
      : gst_cuv_spectral_transform_failed (
          GST_CUV_SPECTRAL_TRANSFORM (self), processor->on_device, error);
}

/* Warns once per start. */
static void
warn_if_nothing_valid (GstSpectralPca *self, const CuvPcaResult *result)
{
  gchar *text;

  if (self->warned || result->pixels > 0)
    return;
  self->warned = TRUE;
  text = gst_cuv_spectral_info_nothing_valid (
      gst_cuv_spectral_transform_info (GST_CUV_SPECTRAL_TRANSFORM (self)));
  GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s.", text), (NULL));
  g_free (text);
}

/* Makes a picture or, if its pixels are NULL, scores. */
static GstFlowReturn
process_locked (GstSpectralPca *self, const GstCuvSpectralFrame *frame,
    const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, const CuvPcaScores *scores,
    GstBuffer *out)
{
  const GstSpectralPcaSettings *s = self->settings.in_force;
  CuvPcaParams params = s->params;
  const CuvProcessor processor = { frame->on_device, frame->stream,
    settings->n_threads };
  CuvPcaResult result;
  CuvPcaJob job = { .cube = &frame->cube,
    .bands = &self->bands,
    .params = &params,
    .picture = picture->pixels,
    .stride = (ptrdiff_t) picture->stride,
    .scores = scores,
    .result = &result,
    .basis = &self->basis };

  memcpy (params.display.component, settings->components,
      sizeof settings->components);
  params.is_frozen = is_frozen (self);
  if (gst_spectral_pca_run (self, &job, &processor) != GST_FLOW_OK)
    return GST_FLOW_ERROR;
  warn_if_nothing_valid (self, &result);
  GST_OBJECT_LOCK (self);
  self->counts.scene_changes += result.update.is_cut;
  self->counts.last = result;
  GST_OBJECT_UNLOCK (self);
  gst_spectral_pca_add_table (
      out, &self->basis, settings->components, &result, picture);
  return GST_FLOW_OK;
}

/* Returns the number of components: of bands, or of vectors in the loaded
 * basis. */
static gint
count_components (GstSpectralPca *self, gint n_bands)
{
  gint n;

  GST_OBJECT_LOCK (self);
  n = self->n_loaded_vectors > 0 ? MIN (self->n_loaded_vectors, n_bands)
                                 : n_bands;
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

  if (!gst_cuv_settings_apply_changes (
          &self->settings, gst_spectral_pca_configure, NULL)
      || (scores != NULL
          && !gst_spectral_scores_check (GST_ELEMENT (self), scores->n,
              count_components (self, self->bands.n))))
    return GST_FLOW_ERROR;
  g_mutex_lock (&self->lock);
  flow = process_locked (self, frame, settings, picture, scores, out);
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

static GstCaps *
gst_spectral_pca_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCaps *result = GST_BASE_TRANSFORM_CLASS (parent_class)
                        ->transform_caps (trans, direction, caps, filter);

  return direction == GST_PAD_SINK ? gst_spectral_scores_order_caps (result)
                                   : result;
}

static GstCaps *
gst_spectral_pca_fixate_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);
  const GstSpectralPcaSettings *pending;
  gint n, scores;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  n = gst_spectral_pca_n_bands (caps, pending->mask_band_ignore);
  scores = pending->scores;
  GST_OBJECT_UNLOCK (self);
  if (direction == GST_PAD_SINK)
    othercaps = gst_spectral_scores_fixate (
        othercaps, MIN (scores, count_components (self, n)));
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->fixate_caps (trans, direction, caps, othercaps);
}

static void
gst_spectral_pca_reset (GstCuvAnalyser *analyser)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (analyser);

  if (self->backend.klass == NULL || is_frozen (self))
    return;
  reset_basis (self);
  self->reset_needed = TRUE;
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
  gst_cuv_structure_set (stats, "cuts", G_TYPE_UINT64, counts.scene_changes,
      "frozen", G_TYPE_BOOLEAN, is_frozen (self), NULL);
}

static void
gst_spectral_pca_leave_context (GstCuvTransform *transform)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);

  if (self->backend.on_device)
    cuv_backend_close (&self->backend);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_spectral_pca_start (GstBaseTransform *trans)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  self->warned = FALSE;
  /* score caps depend on the number of vectors */
  use_loaded (self, self->settings.pending);
  GST_OBJECT_UNLOCK (self);
  return ok;
}

static gboolean
gst_spectral_pca_stop (GstBaseTransform *trans)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (trans);

  close_backend (self);
  reset_basis (self);
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->loaded, gst_spectral_basis_unref);
  thaw (self);
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);
}

static void
gst_spectral_pca_finalize (GObject *object)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (object);

  g_clear_pointer (&self->loaded, gst_spectral_basis_unref);
  close_backend (self);
  cuv_pca_basis_clear (&self->basis);
  g_mutex_clear (&self->lock);
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
  spectral_class->excludes_pixels = gst_spectral_pca_excludes_pixels;
  spectral_class->make = gst_spectral_pca_make;
  spectral_class->make_scores = gst_spectral_pca_make_scores;
  GST_CUV_ANALYSER_CLASS (klass)->reset = gst_spectral_pca_reset;
  spectral_class->add_stats = gst_spectral_pca_add_stats;
  gst_cuv_settings_class_install (object_class, &gst_spectral_pca_settings);
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
  gst_cuv_settings_init (&self->settings, self, &gst_spectral_pca_settings);
}
