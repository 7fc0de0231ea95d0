/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvfilter.h"

#include "base/gstcuvfiltersettings.h"
#include "base/gstcuvpending.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuv_filter_debug);
#define GST_CAT_DEFAULT gst_cuv_filter_debug

/* The analysis of a frame, from its start until its results are published. */
typedef struct {
  GstCuvFrame frame; /* mapped */
  GstCuvFilterSettings settings;
  GstClockTime took;  /* time that the thread spent on it */
  gboolean collected; /* analyse() was called */
  GstCuvPending pending;
} Analysis;

typedef struct {
  GstCuvSettings settings;   /* of GstCuvFilter's own properties */
  GstPadChainFunction chain; /* of GstBaseTransform */

  /* under the object lock */
  guint64 skipped_late, skipped_interval;
  gboolean analysis_requested;
  guint interval; /* interval in force: 1 for requested frames */

  /* used by the streaming thread only */
  Analysis analysis;
  gboolean configured, configured_cuda;
  gboolean have_results;
  GstClockTime results_time;
  GstClockTime last_time; /* when the previous frame was captured */
  gboolean writes;        /* whether to draw on the current frame */
  guint64 since_analysis; /* frames since the last analysed one */
  guint last_change;
  gboolean reported;
  guint n_requested; /* requested frames in a row */
  gboolean requests_reported;
} GstCuvFilterPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvFilter, gst_cuv_filter,
    GST_TYPE_CUV_ANALYSER,
    G_ADD_PRIVATE (GstCuvFilter) GST_DEBUG_CATEGORY_INIT (
        gst_cuv_filter_debug, "cuvfilter", 0, "base of the analysis elements"))

#define PRIV(self)                                                             \
  ((GstCuvFilterPrivate *) gst_cuv_filter_get_instance_private (self))
#define INFO(self) (GST_CUV_FILTER_GET_CLASS (self)->info)

/* ---- analysis on request ---- */

#define REQUESTS_REPORTED 100

/* When frames come again after this time, light and objects have changed:
 * docs/visionmotion.md. */
#define LONGEST_PAUSE (60 * GST_SECOND)

void
gst_cuv_filter_request_analysis (GstCuvFilter *self)
{
  GST_OBJECT_LOCK (self);
  PRIV (self)->analysis_requested = TRUE;
  GST_OBJECT_UNLOCK (self);
}

/* Explains why inference-interval has no effect, which would look like a
 * bug. */
static void
report_requests (GstCuvFilter *self, gboolean requested, guint interval)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  gchar *text;

  priv->n_requested = requested && interval > 1 ? priv->n_requested + 1 : 0;
  if (priv->n_requested < REQUESTS_REPORTED || priv->requests_reported)
    return;
  priv->requests_reported = TRUE;
  text = g_strdup_printf (
      "%d frames in a row were analysed, in spite of inference-interval=%u: a "
      "tracker without a target asks for every frame. Set "
      "request-detections=false on the tracker to keep to the interval.",
      REQUESTS_REPORTED, interval);
  /* gst-launch-1.0 prints the second text only */
  GST_ELEMENT_INFO (self, STREAM, FAILED, ("%s", text), ("%s", text));
  g_free (text);
}

/* ---- which frames are analysed ---- */

static GstClockTime
running_time (GstCuvFilter *self, GstBuffer *buffer)
{
  return gst_cuv_transform_running_time (GST_CUV_TRANSFORM (self), buffer);
}

/* Returns when the frame was captured. The running time of a live source, but
 * not what it captures, stands still while the pipeline is paused. */
static GstClockTime
capture_time (GstCuvFilter *self, GstBuffer *buffer)
{
  const GstClockTime time = running_time (self, buffer);

  return GST_CLOCK_TIME_IS_VALID (time)
          && gst_cuv_analyser_is_live (GST_CUV_ANALYSER (self))
      ? time + gst_element_get_base_time (GST_ELEMENT (self))
      : time;
}

/* Whether the state of earlier frames is useless. A discontinuity is not
 * enough: a leaky queue sets DISCONT on each frame after one that it dropped.
 */
