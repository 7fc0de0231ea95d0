/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets the final threshold and measures the classifier on pictures that it was
 * not trained with. */
#include "train-tool.h"

#include <math.h>

static const CuvWaldboostModel *
model_with (const Results *self, gfloat threshold)
{
  CuvGridClassifier classifier = self->classifier;
  CuvChannelsModel *channels;

  if (self->channels == NULL) {
    classifier.final_threshold = threshold;
    return cuv_model_new (&classifier);
  }
  channels = cuv_channels_model_copy (self->channels);
  channels->trees.final_threshold =
      (gint32) lrintf (ldexpf (threshold, CUV_TRAIN_TREE_BITS));
  return cuv_model_of_channels (channels);
}

/* Returns the model before its threshold was raised: it also finds boxes below
 * the written threshold, which users can reach by final-threshold, except with
 * cascades. */
static const CuvWaldboostModel *
learnt_model (const Results *self)
{
  return model_with (self, self->learnt_threshold);
}

const CuvWaldboostModel *
results_model (const Results *self)
{
  return model_with (self, self->classifier.final_threshold);
}

const gchar *
results_features (const Results *self)
{
  return options_feature_name (self->options->train.feature);
}

static CuvDatasetFound *
results_find (const Results *self, CuvDatasetRole role,
    const CuvWaldboostModel *model, CuvDatasetGrouping grouping)
{
  return cuv_dataset_find (
      self->inputs->dataset, role, model, &self->options->samples, grouping);
}

/* Returns by how much the final threshold is above that of learnt_model(). */
static gdouble
raised_since (const Results *self)
{
  return (gdouble) (self->classifier.final_threshold - self->learnt_threshold);
}

/* Returns the median of the objects' scores, INFINITY if none was found. */
static gdouble
usual_score (const CuvDatasetFound *found)
{
  guint n = 0;

  while (n < found->objects->len
      && isfinite (g_array_index (found->objects, CuvDatasetBox, n).score))
    n++;
  return n > 0 ? g_array_index (found->objects, CuvDatasetBox, n / 2).score
               : INFINITY;
}

/* Fraction of usual_score() from which a mistake is suspected to be an object.
 * An object that was trained as a negative scores lower than others. */
#define SUSPECT 0.75

static gint
compare_scores (gconstpointer a, gconstpointer b)
{
  const CuvDatasetBox *one = a, *other = b;

  return (one->score < other->score) - (one->score > other->score);
}

/* Whether a box touches no object: one that does is an inaccurate hit. */
static gboolean
is_apart (const CuvDatasetBox *box)
{
  const GArray *boxes = box->picture->boxes, *others = box->picture->others;
  gboolean touches = FALSE;

  for (guint i = 0; i < boxes->len; i++)
    touches |=
        cuv_dataset_overlap (&box->box, &g_array_index (boxes, CuvTrainBox, i))
        > 0;
  for (guint i = 0; i < others->len; i++)
    touches |= cuv_dataset_overlap (
                   &box->box, &g_array_index (others, CuvDatasetOther, i).box)
        > 0;
  return !touches;
}

/* ---- objects of other labels ---- */

const gchar *
results_other_at (const Results *self, const CuvDatasetBox *box)
{
  const GArray *others = box->picture->others;

  for (guint i = 0; i < others->len; i++) {
    const CuvDatasetOther *other = &g_array_index (others, CuvDatasetOther, i);
    const CuvTrainBox sample = cuv_sample_box (&other->box,
        self->options->samples.margin, self->options->train.window_width,
        self->options->train.window_height);

    if (cuv_dataset_overlap (&box->box, &sample) >= 0.5)
      return other->label;
  }
  return NULL;
}

gchar *
results_describe_others (const Results *self)
{
  const gdouble least = cuv_train_rate_at (self->rates, 1).score;
  const GArray *mistakes = self->found->mistakes;
  guint n = 0, n_on = 0;

  for (; n < mistakes->len; n++) {
    const CuvDatasetBox *box = &g_array_index (mistakes, CuvDatasetBox, n);

    if (box->score < least)
      break;
    n_on += results_other_at (self, box) != NULL;
  }
  return n_on > 0 ? g_strdup_printf (
             "%u of %u mistakes at 1 false positive per picture are "
             "on objects of other labels",
             n_on, n)
                  : NULL;
}

