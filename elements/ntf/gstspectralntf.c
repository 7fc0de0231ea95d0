/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralntf
 * @title: spectralntf
 * @short_description: factorises spectral images and video without negatives
 *
 * Takes a cube, height x width x bands, or a window of frames of grey video, as
 * a sum of terms, each the product of a column, a row and a spectrum that have
 * no negative values, and finds them by iteration. The factors are metadata;
 * the picture shows the maps of three terms, or what all of them leave. On the
 * GPU or the CPU.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=cube.hdr ! spectralntf rank=6 algorithm=hals
 * ! videoconvert ! pngenc ! filesink location=maps.png
 * ]| Writes a picture of the three strongest of six terms.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstspectralntf.h"

#include "spectral/gstcuvspectralcaps.h"
#include "gstspectralntfbands.h"
#include "gstspectralntfmeta.h"
#include "gstspectralntfsettings.h"
#include "gstspectralntfwindow.h"
#include "gstcuvproperties.h"
#include "ntf-maker.h"
#include "reference/ntf-paint.h"

GST_DEBUG_CATEGORY_STATIC (spectral_ntf_debug);
#define GST_CAT_DEFAULT spectral_ntf_debug

typedef struct {
  guint64 runs;
  gint iterations, effective_rank;
  gdouble error;
} Counts;

struct _GstSpectralNtf {
  GstCuvSpectralTransform parent;

  /* under the object lock */
  GstNtfValues values;
  Counts counts;
  GstClockTime window_latency;

  gint cancel;

  /* of the streaming thread */
  GstNtfValues in_force; /* the last that do not contradict each other */
  gboolean warned;
  GstNtfBands bands;
  gboolean is_grey;
  GstNtfWindow window;
  CuvNtfMaker *maker;
  gint depth; /* that it is for */
  gboolean have_factors;
};

#define gst_spectral_ntf_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSpectralNtf, gst_spectral_ntf, GST_TYPE_CUV_SPECTRAL_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (
    spectralntf, "spectralntf", GST_RANK_NONE, GST_TYPE_SPECTRAL_NTF)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS
            "; video/x-raw, format = (string) GRAY8, " GST_CUV_SPECTRAL_SIZES
            "; " GST_CUV_SPECTRAL_RGB_CAPS));

static GstNtfValues
get_values (GstSpectralNtf *self)
{
  GstNtfValues values;

  GST_OBJECT_LOCK (self);
  values = self->values;
  GST_OBJECT_UNLOCK (self);
  return values;
}

/* ---- caps ---- */

static GstCaps *
gst_spectral_ntf_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_CLASS (parent_class);
  const gint hop = get_values (GST_SPECTRAL_NTF (trans)).hop;
  GstCaps *ours, *result, *both;

  if (direction == GST_PAD_SINK) {
    ours = gst_ntf_window_scale_rates (gst_caps_copy (caps), 1, hop);
    result = klass->transform_caps (trans, direction, ours, filter);
    gst_caps_unref (ours);
    return result;
  }
  result = gst_ntf_window_scale_rates (
      klass->transform_caps (trans, direction, caps, NULL), hop, 1);
  if (filter == NULL)
    return result;
  both = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (result);
  return both;
}

/* On the device its context has to be current. */
static void
drop_maker (GstSpectralNtf *self)
{
  GstCuvContext *context = gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
  const gboolean pushed = gst_cuv_context_push (context);

  g_clear_pointer (&self->maker, cuv_ntf_maker_free);
  if (pushed)
    gst_cuv_context_pop (context);
  self->have_factors = FALSE;
  self->window.n = 0;
}

static void
tell_latency (GstSpectralNtf *self, const GstCuvSpectralInfo *info, gint window)
{
  GstClockTime latency = self->is_grey
      ? gst_ntf_window_latency (window, info->fps_n, info->fps_d)
      : 0;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = latency != self->window_latency;
  self->window_latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static gboolean
gst_spectral_ntf_prepare (
    GstCuvSpectralTransform *transform, const GstCuvSpectralInfo *info)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);
  const GstVideoInfo *video =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));

  drop_maker (self);
  self->is_grey = GST_VIDEO_INFO_FORMAT (video) == GST_VIDEO_FORMAT_GRAY8;
  gst_ntf_bands_init (&self->bands, info);
  if (self->bands.n == 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("All bands are bad: nothing is left to factorise. Set bad-bands in "
         "the caps to fewer of them."),
        (NULL));
  tell_latency (self, info, get_values (self).window);
  return self->bands.n > 0;
}