static gboolean
is_jump (GstCuvFilter *self, GstBuffer *buffer)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  const GstClockTime time = capture_time (self, buffer);
  const GstClockTime last = priv->last_time;
  GstClockTime longest =
      GST_BUFFER_IS_DISCONT (buffer) ? GST_SECOND : LONGEST_PAUSE;

  if (GST_BUFFER_DURATION_IS_VALID (buffer)) /* time lapse */
    longest = MAX (longest, 2 * GST_BUFFER_DURATION (buffer));
  priv->last_time = time;
  return GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (last)
      && ((GST_BUFFER_IS_DISCONT (buffer) && time < last)
          || (time > last && time - last > longest));
}

/* ---- statistics ---- */

static const gchar *
message_name (GstCuvFilter *self)
{
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT (self));

  return factory != NULL ? GST_OBJECT_NAME (factory)
                         : G_OBJECT_TYPE_NAME (self);
}

static void
gst_cuv_filter_analyser_add_stats (
    GstCuvAnalyser *analyser, GstStructure *stats)
{
  GstCuvFilter *self = GST_CUV_FILTER (analyser);
  const GstCuvFilterInfo *info = INFO (self);
  guint64 late, skipped;
  guint interval;

  GST_OBJECT_LOCK (self);
  late = PRIV (self)->skipped_late;
  skipped = late + PRIV (self)->skipped_interval;
  interval = PRIV (self)->interval;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_structure_set (stats, "skipped", G_TYPE_UINT64, skipped,
      "skipped-late", G_TYPE_UINT64, late, "interval", G_TYPE_UINT, interval,
      NULL);
  if (info->add_stats != NULL)
    info->add_stats (self, stats);
}

static void
post_stats (GstCuvFilter *self, const GstCuvFilterSettings *settings)
{
  GstStructure *stats;
  gchar *name;

  if (settings->stats_interval == 0
      || gst_cuv_analyser_n_analysed (GST_CUV_ANALYSER (self))
              % (guint) settings->stats_interval
          != 0)
    return;
  stats = gst_cuv_analyser_stats (GST_CUV_ANALYSER (self));
  name = g_strconcat (message_name (self), "-stats", NULL);
  gst_structure_set_name (stats, name);
  g_free (name);
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), stats));
}

/* ---- one frame ---- */

static void
gst_cuv_filter_analyser_reset (GstCuvAnalyser *analyser)
{
  GstCuvFilter *self = GST_CUV_FILTER (analyser);
  GstCuvFilterPrivate *priv = PRIV (self);
  const GstCuvFilterInfo *info = INFO (self);

  priv->have_results = FALSE;
  priv->since_analysis = 0;
  priv->last_time = GST_CLOCK_TIME_NONE;
  if (info->reset != NULL)
    info->reset (self);
}

static GstStructure *
new_message (GstCuvFilter *self, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);

  return gst_cuv_structure_new (message_name (self), "timestamp", G_TYPE_UINT64,
      time, "stream-time", G_TYPE_UINT64,
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), buffer),
      "running-time", G_TYPE_UINT64, running_time (self, buffer), "duration",
      G_TYPE_UINT64, GST_BUFFER_DURATION (buffer), NULL);
}

static void
gst_cuv_filter_publish (
    GstCuvFilter *self, GstBuffer *buffer, const GstCuvFilterSettings *settings)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  const GstCuvFilterInfo *info = INFO (self);
  const guint change = info->change (self);
  GstStructure *message = NULL;

  if (settings->message == GST_CUV_MESSAGE_EVERY_FRAME
      || (settings->message == GST_CUV_MESSAGE_ON_CHANGE
          && !(priv->reported && change == priv->last_change)))
    message = new_message (self, buffer);
  priv->last_change = change;
  info->publish (self, buffer, message, 0);
  if (message == NULL)
    return;
  priv->reported = TRUE;
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), message));
}

static void
hold (
    GstCuvFilter *self, GstBuffer *buffer, const GstCuvFilterSettings *settings)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstClockTime time = GST_BUFFER_PTS (buffer);
  GstClockTime age = 0;

  if (!settings->hold_results || !priv->have_results)
    return;
  if (GST_CLOCK_TIME_IS_VALID (time)
      && GST_CLOCK_TIME_IS_VALID (priv->results_time)
      && time > priv->results_time)
    age = time - priv->results_time;
  INFO (self)->publish (self, buffer, NULL, age);
}

