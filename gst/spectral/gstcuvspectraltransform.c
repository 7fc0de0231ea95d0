/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "spectral/gstcuvspectraltransform.h"

#include "gstcuvfilter.h"
#include "gstcuvqos.h"
#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectraldevice.h"

GST_DEBUG_CATEGORY_STATIC (spectral_transform_debug);
#define GST_CAT_DEFAULT spectral_transform_debug

typedef struct {
  /* under the object lock */
  GstCuvSpectralSettings settings;
  gchar *components; /* as set by the user */
  gboolean started;
  guint64 frames, uploaded, staged;
  gboolean on_device;     /* the last frame */
  GstClockTime last, sum; /* durations of transform() */

  /* of the streaming thread */
  GstCuvSpectralInfo info;
  GstCuvSpectralInfo scores; /* of output cubes; bands 0: pictures */
  gboolean uses_device;      /* also for frames in host memory */
  GstCuvSpectralCanvas canvas;
  GstCuvSpectralDevice device;
  GstCuvQos qos;
} GstCuvSpectralTransformPrivate;

/* Arguments of one transform() call. */
typedef struct {
  GstBuffer *in, *out;
  GstCuvSpectralFrame frame;
  GstCuvSpectralSettings settings;
} Work;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvSpectralTransform,
    gst_cuv_spectral_transform, GST_TYPE_CUV_TRANSFORM,
    G_ADD_PRIVATE (GstCuvSpectralTransform)
        GST_DEBUG_CATEGORY_INIT (spectral_transform_debug, "spectraltransform",
            0, "base of the elements that make pictures of cubes"))

#define PRIV(self)                                                             \
  ((GstCuvSpectralTransformPrivate *)                                          \
          gst_cuv_spectral_transform_get_instance_private (self))

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS "; " GST_CUV_SPECTRAL_RGB_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CUV_SPECTRAL_PICTURE_CAPS));

const GstCuvSpectralInfo *
gst_cuv_spectral_transform_info (GstCuvSpectralTransform *self)
{
  return &PRIV (self)->info;
}

/* ---- caps ---- */

static gboolean
read_info (
    GstCuvSpectralTransform *self, GstCaps *caps, const GstVideoInfo *video)
{
  gchar *problem = NULL;

  if (GST_VIDEO_INFO_FORMAT (video) != GST_VIDEO_FORMAT_UNKNOWN) {
    gst_cuv_spectral_info_from_video (&PRIV (self)->info, video);
    return TRUE;
  }
  if (gst_cuv_spectral_info_from_caps (&PRIV (self)->info, caps, &problem))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The caps do not describe a spectral image: %s.", problem),
      ("%" GST_PTR_FORMAT, caps));
  g_free (problem);
  return FALSE;
}

static gboolean
makes_scores (GstCuvSpectralTransform *self)
{
  return PRIV (self)->scores.bands > 0;
}

/* Whether the output is pictures or cubes of scores. */
static gboolean
read_out_info (
    GstCuvSpectralTransform *self, GstCaps *caps, const GstVideoInfo *video)
{
  gchar *problem;

  PRIV (self)->scores = (GstCuvSpectralInfo){ 0 };
  if (GST_VIDEO_INFO_FORMAT (video) != GST_VIDEO_FORMAT_UNKNOWN)
    return TRUE;
  if (gst_cuv_spectral_info_from_caps (&PRIV (self)->scores, caps, &problem))
    return TRUE;
  GST_ERROR_OBJECT (self, "%s: %" GST_PTR_FORMAT, problem, caps);
  g_free (problem);
  return FALSE;
}

static gboolean
make_canvas (GstCuvSpectralTransform *self, const GstVideoInfo *info)
{
  if (makes_scores (self))
    return TRUE;
  if (gst_cuv_spectral_canvas_init (
          &PRIV (self)->canvas, PRIV (self)->device.context, info))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("No memory for a picture of %dx%d.", GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info)),
      (NULL));
  return FALSE;
}

/* RGB video is processed where it is, unless its pictures go to CUDA memory. */
static gboolean
uses_device (GstCuvSpectralTransform *self, const GstVideoInfo *in,
    GstCaps *in_caps, GstCaps *out_caps)
{
  GstCuvContext *context = PRIV (self)->device.context;
  const gboolean wanted = !GST_VIDEO_INFO_IS_RGB (in)
      || gst_cuv_caps_is_cuda (in_caps) || gst_cuv_caps_is_cuda (out_caps);

  return wanted && gst_cuv_context_open (context) && context->kernels;
}

