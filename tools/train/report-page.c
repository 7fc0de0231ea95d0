/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes index.html: rates, diagrams, and thumbnails of mistakes. */
#include "config.h"
#include "train-tool.h"

#include <math.h>

#define MOST_THUMBNAILS 36
#define BLUE "#1f6fb4"
#define RED "#c23b22"
#define GREEN "#3a8f3a"
#define GREY "#999999"

static const gchar head[] =
    "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
    "<title>cuvision-train</title>\n<style>\n"
    "body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 64em; "
    "padding: 0 1em; }\n"
    "table { border-collapse: collapse; }\n"
    "td, th { text-align: left; padding: 2px 16px 2px 0; }\n"
    "svg text { font: 12px sans-serif; } .grid { stroke: #ddd; }\n"
    ".row { display: flex; flex-wrap: wrap; gap: 16px; }\n"
    "figure { margin: 0; width: 112px; font-size: 11px; "
    "overflow-wrap: anywhere; }\n"
    "</style>\n</head>\n<body>\n";

/* ---- text ---- */

static void append_html (GString *out, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Appends HTML; arguments are escaped, the format is not. */
static void
append_html (GString *out, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_markup_vprintf_escaped (format, args);
  va_end (args);
  g_string_append (out, text);
  g_free (text);
}

static void
append_share (GString *out, CuvShare share)
{
  append_html (out, "<td>%.3g</td><td>%.3g .. %.3g</td>", share.value,
      share.low, share.high);
}

/* ---- figures ---- */

static void
append_as_written (GString *out, const Results *self)
{
  const CuvTrainRate rate = self->written[CUV_DATASET_TEST];

  append_html (out, "<tr><td>the model's own threshold: %.3g</td>",
      rate.false_positives);
  append_share (out, rate.recall);
  g_string_append (out, "<td></td></tr>\n");
}

static void
append_rates (GString *out, const Results *self)
{
  static const gdouble shown[] = { 0.1, 0.3, 1, 3 };

  append_html (out,
      "<h2>Objects</h2>\n"
      "<p>Measured in %u pictures that were kept out of training, with %u "
      "objects. A box finds an object if their intersection over union is at "
      "least %g.</p>\n"
      "<table><tr><th>maximum false positives per "
      "picture</th><th>recall</th><th>95 %% "
      "interval</th><th>waldboostdetect</th></tr>\n",
      self->found->n_pictures, self->found->objects->len,
      self->inputs->dataset->least_overlap);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++) {
    const CuvTrainRate rate = cuv_train_rate_at (self->rates, shown[i]);
    gchar *settings;

    if (rate.recall.high == 0)
      continue; /* the best box is a mistake */
    settings = results_threshold (self, rate.score);
    append_html (out, "<tr><td>%g</td>", shown[i]);
    append_share (out, rate.recall);
    append_html (out, "<td>%s</td></tr>\n", settings);
    g_free (settings);
  }
  append_as_written (out, self);
  g_string_append (out, "</table>\n");
}

/* Appends a row of the table that compares both kinds of features. */
static void
append_kind (GString *out, const Results *self)
{
  const gdouble asked = self->options->false_positives;

  append_html (out, "<tr><td>%s</td>", results_features (self));
  append_share (out, cuv_train_rate_at (self->rates, asked).recall);
  append_html (out, "<td>%.0f s</td></tr>\n", self->seconds);
}

/* Appends the comparison of --features auto. */
static void
append_choice (GString *out, const Results *self)
{
  if (self->choice == NULL)
    return;
  append_html (
      out, "<h2>Features</h2>\n<p>--features auto %s.</p>\n", self->choice);
  if (self->other == NULL)
    return;
  append_html (out,
      "<table><tr><th>features</th><th>recall at %g false positives per "
      "picture</th><th>95 %% interval</th><th>training time</th></tr>\n",
      self->options->false_positives);
  append_kind (out, self);
  append_kind (out, self->other);
  g_string_append (out, "</table>\n");
}

static void
append_overflows (GString *out, const Results *self)
{
  if (self->found->n_overflows > 0)
    append_html (out,
        "<p><b>In %u of these pictures the classifier accepts more windows "
        "than the detector lists: use one of these thresholds. The ROC ends at "
        "score %.3g.</b></p>\n",
        self->found->n_overflows, self->found->least);
}

