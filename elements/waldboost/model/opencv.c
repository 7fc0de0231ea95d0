/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV cascades with LBP or Haar features in the format of
 * opencv_traincascade.
 *
 *   <opencv_storage><cascade>
 *     <featureType>LBP|HAAR <height> <width> <featureParams><maxCatCount>256|0
 *     <stages> <_> <stageThreshold>
 *                  <weakClassifiers> <_> <internalNodes> <leafValues>
 *     <features> <_> LBP: <rect>  HAAR: <rects> <_>  [<tilted>]
 */
#include "model/opencv.h"

#include <math.h>
#include <string.h>

#define THRESHOLD_EPS 1e-5f /* OpenCV subtracts it from each threshold */

#define ONE CUV_ELEMENT_ONE
#define ANY CUV_ELEMENT_ANY
#define TEXT CUV_ELEMENT_TEXT

static const CuvElementRule rules[] = {
  { CUV_PLACE_MODEL, "stageType", CUV_OPENCV_STAGE_TYPE, TEXT },
  { CUV_PLACE_MODEL, "featureType", CUV_OPENCV_FEATURE_TYPE, TEXT },
  { CUV_PLACE_MODEL, "width", CUV_OPENCV_WIDTH, TEXT },
  { CUV_PLACE_MODEL, "height", CUV_OPENCV_HEIGHT, TEXT },
  { CUV_PLACE_MODEL, "featureParams", CUV_OPENCV_FEATURE_PARAMS, ONE },
  { CUV_OPENCV_FEATURE_PARAMS, "maxCatCount", CUV_OPENCV_MAX_CAT_COUNT, TEXT },
  { CUV_PLACE_MODEL, "stages", CUV_OPENCV_STAGES, ONE },
  { CUV_OPENCV_STAGES, "_", CUV_OPENCV_STAGE, ANY },
  { CUV_OPENCV_STAGE, "stageThreshold", CUV_OPENCV_STAGE_THRESHOLD, TEXT },
  { CUV_OPENCV_STAGE, "weakClassifiers", CUV_OPENCV_WEAKS, ONE },
  { CUV_OPENCV_WEAKS, "_", CUV_OPENCV_WEAK, ANY },
  { CUV_OPENCV_WEAK, "internalNodes", CUV_OPENCV_INTERNAL_NODES, TEXT },
  { CUV_OPENCV_WEAK, "leafValues", CUV_OPENCV_LEAF_VALUES, TEXT },
  { CUV_PLACE_MODEL, "features", CUV_OPENCV_FEATURES, ONE },
  { CUV_OPENCV_FEATURES, "_", CUV_OPENCV_FEATURE, ANY },
  { CUV_OPENCV_FEATURE, "rect", CUV_OPENCV_RECT, TEXT },
  { CUV_OPENCV_FEATURE, "rects", CUV_OPENCV_RECTS, ONE },
  { CUV_OPENCV_RECTS, "_", CUV_OPENCV_WEIGHTED_RECT, CUV_ELEMENT_TEXTS },
  { CUV_OPENCV_FEATURE, "tilted", CUV_OPENCV_TILTED, TEXT },
};

static void
init (CuvModelReader *reader)
{
  CuvOpencv *self = reader->state;

  self->features = g_array_new (FALSE, FALSE, sizeof (CuvOpencvFeature));
  self->feature_refs = g_array_new (FALSE, FALSE, sizeof (CuvOpencvFeatureRef));
}

static void
clear (gpointer state)
{
  CuvOpencv *self = state;

  g_array_unref (self->features);
  g_array_unref (self->feature_refs);
}

/* ---- kind of cascade ---- */

static void
read_stage_type (char *text, GError **error)
{
  char *word = cuv_only_word (text, "stageType", error);

  if (word != NULL && strcmp (word, "BOOST") != 0)
    cuv_model_fail (error, "stage type '%.*s' is not supported, only BOOST is",
        CUV_SHOWN, word);
}

