/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralpca
 * @title: spectralpca
 * @short_description: shows the principal components of spectral images
 *
 * Finds the principal components of the pixels of a cube of up to 512 bands, or
 * of RGB video, and shows three of them as red, green and blue. Components keep
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
#include "gstspectralpcasettings.h"
#include "gstspectralpcatable.h"
#include "pca-maker.h"

GST_DEBUG_CATEGORY_STATIC (spectral_pca_debug);
#define GST_CAT_DEFAULT spectral_pca_debug

enum { SIGNAL_FREEZE_BASIS, SIGNAL_THAW_BASIS, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  guint64 cuts;
  CuvPcaResult last;
} Counts;

struct _GstSpectralPca {
  GstSpectralTransform parent;

  /* under the object lock */
  GstSpectralPcaValues values;
  gchar *location;
  gboolean started, is_frozen;
  CuvPcaBasis *loaded; /* to be used from the next frame on */
  Counts counts;

  /* held while a frame is looked at: the basis is another one after it */
  GMutex lock;
  CuvPcaBasis basis; /* the last; n is 0 before the first */

  /* of the streaming thread */
  CuvPcaMaker *maker;
  GstSpectralPcaValues in_force, seen;
  gboolean have_values, was_masked;
  CuvPcaBands bands;
};

#define gst_spectral_pca_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSpectralPca, gst_spectral_pca, GST_TYPE_SPECTRAL_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (
    spectralpca, "spectralpca", GST_RANK_NONE, GST_TYPE_SPECTRAL_PCA)

/* FALSE after an element error. */
static gboolean
went_well (GstSpectralPca *self, gboolean on_device, const gchar *problem)
{
  if (problem != NULL)
    gst_spectral_transform_failed (
        GST_SPECTRAL_TRANSFORM (self), on_device, problem);
  return problem == NULL;
}

/* ---- a basis of others ---- */

/* NULL after a warning, or an error before the start. */
static CuvPcaBasis *
load_basis (GstSpectralPca *self, const gchar *location, gboolean started)
{
  CuvPcaBasis *basis = g_new0 (CuvPcaBasis, 1);
  GError *error = NULL;
  gint k;

  if (gst_spectral_basis_load (basis, location, &k, &error))
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

static void
take_loaded (GstSpectralPca *self, CuvPcaBasis *basis)
{
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->loaded, gst_spectral_basis_free);
  self->loaded = basis;
  self->is_frozen = basis != NULL;
  GST_OBJECT_UNLOCK (self);
}

static void
set_location (GstSpectralPca *self, const gchar *location)
{
  gboolean started;
  CuvPcaBasis *basis = NULL;

  GST_OBJECT_LOCK (self);
  started = self->started;
  GST_OBJECT_UNLOCK (self);
  if (started && location != NULL) {
    basis = load_basis (self, location, TRUE);
    if (basis == NULL)
      return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->location);
  self->location = g_strdup (location);
  GST_OBJECT_UNLOCK (self);
  if (started)
    take_loaded (self, basis);
}

/* FALSE after an element error: the file is of other bands. */
static gboolean
use_loaded (GstSpectralPca *self)
{
  const gchar *problem;
  CuvPcaBasis *basis;

  GST_OBJECT_LOCK (self);
  basis = g_steal_pointer (&self->loaded);
  GST_OBJECT_UNLOCK (self);
  if (basis == NULL)
    return TRUE;
  if (basis->n != self->bands.n) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The basis of basis-location is for %d bands, and the frames have %d "
         "that count: set a file that was made of such frames.",
            basis->n, self->bands.n),
        (NULL));
    gst_spectral_basis_free (basis);
    return FALSE;
  }
  problem = cuv_pca_maker_set_basis (self->maker, basis);
  gst_spectral_basis_free (basis);
  return went_well (self, self->maker->on_device, problem);
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
  GError *error = NULL;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  self->is_frozen = TRUE;
  GST_OBJECT_UNLOCK (self);
  basis = copy_known_basis (self);
  if (basis == NULL)
    return FALSE;
  ok = location == NULL || *location == '\0'
      || gst_spectral_basis_save (basis, location, &error);
  if (!ok) {
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
        ("Cannot save the basis: %s.", error->message), (NULL));
    g_error_free (error);
  }
  gst_spectral_basis_free (basis);
  return ok;
}

static void
gst_spectral_pca_thaw_basis (GstSpectralPca *self)
{
  take_loaded (self, NULL);
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
forget_basis (GstSpectralPca *self)
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
use_bands (GstSpectralPca *self, const GstSpectralInfo *info, gboolean mask)
{
  drop_maker (self);
  if (!is_frozen (self))
    forget_basis (self);
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
    GstSpectralTransform *transform, const GstSpectralInfo *info)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  gboolean mask;

  GST_OBJECT_LOCK (self);
  mask = self->values.mask_band_ignore;
  GST_OBJECT_UNLOCK (self);
  return use_bands (self, info, mask);
}

/* A frozen basis outlives its maker. */
static gboolean
keep_basis (GstSpectralPca *self)
{
  const gboolean fits = self->basis.n == self->bands.n;
  const gchar *problem;

  if (!fits) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The basis is frozen and for %d bands, and now %d count: emit "
         "thaw-basis or unset basis-location before bands change.",
            self->basis.n, self->bands.n),
        (NULL));
    return FALSE;
  }
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

/* Values that contradict each other are not used: those before stay in force,
 * if there are any. */