/* ---- before a run ---- */

/* What contradicts itself is not used: what was in force before is. */
static void
update_values (GstSpectralNtf *self)
{
  GstNtfValues values = get_values (self);
  const gchar *problem = gst_ntf_values_problem (&values);

  if (problem == NULL)
    self->in_force = values;
  else if (!self->warned)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s. Until then the settings before stay in force.", problem), (NULL));
  self->warned = problem != NULL;
}

static gboolean
make_maker (GstSpectralNtf *self, const CuvNtfShape *shape)
{
  const gchar *problem;

  drop_maker (self);
  self->depth = shape->depth;
  self->maker = cuv_ntf_maker_new (shape, &self->cancel, &problem);
  if (self->maker != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("No memory to factorise %dx%dx%d samples into %d terms%s: take smaller "
       "images, or a lower rank or window.",
          shape->width, shape->height, shape->depth, shape->rank,
          shape->on_device ? " on the GPU" : ""),
      ("%s", problem));
  return FALSE;
}

/* For the depth and rank that values ask for, where the frame is. */
static gboolean
ensure_maker (GstSpectralNtf *self, const GstCuvSpectralFrame *frame)
{
  const GstCuvSpectralInfo *info =
      gst_cuv_spectral_transform_info (GST_CUV_SPECTRAL_TRANSFORM (self));
  const CuvNtfShape shape = { info->height, info->width,
    self->is_grey ? self->in_force.window : self->bands.n, self->in_force.rank,
    frame->on_device, frame->stream };

  if (cuv_ntf_maker_is_for (self->maker, &shape))
    return TRUE;
  tell_latency (self, info, shape.depth);
  return make_maker (self, &shape);
}

/* Cancelled, unless it failed. */
static GstFlowReturn
stopped (GstSpectralNtf *self)
{
  return self->maker->problem == NULL
      ? GST_FLOW_FLUSHING
      : gst_cuv_spectral_transform_failed (GST_CUV_SPECTRAL_TRANSFORM (self),
          self->maker->shape.on_device, self->maker->problem);
}

/* ---- loading ---- */

static gboolean
refuse_bad (GstSpectralNtf *self, const CuvNtfScan *scan)
{
  if (self->in_force.bad_values == GST_NTF_BAD_CLAMP
      || scan->n_negative + scan->n_not_finite == 0)
    return FALSE;
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("A cube has %" G_GINT64_FORMAT " samples below 0 and %" G_GINT64_FORMAT
       " that are no numbers, the first in pixel %d,%d of band %d, all from 0 "
       "on: take them for 0 with bad-values=clamp, or say in the caps what "
       "ignore-value or bad-bands are.",
          scan->n_negative, scan->n_not_finite, scan->x, scan->y, scan->band),
      (NULL));
  return TRUE;
}

static GstFlowReturn
load_cube (GstSpectralNtf *self, const CuvCube *cube, gint n_threads)
{
  CuvNtfScan scan;

  if (!gst_ntf_bands_scan (&self->bands, self->maker, cube, n_threads, &scan))
    return stopped (self);
  if (refuse_bad (self, &scan))
    return GST_FLOW_ERROR;
  return gst_ntf_bands_load (&self->bands, self->maker, cube,
             cuv_ntf_scale (cube->format, scan.largest), n_threads)
      ? GST_FLOW_OK
      : stopped (self);
}

static GstFlowReturn
load_frame (
    GstSpectralNtf *self, const CuvCube *cube, gint n_threads, GstBuffer *in)
{
  const gint z = gst_ntf_window_add (&self->window, self->depth, in);

  if (!cuv_ntf_maker_load (self->maker, cube, NULL, z,
          cuv_ntf_scale (cube->format, 0), n_threads))
    return stopped (self);
  return gst_ntf_window_is_due (&self->window, self->depth, self->in_force.hop)
      ? GST_FLOW_OK
      : GST_BASE_TRANSFORM_FLOW_DROPPED;
}

/* ---- a run ---- */

