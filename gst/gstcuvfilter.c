/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvfilter.h"
#include "gstcuvpace.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuv_filter_debug);
#define GST_CAT_DEFAULT gst_cuv_filter_debug

#define DEFAULT_INFERENCE_INTERVAL 1
#define DEFAULT_HOLD_RESULTS FALSE
#define DEFAULT_SKIP_LATE TRUE
#define DEFAULT_N_THREADS 0
#define DEFAULT_MESSAGE GST_CUV_MESSAGE_ON_CHANGE

enum {
  PROP_0,
  PROP_INFERENCE_INTERVAL,
  PROP_HOLD_RESULTS,
  PROP_SKIP_LATE,
  PROP_N_THREADS,
  PROP_MESSAGE,
  PROP_STATS,
};

typedef struct {
  guint inference_interval;
  gboolean hold_results;
  gboolean skip_late;
  gint n_threads;
  GstCuvMessage message;
} Settings;

typedef struct {
  guint64 frames, analysed, skipped_late, skipped_interval;
  GstClockTime last, sum; /* of the time that analyse() took */
  gboolean cuda;
} Counts;

typedef struct {
  /* under the object lock */
  Settings settings;
  Counts counts;
  gboolean prepare_needed;

  /* of the streaming thread */
  gboolean prepared, prepared_cuda;
  gboolean have_results;
  GstClockTime results_time;
  GstClockTime last_time; /* of the frame before */
  GstCuvPace pace;
  guint64 since_analysis; /* frames since the last analysed one */
  guint last_change;
  gboolean reported;
} GstCuvFilterPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvFilter, gst_cuv_filter,
    GST_TYPE_CUV_TRANSFORM,
    G_ADD_PRIVATE (GstCuvFilter) GST_DEBUG_CATEGORY_INIT (
        gst_cuv_filter_debug, "cuvfilter", 0, "base of the analysis elements"))

#define PRIV(self)                                                             \
  ((GstCuvFilterPrivate *) gst_cuv_filter_get_instance_private (self))

#define GST_TYPE_CUV_MESSAGE (gst_cuv_message_get_type ())
static GType
gst_cuv_message_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CUV_MESSAGE_NONE, "Post no message", "none" },
    { GST_CUV_MESSAGE_ON_CHANGE, "Post one when the results change",
        "on-change" },
    { GST_CUV_MESSAGE_EVERY_FRAME, "Post one for every analysed frame",
        "every-frame" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCuvMessage", values));
  return type;
}

void
gst_cuv_filter_request_prepare (GstCuvFilter *self)
{
  GST_OBJECT_LOCK (self);
  PRIV (self)->prepare_needed = TRUE;
  GST_OBJECT_UNLOCK (self);
}

/* ---- which frames ---- */

static GstClockTime
running_time (GstCuvFilter *self, GstBuffer *buffer)
{
  return gst_cuv_transform_running_time (GST_CUV_TRANSFORM (self), buffer);
}

static GstClockTime
frame_time (GstCuvFilter *self)
{
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));

  if (GST_VIDEO_INFO_FPS_N (info) <= 0)
    return 20 * GST_MSECOND;
  return gst_util_uint64_scale (
      GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info));
}

/* A leaky queue flags each frame after one that it dropped: only a jump in time
 * means that earlier frames teach nothing any more. */
static gboolean
is_jump (GstCuvFilter *self, GstBuffer *buffer)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstClockTime time = GST_BUFFER_PTS (buffer), last = priv->last_time;

  priv->last_time = time;
  return GST_BUFFER_IS_DISCONT (buffer) && GST_CLOCK_TIME_IS_VALID (time)
      && GST_CLOCK_TIME_IS_VALID (last)
      && (time < last || time - last > GST_SECOND);
}

/* ---- a frame's way ---- */

static void
forget (GstCuvFilter *self)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstCuvFilterClass *klass = GST_CUV_FILTER_GET_CLASS (self);

  priv->have_results = FALSE;
  priv->since_analysis = 0;
  priv->last_time = GST_CLOCK_TIME_NONE;
  gst_cuv_pace_forget (&priv->pace);
  if (klass->reset != NULL)
    klass->reset (self);
}

