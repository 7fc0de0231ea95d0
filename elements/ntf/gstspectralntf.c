/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralntf
 * @title: spectralntf
 * @short_description: non-negative factorisation of images and video
 *
 * Approximates a cube, height x width x bands, or a window of frames of grey
 * video, by a sum of terms, each the product of a column, a row and a spectrum
 * without negative values, which it finds by iteration. With
 * factorisation=matrix each term is the product of a map and a spectrum:
 * spectral unmixing. The factors are metadata; the picture shows the maps of
 * three terms, or the residual. Runs on the GPU or the CPU.
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

#include "backend.h"
#include "gstspectralntfbands.h"
#include "gstspectralntfmeta.h"
#include "gstspectralntfsettings.h"
#include "gstspectralntfwindow.h"
#include "ntf.h"
#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectraltransform.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (spectral_ntf_debug);
#define GST_CAT_DEFAULT spectral_ntf_debug

typedef struct {
  guint64 runs;
  gint iterations, effective_rank;
  gdouble error;
} Counts;

#define GST_TYPE_SPECTRAL_NTF (gst_spectral_ntf_get_type ())
G_DECLARE_FINAL_TYPE (GstSpectralNtf, gst_spectral_ntf, GST, SPECTRAL_NTF,
    GstCuvSpectralTransform)

struct _GstSpectralNtf {
  GstCuvSpectralTransform parent;

  GstCuvSettings settings; /* GstNtfSettings */

  /* under the object lock */
  Counts counts;
  GstClockTime window_latency;

  gint cancel;

  /* used by the streaming thread only */
  GstNtfBands bands;
  gboolean is_grey;
  GstNtfWindow window;
  CuvNtfConfig config; /* config of the backend */
  CuvBackend backend;
  CuvProcessor processor;
  CuvNtfJob job;
  gboolean have_factors;
};

#define gst_spectral_ntf_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstSpectralNtf, gst_spectral_ntf, GST_TYPE_CUV_SPECTRAL_TRANSFORM)
GST_ELEMENT_REGISTER_DECLARE (spectralntf);
GST_ELEMENT_REGISTER_DEFINE (
    spectralntf, "spectralntf", GST_RANK_NONE, GST_TYPE_SPECTRAL_NTF)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS
            "; video/x-raw, format = (string) GRAY8, " GST_CUV_SPECTRAL_SIZES
            "; " GST_CUV_SPECTRAL_RGB_CAPS));

static GstNtfSettings
get_pending (GstSpectralNtf *self)
{
  GstNtfSettings settings;

  GST_OBJECT_LOCK (self);
  settings = *(const GstNtfSettings *) self->settings.pending;
  GST_OBJECT_UNLOCK (self);
  return settings;
}

static const GstNtfSettings *
in_force (GstSpectralNtf *self)
{
  return self->settings.in_force;
}

static GstCaps *
gst_spectral_ntf_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_CLASS (parent_class);
  const gint hop = get_pending (GST_SPECTRAL_NTF (trans)).hop;
  GstCaps *ours, *result;

  if (direction == GST_PAD_SINK) {
    ours = gst_ntf_window_scale_rates (gst_caps_copy (caps), 1, hop);
    result = klass->transform_caps (trans, direction, ours, filter);
    gst_caps_unref (ours);
    return result;
  }
  result = gst_ntf_window_scale_rates (
      klass->transform_caps (trans, direction, caps, NULL), hop, 1);
  return gst_cuv_spectral_caps_filter (result, filter);
}

/* If the backend is on the device, its context must be current. */
static void
close_backend (GstSpectralNtf *self)
{
  gst_cuv_transform_close_backend (GST_CUV_TRANSFORM (self), &self->backend);
  self->have_factors = FALSE;
  self->window.n = 0;
}

