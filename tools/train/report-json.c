/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes report.json. docs/training.md describes its most important keys. */
#include "config.h"
#include "train-tool.h"

#include <json-glib/json-glib.h>
#include <math.h>

static const gchar *const roles[CUV_DATASET_N_ROLES] = { "learning",
  "calibration", "test" };

/* ---- members ---- */

static void
add_int (JsonBuilder *json, const gchar *name, gint64 value)
{
  json_builder_set_member_name (json, name);
  json_builder_add_int_value (json, value);
}

/* JSON has no number for NaN and infinity: writes null. */
static void
add_number (JsonBuilder *json, const gchar *name, gdouble value)
{
  json_builder_set_member_name (json, name);
  if (isfinite (value))
    json_builder_add_double_value (json, value);
  else
    json_builder_add_null_value (json);
}

static void
add_string (JsonBuilder *json, const gchar *name, const gchar *value)
{
  gchar *text = value != NULL ? g_utf8_make_valid (value, -1) : NULL;

  json_builder_set_member_name (json, name);
  json_builder_add_string_value (json, text); /* NULL: null */
  g_free (text);
}

static void
add_string_array (JsonBuilder *json, const gchar *name, gchar **values, guint n)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++) {
    gchar *text = g_utf8_make_valid (values[i], -1);

    json_builder_add_string_value (json, text);
    g_free (text);
  }
  json_builder_end_array (json);
}

static void
begin_object (JsonBuilder *json, const gchar *name)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_object (json);
}

static void
add_share (JsonBuilder *json, const gchar *name, CuvShare share)
{
  begin_object (json, name);
  add_number (json, "value", share.value);
  add_number (json, "low", share.low);
  add_number (json, "high", share.high);
  json_builder_end_object (json);
}

/* ---- parts of the report ---- */

static void
add_strings (JsonBuilder *json, const gchar *name, gchar **paths)
{
  add_string_array (
      json, name, paths, paths != NULL ? g_strv_length (paths) : 0);
}

static void
add_options (JsonBuilder *json, const TrainOptions *options)
{
  const CuvTrainParams *params = &options->train;

  begin_object (json, "options");
  add_strings (json, "positives", options->inputs.positives);
  add_strings (json, "negatives", options->inputs.negatives);
  add_string (json, "label", options->inputs.label);
  add_strings (json, "ignore", options->inputs.ignore);
  add_string (json, "output", options->output);
  add_string (json, "format", options_format_name (params->cascade));
  add_int (json, "window_width", params->window_width);
  add_int (json, "window_height", params->window_height);
  add_string (json, "features", options_feature_name (params->feature));
  add_int (json, "weak", params->n_weak);
  add_number (json, "alpha", params->alpha);
  add_number (json, "rate", params->rate);
  add_number (json, "false_positives", options->false_positives);
  json_builder_set_member_name (json, "loose_boxes");
  json_builder_add_boolean_value (json, options->inputs.loose_boxes);
  add_int (json, "negative_samples", params->n_negatives);
  add_int (json, "copies", options->samples.n_copies);
  add_number (json, "margin", options->samples.margin);
  json_builder_set_member_name (json, "mirror");
  json_builder_add_boolean_value (json, options->samples.mirror);
  add_int (json, "seed", (gint64) params->seed);
  json_builder_end_object (json);
}

static void
add_files (JsonBuilder *json, const GPtrArray *pictures)
{
  GPtrArray *paths = g_ptr_array_new ();

  for (guint i = 0; i < pictures->len; i++) {
    const CuvDatasetPicture *picture = pictures->pdata[i];

    if (!picture->is_window)
      g_ptr_array_add (paths, picture->path);
  }
  add_int (json, "pictures", paths->len);
  add_string_array (json, "files", (gchar **) paths->pdata, paths->len);
  g_ptr_array_unref (paths);
}

static void
add_data (JsonBuilder *json, const Results *self)
{
  const GPtrArray *skipped = self->inputs->skipped;

  begin_object (json, "data");
  for (gint role = 0; role < CUV_DATASET_N_ROLES; role++) {
    const GPtrArray *pictures = self->inputs->dataset->roles[role];
    gint64 n = 0;

    for (guint i = 0; i < pictures->len; i++)
      n += ((const CuvDatasetPicture *) pictures->pdata[i])->objects->len;
    begin_object (json, roles[role]);
    add_int (json, "objects", n);
    add_files (json, pictures);
    json_builder_end_object (json);
  }
  add_int (json, "too_small", self->too_small);
  add_string_array (json, "skipped", (gchar **) skipped->pdata, skipped->len);
  json_builder_end_object (json);
}

