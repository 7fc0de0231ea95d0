/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-spectralrgb
 * @title: spectralrgb
 * @short_description: shows three bands of spectral images
 *
 * Makes a picture of three bands of a cube, each stretched between its own
 * percentiles, which are smoothed over frames. Runs on the CPU: it reads only
 * three bands, and of a mapped BSQ file only their pages.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=scene.hdr ! spectralrgb
 * bands=650nm,550nm,450nm ! videoconvert ! autovideosink
 * ]| Shows an ENVI file in nearly natural colours.
 *
 * Since: 0.1
 */
#include "config.h"

#include "spectral/gstcuvspectralcaps.h"
#include "spectral/gstcuvspectralempty.h"
#include "spectral/gstcuvspectralheader.h"
#include "gstspectralrgbbands.h"
#include "settings/gstcuvsettings.h"

GST_DEBUG_CATEGORY_STATIC (spectral_rgb_debug);
#define GST_CAT_DEFAULT spectral_rgb_debug

typedef struct {
  gchar *bands;
  gdouble percentile, smoothing;
} Settings;

#define GST_TYPE_SPECTRAL_RGB (gst_spectral_rgb_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpectralRgb, gst_spectral_rgb, GST, SPECTRAL_RGB, GstBaseTransform)

struct _GstSpectralRgb {
  GstBaseTransform parent;

  GstCuvSettings settings;

  /* under the object lock */
  guint64 frames;
  CuvRgbBands last; /* shown in the last frame */

  /* used by the streaming thread only */
  GstCuvSpectralInfo info;
  GstVideoInfo video;
  CuvRgbBands bands; /* bands that the limits were computed for */
  CuvRgbLimits limits;
  gboolean has_limits;
  gboolean knows_empty; /* bands are marked in info */
  gboolean warned;      /* warned that no pixel is valid */
  guint32 *bins;
};

#define gst_spectral_rgb_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpectralRgb, gst_spectral_rgb,
    GST_TYPE_BASE_TRANSFORM, G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DECLARE (spectralrgb);
GST_ELEMENT_REGISTER_DEFINE (
    spectralrgb, "spectralrgb", GST_RANK_NONE, GST_TYPE_SPECTRAL_RGB)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (
        "video/x-raw, format = (string) { RGBx, RGBA }, " GST_CUV_SPECTRAL_SIZES));
/* clang-format on */

/* ---- caps ---- */

static gboolean
gst_spectral_rgb_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstSpectralRgb *self = GST_SPECTRAL_RGB (trans);
  gchar *problem;

  self->has_limits = self->knows_empty = FALSE;
  if (!gst_video_info_from_caps (&self->video, out_caps))
    return FALSE;
  if (gst_cuv_spectral_info_from_caps (&self->info, in_caps, &problem))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The caps do not describe a spectral image: %s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

/* ---- a frame ---- */

/* Returns FALSE after an element error. Only auto reads the header, of up to 16
 * MiB. */
