/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboosttrainsettings.h"

#include <unistd.h>

#define AT(field) G_STRUCT_OFFSET (GstWaldboostTrainSettings, field)

GST_CUV_DEFINE_ENUM (features_get_type, "GstWaldboostTrainFeatures",
    { CUV_FEATURE_LBP, "Local binary patterns", "lbp" },
    { CUV_FEATURE_LRD, "Local rank differences", "lrd" },
    { CUV_FEATURE_LRP, "Local rank patterns", "lrp" },
    { CUV_FEATURE_CHANNELS, "Trees on channels of colour and gradients",
        "channels" },
    { GST_WALDBOOST_FEATURES_AUTO,
        "lbp or channels, whichever finds more in frames that were not "
        "learnt from",
        "auto" })
GST_CUV_DEFINE_ENUM (negative_frames_get_type,
    "GstWaldboostTrainNegativeFrames",
    { GST_WALDBOOST_FRAMES_WITH_REGIONS, "Frames with regions to learn",
        "with-regions" },
    { GST_WALDBOOST_FRAMES_ALL, "All frames: every object has a region",
        "all" })

/* Reports at the start if the model cannot be written, because training takes
 * long. */
static gchar *
parse_model (gpointer settings)
{
  const gchar *model =
      ((const GstWaldboostTrainSettings *) settings)->training.model;
  gchar *folder, *problem = NULL;

  if (model == NULL || *model == '\0')
    return g_strdup ("set it to the name of a file, as in model=cup.xml");
  folder = g_path_get_dirname (model);
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    problem = g_strdup_printf (
        "the folder '%s' does not exist; create it, or choose another one",
        folder);
  else if (access (folder, W_OK) != 0)
    problem = g_strdup_printf (
        "the folder '%s' is not writable; change its permissions, or "
        "choose another one",
        folder);
  else if (g_file_test (model, G_FILE_TEST_EXISTS)
      && !g_file_test (model, G_FILE_TEST_IS_REGULAR))
    problem = g_strdup ("it is a folder or a device; set it to a file");
  g_free (folder);
  return problem;
}

static gchar *
parse_window (gpointer settings)
{
  const CuvTrainParams *params =
      &((const GstWaldboostTrainSettings *) settings)->training.params;

  if ((params->window_width == 0
          || params->window_width >= CUV_TRAIN_MIN_WINDOW)
      && (params->window_height == 0
          || params->window_height >= CUV_TRAIN_MIN_WINDOW))
    return NULL;
  return g_strdup_printf ("expected %d to %d pixels, or 0 for a window that "
                          "suits the regions",
      CUV_TRAIN_MIN_WINDOW, CUV_TRAIN_MAX_WINDOW);
}

/**
 * GstWaldboostTrain:stats:
 *
 * Counts since the start: frames, the number of frames received; kept, the
 * number of frames for training (uint); objects, the number of regions to learn
 * in them (uint); training, whether a training is in progress (boolean);
 * models, the number of files written (uint).
 *
 * Since: 0.1
 */
/**
 * GstWaldboostTrain:train:
 *
 * Set to TRUE while playing to train with the frames kept so far, in a separate
 * thread, while more frames are kept. Becomes FALSE when the model has been
 * written or training has failed.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostTrain:object-class:
 *
 * Regions with other labels are neither learnt nor used as negatives.
 *
 * Since: 0.1
 */
