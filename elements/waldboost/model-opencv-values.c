/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers and their limits in OpenCV's cascades. */
#include "model-opencv.h"

#include <math.h>
#include <string.h>

#define WORDS_PER_NODE 11   /* left, right, feature, 8 words of a subset */
#define SHOWN 24            /* characters of a bad value in a message */
#define THRESHOLD_EPS 1e-5f /* OpenCV lowers each threshold by it */

void
cuv_opencv_fail (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
      g_error_new_valist (
          g_quark_from_static_string ("cuv-model"), 0, format, args));
  va_end (args);
}

/* ---- numbers ---- */

/* The next word of a text; it ends it with a NUL. NULL if none is left. */
static char *
next_word (char **text)
{
  char *word = *text, *end;

  while (g_ascii_isspace (*word))
    word++;
  if (*word == '\0')
    return NULL;
  for (end = word; *end != '\0' && !g_ascii_isspace (*end);)
    end++;
  *text = *end != '\0' ? end + 1 : end;
  *end = '\0';
  return word;
}

static gboolean
to_integer (
    const char *word, gint64 low, gint64 high, gint64 *value, GError **error)
{
  char *end;

  *value = g_ascii_strtoll (word, &end, 10);
  if (*end != '\0' || *value < low || *value > high) {
    cuv_opencv_fail (error,
        "'%.*s' is not an integer in %" G_GINT64_FORMAT " .. %" G_GINT64_FORMAT,
        SHOWN, word, low, high);
    return FALSE;
  }
  return TRUE;
}

static gboolean
to_float (const char *word, float *value, GError **error)
{
  char *end;

  *value = (float) g_ascii_strtod (word, &end);
  if (*end != '\0' || !isfinite (*value)) {
    cuv_opencv_fail (error, "'%.*s' is not a finite number", SHOWN, word);
    return FALSE;
  }
  return TRUE;
}

/* The one word of an element. */
static char *
only_word (char *text, const char *name, GError **error)
{
  char *word = next_word (&text);

  if (word == NULL || next_word (&text) != NULL) {
    cuv_opencv_fail (error, "<%s> must hold one value", name);
    return NULL;
  }
  return word;
}

static gboolean
only_integer (char *text, const char *name, gint64 low, gint64 high,
    gint64 *value, GError **error)
{
  char *word = only_word (text, name, error);

  return word != NULL && to_integer (word, low, high, value, error);
}

/* ---- what elements say ---- */

static void
read_stage_type (CuvOpencvParser *self, char *text, GError **error)
{
  char *word = only_word (text, "stageType", error);

  if (word != NULL && strcmp (word, "BOOST") != 0)
    cuv_opencv_fail (error, "stage type '%.*s' is not supported, only BOOST is",
        SHOWN, word);
}

static void
read_feature_type (CuvOpencvParser *self, char *text, GError **error)
{
  char *word = only_word (text, "featureType", error);

  if (word != NULL && strcmp (word, "LBP") != 0)
    cuv_opencv_fail (error,
        "this is an OpenCV cascade with %.*s features; only LBP features are "
        "supported: use a file such as lbpcascade_frontalface.xml",
        SHOWN, word);
}

static gboolean
read_node (CuvOpencvParser *self, char **text, GError **error)
{
  CuvGridNode node = { 0 };
  CuvOpencvWanted wanted = { .line = self->line };
  gint64 value;

  for (int i = 0; i < WORDS_PER_NODE; i++) {
    char *word = next_word (text);

    if (word == NULL) {
      cuv_opencv_fail (error,
          "<internalNodes> must hold %d values for each node", WORDS_PER_NODE);
      return FALSE;
    }
    if (!to_integer (
            word, G_MININT32, i < 3 ? G_MAXINT32 : G_MAXUINT32, &value, error))
      return FALSE;
    if (i == 0)
      node.left = (int32_t) value;
    else if (i == 1)
      node.right = (int32_t) value;
    else if (i == 2)
      wanted.feature = (int32_t) value;
    else
      node.subset[i - 3] = (uint32_t) value;
  }
  g_array_append_val (self->parts.nodes, node);
  g_array_append_val (self->wanted, wanted);
  return TRUE;
}

static gboolean
more_words (char **text)
{
  while (g_ascii_isspace (**text))
    (*text)++;
  return **text != '\0';
}

static void
read_nodes (CuvOpencvParser *self, char *text, GError **error)
{
  while (more_words (&text)) {
    if (self->parts.nodes->len == CUV_MODEL_MAX_NODES) {
      cuv_opencv_fail (error, "more than %d nodes", CUV_MODEL_MAX_NODES);
      return;
    }
    if (!read_node (self, &text, error))
      return;
  }
}