static GstStructure *
new_message (GstCuvFilter *self, GstBuffer *buffer)
{
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT (self));
  GstClockTime time = GST_BUFFER_PTS (buffer);

  return gst_structure_new (
      factory != NULL ? GST_OBJECT_NAME (factory) : G_OBJECT_TYPE_NAME (self),
      "timestamp", G_TYPE_UINT64, time, "stream-time", G_TYPE_UINT64,
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), buffer),
      "running-time", G_TYPE_UINT64, running_time (self, buffer), "duration",
      G_TYPE_UINT64, GST_BUFFER_DURATION (buffer), NULL);
}

static void
publish (GstCuvFilter *self, GstBuffer *buffer, const Settings *settings)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  GstStructure *message = NULL;
  guint change;

  if (settings->message != GST_CUV_MESSAGE_NONE)
    message = new_message (self, buffer);
  change = GST_CUV_FILTER_GET_CLASS (self)->publish (self, buffer, message, 0);
  if (settings->message == GST_CUV_MESSAGE_ON_CHANGE && priv->reported
      && change == priv->last_change)
    g_clear_pointer (&message, gst_structure_free);
  priv->last_change = change;
  if (message == NULL)
    return;
  priv->reported = TRUE;
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), message));
}

static void
hold (GstCuvFilter *self, GstBuffer *buffer, const Settings *settings)
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
  GST_CUV_FILTER_GET_CLASS (self)->publish (self, buffer, NULL, age);
}

static gboolean
prepare (GstCuvFilter *self, const GstCuvFrame *frame)
{
  GstCuvFilterPrivate *priv = PRIV (self);
  gboolean needed;

  GST_OBJECT_LOCK (self);
  needed = priv->prepare_needed || !priv->prepared
      || priv->prepared_cuda != frame->cuda;
  priv->prepare_needed = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!needed)
    return TRUE;
  priv->prepared_cuda = frame->cuda;
  priv->prepared = GST_CUV_FILTER_GET_CLASS (self)->prepare (self, frame);
  return priv->prepared;
}

static GstFlowReturn
analyse (GstCuvFilter *self, GstBuffer *buffer, const Settings *settings)
{
  GstCuvTransform *transform = GST_CUV_TRANSFORM (self);
  GstCuvFilterPrivate *priv = PRIV (self);
  GstCuvFrame frame;
  GstClockTime start, took = 0;
  gboolean ok;

  if (!gst_cuv_frame_map (&frame, gst_cuv_transform_context (transform),
          gst_cuv_transform_in_info (transform), buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("Cannot map a frame."),
        ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }
  ok = prepare (self, &frame);
  if (ok) {
    start = gst_util_get_timestamp ();
    ok = GST_CUV_FILTER_GET_CLASS (self)->analyse (
        self, &frame, settings->n_threads);
    took = gst_util_get_timestamp () - start;
  }
  gst_cuv_frame_unmap (&frame);
  if (!ok)
    return GST_FLOW_ERROR;

  GST_LOG_OBJECT (self, "analysed on the %s in %" G_GUINT64_FORMAT " ns",
      frame.cuda ? "GPU" : "CPU", took);
  priv->have_results = TRUE;
  priv->results_time = GST_BUFFER_PTS (buffer);
  GST_OBJECT_LOCK (self);
  priv->counts.analysed++;
  priv->counts.last = took;
  priv->counts.sum += took;
  priv->counts.cuda = frame.cuda;
  GST_OBJECT_UNLOCK (self);
  publish (self, buffer, settings);
  gst_cuv_pace_worked (
      &priv->pace, running_time (self, buffer), took, frame_time (self));
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_cuv_filter_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);
  GstCuvFilterPrivate *priv = PRIV (self);
  GstClockTime stream_time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), buffer);
  gboolean late, due;
  Settings settings;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  if (priv->counts.frames == 0)
    gst_cuv_pace_ask (&priv->pace);
  if (is_jump (self, buffer)) {
    forget (self);
    priv->last_time = GST_BUFFER_PTS (buffer);
  }
  GST_OBJECT_LOCK (self);
  settings = priv->settings;
  priv->counts.frames++;
  GST_OBJECT_UNLOCK (self);

  due = !priv->have_results
      || priv->since_analysis + 1 >= settings.inference_interval;
  late = due && settings.skip_late
      && gst_cuv_pace_is_late (
          &priv->pace, running_time (self, buffer), frame_time (self));
  if (due && !late) {
    priv->since_analysis = 0;
    return analyse (self, buffer, &settings);
  }
  priv->since_analysis++;
  GST_OBJECT_LOCK (self);
  if (late)
    priv->counts.skipped_late++;
  else
    priv->counts.skipped_interval++;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "%s frame %" GST_PTR_FORMAT " passes unanalysed",
      late ? "late" : "interval", buffer);
  hold (self, buffer, &settings);
  return GST_FLOW_OK;
}

