/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectraltransform.h"

#include <stdio.h>

#include "gstcuvfilter.h"
#include "gstcuvpace.h"
#include "gstspectralinput.h"

GST_DEBUG_CATEGORY_STATIC (spectral_transform_debug);
#define GST_CAT_DEFAULT spectral_transform_debug

enum { PROP_0, PROP_COMPONENTS, PROP_N_THREADS, PROP_STATS };

#define DEFAULT_COMPONENTS "1,2,3"
#define COMPONENTS_TAKE                                                        \
  "three numbers from 0 to 256 for red, green and blue, as '1,2,3'; 0 is "     \
  "black"

typedef struct {
  /* under the object lock */
  GstSpectralSettings settings;
  gchar *components; /* as they were set */
  gboolean started;
  guint64 frames;
  GstClockTime last, sum; /* of the time that make() took */

  /* of the streaming thread */
  GstSpectralInfo info;
  GstBuffer *scratch; /* for pictures that are converted */
  GstVideoInfo scratch_info;
  GstVideoConverter *converter;
  GstCuvPace pace;
} GstSpectralTransformPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstSpectralTransform, gst_spectral_transform,
    GST_TYPE_CUV_TRANSFORM,
    G_ADD_PRIVATE (GstSpectralTransform)
        GST_DEBUG_CATEGORY_INIT (spectral_transform_debug, "spectraltransform",
            0, "base of the elements that make pictures of cubes"))

#define PRIV(self)                                                             \
  ((GstSpectralTransformPrivate *)                                             \
          gst_spectral_transform_get_instance_private (self))

/* clang-format off */
#define RGB_FORMATS "{ RGB, BGR, RGBx, BGRx, RGBA, BGRA }"
#define PICTURE_FORMATS "{ RGBA, RGBx, NV12 }"
#define SIZES "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "      \
  "framerate = (fraction) [ 0, max ]"
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPECTRAL_CAPS
      "; video/x-raw, format = (string) " RGB_FORMATS ", " SIZES));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (
      "video/x-raw, format = (string) " PICTURE_FORMATS ", " SIZES));
/* clang-format on */

const GstSpectralInfo *
gst_spectral_transform_info (GstSpectralTransform *self)
{
  return &PRIV (self)->info;
}

/* ---- caps ---- */

static void
copy_fields (const GstStructure *from, GstStructure *to)
{
  static const gchar *const fields[] = { "width", "height", "framerate",
    "pixel-aspect-ratio" };
  /* a cube's pixels are square */
  guint n = gst_structure_has_name (from, "video/x-raw")
          && gst_structure_has_name (to, "video/x-raw")
      ? 4
      : 3;

  for (guint i = 0; i < n; i++) {
    if (gst_structure_has_field (from, fields[i]))
      gst_structure_set_value (
          to, fields[i], gst_structure_get_value (from, fields[i]));
  }
}

/* What the other side's template says, with the sizes of each of the caps. */
static GstCaps *
gst_spectral_transform_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;
  GstCaps *template = gst_pad_get_pad_template_caps (other);
  GstCaps *result = gst_caps_new_empty (), *both;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *some = gst_caps_copy (template);

    for (guint j = 0; j < gst_caps_get_size (some); j++)
      copy_fields (
          gst_caps_get_structure (caps, i), gst_caps_get_structure (some, j));
    result = gst_caps_merge (result, some);
  }
  gst_caps_unref (template);
  if (filter == NULL)
    return result;
  both = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (result);
  return both;
}

static gboolean
gst_spectral_transform_get_unit_size (
    GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstSpectralInfo cube;
  GstVideoInfo video;
  gchar *problem;

  if (gst_structure_has_name (
          gst_caps_get_structure (caps, 0), "video/x-raw")) {
    if (!gst_video_info_from_caps (&video, caps))
      return FALSE;
    *size = video.size;
    return TRUE;
  }
  if (!gst_spectral_info_from_caps (&cube, caps, &problem)) {
    g_free (problem);
    return FALSE;
  }
  *size = gst_spectral_info_size (&cube);
  return TRUE;
}

static gboolean
read_info (GstSpectralTransform *self, GstCaps *caps, const GstVideoInfo *video)
{
  gchar *problem = NULL;

  if (GST_VIDEO_INFO_FORMAT (video) != GST_VIDEO_FORMAT_UNKNOWN) {
    gst_spectral_info_from_video (&PRIV (self)->info, video);
    return TRUE;
  }
  if (gst_spectral_info_from_caps (&PRIV (self)->info, caps, &problem))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The caps do not describe a spectral image: %s.", problem),
      ("%" GST_PTR_FORMAT, caps));
  g_free (problem);
  return FALSE;
}