/**
 * GstWaldboostTrain:negative-frames:
 *
 * With all, frames without a region to learn also provide negatives. Use this
 * value only if every object has a region; a tracker that loses its target
 * leaves objects without one.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "model", "Model", "Model file to write (XML), for waldboostdetect",
      .offset = AT (training.model), .type = G_TYPE_STRING,
      .parse = parse_model, .is_file = TRUE },
  { "object-class", "Object class",
      "Label of the regions to learn (default: "
      "all)",
      .offset = AT (object_class), .type = G_TYPE_STRING },
  { "train", "Train", "Set to true to train with the frames kept so far",
      .offset = AT (train), .type = G_TYPE_BOOLEAN },
  { "frame-interval", "Frame interval",
      "Keep every Nth frame that has regions to learn", .offset = AT (interval),
      .type = G_TYPE_UINT, .minimum = 1, .maximum = G_MAXINT, .value = 1 },
  { "max-frames", "Maximum frames", "Maximum number of frames kept",
      .offset = AT (max_frames), .type = G_TYPE_UINT,
      .minimum = CUV_DATASET_LEAST_PICTURES, .maximum = 50000, .value = 500 },
  { "negative-frames", "Negative frames",
      "Frames that negatives are taken from", .offset = AT (negative_frames),
      .get_type = negative_frames_get_type,
      .value = GST_WALDBOOST_FRAMES_WITH_REGIONS },
  { "window-width", "Window width",
      "Width of the smallest object that is found, in pixels (0 = automatic)",
      .offset = AT (training.params.window_width), .type = G_TYPE_UINT,
      .maximum = CUV_TRAIN_MAX_WINDOW, .parse = parse_window },
  { "window-height", "Window height",
      "Height of the smallest object that is found, in pixels (0 = automatic)",
      .offset = AT (training.params.window_height), .type = G_TYPE_UINT,
      .maximum = CUV_TRAIN_MAX_WINDOW, .parse = parse_window },
  { "features", "Features",
      "Features of the weak classifiers; with channels or auto, frames are "
      "kept in colour",
      .offset = AT (training.features), .get_type = features_get_type,
      .value = GST_WALDBOOST_FEATURES_AUTO },
  { "weak", "Weak classifiers", "Maximum number of weak classifiers",
      .offset = AT (training.params.n_weak), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_MODEL_MAX_STAGES, .value = 256 },
  { "alpha", "Alpha",
      "Fraction of objects that early rejection may miss (0 = automatic: "
      "0.02, or 0.005 for channels)",
      .offset = AT (training.params.alpha), .type = G_TYPE_DOUBLE,
      .maximum = 0.5 },
  { "false-positives", "False positives",
      "False positives per frame that the model's threshold allows, "
      "estimated on frames that were not learnt from",
      .offset = AT (training.false_positives), .type = G_TYPE_DOUBLE,
      .maximum = 1000, .value = 0.1 },
  { "negative-samples", "Negative samples",
      "Number of negatives to learn from at a time",
      .offset = AT (training.params.n_negatives), .type = G_TYPE_UINT,
      .minimum = 1, .maximum = 1000000, .value = 10000 },
  { "copies", "Copies",
      "Number of samples of each region; all except the first are slightly "
      "shifted and scaled",
      .offset = AT (training.samples.n_copies), .type = G_TYPE_UINT,
      .minimum = 1, .maximum = 1000, .value = 8 },
  { "margin", "Margin",
      "Margin to add on each side, as a fraction of the region's size; trees "
      "on channels have none",
      .offset = AT (training.samples.margin), .type = G_TYPE_DOUBLE,
      .minimum = -0.4, .maximum = 10, .value = 0.1 },
  { "mirror", "Mirror", "Also learn mirrored objects",
      .offset = AT (training.samples.mirror), .type = G_TYPE_BOOLEAN },
  { "seed", "Seed",
      "Seed of the random numbers; the same frames and seed give the same "
      "model",
      .offset = AT (training.params.seed), .type = G_TYPE_UINT64,
      .maximum = (gdouble) G_MAXUINT32, .value = 1 },
  { "progress-interval", "Progress interval",
      "Milliseconds between element messages while training (0 = none)",
      .offset = AT (training.progress_interval), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 1000 },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type,
      .get = gst_waldboost_train_get_stats },
};

const GstCuvSettingsTable gst_waldboost_train_settings = {
  GST_CUV_SETTINGS (GstWaldboostTrainSettings, list),
};