gchar *
gst_cuv_filter_open_problem (
    GstCuvFilter *self, const GstCuvFrame *frame, const gchar *error)
{
  if (error == NULL)
    return NULL;
  gst_cuv_settings_of (self)->is_resource_problem = TRUE;
  return g_strdup_printf ("Cannot prepare the %s for frames of %dx%d: %s. %s",
      frame->cuda ? "GPU" : "CPU", frame->frame.width, frame->frame.height,
      error, gst_cuv_frame_remedy (frame));
}

static gchar *
use_settings (gpointer self, gconstpointer settings, gconstpointer frame)
{
  return INFO (self)->configure (self, settings, frame);
}

static void
collect_analysis (GstElement *element)
{
  GstCuvFilter *self = GST_CUV_FILTER (element);
  GstCuvFilterPrivate *priv = PRIV (self);
  Analysis *analysis = &priv->analysis;
  const GstClockTime start = gst_util_get_timestamp ();

  if (analysis->collected)
    return;
  analysis->collected = TRUE;
  /* after a failure the backend may be unusable */
  priv->configured = INFO (self)->analyse (self, &analysis->frame,
      gst_cuv_analyser_n_threads (GST_CUV_ANALYSER (self)));
  analysis->took += gst_util_get_timestamp () - start;
  gst_cuv_frame_unmap (&analysis->frame);
}

/* Ends the analysis. Attaches the results to the buffer, or drops them if it is
 * NULL. */
static gboolean
finish_analysis (GstElement *element, GstBuffer *buffer)
{
  GstCuvFilter *self = GST_CUV_FILTER (element);
  GstCuvFilterPrivate *priv = PRIV (self);
  Analysis *analysis = &priv->analysis;
  const GstCuvFrame *frame = &analysis->frame;

  collect_analysis (element);
  priv->have_results = priv->configured && buffer != NULL;
  if (!priv->have_results)
    return priv->configured;
  if (frame->cuda && frame->writable)
    gst_cuv_context_written (
        gst_cuv_transform_context (GST_CUV_TRANSFORM (self)), buffer);
  GST_LOG_OBJECT (self, "analysed on the %s in %" G_GUINT64_FORMAT " ns",
      frame->cuda ? "GPU" : "CPU", analysis->took);
  priv->results_time = GST_BUFFER_PTS (buffer);
  gst_cuv_analyser_end (
      GST_CUV_ANALYSER (self), buffer, analysis->took, frame->cuda);
  gst_cuv_filter_publish (self, buffer, &analysis->settings);
  post_stats (self, &analysis->settings);
  return TRUE;
}

/* If the frame did not reach the next element, drops the results; but if the
 * analysis has failed, the stream ends. */
static GstFlowReturn
gst_cuv_filter_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  const GstFlowReturn flow =
      PRIV (GST_CUV_FILTER (parent))->chain (pad, parent, buffer);

  return gst_cuv_pending_finish (NULL) || flow != GST_FLOW_OK ? flow
                                                              : GST_FLOW_ERROR;
}

static gboolean
gst_cuv_filter_configure (GstCuvFilter *self, const GstCuvFrame *frame)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstCuvSettings *settings = gst_cuv_settings_of (self);

  if (priv->configured && priv->configured_cuda == frame->cuda
      && !gst_cuv_settings_changed (settings))
    return TRUE;
  if (!gst_cuv_pending_finish (frame->video.buffer))
    return FALSE;
  /* device memory can only be freed in its context */
  if (priv->configured_cuda && !frame->cuda)
    gst_cuv_context_close (
        gst_cuv_transform_context (GST_CUV_TRANSFORM (self)));
  priv->configured_cuda = frame->cuda;
  priv->configured = gst_cuv_settings_apply (settings, use_settings, frame);
  return priv->configured;
}

static gboolean
submit_analysis (GstCuvFilter *self)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  const GstClockTime start = gst_util_get_timestamp ();
  gboolean submitted;

  if (INFO (self)->submit == NULL || priv->writes
      || gst_buffer_n_memory (priv->analysis.frame.video.buffer) != 1)
    return FALSE;
  if (priv->analysis.frame.cuda)
    gst_cuv_pending_take_turn (
        gst_cuv_transform_context (GST_CUV_TRANSFORM (self))->device);
  submitted = INFO (self)->submit (self, &priv->analysis.frame);
  priv->analysis.took = gst_util_get_timestamp () - start;
  return submitted;
}