static void
update_latency (
    GstSpectralNtf *self, const GstCuvSpectralInfo *info, gint window)
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

  close_backend (self);
  self->is_grey = GST_VIDEO_INFO_FORMAT (video) == GST_VIDEO_FORMAT_GRAY8;
  gst_ntf_bands_init (&self->bands, info);
  if (self->bands.n == 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("All %d bands are bad: mark fewer bands in bad-bands of the caps.",
            info->bands),
        (NULL));
  update_latency (self, info, get_pending (self).window);
  return self->bands.n > 0;
}

static gboolean
open_backend (GstSpectralNtf *self, const CuvNtfConfig *config)
{
  const gchar *error;

  close_backend (self);
  self->config = *config;
  error = cuv_backend_open (
      &self->backend, &cuv_ntf_backends, config, NULL, &self->processor);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Cannot prepare the %s to factorise %dx%dx%d samples into %d terms: %s. "
       "Use smaller images, or a lower rank or window.",
          self->processor.on_device ? "GPU" : "CPU", config->width,
          config->height, config->depth, config->rank, error),
      (NULL));
  return FALSE;
}

static gboolean
is_same_config (const CuvNtfConfig *a, const CuvNtfConfig *b)
{
  return a->height == b->height && a->width == b->width && a->depth == b->depth
      && a->rank == b->rank && a->factorisation == b->factorisation;
}

/* Opens a backend where the frame is, for the depth and rank of the settings.
 */
static gboolean
ensure_backend (
    GstSpectralNtf *self, const GstCuvSpectralFrame *frame, gint n_threads)
{
  const GstCuvSpectralInfo *info =
      gst_cuv_spectral_transform_info (GST_CUV_SPECTRAL_TRANSFORM (self));
  const CuvNtfConfig config = { info->height, info->width,
    self->is_grey ? in_force (self)->window : self->bands.n,
    in_force (self)->rank, in_force (self)->params.factorisation,
    &self->cancel };
  const gboolean same_stream = self->processor.stream == frame->stream;

  self->processor =
      (CuvProcessor){ frame->on_device, frame->stream, n_threads };
  if (self->backend.klass != NULL && self->backend.on_device == frame->on_device
      && same_stream && is_same_config (&config, &self->config))
    return TRUE;
  update_latency (self, info, config.depth);
  return open_backend (self, &config);
}

/* Returns FLUSHING if cancelled. */
static GstFlowReturn
gst_spectral_ntf_run (GstSpectralNtf *self, CuvNtfTask task)
{
  const gchar *error;

  self->job.task = task;
  error = cuv_backend_run (&self->backend, &self->job, &self->processor);
  if (error != NULL)
    return gst_cuv_spectral_transform_failed (
        GST_CUV_SPECTRAL_TRANSFORM (self), self->processor.on_device, error);
  return self->job.status == CUV_NTF_CANCELLED ? GST_FLOW_FLUSHING
                                               : GST_FLOW_OK;
}

static GstFlowReturn
scan_cube (GstSpectralNtf *self, const CuvCube *cube, CuvNtfScan *scan)
{
  GstFlowReturn flow = GST_FLOW_OK;

  *scan = (CuvNtfScan){ 0 };
  for (gint i = 0; flow == GST_FLOW_OK && i < self->bands.n_runs; i++) {
    const CuvCube part = gst_ntf_bands_run (&self->bands, cube, i);
    CuvNtfScan found = { 0 };

    self->job.cube = &part;
    self->job.ignore = self->bands.ignore;
    self->job.scan = &found;
    flow = gst_spectral_ntf_run (self, CUV_NTF_SCAN);
    found.band += self->bands.runs[i].first;
    cuv_ntf_scan_merge (scan, &found);
  }
  return flow;
}

static GstFlowReturn
gst_spectral_ntf_load (
    GstSpectralNtf *self, const CuvCube *cube, const gdouble *ignore, gint z)
{
  self->job.cube = cube;
  self->job.ignore = ignore;
  self->job.z = z;
  return gst_spectral_ntf_run (self, CUV_NTF_LOAD);
}

