/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses BUT FIT's WaldBoostClassifier, alone or anywhere in a training dump;
 * only the first one in the file is read.
 *
 *   <WaldBoostClassifier [type] sizeX sizeY | imageSizeX imageSizeY minStdDev>
 *     <stage posT negT>
 *       <HistogramWeakHypothesis predictionValues>
 *       | <DecisionTreeWeakHypothesis predictionValues binMap>
 *         one feature, see butfit-features.c
 *
 * posT is ignored. negT is clamped to the range from -5000 to 5000; -5000 means
 * no test. */
#include "model/butfit.h"

#include <math.h>
#include <string.h>

#define MAX_THRESHOLD 5000
#define MAX_STD_DEV 1e4f
#define MAX_TABLE 1024

enum {
  STAGE = CUV_ROLE_FIRST,
  HYPOTHESIS,
  GRID, /* inside a feature of 3x3 blocks */
  BINS, /* inside the bins around a Haar feature */
  HAAR,
};

static void
butfit_init (CuvModelReader *reader)
{
  CuvButfit *self = reader->state;

  self->type = -1;
  self->table = g_array_new (FALSE, FALSE, sizeof (float));
}

static void
butfit_clear (gpointer state)
{
  CuvButfit *self = state;

  g_array_unref (self->table);
}

/* ---- the classifier ---- */

/* Reads the width or height of the window; imageSizeX takes precedence over
 * sizeX. */
static gboolean
read_side (const CuvTag *tag, const char *image_name, const char *name,
    int32_t *side, GError **error)
{
  if (cuv_attribute (tag, image_name) != NULL)
    name = image_name;
  return cuv_attribute_integer (
      tag, name, 3, CUV_MODEL_MAX_WINDOW, side, error);
}

