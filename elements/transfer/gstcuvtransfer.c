/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvtransfer.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuv_transfer_debug);
#define GST_CAT_DEFAULT gst_cuv_transfer_debug

enum { PROP_0, PROP_STATS };

typedef struct {
  guint64 frames, copied, bytes;
  GstClockTime last, sum; /* duration of the copies */
} Counts;

typedef struct {
  gboolean usable; /* atomic; FALSE when copying is known to be impossible */
  Counts counts;   /* under the object lock */
} GstCuvTransferPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvTransfer, gst_cuv_transfer,
    GST_TYPE_CUV_TRANSFORM,
    G_ADD_PRIVATE (GstCuvTransfer)
        GST_DEBUG_CATEGORY_INIT (gst_cuv_transfer_debug, "cuvtransfer", 0,
            "frames between host and CUDA memory"))

#define PRIV(self)                                                             \
  ((GstCuvTransferPrivate *) gst_cuv_transfer_get_instance_private (self))

static gboolean
is_upload (GstBaseTransform *trans)
{
  return GST_CUV_TRANSFER_GET_CLASS (trans)->upload;
}

/* ---- caps ---- */

static const gchar *
cuda_problem (GstCaps *caps)
{
  GstVideoInfo info;

  return gst_caps_is_fixed (caps) && gst_video_info_from_caps (&info, caps)
      ? gst_cuv_cuda_format_problem (&info)
      : NULL;
}

/* Returns the caps of frames after a copy to or from CUDA memory, without those
 * already in the target memory and those that CUDA memory cannot hold. */
static GstCaps *
copied_caps (GstCaps *caps, gboolean to_cuda)
{
  GstCaps *copied = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);

    if (gst_cuv_caps_is_cuda (one) == to_cuda
        || (to_cuda && cuda_problem (one) != NULL)) {
      gst_caps_unref (one);
      continue;
    }
    gst_caps_set_features (one, 0,
        to_cuda ? gst_caps_features_new (GST_CUV_FEATURE_CUDA, NULL) : NULL);
    copied = gst_caps_merge (copied, one);
  }
  return copied;
}

static GstCaps *
intersect (GstCaps *caps, GstCaps *first)
{
  GstCaps *both =
      gst_caps_intersect_full (first, caps, GST_CAPS_INTERSECT_FIRST);

  gst_caps_unref (caps);
  return both;
}

/* A frame is either copied or passes unchanged. An upload offers CUDA memory
 * first, a download host memory. */
static GstCaps *
gst_cuv_transfer_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  gboolean to_cuda = is_upload (trans) == (direction == GST_PAD_SINK);
  GstPad *other = direction == GST_PAD_SINK
      ? GST_BASE_TRANSFORM_SRC_PAD (trans)
      : GST_BASE_TRANSFORM_SINK_PAD (trans);
  GstCaps *template = gst_pad_get_pad_template_caps (other);
  GstCaps *result;

  if (!g_atomic_int_get (&PRIV (GST_CUV_TRANSFER (trans))->usable)) {
    result = gst_caps_ref (caps);
  } else {
    result = copied_caps (caps, to_cuda);
    /* GRAY8 and others exist in host memory only */
    result = intersect (result, template);
    result = gst_caps_merge (result, gst_caps_ref (caps));
    if (to_cuda)
      result = gst_cuv_caps_cuda_first (result);
  }
  gst_caps_unref (template);
  if (filter != NULL)
    result = intersect (result, filter);
  GST_DEBUG_OBJECT (
      trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

/* Prefers CUDA memory after an upload and host memory after a download,
 * whatever the peer lists first. */
static GstCaps *
gst_cuv_transfer_fixate_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  gboolean to_cuda = is_upload (trans) == (direction == GST_PAD_SINK);
  GstCaps *wanted = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (othercaps); i++) {
    GstCaps *one = gst_caps_copy_nth (othercaps, i);

    if (gst_cuv_caps_is_cuda (one) == to_cuda)
      gst_caps_append (wanted, one);
    else
      gst_caps_unref (one);
  }
  if (gst_caps_is_empty (wanted)) {
    gst_caps_unref (wanted);
    wanted = othercaps;
  } else {
    gst_caps_unref (othercaps);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)
      ->fixate_caps (trans, direction, caps, wanted);
}

static gboolean
gst_cuv_transfer_get_unit_size (
    GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  *size = info.size;
  return TRUE;
}

/* Posts the reason if negotiation fails: the base class would only report "not
 * negotiated". */
static gboolean
gst_cuv_transfer_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  const gchar *problem = NULL;
  GstCaps *caps;
  gboolean ok;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS && is_upload (trans)) {
    gst_event_parse_caps (event, &caps);
    if (!gst_cuv_caps_is_cuda (caps))
      problem = cuda_problem (caps);
  }
  ok = GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)
           ->sink_event (trans, event);
  if (!ok && problem != NULL && !GST_PAD_IS_FLUSHING (trans->sinkpad))
    GST_ELEMENT_ERROR (trans, STREAM, FORMAT,
        ("These frames cannot be copied to CUDA memory, but the next element "
         "accepts nothing else: %s. Put videoconvert and a capsfilter with "
         "another format before this element.",
            problem),
        (NULL));
  return ok;
}