static void
read_feature_type (CuvModelReader *reader, char *text, GError **error)
{
  char *word = cuv_only_word (text, "featureType", error);

  if (word == NULL)
    return;
  if (strcmp (word, "HAAR") == 0)
    reader->parts.model.feature = CUV_FEATURE_HAAR;
  else if (strcmp (word, "LBP") != 0)
    cuv_model_fail (error,
        "this is an OpenCV cascade with %.*s features; only those with LBP or "
        "HAAR features are supported, such as lbpcascade_frontalface.xml",
        CUV_SHOWN, word);
}

/* ---- trees ---- */

static gboolean
read_integer (char **text, gint64 high, gint64 *value, GError **error)
{
  char *word = cuv_next_word (text);

  if (word != NULL)
    return cuv_to_integer (word, G_MININT32, high, value, error);
  cuv_model_fail (error, "<internalNodes> ends in the middle of a node");
  return FALSE;
}

/* An LBP node goes on with 8 words of a subset. */
static gboolean
read_lbp_node (CuvModelReader *reader, char **text, int32_t left, int32_t right,
    GError **error)
{
  CuvGridNode node = { .left = left, .right = right };

  for (int i = 0; i < 8; i++) {
    gint64 value;

    if (!read_integer (text, G_MAXUINT32, &value, error))
      return FALSE;
    node.subset[i] = (uint32_t) value;
  }
  g_array_append_val (reader->parts.nodes, node);
  return TRUE;
}

static gboolean
read_haar_node (CuvModelReader *reader, char **text, int32_t left,
    int32_t right, GError **error)
{
  CuvHaarNode node = { .left = left, .right = right };
  char *word = cuv_next_word (text);

  if (word == NULL)
    cuv_model_fail (error, "<internalNodes> ends in the middle of a node");
  if (word == NULL || !cuv_to_float (word, &node.threshold, error))
    return FALSE;
  g_array_append_val (reader->parts.haar_nodes, node);
  return TRUE;
}

static gboolean
read_node (CuvModelReader *reader, char **text, GError **error)
{
  CuvOpencv *self = reader->state;
  CuvOpencvFeatureRef ref = { .line = reader->line };
  gint64 left, right, feature;

  if (!read_integer (text, G_MAXINT32, &left, error)
      || !read_integer (text, G_MAXINT32, &right, error)
      || !read_integer (text, G_MAXINT32, &feature, error))
    return FALSE;
  ref.feature = (int32_t) feature;
  g_array_append_val (self->feature_refs, ref);
  return cuv_opencv_is_haar (reader)
      ? read_haar_node (reader, text, (int32_t) left, (int32_t) right, error)
      : read_lbp_node (reader, text, (int32_t) left, (int32_t) right, error);
}

static void
read_nodes (CuvModelReader *reader, char *text, GError **error)
{
  CuvOpencv *self = reader->state;

  while (cuv_more_words (&text)) {
    if (self->feature_refs->len == CUV_MODEL_MAX_NODES) {
      cuv_model_fail (error, "more than %d nodes", CUV_MODEL_MAX_NODES);
      return;
    }
    if (!read_node (reader, &text, error))
      return;
  }
}

static void
read_leaves (CuvModelReader *reader, char *text, GError **error)
{
  GArray *leaves = reader->parts.leaves;
  char *word;
  float value;

  while ((word = cuv_next_word (&text)) != NULL) {
    if (leaves->len == 2 * CUV_MODEL_MAX_NODES) {
      cuv_model_fail (
          error, "more than %d leaf values", 2 * CUV_MODEL_MAX_NODES);
      return;
    }
    if (!cuv_to_float (word, &value, error))
      return;
    g_array_append_val (leaves, value);
  }
}

