/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "spectral/gstcuvspectraltransform.h"

#include <stdio.h>
#include <string.h>

#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectraldevice.h"
#include "spectral/gstcuvspectralempty.h"

GST_DEBUG_CATEGORY_STATIC (spectral_transform_debug);
#define GST_CAT_DEFAULT spectral_transform_debug

typedef struct {
  gchar *components; /* as the user set it */
  GstCuvSpectralSettings settings;
} Properties;

typedef struct {
  GstCuvSettings settings;  /* Properties */
  guint64 uploaded, staged; /* bytes; under the object lock */

  /* used by the streaming thread only */
  GstCuvSpectralInfo info;
  GstCuvSpectralInfo scores; /* info of output cubes; bands 0: pictures */
  gboolean uses_device;      /* even for frames in host memory */
  gboolean knows_empty; /* bands without valid samples are marked in info */
  GstCuvSpectralCanvas canvas;
  GstCuvSpectralDevice device;
} GstCuvSpectralTransformPrivate;

/* Arguments of one transform() call. */
typedef struct {
  GstBuffer *in, *out;
  GstCuvSpectralFrame frame;
  GstCuvSpectralSettings settings;
} Work;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCuvSpectralTransform,
    gst_cuv_spectral_transform, GST_TYPE_CUV_ANALYSER,
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

static gboolean
read_spectral_info (
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

/* Finds out whether the output is pictures or cubes of scores. */
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
      ("Out of memory for a picture of %dx%d pixels: use smaller images, or "
       "end other processes.",
          GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info)),
      (NULL));
  return FALSE;
}

/* Whether frames are processed on the GPU: cubes, and RGB video that is in CUDA
 * memory or whose pictures go there. */
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
  if (!read_spectral_info (self, in_caps, in_info))
    return FALSE;
  PRIV (self)->knows_empty = klass->excludes_pixels == NULL
      || GST_VIDEO_INFO_FORMAT (in_info) != GST_VIDEO_FORMAT_UNKNOWN;
  PRIV (self)->uses_device = !makes_scores (self)
      && uses_device (self, in_info, in_caps, out_caps)
      && (klass->fits_device == NULL
          || klass->fits_device (self, &PRIV (self)->info));
  return make_canvas (self, out_info)
      && klass->prepare (self, &PRIV (self)->info);
}

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

/* Also uses pinned memory for pictures that are downloaded. */
static gboolean
gst_cuv_spectral_transform_decide_allocation (
    GstBaseTransform *trans, GstQuery *query)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  GstCaps *caps;

  if (makes_scores (self)) /* the parent expects video frames */
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

GstFlowReturn
gst_cuv_spectral_transform_failed (
    GstCuvSpectralTransform *self, gboolean on_device, const gchar *problem)
{
  if (on_device)
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The GPU failed: %s. " GST_CUV_USE_CPU ".", problem), (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The CPU failed: %s. Use smaller images, or end other processes.",
            problem),
        (NULL));
  return GST_FLOW_ERROR;
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
transform_to_picture (GstCuvSpectralTransform *self, const Work *work)
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
transform_to_scores (GstCuvSpectralTransform *self, const Work *work)
{
  const GstCuvSpectralInfo *info = &PRIV (self)->scores;
  GstFlowReturn flow;
  GstMapInfo map;

  if (!gst_buffer_map (work->out, &map, GST_MAP_WRITE))
    return cannot_write (self, work->out,
        "Cannot map an output buffer as a cube: the next element's buffer pool "
        "provides memory that the CPU cannot write");
  if (map.size < gst_cuv_spectral_info_size (info))
    flow = cannot_write (self, work->out,
        "An output buffer is too small for a cube: the next element's buffer "
        "pool does not match the caps");
  else
    flow = GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self)->make_scores (self,
        &work->frame, &work->settings, info, (gfloat *) map.data, work->out);
  gst_buffer_unmap (work->out, &map);
  return flow;
}

/* Marks bands without a valid sample; see excludes_pixels(). Returns FALSE
 * after an element error. */
static gboolean
mark_empty_bands (
    GstCuvSpectralTransform *self, const GstCuvSpectralInput *input)
{
  GstCuvSpectralTransformPrivate *priv = PRIV (self);
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);
  gchar *warning;

  if (priv->knows_empty || !klass->excludes_pixels (self))
    return TRUE;
  priv->knows_empty =
      gst_cuv_spectral_info_mark_empty (&priv->info, &input->cube, &warning);
  if (warning == NULL)
    return TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s.", warning), (NULL));
  g_free (warning);
  return klass->prepare (self, &priv->info);
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
      : makes_scores (self) ? transform_to_scores (self, work)
                            : transform_to_picture (self, work);
  if (frame->on_device && flow != GST_FLOW_OK)
    gst_cuv_context_wait (device->context, frame->stream);
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

