/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvtransform.h"
#include "context/gstcuvframe.h"
#include "gstcuvserial.h"
#include "gstcuvstream.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuv_transform_debug);
#define GST_CAT_DEFAULT gst_cuv_transform_debug

enum { PROP_0, PROP_CUDA_DEVICE_ID };

typedef struct {
  GstCuvContext context;
  GstVideoInfo in_info, out_info;
  GstCaps *in_caps;
  GstBufferPool *pool; /* pool for make_writable() */
  gboolean pool_cuda;
} GstCuvTransformPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvTransform, gst_cuv_transform,
    GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstCuvTransform) G_IMPLEMENT_INTERFACE (
        GST_TYPE_PRESET, NULL) GST_DEBUG_CATEGORY_INIT (gst_cuv_transform_debug,
        "cuvtransform", 0, "base of the elements that touch frames"))

#define PRIV(self)                                                             \
  ((GstCuvTransformPrivate *) gst_cuv_transform_get_instance_private (self))

static void
drop_pool (GstCuvTransform *self)
{
  if (PRIV (self)->pool != NULL)
    gst_buffer_pool_set_active (PRIV (self)->pool, FALSE);
  gst_clear_object (&PRIV (self)->pool);
}

static void
leave_context (GstElement *element)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (element);
  GstCuvTransformClass *klass = GST_CUV_TRANSFORM_GET_CLASS (self);

  if (PRIV (self)->pool_cuda)
    drop_pool (self);
  if (klass->leave_context != NULL)
    klass->leave_context (self);
}

void
gst_cuv_transform_close_backend (GstCuvTransform *self, CuvBackend *backend)
{
  const gboolean pushed =
      backend->on_device && gst_cuv_context_push (&PRIV (self)->context);

  cuv_backend_close (backend);
  if (pushed)
    gst_cuv_context_pop (&PRIV (self)->context);
}

GstCuvContext *
gst_cuv_transform_context (GstCuvTransform *self)
{
  return &PRIV (self)->context;
}

const GstVideoInfo *
gst_cuv_transform_in_info (GstCuvTransform *self)
{
  return &PRIV (self)->in_info;
}

const GstVideoInfo *
gst_cuv_transform_out_info (GstCuvTransform *self)
{
  return &PRIV (self)->out_info;
}

static void
gst_cuv_transform_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (object);

  if (id == PROP_CUDA_DEVICE_ID)
    g_atomic_int_set (&PRIV (self)->context.device_id, g_value_get_int (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuv_transform_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (object);

  if (id == PROP_CUDA_DEVICE_ID)
    g_value_set_int (value, g_atomic_int_get (&PRIV (self)->context.device_id));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuv_transform_set_context (GstElement *element, GstContext *context)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (element);

  gst_cuv_context_set_context (&PRIV (self)->context, context);
  GST_ELEMENT_CLASS (gst_cuv_transform_parent_class)
      ->set_context (element, context);
}

static gboolean
gst_cuv_transform_start (GstBaseTransform *trans)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);

  return gst_cuv_context_check_device (&PRIV (self)->context);
}

static gboolean
gst_cuv_transform_stop (GstBaseTransform *trans)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);

  drop_pool (self);
  gst_clear_caps (&PRIV (self)->in_caps);
  gst_cuv_context_close (&PRIV (self)->context);
  return TRUE;
}

static gboolean
query_caps (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_cuv_transform_parent_class)
           ->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK)
    gst_cuv_query_cuda_first (query);
  return TRUE;
}

static gboolean
gst_cuv_transform_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CONTEXT:
      if (gst_cuv_context_query (&PRIV (self)->context, query))
        return TRUE;
      break;
    case GST_QUERY_CAPS:
      return query_caps (trans, direction, query);
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_transform_parent_class)
      ->query (trans, direction, query);
}

/* Caps that are not raw video are left to the subclass. */
static gboolean
read_video_info (GstVideoInfo *info, const GstCaps *caps)
{
  gst_video_info_init (info);
  return !gst_structure_has_name (
             gst_caps_get_structure (caps, 0), "video/x-raw")
      || gst_video_info_from_caps (info, caps);
}