static void
post_progress (GstSpectralNtf *self, GstBuffer *in)
{
  const CuvNtfResult *result = cuv_ntf_maker_result (self->maker);

  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("spectralntf", "timestamp", G_TYPE_UINT64,
              GST_BUFFER_PTS (in), "iteration", G_TYPE_UINT,
              (guint) result->iterations, "percent", G_TYPE_DOUBLE,
              100. * result->iterations / self->in_force.iterations, "error",
              G_TYPE_DOUBLE, result->errors[result->n_errors - 1], NULL)));
}

/* FALSE if stopped. */
static gboolean
iterate (GstSpectralNtf *self, gint n_threads, GstBuffer *in)
{
  const GstClockTime interval =
      (GstClockTime) self->in_force.progress_interval * GST_MSECOND;
  GstClockTime next = gst_util_get_timestamp () + interval;
  CuvNtfStatus status;

  while (cuv_ntf_maker_step (self->maker, n_threads, &status)) {
    if (status == CUV_NTF_DONE)
      return TRUE;
    if (interval == 0 || gst_util_get_timestamp () < next)
      continue;
    post_progress (self, in);
    next = gst_util_get_timestamp () + interval;
  }
  return FALSE;
}

static void
count (GstSpectralNtf *self)
{
  const CuvNtfResult *result = cuv_ntf_maker_result (self->maker);

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ self->counts.runs + 1, result->iterations,
    result->effective_rank, result->errors[result->n_errors - 1] };
  GST_OBJECT_UNLOCK (self);
}

static gboolean
factorise (GstSpectralNtf *self, gint n_threads, GstBuffer *in)
{
  CuvNtfParams params = gst_ntf_values_params (&self->in_force);

  if (params.init == CUV_NTF_PREVIOUS && !self->have_factors)
    params.init = CUV_NTF_RANDOM;
  self->have_factors = FALSE;
  if (!cuv_ntf_maker_start (self->maker, &params, n_threads)
      || !iterate (self, n_threads, in))
    return FALSE;
  /* from zeros nothing goes on */
  self->have_factors = cuv_ntf_maker_result (self->maker)->effective_rank > 0;
  count (self);
  return TRUE;
}

static gboolean
paint (GstSpectralNtf *self, const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture)
{
  const gfloat *map;

  if (self->in_force.show == GST_NTF_SHOW_RECONSTRUCTION) {
    cuv_ntf_paint_terms (cuv_ntf_maker_factors (self->maker),
        settings->components, picture->pixels, picture->stride);
    return TRUE;
  }
  map = cuv_ntf_maker_residual (self->maker, settings->n_threads);
  if (map != NULL)
    cuv_ntf_paint_residual (
        map, picture->width, picture->height, picture->pixels, picture->stride);
  return map != NULL;
}

static GstFlowReturn
gst_spectral_ntf_make (GstCuvSpectralTransform *transform,
    const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, GstBuffer *in, GstBuffer *out)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);
  GstFlowReturn flow;

  update_values (self);
  if (!ensure_maker (self, frame))
    return GST_FLOW_ERROR;
  flow = self->is_grey
      ? load_frame (self, &frame->cube, settings->n_threads, in)
      : load_cube (self, &frame->cube, settings->n_threads);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!factorise (self, settings->n_threads, in)
      || !paint (self, settings, picture))
    return stopped (self);
  if (self->is_grey)
    gst_ntf_window_stamp (&self->window, self->depth, self->in_force.hop, out);
  gst_ntf_meta_add (out, cuv_ntf_maker_factors (self->maker),
      self->is_grey ? gst_ntf_window_oldest (&self->window, self->depth) : 0,
      cuv_ntf_maker_result (self->maker));
  return GST_FLOW_OK;
}

/* A frame that only fills a window is no gap in the pictures. */
static GstFlowReturn
gst_spectral_ntf_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS (parent_class)->generate_output (trans, out);

  if (flow != GST_BASE_TRANSFORM_FLOW_DROPPED)
    return flow;
  gst_clear_buffer (out);
  return GST_FLOW_OK;
}

/* ---- events and states ---- */

static void
gst_spectral_ntf_leave_context (GstCuvTransform *transform)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);

  if (self->maker != NULL && self->maker->shape.on_device)
    drop_maker (self);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static void
gst_spectral_ntf_reset (GstCuvSpectralTransform *transform)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);

  self->window.n = 0;
  self->have_factors = FALSE;
}