static GstCuvSpectralSettings
get_settings (GstCuvSpectralTransform *self)
{
  GstCuvSpectralSettings settings;

  GST_OBJECT_LOCK (self);
  settings = ((const Properties *) PRIV (self)->settings.pending)->settings;
  GST_OBJECT_UNLOCK (self);
  settings.n_threads = gst_cuv_analyser_n_threads (GST_CUV_ANALYSER (self));
  return settings;
}

static void
count_bytes (GstCuvSpectralTransform *self)
{
  GstCuvSpectralTransformPrivate *priv = PRIV (self);

  GST_OBJECT_LOCK (self);
  priv->uploaded = priv->device.uploaded;
  priv->staged = priv->device.staged;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
gst_cuv_spectral_transform_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);
  GstCuvAnalyser *analyser = GST_CUV_ANALYSER (trans);
  GstClockTime start = gst_util_get_timestamp ();
  GstFlowReturn flow = GST_FLOW_ERROR;
  Work work = { .in = in, .out = out };
  GstCuvSpectralInput input;

  gst_cuv_analyser_begin (analyser, in);
  work.settings = get_settings (self);
  work.frame.on_device = enter_device (self, in);
  if (map_input (self, &work, &input)) {
    if (mark_empty_bands (self, &input))
      flow = transform_input (self, &input, &work);
    gst_cuv_spectral_input_unmap (&input);
    count_bytes (self);
    gst_cuv_analyser_end (
        analyser, in, gst_util_get_timestamp () - start, work.frame.on_device);
  }
  if (work.frame.on_device)
    gst_cuv_context_pop (PRIV (self)->device.context);
  return flow;
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

  PRIV (self)->device.uploaded = PRIV (self)->device.staged = 0;
  count_bytes (self);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->start (trans);
}

static gboolean
gst_cuv_spectral_transform_stop (GstBaseTransform *trans)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (trans);

  gst_cuv_spectral_canvas_clear (&PRIV (self)->canvas);
  return GST_BASE_TRANSFORM_CLASS (gst_cuv_spectral_transform_parent_class)
      ->stop (trans);
}

static void
gst_cuv_spectral_transform_add_stats (
    GstCuvAnalyser *analyser, GstStructure *stats)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (analyser);
  GstCuvSpectralTransformClass *klass =
      GST_CUV_SPECTRAL_TRANSFORM_GET_CLASS (self);

#if HAVE_CUDA
  GST_OBJECT_LOCK (self);
  gst_structure_set (stats, "uploaded", G_TYPE_UINT64, PRIV (self)->uploaded,
      "staged", G_TYPE_UINT64, PRIV (self)->staged, NULL);
  GST_OBJECT_UNLOCK (self);
#endif
  if (klass->add_stats != NULL)
    klass->add_stats (self, stats);
}

#define AT(field) G_STRUCT_OFFSET (Properties, field)

static gchar *
parse_components (gpointer properties)
{
  Properties *self = properties;
  gint c[GST_CUV_SPECTRAL_SHOWN];
  gchar end;

  if (sscanf (self->components, "%9d , %9d , %9d %c", &c[0], &c[1], &c[2], &end)
          != GST_CUV_SPECTRAL_SHOWN
      || MIN (MIN (c[0], c[1]), c[2]) < 0
      || MAX (MAX (c[0], c[1]), c[2]) > CUV_CUBE_MAX_BANDS)
    return g_strdup ("expected three numbers from 0 to 1024 for red, green and "
                     "blue, for example '1,2,3'; 0 is black");
  memcpy (self->settings.components, c, sizeof c);
  return NULL;
}

/**
 * GstCuvSpectralTransform:components:
 *
 * The components shown as red, green and blue. For a grey picture, list one
 * component three times.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "components", "Components",
      "Numbers of the components shown as red, green and blue, 1 to 1024 (0 = "
      "black)",
      .offset = AT (components), .type = G_TYPE_STRING, .text = "1,2,3",
      .parse = parse_components },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Properties, list),
};

static void
gst_cuv_spectral_transform_finalize (GObject *object)
{
  GstCuvSpectralTransform *self = GST_CUV_SPECTRAL_TRANSFORM (object);

  gst_cuv_spectral_canvas_clear (&PRIV (self)->canvas);
  G_OBJECT_CLASS (gst_cuv_spectral_transform_parent_class)->finalize (object);
}

static void
gst_cuv_spectral_transform_class_init (GstCuvSpectralTransformClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);
  GstCuvAnalyserClass *analyser_class = GST_CUV_ANALYSER_CLASS (klass);

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
  trans_class->start = GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_cuv_spectral_transform_stop);
  transform_class->set_info = gst_cuv_spectral_transform_set_info;
  transform_class->leave_context = gst_cuv_spectral_transform_leave_context;
  analyser_class->add_stats = gst_cuv_spectral_transform_add_stats;
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_SPECTRAL_TRANSFORM, 0);
}

static void
gst_cuv_spectral_transform_init (GstCuvSpectralTransform *self)
{
  gst_cuv_settings_init (&PRIV (self)->settings, self, &table);
  PRIV (self)->device.context =
      gst_cuv_transform_context (GST_CUV_TRANSFORM (self));
}
