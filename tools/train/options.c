/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line. */
#include "train-tool.h"

#include <gst/gst.h>
#include <math.h>

#define UNSET (-G_MAXDOUBLE)

static TrainOptions options = { .samples = { .n_copies = 8, .margin = UNSET },
  .false_positives = 1,
  .train = { .n_features = 20000,
      .n_weak = 256,
      .n_negatives = 10000,
      .alpha = UNSET,
      .refill = 0.5 } };
static gint64 seed = 1;
static gboolean named_features;        /* --features named one kind */
static gdouble progress_interval = 20; /* seconds */

static const gchar *const feature_names[] = { [CUV_FEATURE_LBP] = "lbp",
  [CUV_FEATURE_LRD] = "lrd",
  [CUV_FEATURE_LRP] = "lrp",
  [CUV_FEATURE_CHANNELS] = "channels" };

const gchar *
options_feature_name (CuvFeature feature)
{
  return feature_names[feature];
}

static gboolean
parse_window (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  gchar *end;
  const guint64 width = g_ascii_strtoull (value, &end, 10);
  const guint64 height = *end == 'x' ? g_ascii_strtoull (end + 1, &end, 10) : 0;

  if (*end != '\0' || width < CUV_TRAIN_MIN_WINDOW
      || width > CUV_TRAIN_MAX_WINDOW || height < CUV_TRAIN_MIN_WINDOW
      || height > CUV_TRAIN_MAX_WINDOW) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s '%s' is not a size such as 24x24 with sides of %d to %d", name,
        value, CUV_TRAIN_MIN_WINDOW, CUV_TRAIN_MAX_WINDOW);
    return FALSE;
  }
  options.train.window_width = (gint) width;
  options.train.window_height = (gint) height;
  return TRUE;
}