static gboolean
find_suspects (Results *self, const CuvWaldboostModel *model)
{
  const gdouble raised = raised_since (self);
  const gdouble usual = usual_score (self->found) + raised;
  const gdouble least = MAX (SUSPECT * usual - raised,
      cuv_train_rate_at (self->rates, 1).score); /* a bad model finds many */
  gboolean ok = TRUE;

  for (gint role = 0; ok && role < CUV_DATASET_TEST; role++) {
    CuvDatasetFound *found =
        results_find (self, (CuvDatasetRole) role, model, CUV_DATASET_NMS);

    ok = found != NULL;
    if (ok)
      cuv_dataset_found_lower (found, raised);
    for (guint i = 0; ok && i < found->mistakes->len; i++) {
      const CuvDatasetBox *box =
          &g_array_index (found->mistakes, CuvDatasetBox, i);

      if (box->score >= least && is_apart (box))
        g_array_append_val (self->suspects, *box);
    }
    cuv_dataset_found_free (found);
  }
  g_array_sort (self->suspects, compare_scores);
  return ok;
}

static gboolean
measure_windows (Results *self, const CuvWaldboostModel *model)
{
  gboolean ok = TRUE;

  for (gint role = CUV_DATASET_CALIBRATION; ok && role < CUV_DATASET_N_ROLES;
       role++)
    ok = cuv_dataset_window_rates (self->inputs->dataset, (CuvDatasetRole) role,
        model, &self->options->samples, &self->windows[role]);
  return ok;
}

/* ---- the threshold ---- */

/* Raises the threshold of a cascade. Returns FALSE if memory runs out. */
static gboolean
raise_cascade (Results *self)
{
  const TrainOptions *options = self->options;

  if (isfinite (options->false_positives))
    self->raised = cuv_dataset_cascade_threshold (self->inputs->dataset,
        &self->classifier, &options->samples, options->false_positives);
  if (self->raised < 0)
    return FALSE;
  self->classifier.final_threshold += (gfloat) self->raised;
  self->learnt_threshold = self->classifier.final_threshold;
  return TRUE;
}

/* Fraction of objects whose scores are left out with --loose-boxes. */
#define MOST_OFF 0.25

/* Returns how far to raise the threshold. Scores of trees on channels say how
 * likely a box is, so --false-positives is met closely rather than undercut. */
static gdouble
raise_by (const Results *self)
{
  const TrainOptions *options = self->options;

  if (options->inputs.loose_boxes)
    return cuv_dataset_threshold (
        self->calibration, options->false_positives, MOST_OFF, 2 * MOST_OFF);
  return self->channels != NULL
      ? cuv_dataset_limit (self->calibration, options->false_positives)
      : cuv_dataset_threshold (
          self->calibration, options->false_positives, options->train.alpha, 1);
}

static gboolean
raise_threshold (Results *self)
{
  const TrainOptions *options = self->options;
  const CuvWaldboostModel *model;

  self->learnt_threshold = self->classifier.final_threshold;
  if (self->classifier.cascade && !raise_cascade (self))
    return FALSE;
  model = learnt_model (self);
  self->calibration =
      results_find (self, CUV_DATASET_CALIBRATION, model, CUV_DATASET_NMS);
  cuv_model_unref (model);
  if (self->calibration == NULL || self->classifier.cascade
      || !isfinite (options->false_positives))
    return self->calibration != NULL;
  self->classifier.final_threshold += (gfloat) raise_by (self);
  if (self->channels != NULL) /* as the file stores it */
    self->classifier.final_threshold = ldexpf (
        rintf (ldexpf (self->classifier.final_threshold, CUV_TRAIN_TREE_BITS)),
        -CUV_TRAIN_TREE_BITS);
  self->raised =
      (gdouble) (self->classifier.final_threshold - self->learnt_threshold);
  cuv_dataset_found_lower (self->calibration, self->raised);
  return TRUE;
}

