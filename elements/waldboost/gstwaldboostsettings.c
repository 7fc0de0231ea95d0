/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostsettings.h"

#include <string.h>

#include "model/file.h"
#include "settings/gstcuvmetadata.h"

#define AT(field) G_STRUCT_OFFSET (GstWaldboostSettings, field)

static gboolean
is_empty_text (const gchar *text)
{
  return text == NULL || *text == '\0';
}

/* ---- the models ---- */

/* Called when model, label or labels has changed. Returns NULL because it
 * cannot fail. */
static gchar *
update_origins (gpointer settings)
{
  GstWaldboostSettings *self = settings;

  if (self->models == NULL)
    return NULL;
  g_clear_pointer (&self->origins, gst_waldboost_origins_unref);
  self->origins =
      gst_waldboost_origins_new (self->models, self->label, self->labels);
  return NULL;
}

static gchar *
parse_models (gpointer settings)
{
  GstWaldboostSettings *self = settings;
  GstWaldboostModels *models;
  gchar *problem;

  if (is_empty_text (self->model_names))
    return g_strdup (
        "no file name is given: set model, for example to "
        "haarcascade_frontalface_alt2.xml of the package opencv-data");
  models =
      gst_waldboost_models_load (self->model_names, &self->options, &problem);
  if (models == NULL)
    return problem;
  gst_waldboost_models_unref (self->models);
  self->models = models;
  self->model_options = self->options;
  return update_origins (self);
}

/* When the element starts, the models have just been read with the options. */
static gchar *
parse_option (gpointer settings)
{
  GstWaldboostSettings *self = settings;

  if (self->models == NULL || !gst_waldboost_models_have_options (self->models)
      || memcmp (&self->options, &self->model_options, sizeof self->options)
          == 0)
    return NULL;
  return parse_models (self);
}

/* ---- texts ---- */

static gchar *
gst_waldboost_parse_labels (gpointer settings)
{
  GstWaldboostSettings *self = settings;
  gchar **labels =
      gst_waldboost_split_labels (self->labels != NULL ? self->labels : "");
  gboolean bad = FALSE;

  for (guint i = 0; labels[i] != NULL; i++)
    bad |= *labels[i] == '\0'
        || gst_waldboost_find_label (labels, labels[i]) != (gint) i;
  g_strfreev (labels);
  if (bad)
    return g_strdup (
        "expected names separated by commas, each once and none empty");
  return update_origins (self);
}

static gchar *
parse_roi (gpointer settings)
{
  GstWaldboostSettings *self = settings;

  return cuv_roi_parse (self->roi, &self->area) ? NULL
                                                : g_strdup (CUV_ROI_EXPECTED);
}

static gchar *
parse_object_class (gpointer settings)
{
  GstWaldboostSettings *self = settings;

  self->region_label = is_empty_text (self->object_class)
      ? 0
      : g_quark_from_string (self->object_class);
  return NULL;
}

/* Reads up to n numbers separated by commas. Returns how many were read, or -1
 * if the text is invalid. */
static gint
read_numbers (const gchar *text, gint32 *numbers, gint n)
{
  for (gint i = 0; i < n; i++) {
    gchar *end;
    gint64 value = g_ascii_strtoll (text, &end, 10);

    if (end == text || value < G_MININT32 || value > G_MAXINT32)
      return -1;
    numbers[i] = (gint32) value;
    end += strspn (end, " ");
    if (*end == '\0')
      return i + 1;
    if (*end != ',')
      return -1;
    text = end + 1;
  }
  return -1;
}

static gboolean
are_rotations (const gint32 *degrees, gint n)
{
  for (gint i = 0; i < n; i++) {
    if (ABS (degrees[i]) > 180)
      return FALSE;
    for (gint j = 0; j < i; j++) {
      if (degrees[j] == degrees[i])
        return FALSE;
    }
  }
  return n > 0;
}