static gboolean
choose_bands (
    GstSpectralRgb *self, const gchar *text, GstBuffer *in, CuvRgbBands *bands)
{
  const gboolean is_auto =
      text == NULL || strcmp (text, GST_SPECTRAL_RGB_AUTO) == 0;
  gchar *header =
      is_auto ? gst_cuv_spectral_header_text (in, &self->info) : NULL;
  gchar *problem = gst_spectral_rgb_bands (text, &self->info, header, bands);

  g_free (header);
  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

/* Smoothing restarts when the bands change. Returns FALSE if no pixel is valid.
 */
static gboolean
update_limits (GstSpectralRgb *self, const CuvCube *cube,
    const CuvRgbBands *bands, const Settings *settings)
{
  const gboolean same = self->has_limits
      && memcmp (bands->band, self->bands.band, sizeof bands->band) == 0;
  const gfloat share = same ? (gfloat) settings->smoothing : 1;
  CuvRgbLimits now;

  if (!same)
    self->limits = (CuvRgbLimits){ 0 };
  self->bands = *bands;
  self->has_limits = same;
  if (!cuv_rgb_limits_find (
          &now, cube, bands, settings->percentile, self->bins))
    return FALSE;
  self->has_limits = TRUE;
  for (gint c = 0; c < CUV_RGB_CHANNELS; c++) {
    self->limits.low[c] =
        share * now.low[c] + (1 - share) * self->limits.low[c];
    self->limits.high[c] =
        share * now.high[c] + (1 - share) * self->limits.high[c];
  }
  return TRUE;
}

static void
gst_spectral_rgb_warn (GstSpectralRgb *self, gchar *text)
{
  GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s.", text), (NULL));
  g_free (text);
}

/* Marks bands without a valid sample, once per caps, so that others are chosen.
 * Called only after a frame without a valid pixel, because it reads all bands
 * of a mapped file from the disk. */
static gboolean
mark_empty_bands (GstSpectralRgb *self, const CuvCube *cube)
{
  gchar *warning = NULL;

  if (!self->knows_empty)
    self->knows_empty =
        gst_cuv_spectral_info_mark_empty (&self->info, cube, &warning);
  if (warning == NULL)
    return FALSE;
  gst_spectral_rgb_warn (self, warning);
  return TRUE;
}

/* Warns that no pixel is valid, once per start. */
static void
warn_of_nothing (GstSpectralRgb *self)
{
  if (!self->warned)
    gst_spectral_rgb_warn (
        self, gst_cuv_spectral_info_nothing_valid (&self->info));
  self->warned = TRUE;
}

static GstFlowReturn
gst_spectral_rgb_paint (GstSpectralRgb *self, const CuvCube *cube,
    const CuvRgbBands *bands, GstBuffer *out)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, &self->video, out, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot map an output buffer as a picture of %dx%d pixels: the next "
         "element's buffer pool does not match the caps.",
            self->info.width, self->info.height),
        (NULL));
    return GST_FLOW_ERROR;
  }
  cuv_rgb_paint (&self->limits, cube, bands,
      GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
  gst_video_frame_unmap (&frame);
  GST_OBJECT_LOCK (self);
  self->frames++;
  self->last = *bands;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
transform_cube (
    GstSpectralRgb *self, const CuvCube *cube, GstBuffer *in, GstBuffer *out)
{
  const Settings *settings = self->settings.in_force;
  CuvRgbBands bands;

  gboolean any;

  if (!choose_bands (self, settings->bands, in, &bands))
    return GST_FLOW_ERROR;
  any = update_limits (self, cube, &bands, settings);
  if (!any && mark_empty_bands (self, cube)) {
    if (!choose_bands (self, settings->bands, in, &bands))
      return GST_FLOW_ERROR;
    any = update_limits (self, cube, &bands, settings);
  }
  if (!any)
    warn_of_nothing (self);
  return gst_spectral_rgb_paint (self, cube, &bands, out);
}

static GstFlowReturn
gst_spectral_rgb_transform (
    GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  GstSpectralRgb *self = GST_SPECTRAL_RGB (trans);
  const GstClockTime time = trans->segment.format != GST_FORMAT_TIME
      ? GST_CLOCK_TIME_NONE
      : gst_segment_to_stream_time (
          &trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (in));
  GstFlowReturn flow;
  GstMapInfo map;
  CuvCube cube;
  gchar *problem;

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
  problem = gst_cuv_spectral_info_map (&self->info, in, &map, &cube);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("%s.", problem), (NULL));
    g_free (problem);
    return GST_FLOW_ERROR;
  }
  gst_cuv_settings_apply_changes (&self->settings, NULL, NULL);
  flow = transform_cube (self, &cube, in, out);
  gst_buffer_unmap (in, &map);
  return flow;
}