static gboolean
choose_values (GstSpectralPca *self, const GstSpectralPcaValues *values)
{
  gchar *problem = NULL;
  gboolean ok;

  if (self->have_values && memcmp (values, &self->seen, sizeof *values) == 0)
    return TRUE;
  self->seen = *values;
  problem = gst_spectral_pca_values_problem (values);
  ok = problem == NULL || self->have_values;
  if (problem == NULL)
    self->in_force = *values;
  else if (self->have_values)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s. Until then the settings before stay in force.", problem), (NULL));
  else
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  self->have_values = ok;
  g_free (problem);
  return ok;
}

/* ---- a frame ---- */

static GstFlowReturn
make_locked (GstSpectralPca *self, const GstSpectralFrame *frame,
    const GstSpectralSettings *settings, const GstSpectralPicture *picture,
    GstBuffer *out)
{
  CuvPcaParams params =
      gst_spectral_pca_values_params (&self->in_force, settings->components);
  const gchar *problem;
  CuvPcaResult result;

  if (!ensure_maker (self, frame->on_device) || !use_loaded (self))
    return GST_FLOW_ERROR;
  params.is_frozen = is_frozen (self);
  problem = cuv_pca_maker_run (self->maker, &frame->cube, &self->bands, &params,
      picture->pixels, (ptrdiff_t) picture->stride, frame->stream,
      settings->n_threads, &result, &self->basis);
  if (!went_well (self, frame->on_device, problem))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  self->counts.cuts += result.lesson.is_cut;
  self->counts.last = result;
  GST_OBJECT_UNLOCK (self);
  gst_spectral_pca_add_table (
      out, &self->basis, settings->components, &result, picture);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_spectral_pca_make (GstSpectralTransform *transform,
    const GstSpectralFrame *frame, const GstSpectralSettings *settings,
    const GstSpectralPicture *picture, GstBuffer *in, GstBuffer *out)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  GstSpectralPcaValues values;
  GstFlowReturn flow;

  GST_OBJECT_LOCK (self);
  values = self->values;
  GST_OBJECT_UNLOCK (self);
  if (!choose_values (self, &values))
    return GST_FLOW_ERROR;
  if (self->in_force.mask_band_ignore != self->was_masked
      && !use_bands (self, gst_spectral_transform_info (transform),
          self->in_force.mask_band_ignore))
    return GST_FLOW_ERROR;
  g_mutex_lock (&self->lock);
  flow = make_locked (self, frame, settings, picture, out);
  g_mutex_unlock (&self->lock);
  return flow;
}

static void
gst_spectral_pca_reset (GstSpectralTransform *transform)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  gboolean pushed;

  if (self->maker == NULL || is_frozen (self))
    return;
  forget_basis (self);
  pushed = gst_cuv_context_push (context);
  went_well (self, self->maker->on_device, cuv_pca_maker_forget (self->maker));
  if (pushed)
    gst_cuv_context_pop (context);
}

static void
gst_spectral_pca_add_stats (
    GstSpectralTransform *transform, GstStructure *stats)
{
  GstSpectralPca *self = GST_SPECTRAL_PCA (transform);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (stats, "pixels", G_TYPE_UINT64,
      (guint64) counts.last.pixels, "left-out", G_TYPE_UINT64,
      (guint64) counts.last.left_out, "cuts", G_TYPE_UINT64, counts.cuts,
      "sweeps", G_TYPE_UINT, (guint) counts.last.lesson.sweeps, "frozen",
      G_TYPE_BOOLEAN, is_frozen (self), "microseconds-sums", G_TYPE_DOUBLE,
      (gdouble) counts.last.sums_us, "microseconds-basis", G_TYPE_DOUBLE,
      (gdouble) counts.last.basis_us, "microseconds-picture", G_TYPE_DOUBLE,
      (gdouble) counts.last.picture_us, NULL);
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

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  self->have_values = FALSE;
  if (location != NULL)
    basis = load_basis (self, location, FALSE);
  if (basis != NULL)
    take_loaded (self, basis);
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
  forget_basis (self);
  take_loaded (self, NULL);
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
install_signals (GType type)
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
  signals[SIGNAL_FREEZE_BASIS] = g_signal_new_class_handler ("freeze-basis",
      type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_spectral_pca_freeze_basis), NULL, NULL, NULL,
      G_TYPE_BOOLEAN, 1, G_TYPE_STRING);
  /**
   * GstSpectralPca::thaw-basis:
   * @self: the element
   *
   * Has components learned from frames again.
   *
   * Since: 0.1
   */
  signals[SIGNAL_THAW_BASIS] = g_signal_new_class_handler ("thaw-basis", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_spectral_pca_thaw_basis), NULL, NULL, NULL, G_TYPE_NONE,
      0);
}

static void
gst_spectral_pca_class_init (GstSpectralPcaClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstSpectralTransformClass *spectral_class =
      GST_SPECTRAL_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spectral_pca_debug, "spectralpca", 0,
      "principal components of spectral images");
  object_class->set_property = gst_spectral_pca_set_property;
  object_class->get_property = gst_spectral_pca_get_property;
  object_class->finalize = gst_spectral_pca_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_pca_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_pca_stop);
  GST_CUV_TRANSFORM_CLASS (klass)->leave_context =
      GST_DEBUG_FUNCPTR (gst_spectral_pca_leave_context);
  spectral_class->paints_on_device = TRUE;
  spectral_class->prepare = gst_spectral_pca_prepare;
  spectral_class->make = gst_spectral_pca_make;
  spectral_class->reset = gst_spectral_pca_reset;
  spectral_class->add_stats = gst_spectral_pca_add_stats;
  gst_spectral_pca_properties_install (object_class);
  install_signals (G_TYPE_FROM_CLASS (klass));
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