static gchar *
parse_rotations (gpointer settings)
{
  GstWaldboostSettings *self = settings;
  gint32 degrees[CUV_DETECTOR_MAX_ROTATIONS] = { 0 };
  gint n = read_numbers (self->rotations, degrees, G_N_ELEMENTS (degrees));

  if (!are_rotations (degrees, n))
    return g_strdup ("expected up to 12 different whole numbers of degrees "
                     "from -180 to 180, separated by commas");
  memcpy (self->rotation, degrees, sizeof degrees);
  self->n_rotations = n;
  return NULL;
}

static gboolean
read_stages (const gchar *text, CuvWaldboostParams *params)
{
  gint32 ends[CUV_WALDBOOST_MAX_SEGMENTS] = { 0 };
  gint n = read_numbers (text, ends, G_N_ELEMENTS (ends) - 1);

  if (n < 0)
    return FALSE;
  for (gint i = 0; i < n; i++) {
    if (ends[i] < 1 || ends[i] > CUV_MODEL_MAX_STAGES
        || (i > 0 && ends[i] <= ends[i - 1]))
      return FALSE;
  }
  memcpy (params->segment_end, ends, sizeof ends);
  params->n_segments = n;
  return TRUE;
}

static gchar *
parse_stages (gpointer settings)
{
  GstWaldboostSettings *self = settings;

  return read_stages (self->stages, &self->params)
      ? NULL
      : g_strdup ("expected up to 31 ascending numbers from 1 to 4096, "
                  "separated by commas");
}

static gchar *
check_limits (const gchar *side, gint minimum, gint maximum)
{
  if (maximum == 0 || minimum <= maximum)
    return NULL;
  return g_strdup_printf (
      "min-size-%s %d is above max-size-%s %d: lower the former, or raise the "
      "latter or set it to 0 (no limit)",
      side, minimum, side, maximum);
}

static gchar *
check_scan (const GstWaldboostSettings *self)
{
  const CuvScan scan = self->params.scan;

  if (scan == CUV_SCAN_AUTO || scan == CUV_SCAN_DENSE)
    return NULL;
  for (gint i = 0; i < self->models->n; i++) {
    if (self->models->models[i]->channels != NULL)
      return g_strdup_printf ("model '%s' has trees on channels, which need "
                              "scan=auto or scan=dense",
          self->models->names[i]);
  }
  return NULL;
}

static gchar *
check_labels (const GstWaldboostSettings *self)
{
  const GstWaldboostOrigins *origins = self->origins;

  if (origins->n_labels > 0 && origins->n_labels != origins->n)
    return g_strdup_printf (
        "label '%s' has %d names for %d models: set a label for each model, "
        "separated by commas, or none",
        self->label, origins->n_labels, origins->n);
  for (gint i = 0; i < origins->n; i++) {
    if (origins->of[i].label_id < 0)
      return g_strdup_printf ("label '%s' is not among labels '%s': set label "
                              "to one of them, or add it to labels",
          origins->of[i].label, self->labels);
  }
  return NULL;
}

static gchar *
check_settings (gconstpointer settings)
{
  const GstWaldboostSettings *self = settings;
  const CuvWaldboostParams *params = &self->params;
  gchar *problem;

  problem = check_limits ("width", params->min_width, params->max_width);
  if (problem == NULL)
    problem = check_limits ("height", params->min_height, params->max_height);
  if (problem == NULL)
    problem = check_scan (self);
  if (problem == NULL)
    problem = check_labels (self);
  return problem != NULL ? problem : gst_cuv_metadata_problem (self->metadata);
}

/* ---- enums ---- */

GST_CUV_DEFINE_ENUM (scan_get_type, "GstWaldboostScan",
    { CUV_SCAN_AUTO, "The scan that the model was trained for", "auto" },
    { CUV_SCAN_OPENCV, "Like OpenCV's CascadeClassifier: scale-factor",
        "opencv" },
    { CUV_SCAN_WBD, "Like opencv_contrib's WBDetector", "wbd" },
    { CUV_SCAN_DENSE, "Every position: octaves, levels-per-octave", "dense" })