/* Children must come after their parent, so that evaluation terminates. */
static gboolean
check_child (int32_t child, guint node, guint n, GError **error)
{
  if (child > 0 && ((guint) child <= node || (guint) child >= n))
    cuv_model_fail (
        error, "child %d of a node is not one of the nodes after it", child);
  else if (child <= 0 && (guint) (-(gint64) child) > n)
    cuv_model_fail (error, "leaf %" G_GINT64_FORMAT " of a node does not exist",
        -(gint64) child);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_children (
    const CuvModelReader *reader, guint first, guint n, GError **error)
{
  const CuvModelBuilder *parts = &reader->parts;

  for (guint i = 0; i < n; i++) {
    int32_t left, right;

    if (cuv_opencv_is_haar (reader)) {
      left = g_array_index (parts->haar_nodes, CuvHaarNode, first + i).left;
      right = g_array_index (parts->haar_nodes, CuvHaarNode, first + i).right;
    } else {
      left = g_array_index (parts->nodes, CuvGridNode, first + i).left;
      right = g_array_index (parts->nodes, CuvGridNode, first + i).right;
    }
    if (!check_child (left, i, n, error) || !check_child (right, i, n, error))
      return FALSE;
  }
  return TRUE;
}

static void
end_weak (CuvModelReader *reader, const CuvElement *element, GError **error)
{
  const CuvOpencv *self = reader->state;
  guint n = self->feature_refs->len - self->first_node;
  guint n_leaves = reader->parts.leaves->len - self->first_leaf;
  CuvWeak weak = { .first_node = (int32_t) self->first_node,
    .first_leaf = (int32_t) self->first_leaf,
    .threshold = -INFINITY };

  if (!cuv_reader_require (reader, element, CUV_OPENCV_INTERNAL_NODES, error)
      || !cuv_reader_require (reader, element, CUV_OPENCV_LEAF_VALUES, error))
    return;
  if (n == 0 || n_leaves != n + 1)
    cuv_model_fail (error, "%u leaf values do not fit %u nodes", n_leaves, n);
  else if (check_children (reader, self->first_node, n, error))
    g_array_append_val (reader->parts.weak, weak);
}

/* ---- stages ---- */

static void
begin_stage (CuvModelReader *reader, GError **error)
{
  int32_t first = (int32_t) reader->parts.weak->len;

  if (reader->parts.stage_first->len == CUV_MODEL_MAX_STAGES)
    cuv_model_fail (error, "more than %d stages", CUV_MODEL_MAX_STAGES);
  else
    g_array_append_val (reader->parts.stage_first, first);
}

static void
end_stage (CuvModelReader *reader, const CuvElement *element, GError **error)
{
  const CuvOpencv *self = reader->state;
  GArray *weak = reader->parts.weak, *stages = reader->parts.stage_first;
  guint first = g_array_index (stages, guint32, stages->len - 1);

  if (!cuv_reader_require (reader, element, CUV_OPENCV_STAGE_THRESHOLD, error)
      || !cuv_reader_require (reader, element, CUV_OPENCV_WEAKS, error))
    return;
  if (first == weak->len) {
    cuv_model_fail (error, "a stage without weak classifiers");
    return;
  }
  g_array_index (weak, CuvWeak, first).restart = TRUE;
  g_array_index (weak, CuvWeak, weak->len - 1).threshold = self->threshold;
}

static void
read_threshold (CuvOpencv *self, char *text, GError **error)
{
  char *word = cuv_only_word (text, "stageThreshold", error);

  if (word != NULL && cuv_to_float (word, &self->threshold, error))
    self->threshold -= THRESHOLD_EPS;
}

/* ---- the cascade ---- */

static void
end_cascade (CuvModelReader *reader, const CuvElement *element, GError **error)
{
  static const int needed[] = { CUV_OPENCV_FEATURE_TYPE, CUV_OPENCV_WIDTH,
    CUV_OPENCV_HEIGHT, CUV_OPENCV_FEATURE_PARAMS, CUV_OPENCV_STAGES,
    CUV_OPENCV_FEATURES };
  const CuvOpencv *self = reader->state;
  CuvWaldboostModel *model = &reader->parts.model;
  int categories = cuv_opencv_is_haar (reader) ? 0 : 256;

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    if (!cuv_reader_require (reader, element, needed[i], error))
      return;
  }
  if (self->max_cat_count != categories)
    cuv_model_fail (error, "<maxCatCount> must be %d for %s features",
        categories, categories == 0 ? "HAAR" : "LBP");
  else if (reader->parts.stage_first->len == 0)
    cuv_model_fail (error, "a cascade without stages");
  else
    cuv_opencv_resolve_features (reader, error);
  model->arithmetic = CUV_SUM_STAGES;
  model->scan = CUV_SCAN_OPENCV;
  model->inclusive = !cuv_opencv_is_haar (reader);
  model->window_width = (int32_t) self->width;
  model->window_height = (int32_t) self->height;
}

