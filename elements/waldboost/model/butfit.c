/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BUT FIT's WaldBoostClassifier, alone or anywhere in a training dump; the
 * first one in the file is read.
 *
 *   <WaldBoostClassifier [type] sizeX sizeY | imageSizeX imageSizeY minStdDev>
 *     <stage posT negT>
 *       <HistogramWeakHypothesis predictionValues>
 *       | <DecisionTreeWeakHypothesis predictionValues binMap>
 *         one feature, see butfit-features.c
 *
 * posT is ignored. negT is clamped to -5000 .. 5000, where -5000 means no test.
 */
#include "model/butfit.h"

#include <math.h>
#include <string.h>

#define MAX_THRESHOLD 5000
#define MAX_STD_DEV 1e4f
#define MAX_TABLE 1024

static const CuvElementRule rules[] = {
  { CUV_PLACE_MODEL, "stage", CUV_BUTFIT_STAGE, CUV_ELEMENT_ANY },
  { CUV_BUTFIT_STAGE, "HistogramWeakHypothesis", CUV_BUTFIT_HYPOTHESIS,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_STAGE, "DecisionTreeWeakHypothesis", CUV_BUTFIT_HYPOTHESIS,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_HYPOTHESIS, "LBPFeature", CUV_BUTFIT_GRID, CUV_ELEMENT_ANY },
  { CUV_BUTFIT_HYPOTHESIS, "LRDFeature", CUV_BUTFIT_GRID, CUV_ELEMENT_ANY },
  { CUV_BUTFIT_HYPOTHESIS, "LRP", CUV_BUTFIT_GRID, CUV_ELEMENT_ANY },
  { CUV_BUTFIT_HYPOTHESIS, "TCont2DiscFeature", CUV_BUTFIT_BINS,
      CUV_ELEMENT_ANY },
  { CUV_BUTFIT_BINS, "HaarHorizontalDoubleFeature", CUV_BUTFIT_HAAR,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_BINS, "HaarVerticalDoubleFeature", CUV_BUTFIT_HAAR,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_BINS, "HaarHorizontalTernalFeature", CUV_BUTFIT_HAAR,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_BINS, "HaarVerticalTernalFeature", CUV_BUTFIT_HAAR,
      CUV_ELEMENT_ONE },
  { CUV_BUTFIT_BINS, "HaarDiagonalFeature", CUV_BUTFIT_HAAR, CUV_ELEMENT_ONE },
  { CUV_BUTFIT_BINS, "HaarSurroundFeature", CUV_BUTFIT_HAAR, CUV_ELEMENT_ONE },
};

static void
init (CuvModelReader *reader)
{
  CuvButfit *self = reader->state;

  self->type = -1;
  self->table = g_array_new (FALSE, FALSE, sizeof (float));
}

static void
clear (gpointer state)
{
  CuvButfit *self = state;

  g_array_unref (self->table);
}

/* ---- the classifier ---- */

/* imageSizeX takes precedence over sizeX. */
static gboolean
read_side (const CuvTag *tag, const char *image_name, const char *name,
    int32_t *side, GError **error)
{
  gint64 value;

  if (cuv_attribute (tag, image_name) != NULL)
    name = image_name;
  if (!cuv_attribute_integer (
          tag, name, 3, CUV_MODEL_MAX_WINDOW, &value, error))
    return FALSE;
  *side = (int32_t) value;
  return TRUE;
}

static void
begin_classifier (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  CuvWaldboostModel *model = &reader->parts.model;
  const char *type = cuv_attribute (tag, "type");

  if (type != NULL && *type != '\0' && !cuv_butfit_set_type (self, type, error))
    return;
  if (!read_side (tag, "imageSizeX", "sizeX", &model->window_width, error)
      || !read_side (tag, "imageSizeY", "sizeY", &model->window_height, error))
    return;
  if (cuv_attribute (tag, "minStdDev") != NULL)
    cuv_attribute_float (
        tag, "minStdDev", MAX_STD_DEV, &self->min_std_dev, error);
}

/* Sums of squares have 32 bits. */
static gboolean
check_haar_window (const CuvWaldboostModel *model, GError **error)
{
  guint area = (guint) (model->window_width * model->window_height);

  if (area <= CUV_MAX_SQUARES_AREA)
    return TRUE;
  cuv_model_fail (error,
      "a window of %d x %d is too large for Haar features: it may have %u "
      "pixels",
      model->window_width, model->window_height, CUV_MAX_SQUARES_AREA);
  return FALSE;
}

static void
end_classifier (CuvModelReader *reader, GError **error)
{
  const CuvButfit *self = reader->state;
  CuvWaldboostModel *model = &reader->parts.model;

  if (reader->parts.weak->len == 0) {
    cuv_model_fail (error, "a classifier without stages");
    return;
  }
  model->feature = (CuvFeature) self->type;
  model->arithmetic = reader->options.arithmetic == CUV_ARITHMETIC_FLOAT
      ? CUV_SUM_FLOAT
      : CUV_SUM_FIXED;
  model->scan = CUV_SCAN_DENSE;
  model->final_threshold = reader->options.final_threshold;
  if (model->feature != CUV_FEATURE_HAAR)
    model->block_value = reader->options.block_value;
  else if (check_haar_window (model, error))
    model->least_sigma = MAX (self->min_std_dev, 1);
}