static void
append_windows (GString *out, const Results *self)
{
  static const gchar *const names[CUV_DATASET_N_ROLES] = {
    [CUV_DATASET_CALIBRATION] = "calibration: used to set the thresholds",
    [CUV_DATASET_TEST] = "test: expect this in new pictures",
  };

  g_string_append (out,
      "<h2>Windows</h2>\n"
      "<p>Rates of windows before they are grouped into boxes. The intervals "
      "are Wilson's, with the variance between pictures, because windows of "
      "one picture are correlated.</p>\n"
      "<table><tr><th>pictures</th><th>false-positive rate</th><th>95 % "
      "interval</th><th>windows</th><th>recall</th><th>95 % "
      "interval</th><th>samples</th></tr>\n");
  for (gint role = CUV_DATASET_CALIBRATION; role < CUV_DATASET_N_ROLES;
       role++) {
    const CuvWindowRates *rates = &self->windows[role];

    append_html (out, "<tr><td>%s</td>", names[role]);
    append_share (out, rates->false_positives);
    append_html (out, "<td>%" G_GUINT64_FORMAT "</td>", rates->n_negatives);
    append_share (out, rates->recall);
    append_html (
        out, "<td>%" G_GUINT64_FORMAT "</td></tr>\n", rates->n_positives);
  }
  append_html (out,
      "</table>\n<p>Mean number of weak classifiers evaluated per window: %.2f"
      "</p>\n",
      self->found->weak_per_window);
  if (results_explain_slowness (self) != NULL)
    append_html (out, "<p><b>%s.</b></p>\n", results_explain_slowness (self));
}

/* ---- plots ---- */

static GArray *
points_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (PlotPoint));
}

/* Returns a curve of steps: recall is constant until the next score. */
static GArray *
roc_points (const GArray *rates, gdouble least)
{
  GArray *points = points_new ();
  gdouble recall = 0;

  for (guint i = 0; i < rates->len; i++) {
    const CuvTrainRate *rate = &g_array_index (rates, CuvTrainRate, i);
    const PlotPoint step[] = { { MAX (rate->false_positives, least), recall },
      { MAX (rate->false_positives, least), rate->recall.value } };

    if (i + 1 < rates->len && rate->recall.value == recall && i > 0)
      continue;
    g_array_append_vals (points, step, 2);
    recall = rate->recall.value;
  }
  return points;
}

/* Returns a vertical line. */
static GArray *
line_at (gdouble x)
{
  GArray *points = points_new ();
  const PlotPoint ends[] = { { x, 0 }, { x, 1 } };

  g_array_append_vals (points, ends, 2);
  return points;
}

static void
explain_threshold (GString *out, const Results *self)
{
  const CuvTrainRate rate = self->written[CUV_DATASET_CALIBRATION];

  g_string_append (out, "<h2>ROC</h2>\n<p>");
  if (isfinite (self->options->false_positives))
    append_html (out,
        "The model's threshold was set for at most %g false positives per "
        "picture. In the calibration pictures, which were not used for "
        "training, this threshold gives %.3g false positives per picture and a "
        "recall of %.3f. ",
        self->options->false_positives, rate.false_positives,
        rate.recall.value);
  g_string_append (out,
      "The vertical line marks the model's threshold in the test "
      "pictures.</p>\n");
}

static gdouble
most_false_positives (const GArray *rates)
{
  return rates->len > 0
      ? g_array_index (rates, CuvTrainRate, rates->len - 1).false_positives
      : 0;
}