static gboolean
parse_features (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  named_features = !g_str_equal (value, "auto");
  for (guint i = 0; i < G_N_ELEMENTS (feature_names); i++) {
    if (g_strcmp0 (value, feature_names[i]) == 0) {
      options.train.feature = (CuvFeature) i;
      return TRUE;
    }
  }
  if (!named_features) {
    options.train.feature = CUV_FEATURE_LBP;
    return TRUE;
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s '%s' is not auto, lbp, lrd, lrp or channels", name, value);
  return FALSE;
}

static gboolean
parse_device (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  return device_option_parse (name, value, &options.device, error);
}

gint64
options_progress_interval (void)
{
  return (gint64) (progress_interval * G_USEC_PER_SEC);
}

const gchar *
options_format_name (gboolean cascade)
{
  return cascade ? "opencv" : "butfit";
}

static gboolean
parse_format (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  for (gint cascade = 0; cascade < 2; cascade++) {
    if (g_str_equal (value, options_format_name (cascade))) {
      options.train.cascade = cascade;
      return TRUE;
    }
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s '%s' is not butfit or opencv", name, value);
  return FALSE;
}

static const GOptionEntry entries[] = {
  /* input */
  { "positives", 'p', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.inputs.positives,
      "Annotations of pictures with objects, or a folder of them", "PATH" },
  { "negatives", 'n', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.inputs.negatives,
      "A picture or video without objects, a folder or a list of them",
      "PATH" },
  { "label", 'l', 0, G_OPTION_ARG_STRING, &options.inputs.label,
      "Label of the objects to learn (default: all objects)", "NAME" },
  { "ignore", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.inputs.ignore,
      "Label of objects to ignore: neither learnt nor used as negatives",
      "NAME" },
  { "names", 0, 0, G_OPTION_ARG_FILENAME, &options.inputs.names,
      "File with the names of YOLO's classes, one per line, or data.yaml or "
      "obj.data (default: such a file beside or above the labels)",
      "FILE" },
  { "images", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.inputs.images,
      "Folder of the annotated pictures (default: near the annotations)",
      "FOLDER" },
  /* output */
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "The model to write", "FILE" },
  { "format", 0, 0, G_OPTION_ARG_CALLBACK, parse_format,
      "Format of the model: butfit, or opencv, a cascade that OpenCV can also "
      "read (default: butfit)",
      "NAME" },
  { "report", 'r', 0, G_OPTION_ARG_FILENAME, &options.report,
      "Folder for report.json and index.html", "FOLDER" },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &options.resume,
      "Continue a training run that was stopped, from FILE.state and "
      "FILE.trees",
      NULL },
  { "device", 0, 0, G_OPTION_ARG_CALLBACK, parse_device,
      "auto, cpu or cuda; the model is the same (default: auto)", "NAME" },
  { "progress-interval", 0, 0, G_OPTION_ARG_DOUBLE, &progress_interval,
      "Seconds between progress lines if the error output is not a terminal "
      "(default: 20)",
      "SECONDS" },
  /* the classifier */
  { "window", 'w', 0, G_OPTION_ARG_CALLBACK, parse_window,
      "Size of the smallest object to find (default: 24x24, or 32x32 for "
      "channels)",
      "WxH" },
  { "features", 'f', 0, G_OPTION_ARG_CALLBACK, parse_features,
      "lbp, lrd or lrp: patterns of grey blocks; channels: trees on colours "
      "and gradients, as CuvisionChannels; auto: lbp or channels, whichever "
      "finds more objects in pictures kept out of training (default: auto)",
      "NAME" },
  { "weak", 0, 0, G_OPTION_ARG_INT, &options.train.n_weak,
      "Maximum number of weak classifiers, 1 to 4096 (default: 256)", "N" },
  { "alpha", 0, 0, G_OPTION_ARG_DOUBLE, &options.train.alpha,
      "Fraction of objects that early rejection may miss (default: 0.02, or "
      "0.005 for channels)",
      "SHARE" },
  { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &options.train.rate,
      "Stop at this false-positive rate of windows (default: 0, never)",
      "SHARE" },
  { "false-positives", 0, 0, G_OPTION_ARG_DOUBLE, &options.false_positives,
      "False positives per picture that the model's threshold allows; inf: any "
      "number (default: 1)",
      "N" },
  { "loose-boxes", 0, 0, G_OPTION_ARG_NONE, &options.inputs.loose_boxes,
      "Boxes of objects may be off, as those of a tracker are: found boxes "
      "need "
      "an intersection over union of 0.2 with them instead of 0.5",
      NULL },
  /* samples */
  { "copies", 0, 0, G_OPTION_ARG_INT, &options.samples.n_copies,
      "Number of samples of each object, slightly shifted and scaled (default: "
      "8)",
      "N" },
  { "margin", 0, 0, G_OPTION_ARG_DOUBLE, &options.samples.margin,
      "Fraction of the box's size to add on each side (default: 0.1, or 0 for "
      "channels)",
      "SHARE" },
  { "mirror", 0, 0, G_OPTION_ARG_NONE, &options.samples.mirror,
      "Also learn mirrored objects", NULL },
  { "negative-samples", 0, 0, G_OPTION_ARG_INT, &options.train.n_negatives,
      "Number of negatives used at a time (default: 10000)", "N" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &seed,
      "Random seed; the same seed gives the same model (default: 1)", "N" },
  { NULL }
};

static const gchar description[] =
    "Annotations may be COCO, Pascal VOC, dlib, YOLO, LabelMe, CVAT, VIA, "
    "TensorFlow's CSV, OpenCV's\ninfo.dat and .vec, or JSON lines and CSV of "
    "visionpublish; the format is detected. Pictures and\nvideos may have any "
    "format that GStreamer can decode.\n\n"
    "Examples:\n"
    "  cuvision-train -p annotations.json -n backgrounds/ -o cup.xml -r "
    "report/\n"
    "  cuvision-train -p labels/ --names classes.txt --label cup -o cup.xml\n"
    "  gst-launch-1.0 filesrc location=video.mp4 ! decodebin ! videoconvert "
    "\\\n"
    "    ! waldboostdetect model=cup.xml ! visionpublish ! fakesink\n\n"
    "Exit status: 0 if a model was written, 1 on failure, 2 for a wrong "
    "command line.";

static gboolean
ignores_label (const InputOptions *inputs)
{
  return inputs->label != NULL && inputs->ignore != NULL
      && g_strv_contains ((const gchar *const *) inputs->ignore, inputs->label);
}

/* docs/training.md has the measurements behind the defaults of trees on
 * channels. */