static gboolean
gst_cuv_transform_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);
  GstCuvTransformClass *klass = GST_CUV_TRANSFORM_GET_CLASS (self);
  GstCuvTransformPrivate *priv = PRIV (self);
  const gchar *problem = NULL;

  if (!read_video_info (&priv->in_info, in_caps)
      || !read_video_info (&priv->out_info, out_caps)) {
    GST_ERROR_OBJECT (self, "cannot read caps %" GST_PTR_FORMAT, in_caps);
    return FALSE;
  }
  if (gst_cuv_caps_is_cuda (in_caps))
    problem = gst_cuv_cuda_format_problem (&priv->in_info);
  else if (gst_cuv_caps_is_cuda (out_caps))
    problem = gst_cuv_cuda_format_problem (&priv->out_info);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (
        self, STREAM, FORMAT, ("%s.", problem), ("%" GST_PTR_FORMAT, in_caps));
    return FALSE;
  }
  gst_caps_replace (&priv->in_caps, in_caps);
  drop_pool (self);
  return klass->set_info == NULL
      || klass->set_info (
          self, in_caps, &priv->in_info, out_caps, &priv->out_info);
}

static void
gst_cuv_transform_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);

  gst_cuv_context_follow (&PRIV (self)->context, buffer);
}

/* In-place elements forward the query. If nobody downstream has a pool of CUDA
 * memory, ours makes the element upstream use our context. */
static gboolean
gst_cuv_transform_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);
  GstVideoInfo info;
  GstCaps *caps;

  gboolean answered = gst_cuv_frame_propose_allocation (
      gst_cuv_transform_parent_class, trans, decide_query, query);

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (!answered && !gst_cuv_caps_is_cuda (caps))
    return FALSE;
  if (!gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL)
      && (decide_query != NULL || gst_cuv_caps_is_cuda (caps)))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return gst_cuv_context_propose_pool (&PRIV (self)->context, query);
}

/* Chooses the pool for the output: downstream's, or ours if the output is in
 * CUDA memory and downstream's pool is not in our context. */
static gboolean
choose_pool (GstCuvTransform *self, GstQuery *query, GstCaps *caps)
{
  GstCuvContext *context = &PRIV (self)->context;
  gboolean cuda = gst_cuv_caps_is_cuda (caps);
  guint n = gst_query_get_n_allocation_pools (query);
  guint size = (guint) PRIV (self)->out_info.size, min = 0, max = 0;
  GstBufferPool *pool = NULL;

  if (n > 0 && !cuda)
    return TRUE;
  if (n > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (pool != NULL && !gst_cuv_context_owns_pool (context, pool))
    gst_clear_object (&pool);
  if (pool == NULL)
    pool = cuda ? gst_cuv_context_new_pool (context, caps)
                : gst_video_buffer_pool_new ();
  if (pool == NULL)
    return FALSE;
  size = gst_cuv_context_configure_pool (context, pool, caps,
      (guint) MAX (size, PRIV (self)->out_info.size), min, max);
  if (n > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return size > 0;
}

static gboolean
gst_cuv_transform_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps != NULL && gst_cuv_caps_is_cuda (caps)
      && !gst_cuv_context_open (&PRIV (self)->context)) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ_WRITE,
        ("Cannot create a CUDA context for frames in CUDA memory: check the "
         "device with nvidia-smi; GST_DEBUG=2 shows the driver's error."),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (caps != NULL && !choose_pool (self, query, caps)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot allocate memory for frames%s, %" G_GSIZE_FORMAT
         " bytes each: use smaller frames or fewer streams, or end other "
         "processes.",
            gst_cuv_caps_is_cuda (caps) ? " on the CUDA device" : "",
            PRIV (self)->out_info.size),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_transform_parent_class)
      ->decide_allocation (trans, query);
}

/* Whether a copy keeps this meta. Copies have the same size and orientation, so
 * every meta stays true, except those that describe the memory or keep it
 * alive. */
static gboolean
describes_frame (const GstMetaInfo *info)
{
  return !gst_meta_api_type_has_tag (
             info->api, gst_cuv_quark (GST_META_TAG_MEMORY_STR))
      && info->api != GST_PARENT_BUFFER_META_API_TYPE;
}

static gboolean
gst_cuv_transform_transform_meta (
    GstBaseTransform *trans, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return describes_frame (meta->info);
}

static GstBufferPool *
ensure_pool (GstCuvTransform *self, gboolean cuda)
{
  GstCuvTransformPrivate *priv = PRIV (self);

  if (priv->pool != NULL && priv->pool_cuda == cuda)
    return priv->pool;
  drop_pool (self);
  priv->pool = cuda ? gst_cuv_context_new_pool (&priv->context, priv->in_caps)
                    : gst_video_buffer_pool_new ();
  priv->pool_cuda = cuda;
  if (priv->pool == NULL
      || gst_cuv_context_configure_pool (&priv->context, priv->pool,
             priv->in_caps, (guint) priv->in_info.size, 0, 0)
          == 0
      || !gst_buffer_pool_set_active (priv->pool, TRUE))
    gst_clear_object (&priv->pool);
  return priv->pool;
}

