/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses OpenCV cascades with LBP or Haar features in the format of
 * opencv_traincascade.
 *
 *   <opencv_storage><cascade>
 *     <featureType>LBP|HAAR <height> <width> <featureParams><maxCatCount>256|0
 *     <stages> <_> <stageThreshold>
 *                  <weakClassifiers> <_> <internalNodes> <leafValues>
 *     <features> <_> LBP: <rect>  HAAR: <rects> <_>  [<tilted>] */
#include "model/opencv.h"

#include <math.h>
#include <string.h>

enum {
  STAGE_TYPE = CUV_ROLE_FIRST,
  FEATURE_TYPE,
  WIDTH,
  HEIGHT,
  FEATURE_PARAMS,
  MAX_CAT_COUNT,
  STAGES,
  STAGE,
  STAGE_THRESHOLD,
  WEAKS,
  WEAK,
  INTERNAL_NODES,
  LEAF_VALUES,
  FEATURES,
  FEATURE,
  RECT,
  RECTS,
  WEIGHTED_RECT,
  TILTED,
};

void
cuv_opencv_init (CuvModelReader *reader)
{
  CuvOpencv *self = reader->state;

  self->features = g_array_new (FALSE, FALSE, sizeof (CuvOpencvFeature));
  self->nodes = g_array_new (FALSE, FALSE, sizeof (CuvOpencvNode));
}

void
cuv_opencv_clear (gpointer state)
{
  CuvOpencv *self = state;

  g_array_unref (self->features);
  g_array_unref (self->nodes);
}

/* ---- kind of cascade ---- */

static void
read_stage_type (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  char *word = cuv_only_word (text, element->rule->name, error);

  if (word != NULL && strcmp (word, "BOOST") != 0)
    cuv_model_fail (error,
        "unsupported stage type '%.*s': only BOOST is supported", CUV_MAX_SHOWN,
        word);
}

static void
read_feature_type (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  char *word = cuv_only_word (text, element->rule->name, error);

  if (word == NULL)
    return;
  if (strcmp (word, "HAAR") == 0)
    reader->builder.model.feature = CUV_FEATURE_HAAR;
  else if (strcmp (word, "LBP") != 0)
    cuv_model_fail (error,
        "this is an OpenCV cascade with %.*s features; only those with LBP or "
        "HAAR features are supported, such as lbpcascade_frontalface.xml",
        CUV_MAX_SHOWN, word);
}

/* ---- trees ---- */

static char *
next_of_node (char **text, GError **error)
{
  char *word = cuv_next_word (text);

  if (word == NULL)
    cuv_model_fail (error, "<internalNodes> ends in the middle of a node");
  return word;
}

static gboolean
read_integer (char **text, gint64 high, gint64 *value, GError **error)
{
  char *word = next_of_node (text, error);

  return word != NULL && cuv_to_integer (word, G_MININT32, high, value, error);
}

gboolean
cuv_opencv_has_room (const CuvOpencv *self, GError **error)
{
  if (self->nodes->len < CUV_MODEL_MAX_NODES)
    return TRUE;
  return cuv_model_fail (error, "the model has more than %d nodes, the limit",
      CUV_MODEL_MAX_NODES);
}

/* Reads a node: left, right, feature; then the threshold (HAAR) or 8 words of a
 * subset (LBP). */
static gboolean
read_node (CuvModelReader *reader, char **text, GError **error)
{
  CuvOpencv *self = reader->state;
  CuvOpencvNode node = { .line = reader->line };
  gint64 left, right, feature, subset;
  char *word;

  if (!read_integer (text, G_MAXINT32, &left, error)
      || !read_integer (text, G_MAXINT32, &right, error)
      || !read_integer (text, G_MAXINT32, &feature, error))
    return FALSE;
  node.left = (int32_t) left;
  node.right = (int32_t) right;
  node.feature = (int32_t) feature;
  if (cuv_opencv_is_haar (reader)) {
    word = next_of_node (text, error);
    if (word == NULL || !cuv_to_float (word, &node.threshold, error))
      return FALSE;
  } else {
    for (int i = 0; i < 8; i++) {
      if (!read_integer (text, G_MAXUINT32, &subset, error))
        return FALSE;
      node.subset[i] = (uint32_t) subset;
    }
  }
  g_array_append_val (self->nodes, node);
  return TRUE;
}

