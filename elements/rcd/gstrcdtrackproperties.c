/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtrackproperties.h"

#define AT(field) G_STRUCT_OFFSET (GstRcdValues, field)

/* ---- enums ---- */

static GType
features_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_RCD_RGB_GRAD, "R G B Ix Iy, or Y U V Ix Iy", "rgb-grad" },
    { CUV_RCD_TUZEL9, "x y R G B |Ix| |Iy| |Ixx| |Iyy|, or with Y U V",
        "tuzel9" },
    { CUV_RCD_GREY_GRAD, "I Ix Iy, without colour", "grey-grad" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstRcdFeatures", values);
}

static GType
metric_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_RCD_JBLD, "Jensen-Bregman log det divergence", "jbld" },
    { CUV_RCD_FORSTNER, "Foerstner's, of generalised eigenvalues", "forstner" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstRcdMetric", values);
}

static GType
search_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { FALSE, "Around the last place, in the whole frame when lost", "local" },
    { TRUE, "In the whole frame, always", "full" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstRcdSearch", values);
}

static GType
update_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_RCD_UPDATE_NONE, "The first model stays", "none" },
    { CUV_RCD_UPDATE_LOG_EUCLID, "Moves to what is found, by logarithms",
        "log-euclid" },
    { CUV_RCD_UPDATE_RIEMANN, "The intrinsic mean of the last ones",
        "riemann" },
    { CUV_RCD_UPDATE_JBLD, "The mean of the last ones by their JBLD",
        "jbld-mean" },
    { CUV_RCD_UPDATE_MOMENTS, "Moves to what is found, by sums", "moments" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstRcdUpdate", values);
}

static GType
draw_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { FALSE, "Leave the frame as it is", "none" },
    { TRUE, "The first target's distance everywhere, near is bright",
        "distance-map" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstRcdDraw", values);
}

/* ---- the table ---- */

