/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses a cv::xobjdetect::WBDetector, which its write() has written into a
 * node of any name.
 *
 *   <opencv_storage><waldboost>
 *     <waldboost_params><weak_count>
 *     <thresholds> <alphas> <polarities> <cascade_thresholds> <feature_indices>
 *
 * Each array has weak_count numbers. The response of a weak classifier is alpha
 * if polarity * (code - threshold) > 0, otherwise -alpha; code is an LBP in a
 * window of 24 x 24 pixels.
 *
 * Numbers may be .Inf, -.Inf and .Nan: training writes them once a weak
 * classifier separates all remaining samples. */
#include "model/reader.h"

#include <math.h>
#include <string.h>

#define WINDOW 24
#define MAX_BLOCK 8
#define N_FEATURES 8464
#define N_CODES 256

enum {
  PARAMS = CUV_ROLE_FIRST,
  WEAK_COUNT,
  THRESHOLDS, /* the first of the arrays */
  ALPHAS,
  POLARITIES,
  CASCADE_THRESHOLDS,
  FEATURE_INDICES,
  N_ROLES,
};
#define N_ARRAYS (N_ROLES - THRESHOLDS)

typedef struct {
  int32_t weak_count;
  /* float, which is exact for integers of this size, too */
  GArray *arrays[N_ARRAYS];
} Detector;

static void
wbd_init (CuvModelReader *reader)
{
  Detector *self = reader->state;

  for (int i = 0; i < N_ARRAYS; i++)
    self->arrays[i] = g_array_new (FALSE, FALSE, sizeof (float));
}

static void
wbd_clear (gpointer state)
{
  Detector *self = state;

  for (int i = 0; i < N_ARRAYS; i++)
    g_array_unref (self->arrays[i]);
}

static float *
at (const Detector *self, int array, guint i)
{
  return &g_array_index (self->arrays[array - THRESHOLDS], float, i);
}

static float
number (const Detector *self, int array, guint i)
{
  return *at (self, array, i);
}

/* ---- arrays ---- */

/* Reads a number that is not finite, as cv::FileStorage writes it. */
static gboolean
is_special (const char *word, float *value)
{
  const gboolean minus = *word == '-';

  if (g_ascii_strcasecmp (word + minus, ".inf") == 0)
    *value = minus ? -INFINITY : INFINITY;
  else if (g_ascii_strcasecmp (word + minus, ".nan") == 0)
    *value = NAN;
  else
    return FALSE;
  return TRUE;
}

static gboolean
to_number (const char *word, int array, float *value, GError **error)
{
  gint64 index;

  switch (array) {
    case FEATURE_INDICES:
      if (!cuv_to_integer (word, 0, N_FEATURES - 1, &index, error))
        return FALSE;
      *value = (float) index;
      return TRUE;
    case POLARITIES:
      *value = strcmp (word, "-1") == 0 ? -1 : 1;
      if (*value < 0 || strcmp (word, "1") == 0)
        return TRUE;
      return cuv_model_fail (
          error, "'%.*s' is not a polarity (1 or -1)", CUV_MAX_SHOWN, word);
    case ALPHAS:
      return is_special (word, value)
          || cuv_to_limited (word, CUV_MAX_RESPONSE, value, error);
    default:
      return is_special (word, value) || cuv_to_float (word, value, error);
  }
}

static void
read_array (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  const Detector *self = reader->state;
  GArray *array = self->arrays[element->role - THRESHOLDS];
  char *word;
  float value;

  while ((word = cuv_next_word (&text)) != NULL) {
    if (array->len == CUV_MODEL_MAX_STAGES)
      cuv_model_fail (error,
          "the model has more than %d weak classifiers, the limit",
          CUV_MODEL_MAX_STAGES);
    else if (to_number (word, element->role, &value, error))
      g_array_append_val (array, value);
    if (*error != NULL)
      return;
  }
}

/* ---- numbers that are not finite ---- */

/* Returns the largest magnitude of a sum of finite responses. */
static float
largest_sum (const Detector *self)
{
  float sum = 0;

  for (guint i = 0; i < (guint) self->weak_count; i++)
    if (isfinite (number (self, ALPHAS, i)))
      sum += fabsf (number (self, ALPHAS, i));
  return sum;
}

/* Returns whether every window fails because OpenCV's final sum would be NaN or
 * too small. */
static gboolean
never_passes (const Detector *self)
{
  const float last =
      number (self, CASCADE_THRESHOLDS, (guint) self->weak_count - 1);
  gboolean never = isnan (last) || last == INFINITY;

  for (guint i = 0; i < (guint) self->weak_count; i++)
    never = never || isnan (number (self, ALPHAS, i));
  return never;
}

/* Replaces each infinite response by CUV_MAX_RESPONSE and a test that depends
 * on the sign only, because an infinite response decides: if negative, the
 * window is rejected, at the latest at the end; if positive, later finite tests
 * have no effect. Returns the number of such responses. */