static void
drop_converter (GstSpectralTransform *self)
{
  g_clear_pointer (&PRIV (self)->converter, gst_video_converter_free);
  gst_clear_buffer (&PRIV (self)->scratch);
}

/* Pictures are made in RGB; GStreamer makes NV12 of them. */
static gboolean
make_converter (GstSpectralTransform *self, const GstVideoInfo *out)
{
  GstSpectralTransformPrivate *priv = PRIV (self);

  drop_converter (self);
  if (GST_VIDEO_INFO_FORMAT (out) != GST_VIDEO_FORMAT_NV12)
    return TRUE;
  gst_video_info_set_format (&priv->scratch_info, GST_VIDEO_FORMAT_RGBx,
      (guint) GST_VIDEO_INFO_WIDTH (out), (guint) GST_VIDEO_INFO_HEIGHT (out));
  /* what is of no matter here, a converter wants to be the same */
  priv->scratch_info.fps_n = out->fps_n;
  priv->scratch_info.fps_d = out->fps_d;
  priv->scratch_info.par_n = out->par_n;
  priv->scratch_info.par_d = out->par_d;
  priv->scratch_info.interlace_mode = out->interlace_mode;
  priv->scratch = gst_buffer_new_allocate (NULL, priv->scratch_info.size, NULL);
  if (priv->scratch != NULL)
    priv->converter = gst_video_converter_new (&priv->scratch_info, out, NULL);
  if (priv->converter == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for a picture of %dx%d.", GST_VIDEO_INFO_WIDTH (out),
            GST_VIDEO_INFO_HEIGHT (out)),
        (NULL));
  return priv->converter != NULL;
}

static gboolean
gst_spectral_transform_set_info (GstCuvTransform *transform, GstCaps *in_caps,
    const GstVideoInfo *in_info, GstCaps *out_caps,
    const GstVideoInfo *out_info)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (transform);

  return read_info (self, in_caps, in_info) && make_converter (self, out_info)
      && GST_SPECTRAL_TRANSFORM_GET_CLASS (self)->prepare (
          self, &PRIV (self)->info);
}

/* ---- a frame ---- */

static void
count (GstSpectralTransform *self, GstBuffer *in, GstClockTime took)
{
  GstSpectralTransformPrivate *priv = PRIV (self);
  GstClockTime time =
      gst_cuv_transform_running_time (GST_CUV_TRANSFORM (self), in);

  GST_OBJECT_LOCK (self);
  priv->frames++;
  priv->last = took;
  priv->sum += took;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_pace_worked (&priv->pace, time, took, 0);
}

static GstFlowReturn
make_picture (GstSpectralTransform *self, const CuvCube *cube,
    GstVideoFrame *video, GstBuffer *in, GstBuffer *out)
{
  GstSpectralPicture picture = { GST_VIDEO_FRAME_PLANE_DATA (video, 0),
    (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (video, 0),
    GST_VIDEO_FRAME_WIDTH (video), GST_VIDEO_FRAME_HEIGHT (video) };
  GstSpectralSettings settings;

  GST_OBJECT_LOCK (self);
  settings = PRIV (self)->settings;
  GST_OBJECT_UNLOCK (self);
  return GST_SPECTRAL_TRANSFORM_GET_CLASS (self)->make (
      self, cube, &settings, &picture, in, out);
}

/* By way of the scratch. */
static GstFlowReturn
make_converted (GstSpectralTransform *self, const CuvCube *cube,
    GstVideoFrame *video, GstBuffer *in, GstBuffer *out)
{
  GstSpectralTransformPrivate *priv = PRIV (self);
  GstVideoFrame scratch;
  GstFlowReturn flow;

  if (!gst_video_frame_map (
          &scratch, &priv->scratch_info, priv->scratch, GST_MAP_READWRITE))
    return GST_FLOW_ERROR;
  flow = make_picture (self, cube, &scratch, in, out);
  if (flow == GST_FLOW_OK)
    gst_video_converter_frame (priv->converter, &scratch, video);
  gst_video_frame_unmap (&scratch);
  return flow;
}

static GstFlowReturn
transform_mapped (GstSpectralTransform *self, const CuvCube *cube,
    GstBuffer *in, GstBuffer *out)
{
  const GstVideoInfo *info =
      gst_cuv_transform_out_info (GST_CUV_TRANSFORM (self));
  GstVideoFrame video;
  GstFlowReturn flow;

  /* a reference that the map took would stop the metas from being added */
  if (!gst_video_frame_map (
          &video, info, out, GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("Cannot map a picture."),
        ("%" GST_PTR_FORMAT, out));
    return GST_FLOW_ERROR;
  }
  flow = PRIV (self)->converter != NULL
      ? make_converted (self, cube, &video, in, out)
      : make_picture (self, cube, &video, in, out);
  gst_video_frame_unmap (&video);
  return flow;
}

static gboolean
map_input (
    GstSpectralTransform *self, GstBuffer *buffer, GstSpectralInput *input)
{
  const GstVideoInfo *video =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  gchar *problem =
      gst_spectral_input_map (input, &PRIV (self)->info, video, buffer);

  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (
      self, RESOURCE, READ, ("%s.", problem), ("%" GST_PTR_FORMAT, buffer));
  g_free (problem);
  return FALSE;
}

static GstFlowReturn
gst_spectral_transform_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (trans);
  GstClockTime stream_time =
      gst_cuv_transform_stream_time (GST_CUV_TRANSFORM (self), in);
  GstClockTime start = gst_util_get_timestamp ();
  GstFlowReturn flow;
  GstSpectralInput input;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  if (PRIV (self)->frames == 0)
    gst_cuv_pace_ask (&PRIV (self)->pace);
  if (!map_input (self, in, &input))
    return GST_FLOW_ERROR;
  flow = transform_mapped (self, &input.cube, in, out);
  gst_spectral_input_unmap (&input);
  count (self, in, gst_util_get_timestamp () - start);
  return flow;
}

