/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses features of OpenCV cascades. */
#include "model/opencv.h"

#include <string.h>

#define MAX_WEIGHT 1e6f /* keeps weighted sums within the range of float */

/* ---- numbers ---- */

static gboolean
read_sides (char **text, CuvHaarRect *rect, GError **error)
{
  int16_t *sides[4] = { &rect->x, &rect->y, &rect->width, &rect->height };

  for (int i = 0; i < 4; i++) {
    char *word = cuv_next_word (text);
    gint64 value;

    if (word == NULL)
      return cuv_model_fail (
          error, "a rectangle must hold x, y, width and height");
    if (!cuv_to_integer (
            word, i < 2 ? 0 : 1, CUV_MODEL_MAX_WINDOW, &value, error))
      return FALSE;
    *sides[i] = (int16_t) value;
  }
  return TRUE;
}

void
cuv_opencv_read_rect (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  CuvOpencv *self = reader->state;

  if (!read_sides (&text, &self->feature.rect[0], error))
    return;
  self->feature.line[0] = reader->line;
  if (cuv_more_words (&text))
    cuv_model_fail (error, "<rect> must hold exactly x, y, width and height");
}

void
cuv_opencv_read_weighted_rect (CuvModelReader *reader,
    const CuvElement *element, char *text, GError **error)
{
  CuvOpencv *self = reader->state;
  CuvOpencvFeature *feature = &self->feature;
  CuvHaarRect rect;
  char *word;

  if (!read_sides (&text, &rect, error))
    return;
  word = cuv_next_word (&text);
  if (word == NULL || cuv_more_words (&text)) {
    cuv_model_fail (error,
        "a rectangle of a Haar feature must hold x, y, width, height and "
        "weight");
  } else if (!cuv_to_limited (word, MAX_WEIGHT, &rect.weight, error)) {
    g_prefix_error (error, "weight: ");
  } else if (feature->n_rects == 3) {
    cuv_model_fail (error, "a Haar feature has more than 3 rectangles");
  } else {
    feature->line[feature->n_rects] = reader->line;
    feature->rect[feature->n_rects++] = rect;
  }
}

/* ---- features ---- */

void
cuv_opencv_begin_feature (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvOpencv *self = reader->state;

  self->feature = (CuvOpencvFeature){ 0 };
}

void
cuv_opencv_end_feature (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error)
{
  CuvOpencv *self = reader->state;
  gboolean haar = cuv_opencv_is_haar (reader);

  if (haar && self->feature.n_rects < 2)
    cuv_model_fail (error,
        self->feature.n_rects == 0
            ? "<rects> is missing or empty"
            : "a Haar feature has 1 rectangle, but needs 2 or 3");
  else if (!haar && self->feature.line[0] == 0)
    cuv_model_fail (error, "<rect> is missing");
  else if (self->features->len == CUV_MODEL_MAX_FEATURES)
    cuv_model_fail (error, "the model has more than %d features, the limit",
        CUV_MODEL_MAX_FEATURES);
  else
    g_array_append_val (self->features, self->feature);
}

static gboolean
check_blocks (const CuvOpencv *self, const CuvHaarRect *rect, GError **error)
{
  if (rect->x + 3 * rect->width <= self->width
      && rect->y + 3 * rect->height <= self->height)
    return TRUE;
  return cuv_model_fail (error,
      "3x3 blocks of %d x %d pixels at (%d, %d) exceed the window of %d x "
      "%d",
      rect->width, rect->height, rect->x, rect->y, self->width, self->height);
}

/* Checks that a rectangle is inside the window. The corners of a tilted one are
 * at (x, y) at the top, (x - height, y + height) on the left and (x + width, y
 * + width) on the right. */
static gboolean
check_rect (const CuvOpencv *self, const CuvHaarRect *rect, int32_t tilted,
    GError **error)
{
  int left = rect->x - (tilted ? rect->height : 0);
  int bottom = rect->y + rect->height + (tilted ? rect->width : 0);

  if (left >= 0 && rect->x + rect->width <= self->width
      && bottom <= self->height)
    return TRUE;
  return cuv_model_fail (error,
      "a %srectangle of %d x %d pixels at (%d, %d) exceeds the window of "
      "%d x %d",
      tilted ? "tilted " : "", rect->width, rect->height, rect->x, rect->y,
      (int) self->width, (int) self->height);
}

static gboolean
check_feature (
    CuvModelReader *reader, const CuvOpencvFeature *feature, GError **error)
{
  const CuvOpencv *self = reader->state;

  reader->line = feature->line[0];
  if (!cuv_opencv_is_haar (reader))
    return check_blocks (self, &feature->rect[0], error);
  for (int i = 0; i < feature->n_rects; i++) {
    reader->line = feature->line[i];
    if (!check_rect (self, &feature->rect[i], feature->tilted, error))
      return FALSE;
  }
  return TRUE;
}

/* Rejects windows whose sum of squares, without the outermost pixels, may not
 * fit 32 bits. */
static gboolean
check_haar_window (const CuvOpencv *self, GError **error)
{
  if ((guint) ((self->width - 2) * (self->height - 2)) <= CUV_MAX_SQUARES_AREA)
    return TRUE;
  return cuv_model_fail (error,
      "a window of %d x %d is too large for Haar features: the limit of "
      "(width - 2) * (height - 2) is %u",
      self->width, self->height, CUV_MAX_SQUARES_AREA);
}

static void
add_node (CuvModelBuilder *builder, const CuvOpencvNode *node,
    const CuvOpencvFeature *feature)
{
  const CuvHaarRect *rect = feature->rect;

  if (builder->model.feature == CUV_FEATURE_HAAR) {
    CuvHaarNode haar = { .rect = { rect[0], rect[1], rect[2] },
      .tilted = feature->tilted,
      .threshold = node->threshold,
      .left = node->left,
      .right = node->right };

    g_array_append_val (builder->haar_nodes, haar);
  } else {
    CuvGridNode grid = { .x = rect->x,
      .y = rect->y,
      .width = rect->width,
      .height = rect->height,
      .left = node->left,
      .right = node->right };

    memcpy (grid.subset, node->subset, sizeof grid.subset);
    g_array_append_val (builder->nodes, grid);
  }
}

void
cuv_opencv_add_nodes (CuvModelReader *reader, GError **error)
{
  CuvOpencv *self = reader->state;

  if (cuv_opencv_is_haar (reader) && !check_haar_window (self, error))
    return;
  for (guint i = 0; i < self->features->len; i++) {
    if (!check_feature (reader,
            &g_array_index (self->features, CuvOpencvFeature, i), error))
      return;
  }
  for (guint i = 0; i < self->nodes->len; i++) {
    const CuvOpencvNode *node = &g_array_index (self->nodes, CuvOpencvNode, i);

    if (node->feature < 0 || (guint) node->feature >= self->features->len) {
      reader->line = node->line;
      cuv_model_fail (error,
          "a node refers to feature %d, but the model has %u features, "
          "numbered from 0",
          node->feature, self->features->len);
      return;
    }
    add_node (&reader->builder, node,
        &g_array_index (self->features, CuvOpencvFeature, node->feature));
  }
}
