/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvanalyser.h"

#include "base/gstcuvqos.h"
#include "gstcuvstructure.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

typedef struct {
  gint n_threads;
} Settings;

typedef struct {
  GstCuvSettings settings;

  /* under the object lock */
  guint64 frames, analysed;
  GstClockTime last, sum; /* durations of the analysis */
  gboolean cuda;          /* the last frame was analysed on the GPU */

  GstCuvQos qos;
} GstCuvAnalyserPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (
    GstCuvAnalyser, gst_cuv_analyser, GST_TYPE_CUV_TRANSFORM)

#define PRIV(self)                                                             \
  ((GstCuvAnalyserPrivate *) gst_cuv_analyser_get_instance_private (self))

/* ---- frames ---- */

static GstClockTime
running_time (GstCuvAnalyser *self, GstBuffer *buffer)
{
  return gst_cuv_transform_running_time (GST_CUV_TRANSFORM (self), buffer);
}

static GstClockTime
frame_duration (GstCuvAnalyser *self, GstBuffer *buffer)
{
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));

  if (GST_VIDEO_INFO_FPS_N (info) <= 0) /* variable rate */
    return GST_BUFFER_DURATION_IS_VALID (buffer) ? GST_BUFFER_DURATION (buffer)
                                                 : 20 * GST_MSECOND;
  return gst_util_uint64_scale (
      GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info));
}

void
gst_cuv_analyser_begin (GstCuvAnalyser *self, GstBuffer *buffer)
{
  GstClockTime stream_time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), buffer);
  gboolean first;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  GST_OBJECT_LOCK (self);
  first = PRIV (self)->frames++ == 0;
  GST_OBJECT_UNLOCK (self);
  if (first)
    gst_cuv_qos_query_peer (&PRIV (self)->qos);
  gst_cuv_qos_arrive (&PRIV (self)->qos, running_time (self, buffer),
      frame_duration (self, buffer));
}

gboolean
gst_cuv_analyser_is_late (GstCuvAnalyser *self, GstBuffer *buffer)
{
  return gst_cuv_qos_is_late (&PRIV (self)->qos, running_time (self, buffer),
      frame_duration (self, buffer));
}

void
gst_cuv_analyser_end (
    GstCuvAnalyser *self, GstBuffer *buffer, GstClockTime took, gboolean cuda)
{
  GstCuvAnalyserPrivate *priv = PRIV (self);

  GST_OBJECT_LOCK (self);
  priv->analysed++;
  priv->last = took;
  priv->sum += took;
  priv->cuda = cuda;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_qos_add_sample (&priv->qos, running_time (self, buffer), took);
}

/* GstBaseTransform calls this again after each push, until no frame is
 * returned. */
static GstFlowReturn
gst_cuv_analyser_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)
                           ->generate_output (trans, out);

  if (*out == NULL)
    gst_cuv_qos_done (&PRIV (GST_CUV_ANALYSER (trans))->qos);
  return flow;
}

guint64
gst_cuv_analyser_n_analysed (GstCuvAnalyser *self)
{
  return PRIV (self)->analysed;
}

gint
gst_cuv_analyser_n_threads (GstCuvAnalyser *self)
{
  const Settings *settings = PRIV (self)->settings.pending;

  return g_atomic_int_get (&settings->n_threads);
}

/* ---- statistics ---- */

GstStructure *
gst_cuv_analyser_stats (GstCuvAnalyser *self)
{
  GstCuvAnalyserClass *klass = GST_CUV_ANALYSER_GET_CLASS (self);
  GstCuvAnalyserPrivate *priv = PRIV (self);
  GstStructure *stats;

  GST_OBJECT_LOCK (self);
  stats = gst_cuv_structure_new ("stats", "frames", G_TYPE_UINT64, priv->frames,
      "analysed", G_TYPE_UINT64, priv->analysed, "device", G_TYPE_STRING,
      priv->cuda ? "cuda" : "cpu", "microseconds", G_TYPE_UINT64,
      priv->last / GST_USECOND, "microseconds-mean", G_TYPE_UINT64,
      priv->analysed > 0 ? priv->sum / priv->analysed / GST_USECOND : 0, NULL);
  GST_OBJECT_UNLOCK (self);
#if HAVE_CUDA
  gst_cuv_structure_set (
      stats, "gpu-bytes", G_TYPE_UINT64, (guint64) cuv_cuda_allocated (), NULL);
#endif
  if (klass->add_stats != NULL)
    klass->add_stats (self, stats);
  return stats;
}