static GstFlowReturn
gst_cuv_filter_analyse (
    GstCuvFilter *self, GstBuffer *buffer, const GstCuvFilterSettings *settings)
{
  GstCuvTransform *transform = GST_CUV_TRANSFORM (self);
  GstCuvFilterPrivate *priv = PRIV (self);
  Analysis *analysis = &priv->analysis;
  gboolean submitted, ok;

  if (!gst_cuv_frame_map (&analysis->frame,
          gst_cuv_transform_context (transform),
          gst_cuv_transform_in_info (transform), buffer,
          priv->writes ? GST_MAP_READWRITE : GST_MAP_READ))
    return GST_FLOW_ERROR;
  analysis->settings = *settings;
  analysis->took = 0;
  analysis->collected = FALSE;
  ok = gst_cuv_filter_configure (self, &analysis->frame)
      && (!gst_cuv_pending_has (G_OBJECT_TYPE (self))
          || gst_cuv_pending_finish (buffer));
  submitted = ok && submit_analysis (self);
  if (submitted) {
    analysis->pending.quick = INFO (self)->quick;
    gst_cuv_pending_add (&analysis->pending);
    if (gst_cuv_pending_passes_on (GST_BASE_TRANSFORM (self))) {
      gst_cuv_frame_suspend (&analysis->frame);
      return GST_FLOW_OK;
    }
  }
  if (submitted)
    return gst_cuv_pending_finish (buffer) ? GST_FLOW_OK : GST_FLOW_ERROR;
  ok = ok && gst_cuv_pending_finish_in_turn (buffer);
  if (ok)
    collect_analysis (GST_ELEMENT (self));
  else
    gst_cuv_frame_unmap (&analysis->frame);
  gst_cuv_pending_end_turn ();
  return ok && finish_analysis (GST_ELEMENT (self), buffer) ? GST_FLOW_OK
                                                            : GST_FLOW_ERROR;
}

/* Whether frames must be writable. Considers the pending settings and those in
 * force, which stay if the pending ones are refused. */
static gboolean
writes (GstCuvFilter *self)
{
  const GstCuvFilterInfo *info = INFO (self);
  const GstCuvSettings *settings = gst_cuv_settings_of (self);
  gboolean pending_writes;

  if (info->writes == NULL)
    return FALSE;
  GST_OBJECT_LOCK (self);
  pending_writes = info->writes (settings->pending);
  GST_OBJECT_UNLOCK (self);
  return pending_writes || info->writes (settings->in_force);
}

/* Copies a shared frame only if the element draws. */
static GstFlowReturn
gst_cuv_filter_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer **out)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);

  PRIV (self)->writes = writes (self);
  if (PRIV (self)->writes)
    return gst_cuv_transform_make_writable (
        GST_CUV_TRANSFORM (self), in, out, NULL);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)
      ->prepare_output_buffer (trans, in, out);
}

static GstFlowReturn
gst_cuv_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);
  GstCuvFilterPrivate *priv = PRIV (self);
  GstCuvAnalyser *analyser = GST_CUV_ANALYSER (trans);
  gboolean late, due, requested;
  GstCuvFilterSettings settings;

  gst_cuv_analyser_begin (analyser, buffer);
  if (is_jump (self, buffer)) {
    gst_cuv_analyser_reset (analyser);
    priv->last_time = capture_time (self, buffer);
  }
  GST_OBJECT_LOCK (self);
  settings = *(GstCuvFilterSettings *) priv->settings.pending;
  requested = priv->analysis_requested;
  priv->analysis_requested = FALSE;
  priv->interval = requested ? 1 : settings.inference_interval;
  GST_OBJECT_UNLOCK (self);

  report_requests (self, requested, settings.inference_interval);
  due = requested || !priv->have_results
      || priv->since_analysis + 1 >= (guint) settings.inference_interval;
  late =
      due && settings.skip_late && gst_cuv_analyser_is_late (analyser, buffer);
  if (due && !late) {
    priv->since_analysis = 0;
    return gst_cuv_filter_analyse (self, buffer, &settings);
  }
  priv->since_analysis++;
  GST_OBJECT_LOCK (self);
  if (late)
    priv->skipped_late++;
  else
    priv->skipped_interval++;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "%s frame %" GST_PTR_FORMAT " passes unanalysed",
      late ? "late" : "interval", buffer);
  if (!gst_cuv_pending_finish (buffer))
    return GST_FLOW_ERROR;
  hold (self, buffer, &settings);
  return GST_FLOW_OK;
}

