/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtracksettings.h"

#include <stdlib.h>
#include <string.h>

#include "gstrcdpicture.h"
#include "settings/gstcuvmetadata.h"

#define AT(field) G_STRUCT_OFFSET (GstRcdSettings, field)

/* ---- checks ---- */

static gchar *
gst_rcd_track_check (gconstpointer settings)
{
  const GstRcdSettings *self = settings;
  const CuvTrackerConfig *config = &self->config;
  const CuvRcdBox *box = &self->box;
  guint n_set =
      (box->x >= 0) + (box->y >= 0) + (box->width > 0) + (box->height > 0);

  if (n_set != 0 && n_set != 4)
    return g_strdup_printf (
        "object-initial-x %d, -y %d, -width %d, -height %d are not a box: %s",
        box->x, box->y, box->width, box->height,
        box->x >= 0 && box->y >= 0
            ? "set width and height to 1 pixel or more, or x and y to -1 for "
              "no box"
            : "set all four, or none (-1, -1, 0, 0)");
  if (config->cell > 0 && config->stride % config->cell != 0)
    return g_strdup_printf ("cell %d does not divide stride %d: set cell to a "
                            "divisor of it, or to 0",
        config->cell, config->stride);
  return gst_cuv_metadata_problem (self->metadata);
}

gchar *
gst_rcd_settings_check_box (const GstRcdSettings *self, gint width, gint height)
{
  const CuvRcdBox *box = &self->box;

  if (box->x + box->width <= width && box->y + box->height <= height)
    return NULL;
  return g_strdup_printf (
      "object-initial-x %d, -y %d, -width %d, -height %d is not inside the "
      "frame, which is %dx%d: set a box inside the frame",
      box->x, box->y, box->width, box->height, width, height);
}

/* ---- parsing ---- */

static int
compare_scales (const void *a, const void *b)
{
  gdouble first = *(const gdouble *) a, second = *(const gdouble *) b;

  return (first > second) - (first < second);
}

static gchar *
parse_scales (gpointer settings)
{
  GstRcdSettings *self = settings;
  CuvTrackerParams *params = &self->params, defaults;
  guint n = self->scales != NULL ? gst_value_array_get_size (self->scales) : 0;

  if (n > CUV_RCD_MAX_LEVELS)
    return g_strdup_printf (
        "expected at most %d values, got %u", CUV_RCD_MAX_LEVELS, n);
  cuv_tracker_params_init (&defaults);
  memcpy (params->scales, defaults.scales, sizeof params->scales);
  params->n_scales = n > 0 ? (gint) n : defaults.n_scales;
  for (guint i = 0; i < n; i++)
    params->scales[i] =
        g_value_get_double (gst_value_array_get_value (self->scales, i));
  qsort (params->scales, n, sizeof *params->scales, compare_scales);
  return NULL;
}

static gchar *
parse_object_class (gpointer settings)
{
  GstRcdSettings *self = settings;
  const gchar *label = self->object_class;

  self->region_label =
      label != NULL && *label != '\0' ? g_quark_from_string (label) : 0;
  return NULL;
}

static gchar *
parse_target_image (gpointer settings)
{
  GstRcdSettings *self = settings;
  const gchar *path = self->target_image;

  g_clear_pointer (&self->picture, gst_sample_unref);
  return path != NULL && *path != '\0'
      ? gst_rcd_picture_load (path, &self->picture)
      : NULL;
}

/* ---- enums ---- */

GST_CUV_DEFINE_ENUM (features_get_type, "GstRcdFeatures",
    { CUV_RCD_RGB_GRAD, "R G B Ix Iy, or Y U V Ix Iy", "rgb-grad" },
    { CUV_RCD_TUZEL9, "x y R G B |Ix| |Iy| |Ixx| |Iyy|, or with Y U V",
        "tuzel9" },
    { CUV_RCD_GREY_GRAD, "I Ix Iy, without colour", "grey-grad" })

GST_CUV_DEFINE_ENUM (metric_get_type, "GstRcdMetric",
    { CUV_RCD_JBLD, "Jensen-Bregman log det divergence", "jbld" },
    { CUV_RCD_FORSTNER, "Foerstner's distance, from generalised eigenvalues",
        "forstner" })

