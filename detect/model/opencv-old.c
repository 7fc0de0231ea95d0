/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses Haar cascades in the format of OpenCV 1 and 2, as opencv_haartraining
 * writes them.
 *
 *   <opencv_storage><NAME type_id="opencv-haar-classifier">
 *     <size>WIDTH HEIGHT
 *     <stages> <_> <trees> <_> <_> <feature> <rects> <_> [<tilted>]
 *                                  <threshold>
 *                                  <left_val> | <left_node>
 *                                  <right_val> | <right_node>
 *                  <stage_threshold>
 *
 * Like cv::CascadeClassifier, the parser ignores <parent> and <next>: stages
 * are a chain, not a tree. */
#include "model/opencv.h"

enum {
  SIZE = CUV_ROLE_FIRST,
  STAGES,
  STAGE,
  TREES,
  TREE,
  NODE,
  FEATURE,
  RECTS,
  RECT,
  TILTED,
  THRESHOLD,
  /* a node has one element of each pair that follows, left before right */
  LEFT_VALUE,
  RIGHT_VALUE,
  LEFT_NODE,
  RIGHT_NODE,
  STAGE_THRESHOLD,
};

static void
opencv_old_init (CuvModelReader *reader)
{
  cuv_opencv_init (reader);
  reader->builder.model.feature = CUV_FEATURE_HAAR;
}

static void
read_window_size (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  CuvOpencv *self = reader->state;
  int32_t *sides[2] = { &self->width, &self->height };

  for (int i = 0; i < 2; i++) {
    char *word = cuv_next_word (&text);
    gint64 value;

    if (word == NULL || (i == 1 && cuv_more_words (&text))) {
      cuv_model_fail (error, "<size> must hold width and height");
      return;
    }
    if (!cuv_to_integer (word, 3, CUV_MODEL_MAX_WINDOW, &value, error))
      return;
    *sides[i] = (int32_t) value;
  }
}

/* ---- nodes ---- */

static void
begin_node (CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvOpencv *self = reader->state;

  self->old = (CuvOpencvOldNode){ 0 };
  cuv_opencv_has_room (self, error);
}

static void
read_float (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  CuvOpencv *self = reader->state;
  CuvOpencvOldNode *old = &self->old;
  char *word = cuv_only_word (text, element->rule->name, error);
  float value;

  if (word == NULL || !cuv_to_float (word, &value, error))
    return;
  if (element->role == THRESHOLD) {
    old->node.threshold = value;
  } else {
    old->value[element->role - LEFT_VALUE] = value;
    old->has_value[element->role - LEFT_VALUE] = TRUE;
  }
}

/* Turns a value into a leaf; leaves are in the order left, right. */
static gboolean
add_leaf (CuvModelReader *reader, int side, int32_t *child, GError **error)
{
  const CuvOpencv *self = reader->state;
  GArray *leaves = reader->builder.leaves;
  const char *name = side == 0 ? "left" : "right";

  if (self->old.has_value[side]) {
    *child = -(int32_t) (leaves->len - self->first_leaf);
    g_array_append_val (leaves, self->old.value[side]);
    return TRUE;
  }
  if (*child != 0)
    return TRUE;
  return cuv_model_fail (
      error, "a node has neither <%s_val> nor <%s_node>", name, name);
}

/* Adds the node, which has a feature of its own. */
static void
end_node (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  CuvOpencv *self = reader->state;
  CuvOpencvNode *node = &self->old.node;

  if (!add_leaf (reader, 0, &node->left, error)
      || !add_leaf (reader, 1, &node->right, error))
    return;
  node->feature = (int32_t) self->features->len - 1;
  node->line = element->line;
  g_array_append_val (self->nodes, *node);
}

/* ---- the cascade ---- */

static void
end_cascade (CuvModelReader *reader, const CuvElement *element, char *text,
    GError **error)
{
  cuv_opencv_finish (reader, error);
}

#define MANY CUV_ELEMENT_MANY
#define NEEDED CUV_ELEMENT_REQUIRED
#define TEXT CUV_ELEMENT_TEXT
#define CHILD(field)                                                           \
  .flags = TEXT, .offset = G_STRUCT_OFFSET (CuvOpencv, field), .low = 1,       \
  .high = CUV_MODEL_MAX_NODES

static const CuvElementRule rules[] = {
  { CUV_ROLE_MODEL, "size", SIZE, .flags = TEXT | NEEDED,
      .end = read_window_size },
  { CUV_ROLE_MODEL, "stages", STAGES, .flags = NEEDED },
  { STAGES, "_", STAGE, .flags = MANY, .begin = cuv_opencv_begin_stage,
      .end = cuv_opencv_end_stage },
  { STAGE, "trees", TREES, .flags = NEEDED },
  { STAGE, "stage_threshold", STAGE_THRESHOLD, .flags = TEXT | NEEDED,
      .end = cuv_opencv_read_threshold },
  { TREES, "_", TREE, .flags = MANY, .begin = cuv_opencv_begin_weak,
      .end = cuv_opencv_end_weak },
  { TREE, "_", NODE, .flags = MANY, .begin = begin_node, .end = end_node },
  { NODE, "feature", FEATURE, .flags = NEEDED,
      .begin = cuv_opencv_begin_feature, .end = cuv_opencv_end_feature },
  { FEATURE, "rects", RECTS, .flags = 0 },
  { RECTS, "_", RECT, .flags = MANY | TEXT,
      .end = cuv_opencv_read_weighted_rect },
  { FEATURE, "tilted", TILTED, .flags = TEXT,
      .offset = G_STRUCT_OFFSET (CuvOpencv, feature.tilted), .high = 1 },
  { NODE, "threshold", THRESHOLD, .flags = TEXT | NEEDED, .end = read_float },
  { NODE, "left_val", LEFT_VALUE, .flags = TEXT, .end = read_float },
  { NODE, "right_val", RIGHT_VALUE, .flags = TEXT, .end = read_float },
  { NODE, "left_node", LEFT_NODE, CHILD (old.node.left) },
  { NODE, "right_node", RIGHT_NODE, CHILD (old.node.right) },
};

const CuvModelFormat cuv_format_opencv_old = { rules, G_N_ELEMENTS (rules),
  sizeof (CuvOpencv), opencv_old_init, cuv_opencv_clear,
  { .role = CUV_ROLE_MODEL, .end = end_cascade } };