static void
begin_classifier (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  CuvWaldboostModel *model = &reader->builder.model;
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

/* Rejects windows whose sum of squares may not fit 32 bits. */
static gboolean
check_haar_window (const CuvWaldboostModel *model, GError **error)
{
  guint area = (guint) (model->window_width * model->window_height);

  if (area <= CUV_MAX_SQUARES_AREA)
    return TRUE;
  return cuv_model_fail (error,
      "a window of %d x %d is too large for Haar features: the limit is %u "
      "pixels",
      model->window_width, model->window_height, CUV_MAX_SQUARES_AREA);
}

static void
end_classifier (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  const CuvButfit *self = reader->state;
  CuvWaldboostModel *model = &reader->builder.model;

  if (reader->builder.weak->len == 0) {
    cuv_model_fail (error, "the classifier has no stages");
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

  if (reader->builder.weak->len == CUV_MODEL_MAX_STAGES)
    cuv_model_fail (error, "the model has more than %d stages, the limit",
        CUV_MODEL_MAX_STAGES);
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
read_predictions (CuvButfit *self, char *text, GError **error)
{
  GArray *table = self->table;
  char *word;
  float value;

  g_array_set_size (table, 0);
  while ((word = cuv_next_word (&text)) != NULL) {
    if (table->len == MAX_TABLE)
      cuv_model_fail (error,
          "predictionValues has more values than the limit of %d", MAX_TABLE);
    else if (cuv_to_limited (word, CUV_MAX_RESPONSE, &value, error))
      g_array_append_val (table, value);
    if (*error != NULL)
      return;
  }
}

/* Makes the table of a decision tree: predictionValues[binMap[code]]. */
static void
map_bins (CuvButfit *self, char *text, GError **error)
{
  GArray *table = g_array_new (FALSE, FALSE, sizeof (float));
  gint64 bin;
  char *word;

  while (*error == NULL && (word = cuv_next_word (&text)) != NULL) {
    if (table->len == MAX_TABLE)
      cuv_model_fail (
          error, "binMap has more values than the limit of %d", MAX_TABLE);
    else if (cuv_to_integer (
                 word, 0, (gint64) self->table->len - 1, &bin, error))
      g_array_append_val (table, g_array_index (self->table, float, bin));
    else
      g_prefix_error (error, "binMap: ");
  }
  g_array_unref (self->table);
  self->table = table;
}

/* Calls read() with a copy of an attribute's text, which read() may modify. */
static void
read_attribute (CuvButfit *self, const CuvTag *tag, const char *name,
    void (*read) (CuvButfit *self, char *text, GError **error), GError **error)
{
  const char *text;
  char *copy;

  if (*error != NULL || !cuv_attribute_text (tag, name, &text, error))
    return;
  copy = g_strdup (text);
  read (self, copy, error);
  g_free (copy);
}

static void
begin_hypothesis (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;

  self->n_entries = 0;
  read_attribute (self, tag, "predictionValues", read_predictions, error);
  if (strcmp (tag->name, "DecisionTreeWeakHypothesis") == 0)
    read_attribute (self, tag, "binMap", map_bins, error);
}

static void
end_hypothesis (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  CuvButfit *self = reader->state;
  CuvModelBuilder *builder = &reader->builder;
  guint i = builder->weak->len, n = (guint) self->n_entries;
  guint first_leaf = builder->leaves->len;
  CuvWeak weak = { .first_node = (int32_t) i,
    .first_leaf = (int32_t) first_leaf,
    .restart = i == 0,
    .threshold = self->threshold };

  if (n == 0) {
    cuv_model_fail (error,
        "a weak hypothesis has no feature; supported are LBPFeature, "
        "LRDFeature, LRP and Haar features in TCont2DiscFeature");
  } else if (self->table->len != n) {
    cuv_model_fail (error, "the table has %u values, but the feature needs %u",
        self->table->len, n);
  } else {
    g_array_set_size (builder->leaves, first_leaf + n);
    cuv_butfit_order_table (reader, (const float *) (void *) self->table->data,
        &g_array_index (builder->leaves, float, first_leaf), n);
    g_array_append_val (builder->weak, weak);
  }
}

/* ---- rules ---- */

#define MANY CUV_ELEMENT_MANY

static const CuvElementRule rules[] = {
  { CUV_ROLE_MODEL, "stage", STAGE, .flags = MANY, .begin = begin_stage,
      .if_empty = "a stage has neither HistogramWeakHypothesis nor "
                  "DecisionTreeWeakHypothesis" },
  { STAGE, "HistogramWeakHypothesis", HYPOTHESIS, .begin = begin_hypothesis,
      .end = end_hypothesis },
  { STAGE, "DecisionTreeWeakHypothesis", HYPOTHESIS, .begin = begin_hypothesis,
      .end = end_hypothesis },
  { HYPOTHESIS, "LBPFeature", GRID, .flags = MANY,
      .begin = cuv_butfit_begin_grid },
  { HYPOTHESIS, "LRDFeature", GRID, .flags = MANY,
      .begin = cuv_butfit_begin_grid },
  { HYPOTHESIS, "LRP", GRID, .flags = MANY, .begin = cuv_butfit_begin_grid },
  { HYPOTHESIS, "TCont2DiscFeature", BINS, .flags = MANY,
      .begin = cuv_butfit_begin_bins,
      .if_empty = "a TCont2DiscFeature holds no supported Haar feature" },
  { BINS, "HaarHorizontalDoubleFeature", HAAR, .begin = cuv_butfit_begin_haar },
  { BINS, "HaarVerticalDoubleFeature", HAAR, .begin = cuv_butfit_begin_haar },
  { BINS, "HaarHorizontalTernalFeature", HAAR, .begin = cuv_butfit_begin_haar },
  { BINS, "HaarVerticalTernalFeature", HAAR, .begin = cuv_butfit_begin_haar },
  { BINS, "HaarDiagonalFeature", HAAR, .begin = cuv_butfit_begin_haar },
  { BINS, "HaarSurroundFeature", HAAR, .begin = cuv_butfit_begin_haar },
};

const CuvModelFormat cuv_format_butfit = {
  rules, G_N_ELEMENTS (rules), sizeof (CuvButfit), butfit_init, butfit_clear,
  { .role = CUV_ROLE_MODEL, .begin = begin_classifier, .end = end_classifier }
};