GST_CUV_DEFINE_ENUM (grouping_get_type, "GstWaldboostGrouping",
    { CUV_GROUPING_AUTO, "neighbors, wbd or nms, depending on the scan",
        "auto" },
    { CUV_GROUPING_NONE, "Every window is an object", "none" },
    { CUV_GROUPING_NEIGHBORS, "Like OpenCV's groupRectangles: min-neighbors",
        "neighbors" },
    { CUV_GROUPING_WBD, "Like opencv_contrib's WBDetector: min-neighbors",
        "wbd" },
    { CUV_GROUPING_NMS, "Non-maximum suppression: nms-iou, nms-inside", "nms" })

GST_CUV_DEFINE_ENUM (rearrangement_get_type, "GstWaldboostRearrangement",
    { CUV_REARRANGE_AUTO, "The fastest measured", "auto" },
    { CUV_REARRANGE_NONE, "None: a thread keeps its window to the end",
        "none" },
    { CUV_REARRANGE_GLOBAL, "A global counter, a kernel per segment",
        "global" },
    { CUV_REARRANGE_SHARED, "A counter per block, one kernel", "shared" },
    { CUV_REARRANGE_HYBRID, "A counter per block, a kernel per segment",
        "hybrid" },
    { CUV_REARRANGE_PREFIX_SUM, "A scan per block, a kernel per segment",
        "prefix-sum" },
    { CUV_REARRANGE_BALLOT, "A ballot per warp, one kernel", "ballot" })

GST_CUV_DEFINE_ENUM (block_size_get_type, "GstWaldboostBlockSize",
    { 0, "The fastest measured", "auto" }, { 8, "8x8 windows", "8" },
    { 16, "16x16 windows", "16" }, { 32, "32x32 windows", "32" })

GST_CUV_DEFINE_ENUM (arithmetic_get_type, "GstWaldboostArithmetic",
    { CUV_ARITHMETIC_AUTO,
        "Fixed point for BUT FIT models, float for WBDetector", "auto" },
    { CUV_ARITHMETIC_FIXED, "32-bit integers", "fixed" },
    { CUV_ARITHMETIC_FLOAT, "Single precision, in the model's order", "float" })

GST_CUV_DEFINE_ENUM (lrp_order_get_type, "GstWaldboostLrpOrder",
    { 0, "rank (a) + 10 rank (b)", "a10b" },
    { 1, "10 rank (a) + rank (b)", "10ab" })

GST_CUV_DEFINE_ENUM (block_value_get_type, "GstWaldboostBlockValue",
    { CUV_BLOCK_SUM, "The sum of its pixels", "sum" },
    { CUV_BLOCK_MEAN_TRUNC, "Their mean, rounded down", "mean-trunc" },
    { CUV_BLOCK_MEAN_ROUND, "Their mean, rounded to the nearest",
        "mean-round" })

GST_CUV_DEFINE_ENUM (region_mode_get_type, "GstWaldboostInferenceRegion",
    { GST_WALDBOOST_FULL_FRAME, "The frame, or roi", "full-frame" },
    { GST_WALDBOOST_ROI_LIST, "Each region of interest attached upstream",
        "roi-list" },
    { GST_WALDBOOST_ROI_CENTERS,
        "What is centred in regions of interest attached upstream",
        "roi-centers" })

/* ---- table ---- */

#define SIZE(name, nick, blurb, field)                                         \
  {                                                                            \
    name, nick, blurb " of an object, in pixels (0 = no limit)",               \
        .offset = AT (params.field), .type = G_TYPE_UINT,                      \
        .maximum = G_MAXINT16                                                  \
  }