/* ---- elements ---- */

static void
begin (CuvModelReader *reader, int place, const CuvTag *tag, GError **error)
{
  CuvOpencv *self = reader->state;
  /* the cascade's element is a child of <opencv_storage>, open[1] */
  const CuvElement *cascade = &reader->open[2];

  switch (place) {
    case CUV_OPENCV_STAGES:
    case CUV_OPENCV_FEATURES:
      if (!(cascade->seen & (1u << CUV_OPENCV_FEATURE_TYPE)))
        cuv_model_fail (
            error, "<featureType> must come before stages and features");
      break;
    case CUV_OPENCV_STAGE:
      begin_stage (reader, error);
      break;
    case CUV_OPENCV_WEAK:
      self->first_node = self->feature_refs->len;
      self->first_leaf = reader->parts.leaves->len;
      break;
    case CUV_OPENCV_FEATURE:
      self->feature = (CuvOpencvFeature){ 0 };
      break;
  }
}

static void
end_text (CuvModelReader *reader, int place, char *text, GError **error)
{
  CuvOpencv *self = reader->state;
  gint64 tilted;

  switch (place) {
    case CUV_OPENCV_STAGE_TYPE:
      read_stage_type (text, error);
      break;
    case CUV_OPENCV_FEATURE_TYPE:
      read_feature_type (reader, text, error);
      break;
    case CUV_OPENCV_WIDTH:
      cuv_only_integer (
          text, "width", 3, CUV_MODEL_MAX_WINDOW, &self->width, error);
      break;
    case CUV_OPENCV_HEIGHT:
      cuv_only_integer (
          text, "height", 3, CUV_MODEL_MAX_WINDOW, &self->height, error);
      break;
    case CUV_OPENCV_MAX_CAT_COUNT:
      cuv_only_integer (
          text, "maxCatCount", 0, 256, &self->max_cat_count, error);
      break;
    case CUV_OPENCV_STAGE_THRESHOLD:
      read_threshold (self, text, error);
      break;
    case CUV_OPENCV_INTERNAL_NODES:
      read_nodes (reader, text, error);
      break;
    case CUV_OPENCV_LEAF_VALUES:
      read_leaves (reader, text, error);
      break;
    case CUV_OPENCV_RECT:
      cuv_opencv_read_rect (reader, text, error);
      break;
    case CUV_OPENCV_WEIGHTED_RECT:
      cuv_opencv_read_weighted_rect (reader, text, error);
      break;
    case CUV_OPENCV_TILTED:
      if (cuv_only_integer (text, "tilted", 0, 1, &tilted, error))
        self->feature.tilted = (int32_t) tilted;
      break;
  }
}

static void
end (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  switch (element->place) {
    case CUV_PLACE_MODEL:
      end_cascade (reader, element, error);
      break;
    case CUV_OPENCV_STAGE:
      end_stage (reader, element, error);
      break;
    case CUV_OPENCV_WEAK:
      end_weak (reader, element, error);
      break;
    case CUV_OPENCV_FEATURE:
      cuv_opencv_end_feature (reader, element, error);
      break;
    default:
      end_text (reader, element->place, text, error);
      break;
  }
}

const CuvModelFormat cuv_format_opencv = { rules, G_N_ELEMENTS (rules),
  sizeof (CuvOpencv), init, clear, begin, end };