static void
append_roc (GString *out, const Results *self)
{
  const gdouble last = MAX (most_false_positives (self->rates),
      most_false_positives (self->calibration_rates));
  GArray *none = g_array_new (FALSE, FALSE, sizeof (CuvTrainRate));
  gchar *other = self->other != NULL
      ? g_strdup_printf ("test, %s", results_features (self->other))
      : NULL;
  const PlotAxes axes = { "false positives per picture", "recall", TRUE, FALSE,
    0.01, MAX (pow (10, ceil (log10 (MAX (last, 1)))), 10), 0, 1, TRUE };
  const PlotCurve curves[] = {
    { "calibration", GREY, roc_points (self->calibration_rates, axes.x_first) },
    { "test", BLUE, roc_points (self->rates, axes.x_first) },
    { "the model's threshold", RED,
        line_at (self->written[CUV_DATASET_TEST].false_positives) },
    { other, GREEN,
        roc_points (other != NULL ? self->other->rates : none, axes.x_first) },
  };

  explain_threshold (out, self);
  plot_append (out, &axes, curves,
      other != NULL ? G_N_ELEMENTS (curves) : G_N_ELEMENTS (curves) - 1);
  for (guint i = 0; i < G_N_ELEMENTS (curves); i++)
    g_array_unref (curves[i].points);
  g_array_unref (none);
  g_free (other);
}

/* Returns the curve of a value of each CuvTrainProgress. */
static GArray *
progress_points (
    const GArray *progress, gdouble (*value) (const CuvTrainProgress *at))
{
  GArray *points = points_new ();

  for (guint i = 0; i < progress->len; i++) {
    const CuvTrainProgress *at = &g_array_index (progress, CuvTrainProgress, i);
    const PlotPoint point = { at->n_weak, value (at) };

    g_array_append_val (points, point);
  }
  return points;
}

static gdouble
rate_at (const CuvTrainProgress *at)
{
  return at->rate;
}

static gdouble
positives_at (const CuvTrainProgress *at)
{
  return at->alive[CUV_TRAIN_LEARNING][1];
}

static gdouble
negatives_at (const CuvTrainProgress *at)
{
  return at->alive[CUV_TRAIN_LEARNING][0];
}

/* Returns the largest power of ten, at most 0.1, that no positive value is
 * below. */
static gdouble
least_decade (const GArray *points)
{
  gdouble least = 0.1;

  for (guint i = 0; i < points->len; i++) {
    const gdouble y = g_array_index (points, PlotPoint, i).y;

    if (y > 0 && y < least)
      least = y;
  }
  return pow (10, floor (log10 (least)));
}

static gdouble
largest_decade (const GArray *points)
{
  gdouble largest = 10;

  for (guint i = 0; i < points->len; i++)
    largest = MAX (largest, g_array_index (points, PlotPoint, i).y);
  return pow (10, ceil (log10 (largest)));
}

static void
append_progress (GString *out, const GArray *progress)
{
  GArray *rates = progress_points (progress, rate_at);
  GArray *positives = progress_points (progress, positives_at);
  GArray *negatives = progress_points (progress, negatives_at);
  const gdouble end = MAX (progress->len, 2);
  const PlotAxes rate_axes = { "weak classifiers", "false-positive rate", FALSE,
    TRUE, 0, end, least_decade (rates), 1, FALSE };
  const PlotAxes sample_axes = { "weak classifiers", "samples left", FALSE,
    TRUE, 0, end, 1,
    MAX (largest_decade (positives), largest_decade (negatives)), FALSE };
  const PlotCurve rate = { "rate", BLUE, rates };
  const PlotCurve samples[] = { { "positives", BLUE, positives },
    { "negatives", RED, negatives } };

  g_string_append (out,
      "<h2>Training</h2>\n"
      "<p>The false-positive rate is the fraction of the calibration pictures' "
      "windows without objects that no weak classifier rejects. The samples "
      "left are the training samples that are not yet rejected; new negatives "
      "are collected when few are left.</p>\n"
      "<div class='row'>\n");
  plot_append (out, &rate_axes, &rate, 1);
  plot_append (out, &sample_axes, samples, 2);
  g_string_append (out, "</div>\n");
  g_array_unref (rates);
  g_array_unref (positives);
  g_array_unref (negatives);
}

/* ---- thumbnails ---- */