/* ---- events and states ---- */

static gboolean
gst_cuv_filter_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_cuv_pace_query (&PRIV (GST_CUV_FILTER (trans))->pace, query);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)
      ->query (trans, direction, query);
}

static gboolean
gst_cuv_filter_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    forget (self);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)
      ->sink_event (trans, event);
}

/* The base class would drop late frames whole; we only want to know of them. */
static gboolean
gst_cuv_filter_src_event (GstBaseTransform *trans, GstEvent *event)
{
  gst_cuv_pace_event (&PRIV (GST_CUV_FILTER (trans))->pace, event);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)
      ->src_event (trans, event);
}

static gboolean
gst_cuv_filter_set_info (GstCuvTransform *transform, GstCaps *in_caps,
    const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  PRIV (GST_CUV_FILTER (transform))->prepared = FALSE;
  return TRUE;
}

static void
gst_cuv_filter_leave_context (GstCuvTransform *transform)
{
  PRIV (GST_CUV_FILTER (transform))->prepared = FALSE;
}

static gboolean
gst_cuv_filter_start (GstBaseTransform *trans)
{
  GstCuvFilter *self = GST_CUV_FILTER (trans);
  GstCuvFilterPrivate *priv = PRIV (self);

  GST_OBJECT_LOCK (self);
  priv->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  gst_cuv_pace_init (&priv->pace, GST_ELEMENT (self));
  priv->prepared = FALSE;
  priv->reported = FALSE;
  forget (self);
  /* we add metas, so a frame's header must be ours to write */
  gst_base_transform_set_passthrough (trans, FALSE);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_filter_parent_class)->start (trans);
}

/* ---- properties ---- */

static GstStructure *
get_stats (GstCuvFilter *self)
{
  GstCuvFilterClass *klass = GST_CUV_FILTER_GET_CLASS (self);
  GstStructure *stats;
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = PRIV (self)->counts;
  GST_OBJECT_UNLOCK (self);
  stats = gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
      "analysed", G_TYPE_UINT64, counts.analysed, "skipped", G_TYPE_UINT64,
      counts.skipped_late + counts.skipped_interval, "skipped-late",
      G_TYPE_UINT64, counts.skipped_late, "device", G_TYPE_STRING,
      counts.cuda ? "cuda" : "cpu", "microseconds", G_TYPE_UINT64,
      counts.last / GST_USECOND, "microseconds-mean", G_TYPE_UINT64,
      counts.analysed ? counts.sum / counts.analysed / GST_USECOND : 0, NULL);
  if (klass->add_stats != NULL)
    klass->add_stats (self, stats);
  return stats;
}

static void
gst_cuv_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  Settings *settings = &PRIV (GST_CUV_FILTER (object))->settings;

  GST_OBJECT_LOCK (object);
  switch (id) {
    case PROP_INFERENCE_INTERVAL:
      settings->inference_interval = g_value_get_uint (value);
      break;
    case PROP_HOLD_RESULTS:
      settings->hold_results = g_value_get_boolean (value);
      break;
    case PROP_SKIP_LATE:
      settings->skip_late = g_value_get_boolean (value);
      break;
    case PROP_N_THREADS:
      settings->n_threads = g_value_get_int (value);
      break;
    case PROP_MESSAGE:
      settings->message = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (object);
}