static void
read_nodes (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  CuvOpencv *self = reader->state;

  while (cuv_more_words (&text)) {
    if (!cuv_opencv_has_room (self, error) || !read_node (reader, &text, error))
      return;
  }
}

static void
read_leaves (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  GArray *leaves = reader->builder.leaves;
  char *word;
  float value;

  while ((word = cuv_next_word (&text)) != NULL) {
    if (leaves->len == 2 * CUV_MODEL_MAX_NODES) {
      cuv_model_fail (error,
          "the model has more than %d leaf values, the limit",
          2 * CUV_MODEL_MAX_NODES);
      return;
    }
    if (!cuv_to_float (word, &value, error))
      return;
    g_array_append_val (leaves, value);
  }
}

/* Checks that a child comes after its parent, so that evaluation terminates. */
static gboolean
check_child (int32_t child, guint node, guint n, GError **error)
{
  if (child > 0 && ((guint) child <= node || (guint) child >= n))
    return cuv_model_fail (error,
        "child %d of node %u is not a later node of its tree, which has %u "
        "nodes",
        child, node, n);
  if (child <= 0 && (guint) (-(gint64) child) > n)
    return cuv_model_fail (error,
        "node %u refers to leaf %" G_GINT64_FORMAT
        ", but its tree has %u leaves",
        node, -(gint64) child, n + 1);
  return TRUE;
}

static gboolean
check_children (const CuvOpencv *self, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    const CuvOpencvNode *node =
        &g_array_index (self->nodes, CuvOpencvNode, self->first_node + i);

    if (!check_child (node->left, i, n, error)
        || !check_child (node->right, i, n, error))
      return FALSE;
  }
  return TRUE;
}

void
cuv_opencv_begin_weak (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvOpencv *self = reader->state;

  self->first_node = self->nodes->len;
  self->first_leaf = reader->builder.leaves->len;
}

void
cuv_opencv_end_weak (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  const CuvOpencv *self = reader->state;
  guint n = self->nodes->len - self->first_node;
  guint n_leaves = reader->builder.leaves->len - self->first_leaf;
  CuvWeak weak = { .first_node = (int32_t) self->first_node,
    .first_leaf = (int32_t) self->first_leaf,
    .threshold = -INFINITY };

  if (n == 0 || n_leaves != n + 1)
    cuv_model_fail (error,
        "%u leaf values do not fit %u nodes: a tree has at least one node, and "
        "one more leaf than nodes",
        n_leaves, n);
  else if (check_children (self, n, error))
    g_array_append_val (reader->builder.weak, weak);
}

/* ---- stages ---- */

void
cuv_opencv_begin_stage (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  int32_t first = (int32_t) reader->builder.weak->len;

  if (reader->builder.stage_first->len == CUV_MODEL_MAX_STAGES)
    cuv_model_fail (error, "the model has more than %d stages, the limit",
        CUV_MODEL_MAX_STAGES);
  else
    g_array_append_val (reader->builder.stage_first, first);
}

void
cuv_opencv_end_stage (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  const CuvOpencv *self = reader->state;
  GArray *weak = reader->builder.weak, *stages = reader->builder.stage_first;
  guint first = g_array_index (stages, guint32, stages->len - 1);

  if (first == weak->len) {
    cuv_model_fail (error, "a stage has no weak classifiers");
    return;
  }
  g_array_index (weak, CuvWeak, first).restart = TRUE;
  g_array_index (weak, CuvWeak, weak->len - 1).threshold = self->threshold;
}

void
cuv_opencv_read_threshold (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  CuvOpencv *self = reader->state;
  char *word = cuv_only_word (text, element->rule->name, error);

  if (word != NULL && cuv_to_float (word, &self->threshold, error))
    self->threshold -= CUV_OPENCV_THRESHOLD_EPS;
}

/* ---- the cascade ---- */

void
cuv_opencv_finish (CuvModelReader *reader, GError **error)
{
  const CuvOpencv *self = reader->state;
  CuvWaldboostModel *model = &reader->builder.model;

  if (reader->builder.stage_first->len == 0)
    cuv_model_fail (error, "the cascade has no stages");
  else
    cuv_opencv_add_nodes (reader, error);
  model->arithmetic = CUV_SUM_STAGES;
  model->scan = CUV_SCAN_OPENCV;
  model->inclusive = !cuv_opencv_is_haar (reader);
  model->window_width = self->width;
  model->window_height = self->height;
}