static void
append_thumbnail (GString *out, const Results *self, const CuvDatasetBox *box)
{
  gchar *uri = thumbnail_uri (box);
  gchar *name = g_path_get_basename (box->picture->path);
  gchar *valid = g_utf8_make_valid (name, -1);
  const gchar *other = results_other_at (self, box);
  gchar *score = isfinite (box->score)
      ? g_strdup_printf ("score %.2f", box->score)
      : g_strdup ("missed");

  if (uri != NULL)
    append_html (out,
        "<figure><img src='%s' alt=''><figcaption>%s<br>%.0f,%.0f "
        "%.0fx%.0f<br>%s%s%s"
        "</figcaption></figure>\n",
        uri, valid, box->box.x, box->box.y, box->box.width, box->box.height,
        score, other != NULL ? ", on " : "", other != NULL ? other : "");
  g_free (score);
  g_free (valid);
  g_free (name);
  g_free (uri);
}

static void
append_thumbnails (GString *out, const Results *self, const gchar *title,
    const gchar *text, const GArray *boxes)
{
  if (boxes->len == 0)
    return;
  append_html (out, "<h2>%s</h2>\n<p>%s</p>\n<div class='row'>\n", title, text);
  for (guint i = 0; i < MIN (boxes->len, MOST_THUMBNAILS); i++)
    append_thumbnail (out, self, &g_array_index (boxes, CuvDatasetBox, i));
  g_string_append (out, "</div>\n");
}

static GArray *
reversed (const GArray *boxes)
{
  GArray *copy = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox));

  for (guint i = boxes->len; i > 0; i--)
    g_array_append_val (copy, g_array_index (boxes, CuvDatasetBox, i - 1));
  return copy;
}

static void
append_boxes (GString *out, const Results *self)
{
  GArray *worst = reversed (self->found->objects);
  gchar *others = results_describe_others (self);
  gchar *text = g_strconcat ("Boxes that match no object, best scores first.",
      others != NULL ? " " : "", others, others != NULL ? "." : NULL, NULL);

  append_thumbnails (out, self, "Missed objects",
      "Objects that no box matches, then those with the lowest scores.", worst);
  append_thumbnails (out, self, "Mistakes", text, self->found->mistakes);
  append_thumbnails (out, self, "Possible objects that were not annotated",
      "Boxes in training and calibration pictures where no object is "
      "annotated, "
      "with scores like those of objects. If they are objects, annotate them "
      "(or mark them to be ignored) and train again.",
      self->suspects);
  g_free (text);
  g_free (others);
  g_array_unref (worst);
}

/* ---- the page ---- */

static void
append_summary (GString *out, const Results *self)
{
  const TrainOptions *options = self->options;
  const CuvTrainParams *params = &options->train;
  gchar *model = g_filename_display_basename (options->output);

  append_html (out,
      "<h1>%s</h1>\n<p>%s: %d weak classifiers of %s features, window %d x "
      "%d, alpha %g, seed %" G_GUINT64_FORMAT ". Training took %.0f s. "
      "cuvision-train " VERSION "; all figures are in <a href='report.json'>"
      "report.json</a>.</p>\n",
      model, self->end, self->classifier.n_weak, results_features (self),
      params->window_width, params->window_height, params->alpha, params->seed,
      self->seconds);
  g_free (model);
}

static void
append_skipped (GString *out, const Results *self)
{
  const GPtrArray *skipped = self->inputs->skipped;

  if (self->too_small > 0)
    append_html (out, "<p>%d objects are smaller than the window.</p>\n",
        self->too_small);
  if (skipped->len == 0)
    return;
  append_html (out, "<h2>Skipped</h2>\n<ul>\n");
  for (guint i = 0; i < skipped->len; i++) {
    gchar *text = g_utf8_make_valid (skipped->pdata[i], -1);

    append_html (out, "<li>%s</li>\n", text);
    g_free (text);
  }
  g_string_append (out, "</ul>\n");
}

gboolean
report_write_page (const Results *self, GError **error)
{
  GString *out = g_string_new (head);
  gchar *path = g_build_filename (self->options->report, "index.html", NULL);
  gboolean ok;

  append_summary (out, self);
  append_choice (out, self);
  append_rates (out, self);
  append_overflows (out, self);
  append_roc (out, self);
  append_windows (out, self);
  append_boxes (out, self);
  append_progress (out, self->progress);
  append_skipped (out, self);
  g_string_append (out, "</body>\n</html>\n");
  ok = g_file_set_contents (path, out->str, (gssize) out->len, error);
  g_free (path);
  g_string_free (out, TRUE);
  return ok;
}
