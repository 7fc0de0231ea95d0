/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cv::xobjdetect::WBDetector, as written by write() into a node of any name.
 *
 *   <opencv_storage><waldboost>
 *     <waldboost_params><weak_count>
 *     <thresholds> <alphas> <polarities> <cascade_thresholds> <feature_indices>
 *
 * Each array holds weak_count numbers. A weak classifier responds alpha if
 * polarity * (code - threshold) > 0, else -alpha; code is an LBP in a window of
 * 24 x 24. */
#include "model/reader.h"

#include <string.h>

#define WINDOW 24
#define MAX_BLOCK 8
#define N_FEATURES 8464
#define N_CODES 256

enum {
  PARAMS = CUV_PLACE_FIRST,
  WEAK_COUNT,
  THRESHOLDS,
  ALPHAS,
  POLARITIES,
  CASCADE_THRESHOLDS,
  FEATURE_INDICES,
};

static const CuvElementRule rules[] = {
  { CUV_PLACE_MODEL, "waldboost_params", PARAMS, CUV_ELEMENT_ONE },
  { PARAMS, "weak_count", WEAK_COUNT, CUV_ELEMENT_TEXT },
  { CUV_PLACE_MODEL, "thresholds", THRESHOLDS, CUV_ELEMENT_TEXT },
  { CUV_PLACE_MODEL, "alphas", ALPHAS, CUV_ELEMENT_TEXT },
  { CUV_PLACE_MODEL, "polarities", POLARITIES, CUV_ELEMENT_TEXT },
  { CUV_PLACE_MODEL, "cascade_thresholds", CASCADE_THRESHOLDS,
      CUV_ELEMENT_TEXT },
  { CUV_PLACE_MODEL, "feature_indices", FEATURE_INDICES, CUV_ELEMENT_TEXT },
};

typedef struct {
  gint64 weak_count;
  GArray *thresholds, *alphas, *cascade_thresholds; /* float */
  GArray *polarities, *features;                    /* int32_t */
} Detector;

static void
init (CuvModelReader *reader)
{
  Detector *self = reader->state;

  self->thresholds = g_array_new (FALSE, FALSE, sizeof (float));
  self->alphas = g_array_new (FALSE, FALSE, sizeof (float));
  self->cascade_thresholds = g_array_new (FALSE, FALSE, sizeof (float));
  self->polarities = g_array_new (FALSE, FALSE, sizeof (int32_t));
  self->features = g_array_new (FALSE, FALSE, sizeof (int32_t));
}

static void
clear (gpointer state)
{
  Detector *self = state;

  g_array_unref (self->thresholds);
  g_array_unref (self->alphas);
  g_array_unref (self->cascade_thresholds);
  g_array_unref (self->polarities);
  g_array_unref (self->features);
}

static void
begin (CuvModelReader *reader, int place, const CuvTag *tag, GError **error)
{
}

/* ---- numbers ---- */

static gboolean
has_room (const GArray *array, GError **error)
{
  if (array->len < CUV_MODEL_MAX_STAGES)
    return TRUE;
  cuv_model_fail (error, "more than %d weak classifiers", CUV_MODEL_MAX_STAGES);
  return FALSE;
}

static void
read_floats (GArray *array, char *text, float limit, GError **error)
{
  char *word;
  float value;

  while ((word = cuv_next_word (&text)) != NULL && has_room (array, error)
      && cuv_to_limited (word, limit, &value, error))
    g_array_append_val (array, value);
}

static void
read_features (GArray *array, char *text, GError **error)
{
  char *word;
  gint64 value;

  while ((word = cuv_next_word (&text)) != NULL && has_room (array, error)
      && cuv_to_integer (word, 0, N_FEATURES - 1, &value, error)) {
    int32_t index = (int32_t) value;

    g_array_append_val (array, index);
  }
}

static void
read_polarities (GArray *array, char *text, GError **error)
{
  char *word;

  while ((word = cuv_next_word (&text)) != NULL && has_room (array, error)) {
    int32_t polarity = strcmp (word, "-1") == 0 ? -1 : 1;

    if (polarity == 1 && strcmp (word, "1") != 0) {
      cuv_model_fail (
          error, "'%.*s' is not a polarity, 1 or -1", CUV_SHOWN, word);
      return;
    }
    g_array_append_val (array, polarity);
  }
}

/* ---- the model ---- */

typedef struct {
  int16_t x, y, width, height;
} Grid;