static void
read_leaves (CuvOpencvParser *self, char *text, GError **error)
{
  char *word;

  while ((word = next_word (&text)) != NULL) {
    float value;

    if (self->parts.leaves->len == 2 * CUV_MODEL_MAX_NODES) {
      cuv_opencv_fail (
          error, "more than %d leaf values", 2 * CUV_MODEL_MAX_NODES);
      return;
    }
    if (!to_float (word, &value, error))
      return;
    g_array_append_val (self->parts.leaves, value);
  }
}

static void
read_rect (CuvOpencvParser *self, char *text, GError **error)
{
  CuvOpencvRect rect = { .line = self->line };
  int32_t *values[4] = { &rect.x, &rect.y, &rect.width, &rect.height };

  for (int i = 0; i < 4; i++) {
    char *word = next_word (&text);
    gint64 value;

    if (word == NULL) {
      cuv_opencv_fail (error, "<rect> must hold x, y, width and height");
      return;
    }
    if (!to_integer (word, i < 2 ? 0 : 1, CUV_MODEL_MAX_WINDOW, &value, error))
      return;
    *values[i] = (int32_t) value;
  }
  if (next_word (&text) != NULL)
    cuv_opencv_fail (
        error, "<rect> must hold x, y, width and height and no more");
  else if (self->features->len == CUV_MODEL_MAX_FEATURES)
    cuv_opencv_fail (error, "more than %d features", CUV_MODEL_MAX_FEATURES);
  else
    g_array_append_val (self->features, rect);
}

static void
read_threshold (CuvOpencvParser *self, char *text, GError **error)
{
  char *word = only_word (text, "stageThreshold", error);

  if (word != NULL && to_float (word, &self->threshold, error))
    self->threshold -= THRESHOLD_EPS;
}

void
cuv_opencv_read (
    CuvOpencvParser *self, CuvOpencvPlace place, char *text, GError **error)
{
  switch (place) {
    case CUV_OPENCV_STAGE_TYPE:
      read_stage_type (self, text, error);
      break;
    case CUV_OPENCV_FEATURE_TYPE:
      read_feature_type (self, text, error);
      break;
    case CUV_OPENCV_WIDTH:
      only_integer (
          text, "width", 3, CUV_MODEL_MAX_WINDOW, &self->width, error);
      break;
    case CUV_OPENCV_HEIGHT:
      only_integer (
          text, "height", 3, CUV_MODEL_MAX_WINDOW, &self->height, error);
      break;
    case CUV_OPENCV_MAX_CAT_COUNT:
      only_integer (text, "maxCatCount", 256, 256, &self->max_cat_count, error);
      break;
    case CUV_OPENCV_STAGE_THRESHOLD:
      read_threshold (self, text, error);
      break;
    case CUV_OPENCV_INTERNAL_NODES:
      read_nodes (self, text, error);
      break;
    case CUV_OPENCV_LEAF_VALUES:
      read_leaves (self, text, error);
      break;
    case CUV_OPENCV_RECT:
      read_rect (self, text, error);
      break;
    default:
      break;
  }
}

/* ---- what groups of elements make ---- */

gboolean
cuv_opencv_require (const CuvOpencvElement *open, CuvOpencvPlace child,
    const char *name, GError **error)
{
  if (open->seen & (1u << child))
    return TRUE;
  cuv_opencv_fail (error, "<%s> is missing", name);
  return FALSE;
}

/* Children of a node come after it, so that a walk ends. */
static gboolean
check_child (int32_t child, guint node, guint n, GError **error)
{
  if (child > 0 && ((guint) child <= node || (guint) child >= n))
    cuv_opencv_fail (
        error, "a node's child %d is not one of the nodes after it", child);
  else if (child <= 0 && (guint) (-(gint64) child) > n)
    cuv_opencv_fail (error, "a node's leaf %" G_GINT64_FORMAT " does not exist",
        -(gint64) child);
  else
    return TRUE;
  return FALSE;
}

void
cuv_opencv_begin_weak (CuvOpencvParser *self)
{
  self->first_node = self->parts.nodes->len;
  self->first_leaf = self->parts.leaves->len;
}