static gboolean
gst_cuv_spectral_transform_set_info (GstCuvTransform *transform,
    GstCaps *in_caps, const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (transform);
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);

  if (!read_out_info (self, out_caps, out_info))
    return FALSE;
  if (!read_info (self, in_caps, in_info))
    return FALSE;
  PRIV (self)->uses_device = !makes_scores (self)
      && uses_device (self, in_info, in_caps, out_caps)
      && (klass->fits_device == NULL
          || klass->fits_device (self, &PRIV (self)->info));
  return make_canvas (self, out_info)
      && klass->prepare (self, &PRIV (self)->info);
}

/* ---- allocation ---- */

/* Offers pinned memory upstream: uploads from it are fastest. */
static gboolean
gst_cuv_spectral_transform_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCuvSpectralTransformPrivate *priv =
      PRIV (GST_CUV_SPECTRAL_TRANSFORM (trans));
  gboolean answered =
      GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
          ->propose_allocation (trans, decide_query, query);
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || gst_cuv_caps_is_cuda (caps) || !priv->uses_device)
    return answered;
  gst_cuv_spectral_device_add_pool (&priv->device, query);
  return TRUE;
}

/* Pictures are downloaded into pinned memory for the same reason. */
static gboolean
gst_cuv_spectral_transform_decide_allocation (
    GstBaseTransform *trans, GstQuery *query)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  GstCaps *caps;

  if (makes_scores (self)) /* no frames of video, for which the parent looks */
    return GST_BASE_TRANSFORM_CLASS (
        g_type_class_peek (GST_TYPE_BASE_TRANSFORM))
        ->decide_allocation (trans, query);
  gst_query_parse_allocation (query, &caps, NULL);
  if (caps != NULL && !gst_cuv_caps_is_cuda (caps) && priv->uses_device
      && GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self)->paints_on_device)
    gst_cuv_spectral_device_add_pool (&priv->device, query);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->decide_allocation (trans, query);
}

/* ---- a frame ---- */

GstFlowReturn
gst_cuv_spectral_transform_failed (
    GstCuvSpectralTransform *self, gboolean on_device, const gchar *problem)
{
  if (on_device)
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The GPU failed: %s. Smaller images need less of it; with "
         "CUDA_VISIBLE_DEVICES= in the environment the CPU does the work.",
            problem),
        (NULL));
  else
    GST_ELEMENT_ERROR (
        self, RESOURCE, FAILED, ("The CPU failed: %s.", problem), (NULL));
  return GST_FLOW_ERROR;
}

static void
count (GstCuvSpectralTransform *self, GstBuffer *in, gboolean on_device,
    GstClockTime took)
{
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  GstClockTime time =
      gst_cuv_transform_running_time (GST_CUV_TRANSFORM (self), in);

  GST_OBJECT_LOCK (self);
  priv->frames++;
  priv->on_device = on_device;
  priv->uploaded = priv->device.uploaded;
  priv->staged = priv->device.staged;
  priv->last = took;
  priv->sum += took;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_qos_worked (&priv->qos, time, took);
}

static GstFlowReturn
cannot_write (
    GstCuvSpectralTransform *self, GstBuffer *out, const gchar *problem)
{
  GST_ELEMENT_ERROR (
      self, RESOURCE, WRITE, ("%s.", problem), ("%" GST_PTR_FORMAT, out));
  return GST_FLOW_ERROR;
}

static GstFlowReturn
make_picture (GstCuvSpectralTransform *self, const Work *work)
{
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);
  GstCuvSpectralCanvas *canvas = &PRIV (self)->canvas;
  GstCuvSpectralPicture picture;
  GstFlowReturn flow;
  const gchar *problem = gst_cuv_spectral_canvas_begin (canvas, work->out,
      work->frame.on_device && klass->paints_on_device, &picture);

  if (problem != NULL)
    return cannot_write (self, work->out, problem);
  flow = klass->make (
      self, &work->frame, &work->settings, &picture, work->in, work->out);
  problem = gst_cuv_spectral_canvas_end (canvas, flow == GST_FLOW_OK);
  return problem == NULL ? flow : cannot_write (self, work->out, problem);
}

static GstFlowReturn
make_scores (GstCuvSpectralTransform *self, const Work *work)
{
  const GstCuvSpectralInfo *info = &PRIV (self)->scores;
  GstFlowReturn flow;
  GstMapInfo map;

  if (!gst_buffer_map (work->out, &map, GST_MAP_WRITE))
    return cannot_write (self, work->out, "Cannot map a cube to write to");
  if (map.size < gst_cuv_spectral_info_size (info))
    flow = cannot_write (self, work->out, "A buffer is too small for a cube");
  else
    flow = GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self)->make_scores (self,
        &work->frame, &work->settings, info, (gfloat *) map.data, work->out);
  gst_buffer_unmap (work->out, &map);
  return flow;
}