/* ---- events and states ---- */

static gboolean
gst_spectral_transform_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_cuv_pace_query (
        &PRIV (GST_SPECTRAL_TRANSFORM (trans))->pace, query);
  return GST_BASE_TRANSFORM_CLASS (gst_spectral_transform_parent_class)
      ->query (trans, direction, query);
}

static void
forget (GstSpectralTransform *self)
{
  GstSpectralTransformClass *klass = GST_SPECTRAL_TRANSFORM_GET_CLASS (self);

  gst_cuv_pace_forget (&PRIV (self)->pace);
  if (klass->reset != NULL)
    klass->reset (self);
}

static gboolean
gst_spectral_transform_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    forget (GST_SPECTRAL_TRANSFORM (trans));
  return GST_BASE_TRANSFORM_CLASS (gst_spectral_transform_parent_class)
      ->sink_event (trans, event);
}

static gboolean
gst_spectral_transform_src_event (GstBaseTransform *trans, GstEvent *event)
{
  gst_cuv_pace_event (&PRIV (GST_SPECTRAL_TRANSFORM (trans))->pace, event);
  return GST_BASE_TRANSFORM_CLASS (gst_spectral_transform_parent_class)
      ->src_event (trans, event);
}

/* NULL is the default. */
static gboolean
parse_components (const gchar *text, gint components[GST_SPECTRAL_SHOWN])
{
  gint c[GST_SPECTRAL_SHOWN];
  gchar end;

  if (sscanf (text != NULL ? text : DEFAULT_COMPONENTS, "%9d , %9d , %9d %c",
          &c[0], &c[1], &c[2], &end)
      != GST_SPECTRAL_SHOWN)
    return FALSE;
  for (gint i = 0; i < GST_SPECTRAL_SHOWN; i++)
    if (c[i] < 0 || c[i] > CUV_CUBE_MAX_BANDS)
      return FALSE;
  memcpy (components, c, sizeof c);
  return TRUE;
}

static gboolean
gst_spectral_transform_start (GstBaseTransform *trans)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (trans);
  GstSpectralTransformPrivate *priv = PRIV (self);
  gchar *text;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = priv->started =
      parse_components (priv->components, priv->settings.components);
  text = g_strdup (priv->components);
  priv->frames = priv->last = priv->sum = 0;
  GST_OBJECT_UNLOCK (self);
  if (!ok)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("components is '%s': it takes " COMPONENTS_TAKE ".", text), (NULL));
  g_free (text);
  gst_cuv_pace_init (&priv->pace, GST_ELEMENT (self));
  return ok
      && GST_BASE_TRANSFORM_CLASS (gst_spectral_transform_parent_class)
             ->start (trans);
}

static gboolean
gst_spectral_transform_stop (GstBaseTransform *trans)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (trans);

  drop_converter (self);
  GST_OBJECT_LOCK (self);
  PRIV (self)->started = FALSE;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (gst_spectral_transform_parent_class)
      ->stop (trans);
}