/* ---- stages ---- */

static void
begin_stage (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  const char *text;
  double threshold;

  if (reader->parts.weak->len == CUV_MODEL_MAX_STAGES)
    cuv_model_fail (error, "more than %d stages", CUV_MODEL_MAX_STAGES);
  if (*error != NULL || !cuv_attribute_text (tag, "negT", &text, error))
    return;
  if (!cuv_to_double (text, &threshold, error))
    g_prefix_error (error, "negT: ");
  else if (threshold <= -MAX_THRESHOLD)
    self->threshold = -INFINITY;
  else
    self->threshold = (float) MIN (threshold, MAX_THRESHOLD);
}

/* ---- tables ---- */

static void
read_predictions (GArray *table, char *text, GError **error)
{
  char *word;
  float value;

  g_array_set_size (table, 0);
  while ((word = cuv_next_word (&text)) != NULL) {
    if (table->len == MAX_TABLE)
      cuv_model_fail (error, "more than %d predictionValues", MAX_TABLE);
    else if (cuv_to_limited (word, CUV_MAX_RESPONSE, &value, error))
      g_array_append_val (table, value);
    if (*error != NULL)
      return;
  }
}

/* The table of a decision tree: predictionValues[binMap[code]]. */
static void
map_bins (CuvButfit *self, char *text, GError **error)
{
  GArray *table = g_array_new (FALSE, FALSE, sizeof (float));
  gint64 bin;
  char *word;

  while (*error == NULL && (word = cuv_next_word (&text)) != NULL) {
    if (table->len == MAX_TABLE)
      cuv_model_fail (error, "more than %d words in binMap", MAX_TABLE);
    else if (cuv_to_integer (
                 word, 0, (gint64) self->table->len - 1, &bin, error))
      g_array_append_val (table, g_array_index (self->table, float, bin));
    else
      g_prefix_error (error, "binMap: ");
  }
  g_array_unref (self->table);
  self->table = table;
}

static void
begin_hypothesis (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  const char *text;
  char *copy;

  self->n_entries = 0;
  if (!cuv_attribute_text (tag, "predictionValues", &text, error))
    return;
  copy = g_strdup (text);
  read_predictions (self->table, copy, error);
  g_free (copy);
  if (*error != NULL || strcmp (tag->name, "DecisionTreeWeakHypothesis") != 0
      || !cuv_attribute_text (tag, "binMap", &text, error))
    return;
  copy = g_strdup (text);
  map_bins (self, copy, error);
  g_free (copy);
}

static void
end_hypothesis (CuvModelReader *reader, GError **error)
{
  CuvButfit *self = reader->state;
  CuvModelBuilder *parts = &reader->parts;
  guint i = parts->weak->len, n = (guint) self->n_entries;
  guint first_leaf = parts->leaves->len;
  CuvWeak weak = { .first_node = (int32_t) i,
    .first_leaf = (int32_t) first_leaf,
    .restart = i == 0,
    .threshold = self->threshold };

  if (n == 0) {
    cuv_model_fail (error,
        "a weak hypothesis without a feature; supported are LBPFeature, "
        "LRDFeature, LRP and Haar features in TCont2DiscFeature");
  } else if (self->table->len != n) {
    cuv_model_fail (error, "a table of %u values, but the feature needs %u",
        self->table->len, n);
  } else {
    g_array_set_size (parts->leaves, first_leaf + n);
    cuv_butfit_order_table (reader, (const float *) (void *) self->table->data,
        &g_array_index (parts->leaves, float, first_leaf), n);
    g_array_append_val (parts->weak, weak);
  }
}

/* ---- elements ---- */

static void
begin (CuvModelReader *reader, int place, const CuvTag *tag, GError **error)
{
  switch (place) {
    case CUV_PLACE_MODEL:
      begin_classifier (reader, tag, error);
      break;
    case CUV_BUTFIT_STAGE:
      begin_stage (reader, tag, error);
      break;
    case CUV_BUTFIT_HYPOTHESIS:
      begin_hypothesis (reader, tag, error);
      break;
    case CUV_BUTFIT_GRID:
      cuv_butfit_begin_grid (reader, tag, error);
      break;
    case CUV_BUTFIT_BINS:
      cuv_butfit_begin_bins (reader, tag, error);
      break;
    case CUV_BUTFIT_HAAR:
      cuv_butfit_begin_haar (reader, tag, error);
      break;
  }
}

static void
end (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  switch (element->place) {
    case CUV_PLACE_MODEL:
      end_classifier (reader, error);
      break;
    case CUV_BUTFIT_STAGE:
      if (element->seen == 0)
        cuv_model_fail (error,
            "a stage without HistogramWeakHypothesis or "
            "DecisionTreeWeakHypothesis");
      break;
    case CUV_BUTFIT_HYPOTHESIS:
      end_hypothesis (reader, error);
      break;
    case CUV_BUTFIT_BINS:
      if (element->seen == 0)
        cuv_model_fail (
            error, "a TCont2DiscFeature without a supported Haar feature");
      break;
  }
}

const CuvModelFormat cuv_format_butfit = { rules, G_N_ELEMENTS (rules),
  sizeof (CuvButfit), init, clear, begin, end };