/* All 3x3 grids in a window, in the order of feature_indices. */
static void
enumerate_features (Grid *grids)
{
  for (int16_t x = 0; x < WINDOW; x++)
    for (int16_t y = 0; y < WINDOW; y++)
      for (int16_t w = 1; w <= MAX_BLOCK && x + 3 * w <= WINDOW; w++)
        for (int16_t h = 1; h <= MAX_BLOCK && y + 3 * h <= WINDOW; h++)
          *grids++ = (Grid){ x, y, w, h };
}

static void
add_weak (
    CuvModelBuilder *parts, const Detector *self, const Grid *grids, guint i)
{
  const Grid *grid = &grids[g_array_index (self->features, int32_t, i)];
  float threshold = g_array_index (self->thresholds, float, i);
  float alpha = g_array_index (self->alphas, float, i);
  int polarity = g_array_index (self->polarities, int32_t, i);
  CuvGridNode node = {
    .x = grid->x, .y = grid->y, .width = grid->width, .height = grid->height
  };
  CuvWeak weak = { .first_node = (int32_t) i,
    .first_leaf = (int32_t) (i * N_CODES),
    .restart = i == 0,
    .threshold = g_array_index (self->cascade_thresholds, float, i) };

  g_array_append_val (parts->nodes, node);
  g_array_append_val (parts->weak, weak);
  for (int code = 0; code < N_CODES; code++) {
    float response =
        (float) polarity * ((float) code - threshold) > 0 ? alpha : -alpha;

    g_array_append_val (parts->leaves, response);
  }
}

static gboolean
check_count (
    const Detector *self, const GArray *array, const char *name, GError **error)
{
  if (array->len == self->weak_count)
    return TRUE;
  cuv_model_fail (error,
      "<%s> holds %u values, but <weak_count> is %" G_GINT64_FORMAT, name,
      array->len, self->weak_count);
  return FALSE;
}

static gboolean
check (const CuvModelReader *reader, const CuvElement *element, GError **error)
{
  const Detector *self = reader->state;

  for (int place = PARAMS; place <= FEATURE_INDICES; place++) {
    if (place != WEAK_COUNT
        && !cuv_reader_require (reader, element, place, error))
      return FALSE;
  }
  return check_count (self, self->thresholds, "thresholds", error)
      && check_count (self, self->alphas, "alphas", error)
      && check_count (self, self->polarities, "polarities", error)
      && check_count (
          self, self->cascade_thresholds, "cascade_thresholds", error)
      && check_count (self, self->features, "feature_indices", error);
}

static void
end_model (CuvModelReader *reader, const CuvElement *element, GError **error)
{
  const Detector *self = reader->state;
  CuvWaldboostModel *model = &reader->parts.model;
  Grid *grids;

  if (!check (reader, element, error))
    return;
  grids = g_new (Grid, N_FEATURES);
  enumerate_features (grids);
  for (guint i = 0; i < self->features->len; i++)
    add_weak (&reader->parts, self, grids, i);
  g_free (grids);
  model->feature = CUV_FEATURE_LBP;
  model->arithmetic = reader->options.arithmetic == CUV_ARITHMETIC_FIXED
      ? CUV_SUM_FIXED
      : CUV_SUM_FLOAT;
  model->scan = CUV_SCAN_WBD;
  model->inclusive = TRUE;
  model->window_width = model->window_height = WINDOW;
  model->final_threshold = g_array_index (
      self->cascade_thresholds, float, self->cascade_thresholds->len - 1);
}

static void
end (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  Detector *self = reader->state;

  switch (element->place) {
    case CUV_PLACE_MODEL:
      end_model (reader, element, error);
      break;
    case PARAMS:
      cuv_reader_require (reader, element, WEAK_COUNT, error);
      break;
    case WEAK_COUNT:
      cuv_only_integer (text, "weak_count", 1, CUV_MODEL_MAX_STAGES,
          &self->weak_count, error);
      break;
    case THRESHOLDS:
      read_floats (self->thresholds, text, G_MAXFLOAT, error);
      break;
    case ALPHAS:
      read_floats (self->alphas, text, CUV_MAX_RESPONSE, error);
      break;
    case POLARITIES:
      read_polarities (self->polarities, text, error);
      break;
    case CASCADE_THRESHOLDS:
      read_floats (self->cascade_thresholds, text, G_MAXFLOAT, error);
      break;
    case FEATURE_INDICES:
      read_features (self->features, text, error);
      break;
  }
}

const CuvModelFormat cuv_format_wbd = { rules, G_N_ELEMENTS (rules),
  sizeof (Detector), init, clear, begin, end };