/**
 * GstRcdTrack:object-initial-x:
 *
 * The four together are the place of a target in the next frame. A new box
 * takes the place of the target that the one before gave.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "object-initial-x", "Initial object left",
      "Left of a target in the first frame, pixels (-1 = no target)",
      AT (box.x), G_TYPE_INT, NULL, -1, CUV_RCD_MAX_SIZE - 1, -1, 0 },
  { "object-initial-y", "Initial object top",
      "Top of a target in the first frame, pixels (-1 = no target)", AT (box.y),
      G_TYPE_INT, NULL, -1, CUV_RCD_MAX_SIZE - 1, -1, 0 },
  { "object-initial-width", "Initial object width",
      "Width of a target in the first frame, pixels (0 = no target)",
      AT (box.width), G_TYPE_INT, NULL, 0, CUV_RCD_MAX_SIZE, 0, 0 },
  { "object-initial-height", "Initial object height",
      "Height of a target in the first frame, pixels (0 = no target)",
      AT (box.height), G_TYPE_INT, NULL, 0, CUV_RCD_MAX_SIZE, 0, 0 },
  { "features", "Features", "What is looked at in a pixel", AT (features), 0,
      features_get_type, 0, 0, CUV_RCD_TUZEL9, 0 },
  { "metric", "Metric", "How far two covariances are from each other",
      AT (metric), 0, metric_get_type, 0, 0, CUV_RCD_JBLD, 0 },
  { "stride", "Stride",
      "Pixels from one window to the next (0 = by the targets' size)",
      AT (stride), G_TYPE_UINT, NULL, 0, 1024, 0, 0 },
  { "cell", "Cell",
      "Pixels of a cell, across and down: windows begin and end between cells; "
      "divides the stride (0 = its largest divisor up to 16)",
      AT (cell), G_TYPE_UINT, NULL, 0, CUV_RCD_MAX_CELL, 0, 0 },
  { "search", "Search", "Where to look for a target that is not lost",
      AT (full), 0, search_get_type, 0, 0, FALSE, 0 },
  { "search-radius", "Search radius",
      "Pixels around the last box to look at (0 = the box's larger side)",
      AT (search_radius), G_TYPE_UINT, NULL, 0, CUV_RCD_MAX_SIZE, 0, 0 },
  { "refine", "Refine", "Look around the best window, down to a pixel",
      AT (refine), G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
  { "update", "Update", "How a target's model follows what is found",
      AT (update), 0, update_get_type, 0, 0, CUV_RCD_UPDATE_LOG_EUCLID, 0 },
  { "update-rate", "Update rate",
      "Share of what is found in the model (update=log-euclid, moments)",
      AT (update_rate), G_TYPE_DOUBLE, NULL, 0, 1, 0.04, 0 },
  { "update-window", "Update window",
      "Covariances that the model is the mean of (update=riemann, jbld-mean)",
      AT (update_window), G_TYPE_UINT, NULL, 1, CUV_RCD_MAX_WINDOW, 40, 0 },
  { "max-distance", "Maximum distance",
      "A target is lost beyond this distance (0 = by features and metric, and "
      "after ten frames of doubt)",
      AT (max_distance), G_TYPE_DOUBLE, NULL, 0, 1000, 0, 0 },
  { "max-lost-frames", "Maximum lost frames",
      "Give a target up that is lost for more frames than this (0 = never)",
      AT (max_lost_frames), G_TYPE_UINT, NULL, 0, G_MAXINT, 100, 0 },
  { "max-targets", "Maximum targets", "Most targets to follow at once",
      AT (max_targets), G_TYPE_UINT, NULL, 1, CUV_RCD_MAX_TARGETS, 1, 0 },
  { "request-detections", "Request detections",
      "Have the detector before it analyse each frame while nothing is "
      "followed",
      AT (request_detections), G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
  { "draw", "Draw", "What to draw over the frame", AT (draw), 0, draw_get_type,
      0, 0, FALSE, 0 },
};

gpointer
gst_rcd_property_place (GstRcdValues *values, guint id)
{
  return G_STRUCT_MEMBER_P (values, properties[id - GST_RCD_PROP_FIRST].offset);
}

void
gst_rcd_properties_reset (GstRcdValues *values)
{
  *values = (GstRcdValues){ 0 };
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), values);
}

static void
install_texts (GObjectClass *klass)
{
  /**
   * GstRcdTrack:object-class:
   *
   * Where there is room for a target one is taken from the first region of
   * interest with this label, of any if there is none, in which no target is
   * yet.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_RCD_PROP_OBJECT_CLASS,
      g_param_spec_string ("object-class", "Object class",
          "Label of the regions from upstream to take targets from (empty = "
          "any)",
          NULL, GST_CUV_PARAM_LIVE));
  /**
   * GstRcdTrack:target-image:
   *
   * A picture of a target, which is looked for in the whole frame: PNG, JPEG or
   * what else GStreamer decodes. A new one takes the place of the target that
   * the one before gave.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_RCD_PROP_TARGET_IMAGE,
      g_param_spec_string ("target-image", "Target image",
          "Path of a picture of a target (empty = none)", NULL,
          GST_CUV_PARAM_LIVE));
}

void
gst_rcd_properties_install (GObjectClass *klass)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), GST_RCD_PROP_FIRST);
  install_texts (klass);
  /**
   * GstRcdTrack:scales:
   *
   * Sizes of the windows that are compared, by that of the target. Up to 32, in
   * any order.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_RCD_PROP_SCALES,
      gst_param_spec_array ("scales", "Scales",
          "Sizes of windows by the target's (none = 0.25 to 2 in steps of "
          "0.25)",
          g_param_spec_double ("scale", "Scale", "A window's size", 0.05, 20, 1,
              GST_CUV_PARAM_LIVE),
          GST_CUV_PARAM_LIVE));
  g_object_class_install_property (klass, GST_RCD_PROP_TARGETS,
      g_param_spec_uint ("targets", "Targets", "Targets that are followed", 0,
          CUV_RCD_MAX_TARGETS, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}