static GstFlowReturn
load_cube (GstSpectralNtf *self, const CuvCube *cube)
{
  CuvNtfScan scan;
  GstFlowReturn flow = scan_cube (self, cube, &scan);
  gint z = 0;

  if (flow != GST_FLOW_OK)
    return flow;
  if (in_force (self)->bad_values == GST_NTF_BAD_ERROR
      && !gst_ntf_bands_check (GST_ELEMENT (self), &scan))
    return GST_FLOW_ERROR;
  self->job.scale = cuv_ntf_scale (cube->format, scan.largest);
  for (gint i = 0; flow == GST_FLOW_OK && i < self->bands.n_runs; i++) {
    const CuvCube part = gst_ntf_bands_run (&self->bands, cube, i);

    flow = gst_spectral_ntf_load (self, &part, self->bands.ignore, z);
    z += part.bands;
  }
  return flow;
}

static GstFlowReturn
load_frame (GstSpectralNtf *self, const CuvCube *cube, GstBuffer *in)
{
  const gint z = gst_ntf_window_add (&self->window, self->config.depth, in);
  GstFlowReturn flow;

  self->job.scale = cuv_ntf_scale (cube->format, 0);
  flow = gst_spectral_ntf_load (self, cube, NULL, z);
  if (flow != GST_FLOW_OK)
    return flow;
  return gst_ntf_window_is_due (
             &self->window, self->config.depth, in_force (self)->hop)
      ? GST_FLOW_OK
      : GST_BASE_TRANSFORM_FLOW_DROPPED;
}

static void
post_progress (GstSpectralNtf *self, GstBuffer *in)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_ntf_meta_progress (
              in, self->job.result, in_force (self)->params.iterations)));
}

static GstFlowReturn
gst_spectral_ntf_iterate (GstSpectralNtf *self, GstBuffer *in)
{
  const GstClockTime interval =
      (GstClockTime) in_force (self)->progress_interval * GST_MSECOND;
  GstClockTime next = gst_util_get_timestamp () + interval;
  GstFlowReturn flow;

  while ((flow = gst_spectral_ntf_run (self, CUV_NTF_STEP)) == GST_FLOW_OK
      && self->job.status != CUV_NTF_DONE) {
    if (interval == 0 || gst_util_get_timestamp () < next)
      continue;
    post_progress (self, in);
    next = gst_util_get_timestamp () + interval;
  }
  return flow;
}