static void
gst_cuv_analyser_get_stats (GstElement *element, GValue *value)
{
  g_value_take_boxed (
      value, gst_cuv_analyser_stats (GST_CUV_ANALYSER (element)));
}

/* ---- events and states ---- */

static gboolean
gst_cuv_analyser_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_cuv_qos_query (&PRIV (GST_CUV_ANALYSER (trans))->qos, query);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)
      ->query (trans, direction, query);
}

gboolean
gst_cuv_analyser_is_live (GstCuvAnalyser *self)
{
  gboolean live;

  GST_OBJECT_LOCK (self);
  live = PRIV (self)->qos.live;
  GST_OBJECT_UNLOCK (self);
  return live;
}

void
gst_cuv_analyser_reset (GstCuvAnalyser *self)
{
  GstCuvAnalyserClass *klass = GST_CUV_ANALYSER_GET_CLASS (self);

  gst_cuv_qos_reset (&PRIV (self)->qos);
  if (klass->reset != NULL)
    klass->reset (self);
}

static gboolean
gst_cuv_analyser_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_cuv_analyser_reset (GST_CUV_ANALYSER (trans));
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)
      ->sink_event (trans, event);
}

/* GstBaseTransform would drop late frames; they pass unanalysed instead. */
static gboolean
gst_cuv_analyser_src_event (GstBaseTransform *trans, GstEvent *event)
{
  gst_cuv_qos_event (&PRIV (GST_CUV_ANALYSER (trans))->qos, event);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)
      ->src_event (trans, event);
}

static gboolean
gst_cuv_analyser_start (GstBaseTransform *trans)
{
  GstCuvAnalyser *self = GST_CUV_ANALYSER (trans);
  GstCuvAnalyserPrivate *priv = PRIV (self);

  GST_OBJECT_LOCK (self);
  priv->frames = priv->analysed = priv->last = priv->sum = 0;
  priv->cuda = FALSE;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_qos_start (&priv->qos);
  gst_cuv_analyser_reset (self);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)->start (trans)
      && gst_cuv_settings_start_all (self);
}

static gboolean
gst_cuv_analyser_stop (GstBaseTransform *trans)
{
  gst_cuv_settings_stop_all (trans);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_analyser_parent_class)->stop (trans);
}

/* ---- class ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

/**
 * GstCuvAnalyser:n-threads:
 *
 * Results are the same for every number of threads.
 *
 * Since: 0.1
 */
/**
 * GstCuvAnalyser:stats:
 *
 * A structure with frames and analysed (guint64), device (cuda or cpu),
 * microseconds and microseconds-mean (guint64: duration of the last analysis,
 * and the mean), gpu-bytes (guint64, with CUDA only: device memory held by all
 * elements of the process), and the element's own counts.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "n-threads", "Threads",
      "Number of threads for work on the CPU (0 = one per processor)",
      .offset = AT (n_threads), .type = G_TYPE_INT, .maximum = 1024,
      .no_controller = TRUE },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_cuv_analyser_get_stats },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
};

static void
gst_cuv_analyser_class_init (GstCuvAnalyserClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_analyser_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_analyser_stop);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_cuv_analyser_generate_output);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuv_analyser_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_cuv_analyser_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_cuv_analyser_src_event);
  gst_cuv_settings_class_install (object_class, &table);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_ANALYSER, 0);
}

static void
gst_cuv_analyser_init (GstCuvAnalyser *self)
{
  gst_cuv_settings_init (&PRIV (self)->settings, self, &table);
  gst_cuv_qos_init (&PRIV (self)->qos, GST_ELEMENT (self));
}