GST_CUV_DEFINE_ENUM (search_get_type, "GstRcdSearch",
    { FALSE, "Around the last box; in the whole frame when lost", "local" },
    { TRUE, "Always in the whole frame", "full" })

GST_CUV_DEFINE_ENUM (update_get_type, "GstRcdUpdate",
    { CUV_RCD_UPDATE_NONE, "Keep the first model", "none" },
    { CUV_RCD_UPDATE_LOG_EUCLID, "Running mean of the covariances' logarithms",
        "log-euclid" },
    { CUV_RCD_UPDATE_RIEMANN, "Riemannian mean of the last covariances",
        "riemann" },
    { CUV_RCD_UPDATE_JBLD, "JBLD mean of the last covariances", "jbld-mean" },
    { CUV_RCD_UPDATE_MOMENTS, "Running mean of sums per pixel", "moments" })

GST_CUV_DEFINE_ENUM (draw_get_type, "GstRcdDraw",
    { FALSE, "Leave the frame as it is", "none" },
    { TRUE, "The first target's distance everywhere, near is bright",
        "distance-map" })

/* ---- table ---- */

static GParamSpec *
make_scales_spec (void)
{
  return gst_param_spec_array ("scales", "Scales",
      "Sizes of the windows relative to the target (none = 0.25 to 2 in steps "
      "of 0.25)",
      g_param_spec_double ("scale", "Scale",
          "Size of a window relative to the target", 0.05, 20, 1,
          GST_CUV_PARAM_LIVE),
      GST_CUV_PARAM_LIVE);
}

/**
 * GstRcdTrack:object-class:
 *
 * While fewer than max-targets objects are tracked, the first region of
 * interest with this label that contains no target becomes one; without a
 * label, any region.
 *
 * Since: 0.1
 */
/**
 * GstRcdTrack:target-image:
 *
 * A picture of a target, which is searched for in the whole frame: PNG, JPEG or
 * any other format that GStreamer decodes. Setting it again, even to the same
 * path, replaces the target of the previous picture.
 *
 * Since: 0.1
 */
/**
 * GstRcdTrack:correlation:
 *
 * A correlation filter learns the arrangement of gradients in the target. It
 * determines position and size while it recognises the target, and confirms
 * places where a lost target is found by its covariance.
 *
 * Since: 0.2
 */
/**
 * GstRcdTrack:scales:
 *
 * Sizes of the windows that are compared, relative to the target's. Up to 32,
 * in any order.
 *
 * Since: 0.1
 */