static void
gst_spectral_ntf_count (GstSpectralNtf *self)
{
  const CuvNtfResult *result = self->job.result;

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ self->counts.runs + 1, result->iterations,
    result->effective_rank, result->errors[result->n_errors - 1] };
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
factorise (GstSpectralNtf *self, GstBuffer *in)
{
  CuvNtfParams params = in_force (self)->params;
  GstFlowReturn flow;

  if (params.init == CUV_NTF_PREVIOUS && !self->have_factors)
    params.init = CUV_NTF_RANDOM;
  self->have_factors = FALSE;
  self->job.params = &params;
  flow = gst_spectral_ntf_run (self, CUV_NTF_START);
  if (flow == GST_FLOW_OK)
    flow = gst_spectral_ntf_iterate (self, in);
  if (flow != GST_FLOW_OK)
    return flow;
  /* zeros would stay zeros */
  self->have_factors = self->job.result->effective_rank > 0;
  gst_spectral_ntf_count (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_spectral_ntf_paint (GstSpectralNtf *self,
    const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture)
{
  GstFlowReturn flow;

  if (in_force (self)->show == GST_NTF_SHOW_RECONSTRUCTION) {
    cuv_ntf_paint_terms (self->job.factors, picture->width, picture->height,
        settings->components, picture->pixels, picture->stride);
    return GST_FLOW_OK;
  }
  flow = gst_spectral_ntf_run (self, CUV_NTF_RESIDUAL);
  if (flow == GST_FLOW_OK)
    cuv_ntf_paint_residual (self->job.map, picture->width, picture->height,
        picture->pixels, picture->stride);
  return flow;
}

static void
gst_spectral_ntf_attach (GstSpectralNtf *self, GstBuffer *out)
{
  const CuvNtfConfig *config = &self->config;
  const GstNtfTables tables = { out, self->job.factors, config->width,
    config->height, config->factorisation == CUV_NTF_MATRIX };

  gst_ntf_meta_add (&tables,
      self->is_grey ? gst_ntf_window_oldest (&self->window, config->depth) : 0,
      self->job.result);
}

static GstFlowReturn
gst_spectral_ntf_make (GstCuvSpectralTransform *transform,
    const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
    const GstCuvSpectralPicture *picture, GstBuffer *in, GstBuffer *out)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);
  GstFlowReturn flow;

  if (!gst_cuv_settings_apply_changes (&self->settings, NULL, NULL)
      || !ensure_backend (self, frame, settings->n_threads))
    return GST_FLOW_ERROR;
  flow = self->is_grey ? load_frame (self, &frame->cube, in)
                       : load_cube (self, &frame->cube);
  if (flow == GST_FLOW_OK)
    flow = factorise (self, in);
  if (flow == GST_FLOW_OK)
    flow = gst_spectral_ntf_paint (self, settings, picture);
  if (flow != GST_FLOW_OK)
    return flow;
  if (self->is_grey)
    gst_ntf_window_stamp (
        &self->window, self->config.depth, in_force (self)->hop, out);
  gst_spectral_ntf_attach (self, out);
  return GST_FLOW_OK;
}

/* A frame that only fills a window is not reported as a gap. */
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

static void
gst_spectral_ntf_leave_context (GstCuvTransform *transform)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (transform);

  if (self->backend.on_device)
    close_backend (self);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static void
gst_spectral_ntf_reset (GstCuvAnalyser *analyser)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (analyser);

  self->window.n = 0;
  self->have_factors = FALSE;
}

static gboolean
gst_spectral_ntf_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstSpectralNtf *self = GST_SPECTRAL_NTF (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START: /* not in the streaming thread */
      g_atomic_int_set (&self->cancel, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      g_atomic_int_set (&self->cancel, FALSE);
      break;
    case GST_EVENT_EOS:
      if (self->is_grey)
        gst_ntf_window_check_filled (
            &self->window, self->config.depth, GST_ELEMENT (self));
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

/* Cancels a running task, which would block deactivation of the pads. */
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

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  self->window_latency = 0;
  GST_OBJECT_UNLOCK (self);
  /* reports contradictory settings before the first frame */
  return gst_cuv_settings_apply (&self->settings, NULL, NULL)
      && GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static gboolean
gst_spectral_ntf_stop (GstBaseTransform *trans)
{
  close_backend (GST_SPECTRAL_NTF (trans));
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
  gst_cuv_structure_set (stats, "runs", G_TYPE_UINT64, counts.runs,
      "iterations", G_TYPE_UINT, (guint) counts.iterations, "effective-rank",
      G_TYPE_UINT, (guint) counts.effective_rank, "error", G_TYPE_DOUBLE,
      counts.error, NULL);
}

/* hop changes the output framerate. */
static void
gst_spectral_ntf_notify (GObject *object, GParamSpec *pspec)
{
  if (g_strcmp0 (pspec->name, "hop") == 0)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (object));
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
  object_class->notify = gst_spectral_ntf_notify;
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
  GST_CUV_ANALYSER_CLASS (klass)->reset = gst_spectral_ntf_reset;
  spectral_class->add_stats = gst_spectral_ntf_add_stats;
  gst_cuv_settings_class_install (object_class, &gst_ntf_settings);
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
  gst_cuv_settings_init (&self->settings, self, &gst_ntf_settings);
}
