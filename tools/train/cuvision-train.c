/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains a boosted detector. */
#include "config.h"
#include "train-tool.h"

#include <gst/gst.h>
#include <locale.h>

static InputOptions inputs_options;
static CuvSampleOptions sample_options = { .n_copies = 8, .margin = 0.1 };
static CuvTrainParams params = { .window_width = 24,
  .window_height = 24,
  .n_features = 20000,
  .n_weak = 256,
  .n_negatives = 10000,
  .alpha = 0.02,
  .refill = 0.5 };
static gchar *output;
static gint64 seed = 1;

/* ---- options ---- */

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
        "%s '%s' is no size like 24x24, with sides of %d to %d", name, value,
        CUV_TRAIN_MIN_WINDOW, CUV_TRAIN_MAX_WINDOW);
    return FALSE;
  }
  params.window_width = (gint) width;
  params.window_height = (gint) height;
  return TRUE;
}

static gboolean
parse_features (
    const gchar *name, const gchar *value, gpointer data, GError **error)
{
  static const gchar *const names[] = { "lbp", "lrd", "lrp" };
  static const CuvFeature features[] = { CUV_FEATURE_LBP, CUV_FEATURE_LRD,
    CUV_FEATURE_LRP };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_str_equal (value, names[i])) {
      params.feature = features[i];
      return TRUE;
    }
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s '%s' is neither lbp, lrd nor lrp", name, value);
  return FALSE;
}

static const GOptionEntry entries[] = {
  { "positives", 'p', 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs_options.positives,
      "Annotations of pictures with objects, or a folder of them", "PATH" },
  { "negatives", 'n', 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs_options.negatives,
      "A picture or film without objects, or a folder of them", "PATH" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "The model to write",
      "FILE" },
  { "label", 0, 0, G_OPTION_ARG_STRING, &inputs_options.label,
      "The objects to learn (default: all)", "NAME" },
  { "names", 0, 0, G_OPTION_ARG_FILENAME, &inputs_options.names,
      "The names of YOLO's classes", "FILE" },
  { "window", 0, 0, G_OPTION_ARG_CALLBACK, parse_window,
      "The smallest object that is found (default: 24x24)", "WxH" },
  { "features", 0, 0, G_OPTION_ARG_CALLBACK, parse_features,
      "lbp, lrd or lrp (default: lbp)", "NAME" },
  { "weak", 0, 0, G_OPTION_ARG_INT, &params.n_weak,
      "Weak classifiers (default: 256)", "N" },
  { "alpha", 0, 0, G_OPTION_ARG_DOUBLE, &params.alpha,
      "Share of objects that early rejection may miss (default: 0.02)",
      "SHARE" },
  { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &params.rate,
      "False-positive rate of windows to end at (default: 0)", "SHARE" },
  { "negative-samples", 0, 0, G_OPTION_ARG_INT, &params.n_negatives,
      "Negatives to learn from at a time (default: 10000)", "N" },
  { "copies", 0, 0, G_OPTION_ARG_INT, &sample_options.n_copies,
      "Windows of each object, moved and scaled a little (default: 8)", "N" },
  { "margin", 0, 0, G_OPTION_ARG_DOUBLE, &sample_options.margin,
      "Share of the box to add on each side (default: 0.1)", "SHARE" },
  { "mirror", 0, 0, G_OPTION_ARG_NONE, &sample_options.mirror,
      "Learn mirrored objects, too", NULL },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &seed,
      "Of random numbers; the same one gives the same model (default: 1)",
      "N" },
  { NULL }
};

static gboolean
check_options (GError **error)
{
  const gchar *problem = NULL;

  if (inputs_options.positives == NULL)
    problem = "--positives is missing";
  else if (output == NULL)
    problem = "--output is missing";
  else if (params.n_weak < 1 || params.n_weak > CUV_MODEL_MAX_STAGES)
    problem = "--weak is not in 1 .. 4096";
  else if (!(params.alpha > 0 && params.alpha < 1))
    problem = "--alpha is not between 0 and 1";
  else if (!(params.rate >= 0 && params.rate < 1))
    problem = "--rate is not in 0 .. 1";
  else if (params.n_negatives < 1)
    problem = "--negative-samples is not above 0";
  else if (sample_options.n_copies < 1)
    problem = "--copies is not above 0";
  else if (!(sample_options.margin > -0.5 && sample_options.margin <= 10))
    problem = "--margin is not in -0.5 .. 10";
  if (problem != NULL)
    g_set_error_literal (
        error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, problem);
  return problem == NULL;
}