static void
gst_cuv_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCuvFilter *self = GST_CUV_FILTER (object);
  Settings settings;

  GST_OBJECT_LOCK (object);
  settings = PRIV (self)->settings;
  GST_OBJECT_UNLOCK (object);
  switch (id) {
    case PROP_INFERENCE_INTERVAL:
      g_value_set_uint (value, settings.inference_interval);
      break;
    case PROP_HOLD_RESULTS:
      g_value_set_boolean (value, settings.hold_results);
      break;
    case PROP_SKIP_LATE:
      g_value_set_boolean (value, settings.skip_late);
      break;
    case PROP_N_THREADS:
      g_value_set_int (value, settings.n_threads);
      break;
    case PROP_MESSAGE:
      g_value_set_enum (value, settings.message);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, get_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
install_properties (GObjectClass *klass)
{
  /**
   * GstCuvFilter:inference-interval:
   *
   * Every how many frames one is analysed; 1 = every frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_INFERENCE_INTERVAL,
      g_param_spec_uint ("inference-interval", "Inference interval",
          "Analyse every Nth frame", 1, G_MAXUINT, DEFAULT_INFERENCE_INTERVAL,
          GST_CUV_PARAM_TUNABLE));
  /**
   * GstCuvFilter:hold-results:
   *
   * Attach the last results, with their age, to frames that pass unanalysed.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_HOLD_RESULTS,
      g_param_spec_boolean ("hold-results", "Hold results",
          "Repeat the last results, with their age, on unanalysed frames",
          DEFAULT_HOLD_RESULTS, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:skip-late:
   *
   * Let frames pass unanalysed that come, or would leave, too late: live ones
   * that were captured while an earlier one was analysed or that the sink
   * should have shown by now, and those before the time the sink asked for.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_SKIP_LATE,
      g_param_spec_boolean ("skip-late", "Skip late frames",
          "Let late frames pass unanalysed", DEFAULT_SKIP_LATE,
          GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:n-threads:
   *
   * Threads for work on the CPU, 0 = one per processor. Results are the same
   * for every number.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_N_THREADS,
      g_param_spec_int ("n-threads", "Threads",
          "Threads for work on the CPU (0 = one per processor)", 0, 1024,
          DEFAULT_N_THREADS, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:message:
   *
   * When to post an element message, named after the element, with the
   * results.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MESSAGE,
      g_param_spec_enum ("message", "Message",
          "When to post results as an element message", GST_TYPE_CUV_MESSAGE,
          DEFAULT_MESSAGE, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:stats:
   *
   * frames, analysed, skipped, skipped-late (guint64), device (cuda or cpu),
   * microseconds and microseconds-mean (guint64, of the analysis), and the
   * element's own counts.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_cuv_filter_class_init (GstCuvFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_cuv_filter_set_property;
  object_class->get_property = gst_cuv_filter_get_property;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_filter_start);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuv_filter_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_cuv_filter_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_cuv_filter_src_event);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_cuv_filter_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
  transform_class->set_info = gst_cuv_filter_set_info;
  transform_class->leave_context = gst_cuv_filter_leave_context;
  install_properties (object_class);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_FILTER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_MESSAGE, 0);
}

static void
gst_cuv_filter_init (GstCuvFilter *self)
{
  GstCuvFilterPrivate *priv = PRIV (self);

  priv->settings.inference_interval = DEFAULT_INFERENCE_INTERVAL;
  priv->settings.hold_results = DEFAULT_HOLD_RESULTS;
  priv->settings.skip_late = DEFAULT_SKIP_LATE;
  priv->settings.n_threads = DEFAULT_N_THREADS;
  priv->settings.message = DEFAULT_MESSAGE;
  gst_cuv_pace_init (&priv->pace, GST_ELEMENT (self));
}