static gboolean
copy_meta (GstBuffer *in, GstMeta **meta, gpointer out)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };
  const GstMetaInfo *info = (*meta)->info;

  if (info->transform_func != NULL && describes_frame (info))
    info->transform_func (out, *meta, in, _gst_meta_transform_copy, &whole);
  return TRUE;
}

GstClockTime
gst_cuv_transform_stream_time (GstCuvTransform *self, GstBuffer *buffer)
{
  return gst_cuv_stream_time (&GST_BASE_TRANSFORM (self)->segment, buffer);
}

GstClockTime
gst_cuv_transform_running_time (GstCuvTransform *self, GstBuffer *buffer)
{
  return gst_cuv_running_time (&GST_BASE_TRANSFORM (self)->segment, buffer);
}

GstFlowReturn
gst_cuv_transform_make_writable (
    GstCuvTransform *self, GstBuffer *in, GstBuffer **out, gpointer *copying)
{
  GstCuvTransformPrivate *priv = PRIV (self);
  GstBufferPool *pool;
  GstFlowReturn flow;

  if (copying != NULL)
    *copying = NULL;
  if (gst_buffer_is_writable (in) && gst_buffer_is_all_memory_writable (in)) {
    *out = in;
    return GST_FLOW_OK;
  }
  gst_cuv_context_follow (&priv->context, in);
  pool = ensure_pool (self, gst_cuv_buffer_is_cuda (in));
  flow = pool != NULL ? gst_buffer_pool_acquire_buffer (pool, out, NULL)
                      : GST_FLOW_ERROR;
  if (flow != GST_FLOW_OK) {
    if (flow != GST_FLOW_FLUSHING)
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Cannot allocate %" G_GSIZE_FORMAT
           " bytes%s to copy a shared frame before drawing on it: use smaller "
           "frames or fewer streams, or end other processes.",
              priv->in_info.size,
              gst_cuv_buffer_is_cuda (in) ? " on the CUDA device" : ""),
          (NULL));
    return flow;
  }
  if (!gst_cuv_context_copy_frame (
          &priv->context, &priv->in_info, in, *out, copying)) {
    gst_clear_buffer (out);
    return GST_FLOW_ERROR;
  }
  gst_buffer_copy_into (
      *out, in, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_foreach_meta (in, copy_meta, *out);
  return GST_FLOW_OK;
}

static void
gst_cuv_transform_finalize (GObject *object)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (object);

  drop_pool (self);
  gst_clear_caps (&PRIV (self)->in_caps);
  gst_cuv_context_close (&PRIV (self)->context);
  G_OBJECT_CLASS (gst_cuv_transform_parent_class)->finalize (object);
}

static void
gst_cuv_transform_class_init (GstCuvTransformClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gst_cuv_serial_objects (); /* before the first frame from another process */
  object_class->set_property = gst_cuv_transform_set_property;
  object_class->get_property = gst_cuv_transform_get_property;
  object_class->finalize = gst_cuv_transform_finalize;
  element_class->set_context =
      GST_DEBUG_FUNCPTR (gst_cuv_transform_set_context);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_transform_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_transform_stop);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuv_transform_query);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_cuv_transform_set_caps);
  trans_class->before_transform =
      GST_DEBUG_FUNCPTR (gst_cuv_transform_before_transform);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_cuv_transform_propose_allocation);
  trans_class->decide_allocation =
      GST_DEBUG_FUNCPTR (gst_cuv_transform_decide_allocation);
  trans_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_cuv_transform_transform_meta);

  /**
   * GstCuvTransform:cuda-device-id:
   *
   * The CUDA device to open a context on if the pipeline has none yet, -1 =
   * any. Frames in CUDA memory are processed in the context of their memory.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device",
          "CUDA device to use if the frame does not determine it (-1 = any)",
          -1, G_MAXINT, -1,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY
              | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_TRANSFORM, 0);
}

static void
gst_cuv_transform_init (GstCuvTransform *self)
{
  gst_cuv_context_init (
      &PRIV (self)->context, GST_ELEMENT (self), leave_context);
}