static gboolean
parse (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean ok;

  g_option_context_set_summary (
      context, "Trains a detector of objects for waldboostdetect.");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, argc, argv, &error)
      && check_options (&error);
  if (!ok)
    g_printerr (
        "cuvision-train: %s; see cuvision-train --help\n", error->message);
  g_clear_error (&error);
  g_option_context_free (context);
  params.seed = inputs_options.seed = sample_options.seed = (guint64) seed;
  return ok;
}

/* ---- training ---- */

static gboolean
add_samples (const CuvDataset *dataset, CuvTrainer *trainer)
{
  const gint too_small =
      cuv_dataset_feed (dataset, trainer, &params, &sample_options);

  if (too_small > 0)
    g_printerr ("skipped: %d objects are smaller than the window of %d x %d; "
                "--window makes it smaller\n",
        too_small, params.window_width, params.window_height);
  return too_small >= 0;
}

static void
print_progress (const CuvTrainer *trainer, gint64 start)
{
  const CuvTrainProgress at = cuv_trainer_progress (trainer);
  const gdouble seconds =
      (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;

  g_printerr ("\r%d of %d weak classifiers, false-positive rate %.2g, recall "
              "%.3f, %d + %d samples, %.0f s left   ",
      at.n_weak, params.n_weak, at.rate, at.recall,
      at.alive[CUV_TRAIN_LEARNING][1], at.alive[CUV_TRAIN_LEARNING][0],
      seconds / at.n_weak * (params.n_weak - at.n_weak));
}

static CuvTrainState
learn (CuvTrainer *trainer)
{
  const gint64 start = g_get_monotonic_time ();
  CuvTrainState state;

  while ((state = cuv_trainer_step (trainer)) == CUV_TRAIN_CONTINUE)
    print_progress (trainer, start);
  g_printerr ("\n%s\n", cuv_train_describe_end (state));
  return state;
}

/* ---- the result ---- */

static void
print_rates (const GArray *rates, gdouble weak_per_window)
{
  static const gdouble shown[] = { 0.1, 0.3, 1, 3 };

  for (guint s = 0; s < G_N_ELEMENTS (shown); s++) {
    const CuvTrainRate best = cuv_train_rate_at (rates, shown[s]);

    g_print ("at most %g false positives a picture: recall %.3f, "
             "threshold=%.3f\n",
        shown[s], best.recall.value, best.score);
  }
  g_print ("weak classifiers a window: %.2f\n", weak_per_window);
}

static gboolean
report (const CuvDataset *dataset, const CuvGridClassifier *classifier)
{
  const CuvWaldboostModel *model = cuv_model_new (classifier);
  gdouble weak_per_window;
  GArray *rates = cuv_dataset_measure (dataset, model, &weak_per_window);

  cuv_model_unref (model);
  if (rates == NULL)
    return FALSE;
  print_rates (rates, weak_per_window);
  g_array_unref (rates);
  return TRUE;
}

static gboolean
write_model (const CuvGridClassifier *classifier, GError **error)
{
  gchar *comment = g_strdup_printf (
      "made by cuvision-train " VERSION ", seed %" G_GINT64_FORMAT, seed);
  const gboolean ok = cuv_train_save (classifier, output, comment, error);

  g_free (comment);
  return ok;
}

static gboolean
train (const CuvDataset *dataset, GError **error)
{
  CuvTrainer *trainer = cuv_trainer_new (&params);
  gboolean ok = trainer != NULL && add_samples (dataset, trainer)
      && learn (trainer) != CUV_TRAIN_NO_MEMORY;

  if (ok) {
    const CuvGridClassifier classifier = cuv_trainer_classifier (trainer);

    ok = write_model (&classifier, error) && report (dataset, &classifier);
  }
  cuv_trainer_free (trainer);
  return ok;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  CuvDataset *dataset;
  gboolean ok;

  setlocale (LC_ALL, "");
  if (!parse (&argc, &argv))
    return 2;
  dataset = inputs_read (&inputs_options, &error);
  ok = dataset != NULL && train (dataset, &error);
  if (!ok)
    g_printerr ("cuvision-train: %s\n",
        error != NULL ? error->message : "out of memory");
  g_clear_error (&error);
  cuv_dataset_free (dataset);
  return ok ? 0 : 1;
}