/* ---- properties ---- */

static GstStructure *
get_stats (GstSpectralTransform *self)
{
  GstSpectralTransformClass *klass = GST_SPECTRAL_TRANSFORM_GET_CLASS (self);
  GstSpectralTransformPrivate *priv = PRIV (self);
  GstStructure *stats;

  GST_OBJECT_LOCK (self);
  stats = gst_structure_new ("stats", "frames", G_TYPE_UINT64, priv->frames,
      "device", G_TYPE_STRING, "cpu", "microseconds", G_TYPE_UINT64,
      priv->last / GST_USECOND, "microseconds-mean", G_TYPE_UINT64,
      priv->frames > 0 ? priv->sum / priv->frames / GST_USECOND : 0, NULL);
  GST_OBJECT_UNLOCK (self);
  if (klass->add_stats != NULL)
    klass->add_stats (self, stats);
  return stats;
}

/* Before the start all texts are taken: start() looks again, and can fail. */
static void
set_components (GstSpectralTransform *self, const gchar *text)
{
  GstSpectralTransformPrivate *priv = PRIV (self);
  gboolean ok, started;

  GST_OBJECT_LOCK (self);
  started = priv->started;
  ok = parse_components (text, priv->settings.components);
  if (ok || !started) {
    g_free (priv->components);
    priv->components = g_strdup (text != NULL ? text : DEFAULT_COMPONENTS);
  }
  GST_OBJECT_UNLOCK (self);
  if (!ok && started)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("components '%s' is refused, the old ones stay: it "
         "takes " COMPONENTS_TAKE ".",
            text),
        (NULL));
}

static void
gst_spectral_transform_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (object);

  switch (id) {
    case PROP_COMPONENTS:
      set_components (self, g_value_get_string (value));
      break;
    case PROP_N_THREADS:
      GST_OBJECT_LOCK (self);
      PRIV (self)->settings.n_threads = g_value_get_int (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
gst_spectral_transform_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, get_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_COMPONENTS)
    g_value_set_string (value, PRIV (self)->components);
  else if (id == PROP_N_THREADS)
    g_value_set_int (value, PRIV (self)->settings.n_threads);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_spectral_transform_finalize (GObject *object)
{
  GstSpectralTransform *self = GST_SPECTRAL_TRANSFORM (object);

  drop_converter (self);
  g_free (PRIV (self)->components);
  G_OBJECT_CLASS (gst_spectral_transform_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  /**
   * GstSpectralTransform:components:
   *
   * Which components are red, green and blue: three numbers from 1 on, 0 for
   * black. Grey is one that is named three times.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_COMPONENTS,
      g_param_spec_string ("components", "Components",
          "Which components are red, green and blue, from 1 on (0 = black)",
          DEFAULT_COMPONENTS, GST_CUV_PARAM_LIVE));
  /**
   * GstSpectralTransform:n-threads:
   *
   * Threads for work on the CPU, 0 = one per processor. Results are the same
   * for every number.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_N_THREADS,
      g_param_spec_int ("n-threads", "Threads",
          "Threads for work on the CPU (0 = one per processor)", 0, 1024, 0,
          GST_CUV_PARAM_LIVE));
  /**
   * GstSpectralTransform:stats:
   *
   * frames (guint64), device (cpu), microseconds and microseconds-mean
   * (guint64, of a frame), and the element's own counts.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_spectral_transform_class_init (GstSpectralTransformClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_spectral_transform_set_property;
  object_class->get_property = gst_spectral_transform_get_property;
  object_class->finalize = gst_spectral_transform_finalize;
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_spectral_transform_transform_caps);
  trans_class->get_unit_size =
      GST_DEBUG_FUNCPTR (gst_spectral_transform_get_unit_size);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_spectral_transform_transform);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_spectral_transform_query);
  trans_class->sink_event =
      GST_DEBUG_FUNCPTR (gst_spectral_transform_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_spectral_transform_src_event);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_transform_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_transform_stop);
  transform_class->set_info = gst_spectral_transform_set_info;
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_SPECTRAL_TRANSFORM, 0);
}

static void
gst_spectral_transform_init (GstSpectralTransform *self)
{
  PRIV (self)->components = g_strdup (DEFAULT_COMPONENTS);
  parse_components (NULL, PRIV (self)->settings.components);
  gst_cuv_pace_init (&PRIV (self)->pace, GST_ELEMENT (self));
}