static int
bound_responses (Detector *self)
{
  int n = 0;

  for (guint i = 0; i < (guint) self->weak_count; i++) {
    float *alpha = at (self, ALPHAS, i);
    float *threshold = at (self, CASCADE_THRESHOLDS, i);

    if (isinf (*alpha)) {
      *alpha = copysignf (CUV_MAX_RESPONSE, *alpha);
      *threshold = (float) n++ * CUV_MAX_RESPONSE;
    } else if (n > 0 || isnan (*threshold)) {
      *threshold = -INFINITY;
    }
  }
  return n;
}

/* Replaces numbers that are not finite, except in tests that always or never
 * reject; hits stay the same. */
static gboolean
make_finite (Detector *self, float *final_threshold, GError **error)
{
  const float largest = largest_sum (self);
  const gboolean never = never_passes (self);
  int n;

  *final_threshold =
      number (self, CASCADE_THRESHOLDS, (guint) self->weak_count - 1);
  n = bound_responses (self);
  if (n > 0 && largest > CUV_MAX_RESPONSE / 2)
    return cuv_model_fail (error,
        "<alphas> contain .Inf, and the sum of the other values is above %g",
        (double) CUV_MAX_RESPONSE / 2);
  if (n > 0 || never)
    *final_threshold = 0;
  else if (*final_threshold == -INFINITY)
    *final_threshold = -largest - 1;
  for (guint i = 0; never && i < (guint) self->weak_count; i++) {
    *at (self, ALPHAS, i) = 0;
    *at (self, CASCADE_THRESHOLDS, i) = INFINITY;
  }
  return TRUE;
}

/* ---- the model ---- */

typedef struct {
  int16_t x, y, width, height;
} Grid;

/* Lists all 3x3 grids in a window, in the order of feature_indices. */
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
    CuvModelBuilder *builder, const Detector *self, const Grid *grids, guint i)
{
  const Grid *grid = &grids[(int) number (self, FEATURE_INDICES, i)];
  float threshold = number (self, THRESHOLDS, i);
  float alpha = number (self, ALPHAS, i);
  float polarity = number (self, POLARITIES, i);
  CuvGridNode node = {
    .x = grid->x, .y = grid->y, .width = grid->width, .height = grid->height
  };
  CuvWeak weak = { .first_node = (int32_t) i,
    .first_leaf = (int32_t) (i * N_CODES),
    .restart = i == 0,
    .threshold = number (self, CASCADE_THRESHOLDS, i) };

  g_array_append_val (builder->nodes, node);
  g_array_append_val (builder->weak, weak);
  for (int code = 0; code < N_CODES; code++) {
    float response = polarity * ((float) code - threshold) > 0 ? alpha : -alpha;

    g_array_append_val (builder->leaves, response);
  }
}

static void
end_model (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  Detector *self = reader->state;
  CuvWaldboostModel *model = &reader->builder.model;
  Grid *grids;

  for (guint i = 0; i < reader->format->n_rules; i++) {
    const CuvElementRule *rule = &reader->format->rules[i];
    guint n = rule->role < THRESHOLDS
        ? (guint) self->weak_count
        : self->arrays[rule->role - THRESHOLDS]->len;

    if (n != (guint) self->weak_count) {
      cuv_model_fail (error, "<%s> holds %u values, but <weak_count> is %d",
          rule->name, n, self->weak_count);
      return;
    }
  }
  if (!make_finite (self, &model->final_threshold, error))
    return;
  grids = g_new (Grid, N_FEATURES);
  enumerate_features (grids);
  for (guint i = 0; i < (guint) self->weak_count; i++)
    add_weak (&reader->builder, self, grids, i);
  g_free (grids);
  model->feature = CUV_FEATURE_LBP;
  model->arithmetic = reader->options.arithmetic == CUV_ARITHMETIC_FIXED
      ? CUV_SUM_FIXED
      : CUV_SUM_FLOAT;
  model->scan = CUV_SCAN_WBD;
  model->inclusive = TRUE;
  model->window_width = model->window_height = WINDOW;
}

#define ARRAY                                                                  \
  .flags = CUV_ELEMENT_TEXT | CUV_ELEMENT_REQUIRED, .end = read_array

static const CuvElementRule rules[] = {
  { CUV_ROLE_MODEL, "waldboost_params", PARAMS, .flags = CUV_ELEMENT_REQUIRED },
  { PARAMS, "weak_count", WEAK_COUNT,
      .flags = CUV_ELEMENT_TEXT | CUV_ELEMENT_REQUIRED,
      .offset = G_STRUCT_OFFSET (Detector, weak_count), .low = 1,
      .high = CUV_MODEL_MAX_STAGES },
  { CUV_ROLE_MODEL, "thresholds", THRESHOLDS, ARRAY },
  { CUV_ROLE_MODEL, "alphas", ALPHAS, ARRAY },
  { CUV_ROLE_MODEL, "polarities", POLARITIES, ARRAY },
  { CUV_ROLE_MODEL, "cascade_thresholds", CASCADE_THRESHOLDS, ARRAY },
  { CUV_ROLE_MODEL, "feature_indices", FEATURE_INDICES, ARRAY },
};

const CuvModelFormat cuv_format_wbd = { rules, G_N_ELEMENTS (rules),
  sizeof (Detector), wbd_init, wbd_clear,
  { .role = CUV_ROLE_MODEL, .end = end_model } };