static void
add_progress (JsonBuilder *json, const GArray *progress)
{
  json_builder_set_member_name (json, "progress");
  json_builder_begin_array (json);
  for (guint i = 0; i < progress->len; i++) {
    const CuvTrainProgress *at = &g_array_index (progress, CuvTrainProgress, i);

    json_builder_begin_object (json);
    add_int (json, "weak", at->n_weak);
    add_number (json, "false_positive_rate", at->rate);
    add_number (json, "recall", at->recall);
    for (gint part = 0; part < CUV_TRAIN_N_PARTS; part++) {
      begin_object (json, roles[part]);
      add_int (json, "positives", at->alive[part][1]);
      add_int (json, "negatives", at->alive[part][0]);
      json_builder_end_object (json);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
add_windows (JsonBuilder *json, const Results *self)
{
  begin_object (json, "windows");
  for (gint role = CUV_DATASET_CALIBRATION; role < CUV_DATASET_N_ROLES;
       role++) {
    const CuvWindowRates *rates = &self->windows[role];

    begin_object (json, roles[role]);
    add_share (json, "false_positive_rate", rates->false_positives);
    add_int (json, "negatives", (gint64) rates->n_negatives);
    add_share (json, "recall", rates->recall);
    add_int (json, "positives", (gint64) rates->n_positives);
    json_builder_end_object (json);
  }
  json_builder_end_object (json);
}

/* Adds the rates of the model as written, without further settings. */
static void
add_written (JsonBuilder *json, const Results *self)
{
  begin_object (json, "as_written");
  add_number (json, "threshold_raised", self->raised);
  for (gint role = CUV_DATASET_CALIBRATION; role < CUV_DATASET_N_ROLES;
       role++) {
    begin_object (json, roles[role]);
    add_share (json, "recall", self->written[role].recall);
    add_number (json, "false_positives_per_picture",
        self->written[role].false_positives);
    json_builder_end_object (json);
  }
  json_builder_end_object (json);
}

static void
add_rates (JsonBuilder *json, const gchar *name, const GArray *rates)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_array (json);
  for (guint i = 0; i < rates->len; i++) {
    const CuvTrainRate *rate = &g_array_index (rates, CuvTrainRate, i);

    json_builder_begin_object (json);
    add_number (json, "score", rate->score);
    add_share (json, "recall", rate->recall);
    add_number (json, "false_positives_per_picture", rate->false_positives);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

/* Adds a kind of features that was compared. */
static void
add_kind (JsonBuilder *json, const Results *self)
{
  const TrainOptions *options = self->options;

  json_builder_begin_object (json);
  add_string (json, "features", results_features (self));
  add_int (json, "window_width", options->train.window_width);
  add_int (json, "window_height", options->train.window_height);
  add_number (json, "alpha", options->train.alpha);
  add_number (json, "margin", options->samples.margin);
  add_number (json, "seconds", self->seconds);
  add_number (json, "weak_per_window", self->found->weak_per_window);
  add_share (json, "recall",
      cuv_train_rate_at (self->rates, options->false_positives).recall);
  add_rates (json, "roc", self->rates);
  json_builder_end_object (json);
}

/* Adds the comparison of --features auto. */
static void
add_choice (JsonBuilder *json, const Results *self)
{
  begin_object (json, "choice");
  add_string (json, "took", results_features (self));
  add_string (json, "why", self->choice);
  json_builder_set_member_name (json, "kinds");
  json_builder_begin_array (json);
  add_kind (json, self);
  if (self->other != NULL)
    add_kind (json, self->other);
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
add_found_boxes (JsonBuilder *json, const gchar *name, const Results *self,
    const GArray *boxes)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_array (json);
  for (guint i = 0; i < boxes->len; i++) {
    const CuvDatasetBox *box = &g_array_index (boxes, CuvDatasetBox, i);

    json_builder_begin_object (json);
    add_string (json, "picture", box->picture->path);
    add_number (json, "x", box->box.x);
    add_number (json, "y", box->box.y);
    add_number (json, "w", box->box.width);
    add_number (json, "h", box->box.height);
    add_number (json, "score", box->score);
    if (boxes == self->found->mistakes)
      add_string (json, "other", results_other_at (self, box));
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
add_features (JsonBuilder *json, const CuvGridClassifier *classifier)
{
  json_builder_set_member_name (json, "features");
  json_builder_begin_array (json);
  for (gint i = 0; i < classifier->n_weak; i++) {
    const CuvGridNode *node = &classifier->nodes[i];

    json_builder_begin_object (json);
    add_int (json, "x", node->x);
    add_int (json, "y", node->y);
    add_int (json, "block_width", node->width);
    add_int (json, "block_height", node->height);
    if (classifier->feature != CUV_FEATURE_LBP) {
      add_int (json, "block_a", node->a);
      add_int (json, "block_b", node->b);
    }
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

/* ---- the file ---- */

static JsonNode *
build_report (const Results *self)
{
  const CuvDatasetFound *found = self->found;
  JsonBuilder *json = json_builder_new ();
  JsonNode *node;

  json_builder_begin_object (json);
  add_string (json, "program", "cuvision-train " VERSION);
  add_options (json, self->options);
  add_data (json, self);
  if (self->choice != NULL)
    add_choice (json, self);
  add_string (json, "end", self->end);
  add_number (json, "seconds", self->seconds);
  add_int (json, "overflows", found->n_overflows);
  add_number (json, "least_score", found->least);
  add_number (json, "weak_per_window", found->weak_per_window);
  add_windows (json, self);
  add_written (json, self);
  add_rates (json, "roc", self->rates);
  add_rates (json, "calibration_roc", self->calibration_rates);
  add_found_boxes (json, "objects", self, found->objects);
  add_found_boxes (json, "mistakes", self, found->mistakes);
  add_found_boxes (json, "suspects", self, self->suspects);
  add_progress (json, self->progress);
  if (self->channels == NULL)
    add_features (json, &self->classifier);
  json_builder_end_object (json);
  node = json_builder_get_root (json);
  g_object_unref (json);
  return node;
}

gboolean
report_write_json (const Results *self, GError **error)
{
  JsonNode *node = build_report (self);
  gchar *text = json_to_string (node, TRUE);
  gchar *path = g_build_filename (self->options->report, "report.json", NULL);
  const gboolean ok = g_file_set_contents (path, text, -1, error);

  g_free (path);
  g_free (text);
  json_node_unref (node);
  return ok;
}