/* The geometry is unchanged: custom metas stay valid. */
static gboolean
gst_spectral_rgb_transform_meta (
    GstBaseTransform *trans, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return gst_meta_info_is_custom (meta->info)
      || GST_BASE_TRANSFORM_CLASS (parent_class)
             ->transform_meta (trans, out, meta, in);
}

static gboolean
gst_spectral_rgb_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    GST_SPECTRAL_RGB (trans)->has_limits = FALSE;
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

static gboolean
gst_spectral_rgb_start (GstBaseTransform *trans)
{
  GstSpectralRgb *self = GST_SPECTRAL_RGB (trans);

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->frames = 0;
  GST_OBJECT_UNLOCK (self);
  self->has_limits = self->warned = FALSE;
  self->bins = g_new (guint32, 2 * CUV_RGB_BINS);
  return TRUE;
}

static gboolean
gst_spectral_rgb_stop (GstBaseTransform *trans)
{
  GstSpectralRgb *self = GST_SPECTRAL_RGB (trans);

  g_clear_pointer (&self->bins, g_free);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

/* ---- properties ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

static gchar *
parse_bands (gpointer settings)
{
  return gst_spectral_rgb_bands_check (((const Settings *) settings)->bands)
      ? NULL
      : g_strdup (
          "expected auto, or three band numbers or wavelengths, for example "
          "29,19,9 or 650nm,550nm,0.45um");
}

static void
gst_spectral_rgb_get_stats (GstElement *element, GValue *value)
{
  GstSpectralRgb *self = GST_SPECTRAL_RGB (element);
  const gint32 *band = self->last.band;
  gint first;

  GST_OBJECT_LOCK (self);
  first = self->frames > 0;
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, self->frames, "red",
          G_TYPE_INT, band[0] + first, "green", G_TYPE_INT, band[1] + first,
          "blue", G_TYPE_INT, band[2] + first, NULL));
  GST_OBJECT_UNLOCK (self);
}

/**
 * GstSpectralRgb:bands:
 *
 * Which bands are red, green and blue: three numbers from 1 on, or
 * wavelengths, for example 650nm or 0.65um. auto: the header's default bands,
 * otherwise those nearest to 650, 550 and 450 nm, otherwise 1, 2, 3.
 *
 * Since: 0.1
 */
/**
 * GstSpectralRgb:stats:
 *
 * frames (guint64); red, green, blue (int): the bands shown last, from 1 on.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "bands", "Bands",
      "Bands shown as red, green and blue: auto, or three numbers (from 1) or "
      "wavelengths, for example 650nm,550nm,450nm",
      .offset = AT (bands), .type = G_TYPE_STRING,
      .text = GST_SPECTRAL_RGB_AUTO, .parse = parse_bands },
  { "percentile", "Percentile",
      "Percentage of each band's pixels shown as black, and the same "
      "percentage as white",
      .offset = AT (percentile), .type = G_TYPE_DOUBLE, .maximum = 49,
      .value = 2 },
  { "smoothing", "Smoothing",
      "Weight of the current frame in the smoothed black and white limits (1 = "
      "no smoothing)",
      .offset = AT (smoothing), .type = G_TYPE_DOUBLE, .minimum = 0.001,
      .maximum = 1, .value = 0.1 },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_spectral_rgb_get_stats },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
};

/* ---- class ---- */

static void
gst_spectral_rgb_class_init (GstSpectralRgbClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      spectral_rgb_debug, "spectralrgb", 0, "three bands of spectral images");
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_caps_transform_caps);
  trans_class->transform_size =
      GST_DEBUG_FUNCPTR (gst_cuv_spectral_caps_transform_size);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_spectral_rgb_set_caps);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_spectral_rgb_transform);
  trans_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_spectral_rgb_transform_meta);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_spectral_rgb_sink_event);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_spectral_rgb_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_spectral_rgb_stop);
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Three bands",
      "Filter/Converter/Video", "Shows three bands of spectral images",
      "The gst-cuvision authors");
}

static void
gst_spectral_rgb_init (GstSpectralRgb *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
}