static CuvTrainRate
rate_above (const GArray *rates, gdouble score)
{
  CuvTrainRate last = { .recall.high = 1 }; /* no box */

  for (guint i = 0; i < rates->len; i++) {
    const CuvTrainRate *rate = &g_array_index (rates, CuvTrainRate, i);

    if (rate->score > score)
      last = *rate;
  }
  return last;
}

/* Measures the model as written, with the detector's default grouping. Returns
 * FALSE if memory runs out. */
static gboolean
measure_written (Results *self, CuvDatasetRole role, const GArray *rates)
{
  const CuvWaldboostModel *model;
  CuvDatasetFound *found;

  self->written[role] = rate_above (rates, 0);
  if (!self->classifier.cascade)
    return TRUE;
  model = cuv_model_new (&self->classifier);
  found = results_find (self, role, model, CUV_DATASET_NEIGHBOURS);
  cuv_model_unref (model);
  if (found != NULL) {
    GArray *all = cuv_dataset_rates (found);

    self->written[role] = rate_above (all, -INFINITY);
    g_array_unref (all);
  }
  cuv_dataset_found_free (found);
  return found != NULL;
}

gboolean
results_set_threshold (Results *self)
{
  CuvDataset *dataset = self->inputs->dataset;
  Progress *progress = progress_begin (
      "setting the threshold, pictures scanned", &dataset->n_scanned,
      self->classifier.cascade ? 0
                               : dataset->roles[CUV_DATASET_CALIBRATION]->len);
  gboolean ok = raise_threshold (self);

  if (ok) {
    if (self->channels != NULL)
      cuv_dataset_set_confidence (self->calibration,
          (gdouble) self->classifier.final_threshold, self->channels);
    self->calibration_rates = cuv_dataset_rates (self->calibration);
    ok = measure_written (
        self, CUV_DATASET_CALIBRATION, self->calibration_rates);
  }
  progress_end (progress);
  return ok;
}

/* ---- the whole summary ---- */

gboolean
results_measure (Results *self)
{
  const CuvWaldboostModel *learnt = learnt_model (self);
  CuvDataset *dataset = self->inputs->dataset;
  Progress *progress = progress_begin ("measuring, pictures scanned",
      &dataset->n_scanned, dataset->roles[CUV_DATASET_TEST]->len);
  gboolean ok;

  self->found = results_find (self, CUV_DATASET_TEST, learnt, CUV_DATASET_NMS);
  ok = self->found != NULL;
  if (ok) {
    cuv_dataset_found_lower (self->found, raised_since (self));
    self->rates = cuv_dataset_rates (self->found);
    ok = measure_written (self, CUV_DATASET_TEST, self->rates);
  }
  progress_end (progress);
  cuv_model_unref (learnt);
  return ok;
}

/* Returns the number of pictures that are scanned for windows, samples and
 * suspects. */
static guint
count_examined (const Results *self)
{
  GPtrArray *const *roles = self->inputs->dataset->roles;

  return roles[CUV_DATASET_LEARNING]->len
      + 3 * roles[CUV_DATASET_CALIBRATION]->len
      + 2 * roles[CUV_DATASET_TEST]->len;
}

gboolean
results_examine (Results *self)
{
  const CuvWaldboostModel *learnt = learnt_model (self);
  const CuvWaldboostModel *written = results_model (self);
  Progress *progress = progress_begin ("examining mistakes, pictures scanned",
      &self->inputs->dataset->n_scanned, count_examined (self));
  const gboolean ok =
      measure_windows (self, written) && find_suspects (self, learnt);

  progress_end (progress);
  cuv_model_unref (learnt);
  cuv_model_unref (written);
  return ok;
}

gchar *
results_threshold (const Results *self, gdouble score)
{
  return self->classifier.cascade
      ? g_strdup_printf ("grouping=nms threshold=%.12g", 1 / (1 + exp (-score)))
      : g_strdup_printf (
          "final-threshold=%.3f", floor (score * 1000 - 1) / 1000);
}

#define MANY_WEAK_PER_WINDOW 10  /* 1 to 5 is usual */
#define MANY_TREES_PER_WINDOW 50 /* 32 windows are evaluated at once */