/* ---- frames ---- */

static void
gst_cuv_transfer_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GST_OBJECT_LOCK (trans);
  PRIV (GST_CUV_TRANSFER (trans))->counts.frames++;
  GST_OBJECT_UNLOCK (trans);
  GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)
      ->before_transform (trans, buffer);
}

static GstFlowReturn
gst_cuv_transfer_prepare_output_buffer (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer **out)
{
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (trans));
  GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)
                           ->prepare_output_buffer (trans, in, out);

  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (trans, RESOURCE, NO_SPACE_LEFT,
        ("No %s memory left for a frame of %dx%d pixels (%" G_GSIZE_FORMAT
         " bytes). Use smaller frames or shorter queues, or end another "
         "process.",
            is_upload (trans) ? "CUDA" : "host", GST_VIDEO_INFO_WIDTH (info),
            GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_SIZE (info)),
        (NULL));
  return flow;
}

static GstFlowReturn
gst_cuv_transfer_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstCuvTransform *self = GST_CUV_TRANSFORM (trans);
  const GstVideoInfo *info = gst_cuv_transform_in_info (self);
  GstClockTime start = gst_util_get_timestamp ();
  Counts *counts = &PRIV (GST_CUV_TRANSFER (trans))->counts;

  if (!gst_cuv_context_copy_frame (
          gst_cuv_transform_context (self), info, in, out, NULL))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (trans);
  counts->copied++;
  counts->bytes += info->size;
  counts->last = gst_util_get_timestamp () - start;
  counts->sum += counts->last;
  GST_OBJECT_UNLOCK (trans);
  return GST_FLOW_OK;
}

/* ---- states and properties ---- */

static gboolean
gst_cuv_transfer_start (GstBaseTransform *trans)
{
  GstCuvContext *context =
      gst_cuv_transform_context (GST_CUV_TRANSFORM (trans));
  GstCuvTransferPrivate *priv = PRIV (GST_CUV_TRANSFER (trans));
  gboolean usable = gst_cuv_cuda_usable ();

  GST_OBJECT_LOCK (trans);
  priv->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (trans);
  if (!GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)->start (trans))
    return FALSE;
  if (usable && is_upload (trans) && !gst_cuv_context_open (context)) {
    GST_ELEMENT_WARNING (trans, RESOURCE, OPEN_READ_WRITE,
        ("Cannot create a CUDA context: frames stay in host memory. Check the "
         "device with nvidia-smi; GST_DEBUG=2 shows the driver's error."),
        (NULL));
    usable = FALSE;
  }
  GST_INFO_OBJECT (trans, "%s",
      usable ? "copying where caps ask for it" : "passing frames untouched");
  g_atomic_int_set (&priv->usable, usable);
  return TRUE;
}

/* Until the next start the device is unknown: offer both kinds of memory, as
 * the templates do. */
static gboolean
gst_cuv_transfer_stop (GstBaseTransform *trans)
{
  g_atomic_int_set (&PRIV (GST_CUV_TRANSFER (trans))->usable, TRUE);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_transfer_parent_class)->stop (trans);
}

static void
gst_cuv_transfer_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  Counts counts;

  if (id != PROP_STATS) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  counts = PRIV (GST_CUV_TRANSFER (object))->counts;
  GST_OBJECT_UNLOCK (object);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
          "copied", G_TYPE_UINT64, counts.copied, "bytes", G_TYPE_UINT64,
          counts.bytes, "microseconds", G_TYPE_UINT64,
          counts.last / GST_USECOND, "microseconds-mean", G_TYPE_UINT64,
          counts.copied ? counts.sum / counts.copied / GST_USECOND : 0, NULL));
}

static void
gst_cuv_transfer_class_init (GstCuvTransferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->get_property = gst_cuv_transfer_get_property;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_transfer_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_transfer_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_cuv_transfer_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_cuv_transfer_fixate_caps);
  trans_class->get_unit_size =
      GST_DEBUG_FUNCPTR (gst_cuv_transfer_get_unit_size);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_cuv_transfer_sink_event);
  trans_class->before_transform =
      GST_DEBUG_FUNCPTR (gst_cuv_transfer_before_transform);
  trans_class->prepare_output_buffer =
      GST_DEBUG_FUNCPTR (gst_cuv_transfer_prepare_output_buffer);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_cuv_transfer_transform);
  trans_class->passthrough_on_same_caps = TRUE;

  /**
   * GstCuvTransfer:stats:
   *
   * A structure with frames (received), copied, bytes (copied), microseconds
   * (of the last copy) and microseconds-mean, all guint64. Frames that are not
   * copied pass untouched.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "Processing statistics",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_TRANSFER, 0);
}

static void
gst_cuv_transfer_init (GstCuvTransfer *self)
{
  PRIV (self)->usable = TRUE;
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
}