/**
 * GstRcdTrack:object-initial-x:
 *
 * The four properties object-initial-* together are a box around a target in
 * the next frame. A new box replaces the target of the previous one.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "targets", "Targets", "Number of targets that are tracked",
      .type = G_TYPE_UINT, .maximum = CUV_RCD_MAX_TARGETS,
      .get = gst_rcd_track_get_targets },
  { "object-class", "Object class",
      "Label of the regions from upstream to take targets from (empty = any)",
      .offset = AT (object_class), .type = G_TYPE_STRING,
      .parse = parse_object_class },
  { "target-image", "Target image",
      "Path of a picture of a target (empty = none)",
      .offset = AT (target_image), .type = G_TYPE_STRING,
      .parse = parse_target_image, .is_file = TRUE },
  { "scales", .offset = AT (scales), .get_type = gst_value_array_get_type,
      .make_spec = make_scales_spec, .parse = parse_scales },
  { "object-initial-x", "Initial object left",
      "Left edge of a target in the first frame, in pixels (-1 = no target)",
      .offset = AT (box.x), .type = G_TYPE_INT, .minimum = -1,
      .maximum = CUV_RCD_MAX_SIZE - 1, .value = -1 },
  { "object-initial-y", "Initial object top",
      "Top edge of a target in the first frame, in pixels (-1 = no target)",
      .offset = AT (box.y), .type = G_TYPE_INT, .minimum = -1,
      .maximum = CUV_RCD_MAX_SIZE - 1, .value = -1 },
  { "object-initial-width", "Initial object width",
      "Width of a target in the first frame, in pixels (0 = no target)",
      .offset = AT (box.width), .type = G_TYPE_INT,
      .maximum = CUV_RCD_MAX_SIZE },
  { "object-initial-height", "Initial object height",
      "Height of a target in the first frame, in pixels (0 = no target)",
      .offset = AT (box.height), .type = G_TYPE_INT,
      .maximum = CUV_RCD_MAX_SIZE },
  { "features", "Features",
      "Features of pixels; their covariance describes a target",
      .offset = AT (config.features), .get_type = features_get_type,
      .value = CUV_RCD_TUZEL9 },
  { "metric", "Metric", "Distance measure between two covariances",
      .offset = AT (config.metric), .get_type = metric_get_type,
      .value = CUV_RCD_JBLD },
  { "stride", "Stride",
      "Pixels from one window to the next (0 = derived from the size of the "
      "targets)",
      .offset = AT (config.stride), .type = G_TYPE_UINT, .maximum = 1024 },
  { "cell", "Cell",
      "Side of a cell in pixels, a divisor of the stride: windows begin and "
      "end at cell borders (0 = the largest divisor of the stride up to 16)",
      .offset = AT (config.cell), .type = G_TYPE_UINT,
      .maximum = CUV_RCD_MAX_CELL },
  { "search", "Search", "Area to search for a target that is not lost",
      .offset = AT (params.full), .get_type = search_get_type },
  { "search-radius", "Search radius",
      "Pixels to search around the last box (0 = the larger side of the box)",
      .offset = AT (params.radius), .type = G_TYPE_UINT,
      .maximum = CUV_RCD_MAX_SIZE },
  { "refine", "Refine",
      "Refine the position and size of the best window to a pixel",
      .offset = AT (params.refine), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "correlation", "Correlation",
      "Also follow targets with a correlation filter while they are not lost "
      "(search=local)",
      .offset = AT (params.correlation), .type = G_TYPE_BOOLEAN,
      .value = TRUE },
  { "update", "Update", "How the model of a target is updated",
      .offset = AT (params.update.update), .get_type = update_get_type,
      .value = CUV_RCD_UPDATE_LOG_EUCLID },
  { "update-rate", "Update rate",
      "Weight of the new covariance in the model (update=log-euclid or "
      "moments)",
      .offset = AT (params.update.rate), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = 0.04 },
  { "update-window", "Update window",
      "Number of covariances whose mean is the model (update=riemann or "
      "jbld-mean)",
      .offset = AT (params.update.window), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_RCD_MAX_WINDOW, .value = 40 },
  { "max-distance", "Maximum distance",
      "Distance above which a target is lost (0 = automatic: a limit that "
      "depends on features and metric; a target is then also lost after ten "
      "doubtful frames in a row)",
      .offset = AT (params.max_distance), .type = G_TYPE_DOUBLE,
      .maximum = 1000 },
  { "max-lost-frames", "Maximum lost frames",
      "Give up a target that has been lost for more frames than this (0 = "
      "never)",
      .offset = AT (params.max_lost_frames), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 100 },
  { "max-targets", "Maximum targets",
      "Maximum number of targets to track at once",
      .offset = AT (config.max_targets), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_RCD_MAX_TARGETS, .value = 1 },
  { "request-detections", "Request detections",
      "Have the detector upstream analyse every frame while nothing is "
      "tracked",
      .offset = AT (request_detections), .type = G_TYPE_BOOLEAN,
      .value = TRUE },
  { "confirm-detections", "Confirm detections",
      "Number of frames in which the detector must find a target before the "
      "target is published (0 = publish at once, without further detections)",
      .offset = AT (confirm_detections), .type = G_TYPE_UINT, .maximum = 1000,
      .value = 3 },
  { "max-undetected-frames", "Maximum undetected frames",
      "Give up a detected target that no detection has confirmed for more "
      "analysed frames than this (0 = never)",
      .offset = AT (max_undetected_frames), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 250 },
  { "draw", "Draw", "What to draw over the frame", .offset = AT (draw),
      .get_type = draw_get_type },
  GST_CUV_METADATA_SETTING (AT (metadata)),
};

static const GstCuvOwnedField owned[] = {
  { AT (picture), gst_sample_get_type },
};

const GstCuvSettingsTable gst_rcd_settings = {
  GST_CUV_SETTINGS (GstRcdSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = gst_rcd_track_check,
};