const gchar *
results_explain_slowness (const Results *self)
{
  const gdouble many =
      self->channels != NULL ? MANY_TREES_PER_WINDOW : MANY_WEAK_PER_WINDOW;

  return self->found->weak_per_window > many
      ? "detection will be slow: the first few weak classifiers should reject "
        "most windows, but the features do not separate the objects from the "
        "background; try a larger --window, another --features or --margin, "
        "or objects that look more alike, such as a single view"
      : NULL;
}

/* Prints the rates of the model without further settings. */
static void
print_as_written (const Results *self)
{
  const CuvTrainRate rate = self->written[CUV_DATASET_TEST];

  g_print ("with the model's own threshold: recall %.3f (%.3f .. %.3f), %.3g "
           "false positives per picture\n",
      rate.recall.value, rate.recall.low, rate.recall.high,
      rate.false_positives);
}

/* Warns if few objects reach the threshold. */
static void
print_missed (const Results *self)
{
  const CuvShare recall = self->written[CUV_DATASET_CALIBRATION].recall;
  const guint n = self->calibration->objects->len;

  if (self->raised > 0 && recall.value < 0.5)
    g_printerr (
        "at %g false positives per picture the threshold accepts only %u of %u "
        "objects of the calibration pictures: raise --false-positives to find "
        "more, or train with more and harder examples\n",
        self->options->false_positives, (guint) lrint (recall.value * n), n);
}

static void
print_others (const Results *self)
{
  gchar *others = results_describe_others (self);

  if (others != NULL)
    g_print ("%s\n", others);
  g_free (others);
}

void
results_print (const Results *self)
{
  static const gdouble shown[] = { 0.1, 0.3, 1, 3 };

  g_printerr ("%s after %d weak classifiers and %.0f s\n", self->end,
      self->classifier.n_weak, self->seconds);
  if (self->inputs->skipped->len > 0)
    g_printerr (
        "%u pictures or boxes were skipped\n", self->inputs->skipped->len);
  g_print ("In %u pictures kept out of training, with %u objects:\n",
      self->found->n_pictures, self->found->objects->len);
  for (guint s = 0; s < G_N_ELEMENTS (shown); s++) {
    const CuvTrainRate rate = cuv_train_rate_at (self->rates, shown[s]);
    gchar *settings;

    if (rate.recall.high == 0)
      continue; /* the best box is a mistake */
    settings = results_threshold (self, rate.score);
    g_print ("at most %g false positives per picture: recall %.3f (%.3f .. "
             "%.3f), %s\n",
        shown[s], rate.recall.value, rate.recall.low, rate.recall.high,
        settings);
    g_free (settings);
  }
  if (self->found->n_overflows > 0)
    g_printerr (
        "in %u of these pictures the classifier accepts more windows than the "
        "detector lists, so the rates end at score %.3g: set one of these "
        "thresholds, or use more --weak or other --negatives\n",
        self->found->n_overflows, self->found->least);
  print_as_written (self);
  print_missed (self);
  if (self->rates->len == 0)
    g_print ("no box was found\n");
  print_others (self);
  g_print ("weak classifiers per window: %.2f\n", self->found->weak_per_window);
  if (results_explain_slowness (self) != NULL)
    g_printerr ("%s\n", results_explain_slowness (self));
  if (self->suspects->len > 0)
    g_printerr ("%u boxes may be objects that were not annotated: see the "
                "report\n",
        self->suspects->len);
}

void
results_init (
    Results *self, const TrainOptions *options, const TrainInputs *inputs)
{
  *self = (Results){ .options = options,
    .inputs = inputs,
    .progress = g_array_new (FALSE, FALSE, sizeof (CuvTrainProgress)),
    .suspects = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)) };
}

void
results_clear (Results *self)
{
  cuv_channels_model_free (self->channels);
  cuv_dataset_found_free (self->calibration);
  g_clear_pointer (&self->calibration_rates, g_array_unref);
  cuv_dataset_found_free (self->found);
  g_clear_pointer (&self->rates, g_array_unref);
  g_array_unref (self->suspects);
  g_array_unref (self->progress);
  g_free (self->choice);
  g_free (self->end);
}