void
cuv_opencv_end_weak (
    CuvOpencvParser *self, const CuvOpencvElement *open, GError **error)
{
  CuvModelBuilder *parts = &self->parts;
  guint n = parts->nodes->len - self->first_node;
  guint n_leaves = parts->leaves->len - self->first_leaf;
  CuvWeak weak = { .first_node = (int32_t) self->first_node,
    .first_leaf = (int32_t) self->first_leaf,
    .threshold = -INFINITY };

  if (!cuv_opencv_require (
          open, CUV_OPENCV_INTERNAL_NODES, "internalNodes", error)
      || !cuv_opencv_require (
          open, CUV_OPENCV_LEAF_VALUES, "leafValues", error))
    return;
  if (n == 0 || n_leaves != n + 1) {
    cuv_opencv_fail (error, "%u leaf values do not fit %u nodes", n_leaves, n);
    return;
  }
  for (guint i = 0; i < n; i++) {
    const CuvGridNode *node =
        &g_array_index (parts->nodes, CuvGridNode, self->first_node + i);

    if (!check_child (node->left, i, n, error)
        || !check_child (node->right, i, n, error))
      return;
  }
  g_array_append_val (parts->weak, weak);
}

void
cuv_opencv_begin_stage (CuvOpencvParser *self, GError **error)
{
  int32_t first = (int32_t) self->parts.weak->len;

  if (self->parts.stage_first->len == CUV_MODEL_MAX_STAGES)
    cuv_opencv_fail (error, "more than %d stages", CUV_MODEL_MAX_STAGES);
  else
    g_array_append_val (self->parts.stage_first, first);
}

void
cuv_opencv_end_stage (
    CuvOpencvParser *self, const CuvOpencvElement *open, GError **error)
{
  GArray *weak = self->parts.weak, *stages = self->parts.stage_first;
  guint first = g_array_index (stages, guint32, stages->len - 1);

  if (!cuv_opencv_require (
          open, CUV_OPENCV_STAGE_THRESHOLD, "stageThreshold", error)
      || !cuv_opencv_require (open, CUV_OPENCV_WEAKS, "weakClassifiers", error))
    return;
  if (first == weak->len) {
    cuv_opencv_fail (error, "a stage without weak classifiers");
    return;
  }
  g_array_index (weak, CuvWeak, first).restart = TRUE;
  g_array_index (weak, CuvWeak, weak->len - 1).threshold = self->threshold;
}

static gboolean
check_rect (CuvOpencvParser *self, const CuvOpencvRect *rect, GError **error)
{
  if (rect->x + 3 * rect->width <= self->width
      && rect->y + 3 * rect->height <= self->height)
    return TRUE;
  self->line = rect->line;
  cuv_opencv_fail (error,
      "3x3 blocks of %d x %d pixels at (%d, %d) reach out of the window of %d "
      "x %d",
      rect->width, rect->height, rect->x, rect->y, (int) self->width,
      (int) self->height);
  return FALSE;
}

static gboolean
place_features (CuvOpencvParser *self, GError **error)
{
  for (guint i = 0; i < self->features->len; i++) {
    if (!check_rect (
            self, &g_array_index (self->features, CuvOpencvRect, i), error))
      return FALSE;
  }
  for (guint i = 0; i < self->wanted->len; i++) {
    const CuvOpencvWanted *wanted =
        &g_array_index (self->wanted, CuvOpencvWanted, i);
    CuvGridNode *node = &g_array_index (self->parts.nodes, CuvGridNode, i);
    const CuvOpencvRect *rect;

    if (wanted->feature < 0 || (guint) wanted->feature >= self->features->len) {
      self->line = wanted->line;
      cuv_opencv_fail (error, "a node wants feature %d of %u", wanted->feature,
          self->features->len);
      return FALSE;
    }
    rect = &g_array_index (self->features, CuvOpencvRect, wanted->feature);
    node->x = (int16_t) rect->x;
    node->y = (int16_t) rect->y;
    node->width = (int16_t) rect->width;
    node->height = (int16_t) rect->height;
  }
  return TRUE;
}

void
cuv_opencv_end_cascade (
    CuvOpencvParser *self, const CuvOpencvElement *open, GError **error)
{
  if (!cuv_opencv_require (open, CUV_OPENCV_FEATURE_TYPE, "featureType", error)
      || !cuv_opencv_require (open, CUV_OPENCV_WIDTH, "width", error)
      || !cuv_opencv_require (open, CUV_OPENCV_HEIGHT, "height", error)
      || !cuv_opencv_require (
          open, CUV_OPENCV_FEATURE_PARAMS, "featureParams", error)
      || !cuv_opencv_require (open, CUV_OPENCV_STAGES, "stages", error)
      || !cuv_opencv_require (open, CUV_OPENCV_FEATURES, "features", error))
    return;
  if (self->max_cat_count == 0)
    cuv_opencv_fail (error, "<maxCatCount> is missing");
  else if (self->parts.stage_first->len == 0)
    cuv_opencv_fail (error, "a cascade without stages");
  else
    place_features (self, error);
}