/**
 * GstWaldboostDetect:model:
 *
 * A name without a folder is searched for in the working folder, in
 * CUV_MODEL_PATH, among the models installed with this plugin, and in OpenCV's
 * folders. If a file cannot be loaded while playing, the previous models stay
 * in use.
 *
 * Several models, "a.xml,b.xml", find the same as each model alone, and their
 * boxes are grouped separately. On the CPU, models of trees on channels share
 * the channels of the frame. In a list, a backslash before a comma makes the
 * comma part of a name; if the whole text is the name of a file, that file is
 * read.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:label:
 *
 * With several models, a label for each, in the order of the property model and
 * separated by commas; an empty label stands for the name of the model's file.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:labels:
 *
 * With several detectors in one pipeline, give all of them the same list: the
 * label_id of an object is the index of its label in the list.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:threshold:
 *
 * The confidence is 1 / (1 + exp (-s)), where s is the largest score in a
 * group, and a window's score is its last sum minus the last threshold.
 * Accepted windows have s >= 0, so values up to 0.5 let all objects pass. If a
 * model gives all windows the same s, its objects have no confidence and always
 * pass. Models of trees on channels contain the scale of their sums: about 9 of
 * 10 boxes with a confidence of 0.9 are right, and boxes may have less than
 * 0.5.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:upscale:
 *
 * With 2, a model with a window of 24x24 pixels finds objects of 12x12. Time
 * and memory increase approximately with the square of upscale. The objects are
 * those that OpenCV finds in the frame resized by cv::resize with
 * INTER_LINEAR_EXACT.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:rotations:
 *
 * The frame is searched once for each rotation, and the windows of all
 * rotations are grouped together. An object found in a rotated frame has the
 * angle in its field rotation.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostDetect:inference-region:
 *
 * With roi-list the detector runs on each region of interest of the incoming
 * buffer, as if the region were a frame. With roi-centers it finds what it
 * finds in the whole frame, but only objects whose centre lies in a region.
 * Objects have the region's id as parent_id.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "model", "Model",
      "Model file, a path or a name: an OpenCV cascade, a BUT FIT "
      "WaldBoostClassifier, a WBDetector (XML, YAML or JSON) or "
      "CuvisionChannels (XML), optionally gzipped; or up to 16 of them, "
      "separated by commas",
      .offset = AT (model_names), .type = G_TYPE_STRING, .parse = parse_models,
      .is_file = TRUE },
  { "arithmetic", "Arithmetic", "How responses of a WaldBoost model are summed",
      .offset = AT (options.arithmetic), .get_type = arithmetic_get_type,
      .value = CUV_ARITHMETIC_AUTO, .parse = parse_option, .is_file = TRUE },
  { "lrp-order", "LRP order",
      "How tables of local rank patterns are indexed (BUT FIT models)",
      .offset = AT (options.lrp_order_10ab), .get_type = lrp_order_get_type,
      .parse = parse_option, .is_file = TRUE },
  { "block-value", "Block value",
      "How the value of a block of pixels is computed (BUT FIT models)",
      .offset = AT (options.block_value), .get_type = block_value_get_type,
      .value = CUV_BLOCK_SUM, .parse = parse_option, .is_file = TRUE },
  { "final-threshold", "Final threshold",
      "A window is accepted if its final sum is above this (BUT FIT models) or "
      "exceeds the model's own threshold by more than this "
      "(CuvisionChannels)",
      .offset = AT (options.final_threshold), .type = G_TYPE_FLOAT,
      .minimum = -1000, .maximum = 1000, .parse = parse_option, .is_file = TRUE,
      .no_controller = TRUE },
  { "roi", "Region of interest",
      "Part of the frame to search: left,top,right,bottom in pixels, right and "
      "bottom exclusive (default: all)",
      .offset = AT (roi), .type = G_TYPE_STRING, .parse = parse_roi },
  { "label", "Label",
      "Label of the objects, or one label for each model, separated by commas "
      "(default: the model's file name without its extension and without "
      "lbpcascade_ or haarcascade_)",
      .offset = AT (label), .type = G_TYPE_STRING, .parse = update_origins },
  { "labels", "Labels",
      "Labels of all objects in the pipeline in the order of label_id, "
      "separated by commas; label must be one of them (default: those of the "
      "models)",
      .offset = AT (labels), .type = G_TYPE_STRING,
      .parse = gst_waldboost_parse_labels },
  { "inference-region", "Inference region",
      "Area to search: the frame, or regions of interest from upstream",
      .offset = AT (region_mode), .get_type = region_mode_get_type,
      .value = GST_WALDBOOST_FULL_FRAME },
  { "object-class", "Object class",
      "Label of the upstream regions to search (inference-region=roi-list or "
      "roi-centers; default: all)",
      .offset = AT (object_class), .type = G_TYPE_STRING,
      .parse = parse_object_class },
  { "scan", "Scan", "How window positions and sizes are chosen",
      .offset = AT (params.scan), .get_type = scan_get_type,
      .value = CUV_SCAN_AUTO },
  { "scale-factor", "Scale factor",
      "Ratio of window sizes from one level to the next (scan=opencv)",
      .offset = AT (params.scale_factor), .type = G_TYPE_DOUBLE,
      .minimum = 1.01, .maximum = 10, .value = 1.1 },
  { "octaves", "Octaves", "Number of doublings of the window size (scan=dense)",
      .offset = AT (params.octaves), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 16, .value = 4 },
  { "levels-per-octave", "Levels per octave",
      "Number of window sizes per doubling (scan=dense)",
      .offset = AT (params.levels_per_octave), .type = G_TYPE_UINT,
      .minimum = 1, .maximum = 64, .value = 8 },
  { "upscale", "Upscale",
      "Factor by which the frame is enlarged before the search, to find "
      "objects smaller than the model's window",
      .offset = AT (params.upscale), .type = G_TYPE_DOUBLE, .minimum = 1,
      .maximum = CUV_WALDBOOST_MAX_UPSCALE, .value = 1 },
  { "rotations", "Rotations",
      "Rotations of the objects to look for, clockwise, in whole degrees: up "
      "to 12 numbers from -180 to 180, separated by commas",
      .offset = AT (rotations), .type = G_TYPE_STRING, .text = "0",
      .parse = parse_rotations },
  SIZE ("min-size-width", "Minimum width", "Minimum width", min_width),
  SIZE ("min-size-height", "Minimum height", "Minimum height", min_height),
  SIZE ("max-size-width", "Maximum width", "Maximum width", max_width),
  SIZE ("max-size-height", "Maximum height", "Maximum height", max_height),
  { "rearrangement", "Rearrangement",
      "How the GPU compacts the surviving windows after a segment of weak "
      "classifiers; all give the same result, auto is the fastest measured",
      .offset = AT (params.rearrangement), .get_type = rearrangement_get_type,
      .value = CUV_REARRANGE_AUTO },
  { "rearrangement-stages", "Rearrangement stages",
      "Numbers of weak classifiers of a WaldBoost model after which surviving "
      "windows are counted and, except with rearrangement=auto, compacted; "
      "ascending, separated by commas",
      .offset = AT (stages), .type = G_TYPE_STRING, .text = "1,8,64,256,512",
      .parse = parse_stages },
  { "block-size", "Block size",
      "Side of the square of windows that a GPU thread block processes; "
      "ignored with rearrangement=auto",
      .offset = AT (params.block_size), .get_type = block_size_get_type },
  { "grouping", "Grouping", "How accepted windows become objects",
      .offset = AT (grouping.method), .get_type = grouping_get_type,
      .value = CUV_GROUPING_AUTO },
  { "min-neighbors", "Minimum neighbors",
      "A group of windows is an object if it has more windows than this (0 = "
      "no grouping; grouping=neighbors or wbd)",
      .offset = AT (grouping.min_neighbours), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 3 },
  { "nms-iou", "NMS overlap",
      "Maximum intersection over union of two objects (grouping=nms)",
      .offset = AT (grouping.nms_iou), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = CUV_NMS_IOU },
  { "nms-inside", "NMS containment",
      "Maximum overlap of two objects, as a fraction of the smaller one's area "
      "(grouping=nms)",
      .offset = AT (grouping.nms_inside), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = CUV_NMS_INSIDE },
  { "max-objects", "Maximum objects",
      "Maximum number of objects per frame; those with the highest scores "
      "are kept (0 = all)",
      .offset = AT (max_objects), .type = G_TYPE_UINT, .maximum = G_MAXINT },
  { "threshold", "Threshold", "Minimum confidence of the objects to publish",
      .offset = AT (threshold), .type = G_TYPE_DOUBLE, .maximum = 1 },
  GST_CUV_METADATA_SETTING (AT (metadata)),
};

static const GstCuvOwnedField owned[] = {
  { AT (models), gst_waldboost_models_get_type },
  { AT (origins), gst_waldboost_origins_get_type },
};

const GstCuvSettingsTable gst_waldboost_settings = {
  GST_CUV_SETTINGS (GstWaldboostSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = check_settings,
};