static GstFlowReturn
transform_input (
    GstCuvSpectralTransform *self, const GstCuvSpectralInput *input, Work *work)
{
  GstCuvSpectralDevice *device = &PRIV (self)->device;
  GstCuvSpectralFrame *frame = &work->frame;
  const gchar *problem = NULL;
  GstFlowReturn flow;

  frame->cube = input->cube;
  if (frame->on_device)
    problem = gst_cuv_spectral_device_place (
        device, input, work->settings.n_threads, &frame->cube, &frame->stream);
  flow = problem != NULL
      ? gst_cuv_spectral_transform_failed (self, TRUE, problem)
      : makes_scores (self) ? make_scores (self, work)
                            : make_picture (self, work);
  if (frame->on_device && flow != GST_FLOW_OK)
    gst_cuv_spectral_device_wait (device, frame->stream);
  return flow;
}

static gboolean
map_input (
    GstCuvSpectralTransform *self, const Work *work, GstCuvSpectralInput *input)
{
  const GstVideoInfo *video =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  gchar *problem = gst_cuv_spectral_input_map (
      input, &PRIV (self)->info, video, work->in, work->frame.on_device);

  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (
      self, RESOURCE, READ, ("%s.", problem), ("%" GST_PTR_FORMAT, work->in));
  g_free (problem);
  return FALSE;
}

/* Whether the GPU processes the frame; its context is then current. */
static gboolean
enter_device (GstCuvSpectralTransform *self, GstBuffer *in)
{
  GstCuvContext *context = PRIV (self)->device.context;
  const gboolean there = gst_cuv_buffer_is_cuda (in)
      ? gst_cuv_context_follow (context, in)
      : PRIV (self)->uses_device && gst_cuv_context_open (context);

  return there && !makes_scores (self) && context->kernels
      && gst_cuv_context_push (context);
}

static GstFlowReturn
gst_cuv_spectral_transform_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);
  GstClockTime stream_time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), in);
  GstClockTime start = gst_util_get_timestamp ();
  GstFlowReturn flow = GST_FLOW_ERROR;
  Work work = { .in = in, .out = out };
  GstCuvSpectralInput input;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  if (PRIV (self)->frames == 0)
    gst_cuv_qos_ask (&PRIV (self)->qos);
  GST_OBJECT_LOCK (self);
  work.settings = PRIV (self)->settings;
  GST_OBJECT_UNLOCK (self);
  work.frame.on_device = enter_device (self, in);
  if (map_input (self, &work, &input)) {
    flow = transform_input (self, &input, &work);
    gst_cuv_spectral_input_unmap (&input);
    count (self, in, work.frame.on_device, gst_util_get_timestamp () - start);
  }
  if (work.frame.on_device)
    gst_cuv_context_pop (PRIV (self)->device.context);
  return flow;
}

/* ---- events and states ---- */

static gboolean
gst_cuv_spectral_transform_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_cuv_qos_query (
        &PRIV (GST_CUV_SPECTRAL_TRANSFORM (trans))->qos, query);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->query (trans, direction, query);
}

static void
reset (GstCuvSpectralTransform *self)
{
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);

  gst_cuv_qos_reset (&PRIV (self)->qos);
  if (klass->reset != NULL)
    klass->reset (self);
}

static gboolean
gst_cuv_spectral_transform_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    reset (GST_CUV_SPECTRAL_TRANSFORM (trans));
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->sink_event (trans, event);
}

static gboolean
gst_cuv_spectral_transform_src_event (GstBaseTransform *trans, GstEvent *event)
{
  gst_cuv_qos_event (&PRIV (GST_CUV_SPECTRAL_TRANSFORM (trans))->qos, event);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->src_event (trans, event);
}

static void
gst_cuv_spectral_transform_leave_context (GstCuvTransform *transform)
{
  gst_cuv_spectral_device_leave (
      &PRIV (GST_CUV_SPECTRAL_TRANSFORM (transform))->device);
}

static gboolean
gst_cuv_spectral_transform_start (GstBaseTransform *trans)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  gchar *text;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = priv->started = gst_cuv_spectral_components_parse (
      priv->components, priv->settings.components);
  text = g_strdup (priv->components);
  priv->frames = priv->last = priv->sum = priv->uploaded = priv->staged = 0;
  priv->on_device = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!ok)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("components is '%s': it takes " GST_CUV_SPECTRAL_COMPONENTS_TAKE ".",
            text),
        (NULL));
  g_free (text);
  priv->device.uploaded = priv->device.staged = 0;
  gst_cuv_qos_start (&priv->qos);
  return ok
      && GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
             ->start (trans);
}