static void
check_window_was_filled (GstSpectralNtf *self)
{
  if (!self->is_grey || self->window.n == 0
      || self->window.n >= (guint64) self->depth)
    return;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("The stream ended after %u frames, and window is %d: nothing was "
       "factorised. Set window to as many frames as there are, or fewer.",
          (guint) self->window.n, self->depth),
      (NULL));
}

static gboolean
gst_spectral_ntf_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START: /* not of the streaming thread */
      g_atomic_int_set (&self->cancel, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      g_atomic_int_set (&self->cancel, FALSE);
      break;
    case GST_EVENT_EOS:
      check_window_was_filled (self);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

static gboolean
gst_spectral_ntf_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (trans);
  GstClockTime min, max, more;
  gboolean live;

  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query))
    return FALSE;
  if (direction != GST_PAD_SRC || GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return TRUE;
  GST_OBJECT_LOCK (self);
  more = self->window_latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  gst_query_set_latency (query, live, min + more,
      GST_CLOCK_TIME_IS_VALID (max) ? max + more : max);
  return TRUE;
}

/* What runs has to return before the pads can be stopped. */
static GstStateChangeReturn
gst_spectral_ntf_change_state (GstElement *element, GstStateChange change)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (element);

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED)
    g_atomic_int_set (&self->cancel, FALSE);
  else if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    g_atomic_int_set (&self->cancel, TRUE);
  return GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
}

static gboolean
gst_spectral_ntf_start (GstBaseTransform *trans)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (trans);
  GstNtfValues values = get_values (self);
  const gchar *problem = gst_ntf_values_problem (&values);

  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
    return FALSE;
  }
  self->in_force = values;
  self->warned = FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  self->window_latency = 0;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static gboolean
gst_spectral_ntf_stop (GstBaseTransform *trans)
{
  drop_maker (GST_SPECTRAL_NTF (trans));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);
}

static void
gst_spectral_ntf_add_stats (
    GstCuvSpectralTransform *transform, GstStructure *stats)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (stats, "runs", G_TYPE_UINT64, counts.runs, "iterations",
      G_TYPE_UINT, (guint) counts.iterations, "effective-rank", G_TYPE_UINT,
      (guint) counts.effective_rank, "error", G_TYPE_DOUBLE, counts.error,
      NULL);
}

/* ---- properties ---- */

static void
gst_spectral_ntf_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (object);
  gint hop;

  GST_OBJECT_LOCK (self);
  hop = self->values.hop;
  gst_cuv_value_store (
      gst_ntf_property_place (&self->values, id - GST_CUV_SPECTRAL_PROP_FIRST),
      value);
  hop -= self->values.hop;
  GST_OBJECT_UNLOCK (self);
  if (hop != 0) /* another rate of pictures */
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static void
gst_spectral_ntf_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (object);

  GST_OBJECT_LOCK (self);
  gst_cuv_value_fetch (
      gst_ntf_property_place (&self->values, id - GST_CUV_SPECTRAL_PROP_FIRST),
      value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spectral_ntf_class_init (GstSpectralNtfClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvSpectralTransformClass *spectral_class =
      GST_CUV_SPECTRAL_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spectral_ntf_debug, "spectralntf", 0,
      "non-negative tensor factorisation");
  object_class->set_property = gst_spectral_ntf_set_property;
  object_class->get_property = gst_spectral_ntf_get_property;
  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_spectral_ntf_change_state);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_spectral_ntf_transform_caps);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_spectral_ntf_generate_output);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_spectral_ntf_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_spectral_ntf_query);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_ntf_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_ntf_stop);
  GST_CUV_TRANSFORM_CLASS (klass)->leave_context =
      GST_DEBUG_FUNCPTR (gst_spectral_ntf_leave_context);
  spectral_class->prepare = gst_spectral_ntf_prepare;
  spectral_class->make = gst_spectral_ntf_make;
  spectral_class->reset = gst_spectral_ntf_reset;
  spectral_class->add_stats = gst_spectral_ntf_add_stats;
  gst_ntf_properties_install (object_class, GST_CUV_SPECTRAL_PROP_FIRST);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "Non-negative factorisation", "Filter/Converter/Video",
      "Factorises spectral images, or windows of grey video, into terms "
      "without negative values, on the GPU or the CPU",
      "The gst-cuvision authors");
}

static void
gst_spectral_ntf_init (GstSpectralNtf *self)
{
  gst_ntf_values_reset (&self->values);
}