/* ---- events and states ---- */

/* Makes the next frame call configure(), and drops the results: their
 * coordinates refer to frames of another size, and the subclass may have freed
 * them. */
static void
invalidate (GstCuvFilter *self)
{
  PRIV (self)->configured = FALSE;
  PRIV (self)->have_results = FALSE;
}

static gboolean
gst_cuv_filter_set_info (GstCuvTransform *transform, GstCaps *in_caps,
    const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  invalidate (GST_CUV_FILTER (transform));
  return TRUE;
}

static void
gst_cuv_filter_leave_context (GstCuvTransform *transform)
{
  GstCuvFilter *self = GST_CUV_FILTER (transform);

  if (INFO (self)->close != NULL)
    INFO (self)->close (self);
  invalidate (self);
}

static gboolean
gst_cuv_filter_start (GstBaseTransform *trans)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);
  GstCuvFilterPrivate *priv = PRIV (self);
  const GstCuvFilterInfo *info = INFO (self);

  if (info->clear_stats != NULL)
    info->clear_stats (self);
  GST_OBJECT_LOCK (self);
  priv->skipped_late = priv->skipped_interval = 0;
  GST_OBJECT_UNLOCK (self);
  priv->configured = FALSE;
  priv->reported = FALSE;
  priv->n_requested = 0;
  priv->requests_reported = FALSE;
  /* adding metas needs a writable buffer */
  gst_base_transform_set_passthrough (trans, FALSE);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)->start (trans);
}

/* The parent's stop() frees device memory and closes the CUDA context; host
 * memory is freed after that. */
static gboolean
gst_cuv_filter_stop (GstBaseTransform *trans)
{
  const gboolean ok =
      GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)->stop (trans);

  gst_cuv_filter_leave_context (GST_CUV_TRANSFORM (trans));
  return ok;
}

/* ---- class ---- */

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));

static void
gst_cuv_filter_class_init (GstCuvFilterClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);
  GstCuvAnalyserClass *analyser_class = GST_CUV_ANALYSER_CLASS (klass);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_filter_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_filter_stop);
  trans_class->prepare_output_buffer =
      GST_DEBUG_FUNCPTR (gst_cuv_filter_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_cuv_filter_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
  transform_class->set_info = gst_cuv_filter_set_info;
  transform_class->leave_context = gst_cuv_filter_leave_context;
  analyser_class->reset = gst_cuv_filter_analyser_reset;
  analyser_class->add_stats = gst_cuv_filter_analyser_add_stats;
  gst_cuv_settings_class_install (object_class, &gst_cuv_filter_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_FILTER, 0);
}

void
gst_cuv_filter_class_install (
    GstCuvFilterClass *klass, const GstCuvFilterInfo *info)
{
  klass->info = info;
  GST_CUV_TRANSFORM_CLASS (klass)->finishes_pending = info->submit != NULL;
  gst_cuv_settings_class_install (G_OBJECT_CLASS (klass), info->settings);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), info->name,
      "Filter/Analyzer/Video", info->description, "The gst-cuvision authors");
}

static void
gst_cuv_filter_init (GstCuvFilter *self)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);

  gst_cuv_settings_init (&priv->settings, self, &gst_cuv_filter_settings);
  priv->analysis.pending.element = GST_ELEMENT (self);
  priv->analysis.pending.collect = collect_analysis;
  priv->analysis.pending.finish = finish_analysis;
  priv->chain = GST_PAD_CHAINFUNC (sink);
  gst_pad_set_chain_function (sink, GST_DEBUG_FUNCPTR (gst_cuv_filter_chain));
}
