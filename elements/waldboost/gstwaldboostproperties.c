/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostproperties.h"

#include "gstwaldboostsettings.h"

#define AT(field) G_STRUCT_OFFSET (GstWaldboostSettings, field)
#define FIRST GST_WALDBOOST_N_TEXTS

/**
 * GstWaldboostDetect:threshold:
 *
 * Confidence is 1 / (1 + exp (-s)), s the last sum minus its threshold, the
 * largest of a group: accepted windows have s >= 0, so values up to 0.5 let all
 * pass. A model that gives all windows the same s has no confidence, and its
 * objects pass always.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:inference-region:
 *
 * With roi-list the detector runs on each region of interest that the buffer
 * comes with, as if it were the picture. Objects have its id as parent_id.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "scan", "Scan", "Which windows are looked at", AT (params.scan), 0,
      gst_waldboost_scan_get_type, 0, 0, CUV_SCAN_AUTO, GST_WALDBOOST_PLAN },
  { "scale-factor", "Scale factor",
      "Ratio of window sizes from one level to the next (scan=opencv)",
      AT (params.scale_factor), G_TYPE_DOUBLE, NULL, 1.01, 10, 1.1,
      GST_WALDBOOST_PLAN },
  { "octaves", "Octaves", "How often window sizes double (scan=dense)",
      AT (params.octaves), G_TYPE_UINT, NULL, 1, 16, 4, GST_WALDBOOST_PLAN },
  { "levels-per-octave", "Levels per octave",
      "Window sizes from one to its double (scan=dense)",
      AT (params.levels_per_octave), G_TYPE_UINT, NULL, 1, 64, 8,
      GST_WALDBOOST_PLAN },
  { "min-size-width", "Minimum size width",
      "Least width of an object, pixels (0 = no limit)", AT (params.min_width),
      G_TYPE_UINT, NULL, 0, G_MAXINT16, 0, GST_WALDBOOST_PLAN },
  { "min-size-height", "Minimum size height",
      "Least height of an object, pixels (0 = no limit)",
      AT (params.min_height), G_TYPE_UINT, NULL, 0, G_MAXINT16, 0,
      GST_WALDBOOST_PLAN },
  { "max-size-width", "Maximum size width",
      "Most width of an object, pixels (0 = no limit)", AT (params.max_width),
      G_TYPE_UINT, NULL, 0, G_MAXINT16, 0, GST_WALDBOOST_PLAN },
  { "max-size-height", "Maximum size height",
      "Most height of an object, pixels (0 = no limit)", AT (params.max_height),
      G_TYPE_UINT, NULL, 0, G_MAXINT16, 0, GST_WALDBOOST_PLAN },
  { "rearrangement", "Rearrangement",
      "How the GPU closes up the windows left after a segment of weak "
      "classifiers; all find the same, auto: how and where it measured fastest",
      AT (params.rearrangement), 0, gst_waldboost_rearrangement_get_type, 0, 0,
      CUV_REARRANGE_AUTO, GST_WALDBOOST_PLAN },
  { "block-size", "Block size",
      "Windows, square, that a block of GPU threads begins with; changes "
      "nothing of where rearrangement=auto closes up",
      AT (params.block_size), 0, gst_waldboost_block_size_get_type, 0, 0, 0,
      GST_WALDBOOST_PLAN },
  { "arithmetic", "Arithmetic", "How responses of a WaldBoost model add up",
      AT (options.arithmetic), 0, gst_waldboost_arithmetic_get_type, 0, 0,
      CUV_ARITHMETIC_AUTO, GST_WALDBOOST_MODEL },
  { "lrp-order", "LRP order",
      "How tables of local rank patterns are indexed (BUT FIT models)",
      AT (options.lrp_order_10ab), 0, gst_waldboost_lrp_order_get_type, 0, 0, 0,
      GST_WALDBOOST_MODEL },
  { "block-value", "Block value",
      "What stands for a block of pixels (BUT FIT models)",
      AT (options.block_value), 0, gst_waldboost_block_value_get_type, 0, 0,
      CUV_BLOCK_SUM, GST_WALDBOOST_MODEL },
  { "final-threshold", "Final threshold",
      "A window's sum must be above it in the end (BUT FIT models)",
      AT (options.final_threshold), G_TYPE_FLOAT, NULL, -1000, 1000, 0,
      GST_WALDBOOST_MODEL },
  { "grouping", "Grouping", "How windows become objects", AT (grouping.method),
      0, gst_waldboost_grouping_get_type, 0, 0, CUV_GROUPING_AUTO,
      GST_WALDBOOST_NOTHING },
  { "min-neighbors", "Minimum neighbors",
      "An object is a group of more windows than this, 0 = no grouping "
      "(grouping=neighbors and wbd)",
      AT (grouping.min_neighbours), G_TYPE_UINT, NULL, 0, G_MAXINT, 3,
      GST_WALDBOOST_NOTHING },
  { "nms-iou", "NMS overlap",
      "Most intersection over union of two objects (grouping=nms)",
      AT (grouping.nms_iou), G_TYPE_DOUBLE, NULL, 0, 1, 0.3,
      GST_WALDBOOST_NOTHING },
  { "max-objects", "Maximum objects",
      "Most objects to publish for a frame, the surest first (0 = all)",
      AT (max_objects), G_TYPE_UINT, NULL, 0, G_MAXINT, 0,
      GST_WALDBOOST_NOTHING },
  { "threshold", "Threshold", "Lowest confidence to publish", AT (threshold),
      G_TYPE_DOUBLE, NULL, 0, 1, 0, GST_WALDBOOST_NOTHING },
  { "inference-region", "Inference region",
      "Where to look: the frame, or regions of interest from upstream",
      AT (region_mode), 0, gst_waldboost_region_mode_get_type, 0, 0,
      GST_WALDBOOST_FULL_FRAME, GST_WALDBOOST_NOTHING },
};

const GstCuvProperty *
gst_waldboost_property (guint id)
{
  return id >= FIRST && id - FIRST < G_N_ELEMENTS (properties)
      ? &properties[id - FIRST]
      : NULL;
}

void
gst_waldboost_properties_reset (gpointer settings)
{
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), settings);
}

static void
install_text (GObjectClass *klass, guint id, const gchar *name,
    const gchar *nick, const gchar *blurb, const gchar *value)
{
  g_object_class_install_property (klass, id,
      g_param_spec_string (name, nick, blurb, value, GST_CUV_PARAM_LIVE));
}

void
gst_waldboost_properties_install (GObjectClass *klass)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), FIRST);
  /**
   * GstWaldboostDetect:model:
   *
   * A bare name is looked for in the working folder, in CUV_MODEL_PATH and in
   * OpenCV's own folders. While playing, a file that cannot be loaded leaves
   * the old model in force.
   *
   * Since: 0.1
   */
  install_text (klass, GST_WALDBOOST_PROP_MODEL, "model", "Model",
      "Model file, a path or a bare name: an OpenCV cascade, a BUT FIT "
      "WaldBoostClassifier or a WBDetector (XML)",
      NULL);
  install_text (klass, GST_WALDBOOST_PROP_LABEL, "label", "Label",
      "Label of the objects (default: the model's file name without "
      "extension, lbpcascade_ and haarcascade_)",
      NULL);
  /**
   * GstWaldboostDetect:labels:
   *
   * With several models in one pipeline, give each the same labels: label_id is
   * then the place of an object's label among them.
   *
   * Since: 0.1
   */
  install_text (klass, GST_WALDBOOST_PROP_LABELS, "labels", "Labels",
      "Labels of the pipeline's objects in the order of label_id, with commas "
      "between; label has to be one of them (default: none, label_id is 0)",
      NULL);
  install_text (klass, GST_WALDBOOST_PROP_ROI, "roi", "Region of interest",
      "Part of the frame to look at: left,top,right,bottom in pixels, right "
      "and bottom exclusive (default: all)",
      NULL);
  install_text (klass, GST_WALDBOOST_PROP_OBJECT_CLASS, "object-class",
      "Object class",
      "Label of the upstream regions to look at (inference-region=roi-list; "
      "default: all)",
      NULL);
  install_text (klass, GST_WALDBOOST_PROP_REARRANGEMENT_STAGES,
      "rearrangement-stages", "Rearrangement stages",
      "After how many weak classifiers of a WaldBoost model survivors are "
      "counted and, unless rearrangement=auto, the GPU closes up: rising "
      "numbers with commas between",
      GST_WALDBOOST_DEFAULT_STAGES);
}