static gboolean
gst_cuv_spectral_transform_stop (GstBaseTransform *trans)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);

  gst_cuv_spectral_canvas_clear (&PRIV (self)->canvas);
  GST_OBJECT_LOCK (self);
  PRIV (self)->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->stop (trans);
}

/* ---- properties ---- */

static GstStructure *
get_stats (GstCuvSpectralTransform *self)
{
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  GstStructure *stats;

  GST_OBJECT_LOCK (self);
  stats = gst_structure_new ("stats", "frames", G_TYPE_UINT64, priv->frames,
      "microseconds", G_TYPE_UINT64, priv->last / GST_USECOND,
      "microseconds-mean", G_TYPE_UINT64,
      priv->frames > 0 ? priv->sum / priv->frames / GST_USECOND : 0, NULL);
  gst_cuv_spectral_device_add_stats (
      priv->uploaded, priv->staged, priv->on_device, stats);
  GST_OBJECT_UNLOCK (self);
  if (klass->add_stats != NULL)
    klass->add_stats (self, stats);
  return stats;
}

/* Before the start all texts are taken: start() looks again, and can fail. */
static void
set_components (GstCuvSpectralTransform *self, const gchar *text)
{
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  gboolean ok, started;

  GST_OBJECT_LOCK (self);
  started = priv->started;
  ok = gst_cuv_spectral_components_parse (text, priv->settings.components);
  if (ok || !started) {
    g_free (priv->components);
    priv->components =
        g_strdup (text != NULL ? text : GST_CUV_SPECTRAL_DEFAULT_COMPONENTS);
  }
  GST_OBJECT_UNLOCK (self);
  if (!ok && started)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("components '%s' is refused, the old ones stay: it "
         "takes " GST_CUV_SPECTRAL_COMPONENTS_TAKE ".",
            text),
        (NULL));
}

static void
gst_cuv_spectral_transform_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (object);

  switch (id) {
    case GST_CUV_SPECTRAL_PROP_COMPONENTS:
      set_components (self, g_value_get_string (value));
      break;
    case GST_CUV_SPECTRAL_PROP_N_THREADS:
      GST_OBJECT_LOCK (self);
      PRIV (self)->settings.n_threads = g_value_get_int (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
gst_cuv_spectral_transform_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (object);

  if (id == GST_CUV_SPECTRAL_PROP_STATS) {
    g_value_take_boxed (value, get_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == GST_CUV_SPECTRAL_PROP_COMPONENTS)
    g_value_set_string (value, PRIV (self)->components);
  else if (id == GST_CUV_SPECTRAL_PROP_N_THREADS)
    g_value_set_int (value, PRIV (self)->settings.n_threads);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cuv_spectral_transform_finalize (GObject *object)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (object);

  gst_cuv_spectral_canvas_clear (&PRIV (self)->canvas);
  g_free (PRIV (self)->components);
  G_OBJECT_CLASS (gst_cuv_spectral_transform_parent_class)->finalize (object);
}

static void
gst_cuv_spectral_transform_class_init (GstCuvSpectralTransformClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_cuv_spectral_transform_set_property;
  object_class->get_property = gst_cuv_spectral_transform_get_property;
  object_class->finalize = gst_cuv_spectral_transform_finalize;
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_caps_transform_caps);
  trans_class->transform_size =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_caps_transform_size);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_propose_allocation);
  trans_class->decide_allocation =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_decide_allocation);
  trans_class->transform =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_transform);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_query);
  trans_class->sink_event =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_sink_event);
  trans_class->src_event =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_src_event);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_stop);
  transform_class->set_info = gst_cuv_spectral_transform_set_info;
  transform_class->leave_context = gst_cuv_spectral_transform_leave_context;
  gst_cuv_spectral_properties_install (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_SPECTRAL_TRANSFORM, 0);
}

static void
gst_cuv_spectral_transform_init (GstCuvSpectralTransform *self)
{
  PRIV (self)->components = g_strdup (GST_CUV_SPECTRAL_DEFAULT_COMPONENTS);
  gst_cuv_spectral_components_parse (NULL, PRIV (self)->settings.components);
  gst_cuv_spectral_device_init (&PRIV (self)->device,
      gst_cuv_transform_context (GST_CUV_TRANSFORM (self)));
  gst_cuv_qos_init (&PRIV (self)->qos, GST_ELEMENT (self));
}