static void
end_cascade (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  const CuvOpencv *self = reader->state;
  int categories = cuv_opencv_is_haar (reader) ? 0 : 256;

  if (self->max_cat_count != categories)
    cuv_model_fail (error, "<maxCatCount> must be %d for %s features",
        categories, categories == 0 ? "HAAR" : "LBP");
  else
    cuv_opencv_finish (reader, error);
}

/* Checks where <stages> or <features> begins. */
static void
begin_section (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  /* the cascade's element is a child of <opencv_storage>, open[1] */
  const CuvElement *cascade = &reader->open[2];

  if (!(cascade->seen & (1u << FEATURE_TYPE)))
    cuv_model_fail (error, "<featureType> must come before <%s>", tag->name);
}

/* ---- rules ---- */

#define AT(field) G_STRUCT_OFFSET (CuvOpencv, field)
#define MANY CUV_ELEMENT_MANY
#define NEEDED CUV_ELEMENT_REQUIRED
#define TEXT CUV_ELEMENT_TEXT

static const CuvElementRule rules[] = {
  { CUV_ROLE_MODEL, "stageType", STAGE_TYPE, .flags = TEXT,
      .end = read_stage_type },
  { CUV_ROLE_MODEL, "featureType", FEATURE_TYPE, .flags = TEXT | NEEDED,
      .end = read_feature_type },
  { CUV_ROLE_MODEL, "width", WIDTH, .flags = TEXT | NEEDED,
      .offset = AT (width), .low = 3, .high = CUV_MODEL_MAX_WINDOW },
  { CUV_ROLE_MODEL, "height", HEIGHT, .flags = TEXT | NEEDED,
      .offset = AT (height), .low = 3, .high = CUV_MODEL_MAX_WINDOW },
  { CUV_ROLE_MODEL, "featureParams", FEATURE_PARAMS, .flags = NEEDED },
  { FEATURE_PARAMS, "maxCatCount", MAX_CAT_COUNT, .flags = TEXT,
      .offset = AT (max_cat_count), .high = 256 },
  { CUV_ROLE_MODEL, "stages", STAGES, .flags = NEEDED, .begin = begin_section },
  { STAGES, "_", STAGE, .flags = MANY, .begin = cuv_opencv_begin_stage,
      .end = cuv_opencv_end_stage },
  { STAGE, "stageThreshold", STAGE_THRESHOLD, .flags = TEXT | NEEDED,
      .end = cuv_opencv_read_threshold },
  { STAGE, "weakClassifiers", WEAKS, .flags = NEEDED },
  { WEAKS, "_", WEAK, .flags = MANY, .begin = cuv_opencv_begin_weak,
      .end = cuv_opencv_end_weak },
  { WEAK, "internalNodes", INTERNAL_NODES, .flags = TEXT | NEEDED,
      .end = read_nodes },
  { WEAK, "leafValues", LEAF_VALUES, .flags = TEXT | NEEDED,
      .end = read_leaves },
  { CUV_ROLE_MODEL, "features", FEATURES, .flags = NEEDED,
      .begin = begin_section },
  { FEATURES, "_", FEATURE, .flags = MANY, .begin = cuv_opencv_begin_feature,
      .end = cuv_opencv_end_feature },
  { FEATURE, "rect", RECT, .flags = TEXT, .end = cuv_opencv_read_rect },
  { FEATURE, "rects", RECTS, .flags = 0 },
  { RECTS, "_", WEIGHTED_RECT, .flags = MANY | TEXT,
      .end = cuv_opencv_read_weighted_rect },
  { FEATURE, "tilted", TILTED, .flags = TEXT, .offset = AT (feature.tilted),
      .high = 1 },
};

const CuvModelFormat cuv_format_opencv = { rules, G_N_ELEMENTS (rules),
  sizeof (CuvOpencv), cuv_opencv_init, cuv_opencv_clear,
  { .role = CUV_ROLE_MODEL, .end = end_cascade } };