TrainOptions
options_for (const TrainOptions *parsed, CuvFeature feature)
{
  const gboolean channels = feature == CUV_FEATURE_CHANNELS;
  TrainOptions filled = *parsed;

  filled.train.feature = feature;
  if (filled.train.window_width == 0)
    filled.train.window_width = filled.train.window_height = channels ? 32 : 24;
  if (filled.train.alpha == UNSET)
    filled.train.alpha = channels ? 0.005 : 0.02;
  if (filled.samples.margin == UNSET)
    filled.samples.margin = channels ? 0 : 0.1;
  return filled;
}

/* Returns which option was given that only patterns have, or NULL. */
static const gchar *
explain_patterns (void)
{
  if (options.train.cascade)
    return "took lbp: --format opencv needs it";
  if (options.samples.margin != UNSET && options.samples.margin != 0)
    return "took lbp: channels do not support --margin";
  if (options.train.rate > 0)
    return "took lbp: channels do not support --rate";
  return NULL;
}

/* Decides whether to learn patterns, trees on channels, or both. */
static void
decide_features (void)
{
  const gboolean channels = options.train.feature == CUV_FEATURE_CHANNELS;

  options.inputs.keep = channels ? CUV_STORE_COLOURS : CUV_STORE_GREY;
  if (named_features)
    return;
  options.decision = explain_patterns ();
  options.both = options.decision == NULL;
  if (options.both)
    options.inputs.keep = CUV_STORE_BOTH;
}

/* Returns the problem of an option that trees on channels do not support. */
static const gchar *
channels_problem (void)
{
  if (options.train.feature != CUV_FEATURE_CHANNELS)
    return NULL;
  if (options.samples.margin != UNSET && options.samples.margin != 0)
    return "--features channels does not support --margin: channels include "
           "pixels around the window";
  if (options.train.rate > 0)
    return "--features channels does not support --rate: set the number of "
           "trees with --weak";
  return NULL;
}

static gboolean
check_options (int argc, GError **error)
{
  const TrainOptions filled = options_for (&options, options.train.feature);
  const gchar *problem = NULL;

  if (argc > 1)
    problem = "a path needs an option before it, such as --negatives";
  else if (options.inputs.positives == NULL)
    problem = "--positives is missing";
  else if (options.output == NULL)
    problem = "--output is missing";
  else if (!(progress_interval > 0 && progress_interval <= 1e6))
    problem = "--progress-interval must be above 0 and at most 1000000";
  else if (ignores_label (&options.inputs))
    problem = "--ignore and --label select the same objects";
  else if (options.train.n_weak < 1
      || options.train.n_weak > CUV_MODEL_MAX_STAGES)
    problem = "--weak must be 1 to 4096";
  else if (options.train.cascade && options.train.feature != CUV_FEATURE_LBP)
    problem = "--format opencv supports only --features lbp";
  else if (options.train.cascade && options.inputs.loose_boxes)
    problem = "--format opencv does not support --loose-boxes";
  else if (!(filled.train.alpha > 0 && filled.train.alpha < 1))
    problem = "--alpha must be between 0 and 1";
  else if (!(options.train.rate >= 0 && options.train.rate < 1))
    problem = "--rate must be 0 or more and below 1";
  else if (!(options.false_positives >= 0))
    problem = "--false-positives must be 0 or more";
  else if (options.train.n_negatives < 1)
    problem = "--negative-samples must be 1 or more";
  else if (options.samples.n_copies < 1)
    problem = "--copies must be 1 or more";
  else if (!(filled.samples.margin > -0.5 && filled.samples.margin <= 10))
    problem = "--margin must be above -0.5 and at most 10";
  else
    problem = channels_problem ();
  if (problem != NULL)
    g_set_error_literal (
        error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, problem);
  return problem == NULL;
}

const TrainOptions *
options_parse (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  TrainOptions filled;
  GError *error = NULL;
  gboolean ok;

  g_option_context_set_summary (
      context, "Trains an object detector for waldboostdetect.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, argc, argv, &error);
  ok = ok && check_options (*argc, &error);
  if (!ok)
    g_printerr (
        "cuvision-train: %s; see cuvision-train --help\n", error->message);
  g_clear_error (&error);
  g_option_context_free (context);
  options.train.seed = options.inputs.seed = options.samples.seed =
      (guint64) seed;
  options.train.folder = g_get_tmp_dir ();
  decide_features ();
  filled = options_for (&options, options.train.feature);
  options.inputs.window_width = filled.train.window_width;
  options.inputs.window_height = filled.train.window_height;
  return ok ? &options : NULL;
}
