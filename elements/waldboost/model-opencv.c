/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's cascade XML with LBP features, as opencv_traincascade writes it.
 *
 *   <opencv_storage><cascade>
 *     <featureType>LBP <height> <width> <featureParams><maxCatCount>256
 *     <stages> <_> <stageThreshold>
 *                  <weakClassifiers> <_> <internalNodes> <leafValues>
 *     <features> <_> <rect>
 */
#include "model-builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_PER_NODE 11   /* left, right, feature, 8 words of a subset */
#define SHOWN 24            /* characters of a bad value in a message */
#define THRESHOLD_EPS 1e-5f /* OpenCV lowers each threshold by it */

typedef enum {
  SKIP, /* an element that says nothing to us, and all in it */
  DOCUMENT,
  STORAGE,
  CASCADE,
  STAGE_TYPE,
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
} Place;

/* What an element is, by its name and where it stands. */
static const struct {
  Place parent;
  const char *name;
  Place place;
  gboolean has_text;
} elements[] = {
  { DOCUMENT, "opencv_storage", STORAGE, FALSE },
  { STORAGE, "cascade", CASCADE, FALSE },
  { CASCADE, "stageType", STAGE_TYPE, TRUE },
  { CASCADE, "featureType", FEATURE_TYPE, TRUE },
  { CASCADE, "width", WIDTH, TRUE },
  { CASCADE, "height", HEIGHT, TRUE },
  { CASCADE, "featureParams", FEATURE_PARAMS, FALSE },
  { FEATURE_PARAMS, "maxCatCount", MAX_CAT_COUNT, TRUE },
  { CASCADE, "stages", STAGES, FALSE },
  { STAGES, "_", STAGE, FALSE },
  { STAGE, "stageThreshold", STAGE_THRESHOLD, TRUE },
  { STAGE, "weakClassifiers", WEAKS, FALSE },
  { WEAKS, "_", WEAK, FALSE },
  { WEAK, "internalNodes", INTERNAL_NODES, TRUE },
  { WEAK, "leafValues", LEAF_VALUES, TRUE },
  { CASCADE, "features", FEATURES, FALSE },
  { FEATURES, "_", FEATURE, FALSE },
  { FEATURE, "rect", RECT, TRUE },
};

typedef struct {
  int32_t x, y, width, height;
  int line;
} Rect;

/* A node's feature is looked up at the end: features come after the stages. */
typedef struct {
  int32_t feature;
  int line;
} Wanted;

typedef struct {
  Place place;
  guint32 seen; /* places of the children so far */
} Open;

typedef struct {
  CuvModelBuilder parts;
  GArray *features; /* Rect */
  GArray *wanted;   /* Wanted, one for each node */
  Open open[CUV_MODEL_MAX_DEPTH + 1];
  int depth;
  GString *text;
  int line;
  gint64 width, height, max_cat_count;
  float threshold;              /* of the stage that is read */
  guint first_node, first_leaf; /* of the tree that is read */
} Parser;

static void fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
fail (GError **error, const char *format, ...)
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
    fail (error,
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
    fail (error, "'%.*s' is not a finite number", SHOWN, word);
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
    fail (error, "<%s> must hold one value", name);
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
read_stage_type (Parser *self, char *text, GError **error)
{
  char *word = only_word (text, "stageType", error);

  if (word != NULL && strcmp (word, "BOOST") != 0)
    fail (error, "stage type '%.*s' is not supported, only BOOST is", SHOWN,
        word);
}

static void
read_feature_type (Parser *self, char *text, GError **error)
{
  char *word = only_word (text, "featureType", error);

  if (word != NULL && strcmp (word, "LBP") != 0)
    fail (error,
        "this is an OpenCV cascade with %.*s features; only LBP features are "
        "supported",
        SHOWN, word);
}

static gboolean
read_node (Parser *self, char **text, GError **error)
{
  CuvLbpNode node = { 0 };
  Wanted wanted = { .line = self->line };
  gint64 value;

  for (int i = 0; i < WORDS_PER_NODE; i++) {
    char *word = next_word (text);

    if (word == NULL) {
      fail (error, "<internalNodes> must hold %d values for each node",
          WORDS_PER_NODE);
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
read_nodes (Parser *self, char *text, GError **error)
{
  while (more_words (&text)) {
    if (self->parts.nodes->len == CUV_MODEL_MAX_NODES) {
      fail (error, "more than %d nodes", CUV_MODEL_MAX_NODES);
      return;
    }
    if (!read_node (self, &text, error))
      return;
  }
}

static void
read_leaves (Parser *self, char *text, GError **error)
{
  char *word;

  while ((word = next_word (&text)) != NULL) {
    float value;

    if (self->parts.leaves->len == 2 * CUV_MODEL_MAX_NODES) {
      fail (error, "more than %d leaf values", 2 * CUV_MODEL_MAX_NODES);
      return;
    }
    if (!to_float (word, &value, error))
      return;
    g_array_append_val (self->parts.leaves, value);
  }
}

static void
read_rect (Parser *self, char *text, GError **error)
{
  Rect rect = { .line = self->line };
  int32_t *values[4] = { &rect.x, &rect.y, &rect.width, &rect.height };

  for (int i = 0; i < 4; i++) {
    char *word = next_word (&text);
    gint64 value;

    if (word == NULL) {
      fail (error, "<rect> must hold x, y, width and height");
      return;
    }
    if (!to_integer (word, i < 2 ? 0 : 1, CUV_MODEL_MAX_WINDOW, &value, error))
      return;
    *values[i] = (int32_t) value;
  }
  if (next_word (&text) != NULL)
    fail (error, "<rect> must hold x, y, width and height and no more");
  else if (self->features->len == CUV_MODEL_MAX_FEATURES)
    fail (error, "more than %d features", CUV_MODEL_MAX_FEATURES);
  else
    g_array_append_val (self->features, rect);
}

static void
read_threshold (Parser *self, char *text, GError **error)
{
  char *word = only_word (text, "stageThreshold", error);

  if (word != NULL && to_float (word, &self->threshold, error))
    self->threshold -= THRESHOLD_EPS;
}

static void
read_text (Parser *self, Place place, char *text, GError **error)
{
  switch (place) {
    case STAGE_TYPE:
      read_stage_type (self, text, error);
      break;
    case FEATURE_TYPE:
      read_feature_type (self, text, error);
      break;
    case WIDTH:
      only_integer (
          text, "width", 3, CUV_MODEL_MAX_WINDOW, &self->width, error);
      break;
    case HEIGHT:
      only_integer (
          text, "height", 3, CUV_MODEL_MAX_WINDOW, &self->height, error);
      break;
    case MAX_CAT_COUNT:
      only_integer (text, "maxCatCount", 256, 256, &self->max_cat_count, error);
      break;
    case STAGE_THRESHOLD:
      read_threshold (self, text, error);
      break;
    case INTERNAL_NODES:
      read_nodes (self, text, error);
      break;
    case LEAF_VALUES:
      read_leaves (self, text, error);
      break;
    case RECT:
      read_rect (self, text, error);
      break;
    default:
      break;
  }
}

/* ---- what groups of elements make ---- */

static gboolean
require (const Open *open, Place child, const char *name, GError **error)
{
  if (open->seen & (1u << child))
    return TRUE;
  fail (error, "<%s> is missing", name);
  return FALSE;
}

/* Children of a node come after it, so that a walk ends. */
static gboolean
check_child (int32_t child, guint node, guint n, GError **error)
{
  if (child > 0 && ((guint) child <= node || (guint) child >= n))
    fail (error, "a node's child %d is not one of the nodes after it", child);
  else if (child <= 0 && (guint) (-(gint64) child) > n)
    fail (error, "a node's leaf %d does not exist", -child);
  else
    return TRUE;
  return FALSE;
}

static void
end_weak (Parser *self, const Open *open, GError **error)
{
  CuvModelBuilder *parts = &self->parts;
  guint n = parts->nodes->len - self->first_node;
  guint n_leaves = parts->leaves->len - self->first_leaf;
  CuvWeak weak = { (int32_t) self->first_node, (int32_t) self->first_leaf,
    FALSE, -INFINITY };

  if (!require (open, INTERNAL_NODES, "internalNodes", error)
      || !require (open, LEAF_VALUES, "leafValues", error))
    return;
  if (n == 0 || n_leaves != n + 1) {
    fail (error, "%u leaf values do not fit %u nodes", n_leaves, n);
    return;
  }
  for (guint i = 0; i < n; i++) {
    const CuvLbpNode *node =
        &g_array_index (parts->nodes, CuvLbpNode, self->first_node + i);

    if (!check_child (node->left, i, n, error)
        || !check_child (node->right, i, n, error))
      return;
  }
  g_array_append_val (parts->weak, weak);
}

static void
begin_stage (Parser *self, GError **error)
{
  int32_t first = (int32_t) self->parts.weak->len;

  if (self->parts.stage_first->len == CUV_MODEL_MAX_STAGES)
    fail (error, "more than %d stages", CUV_MODEL_MAX_STAGES);
  else
    g_array_append_val (self->parts.stage_first, first);
}

static void
end_stage (Parser *self, const Open *open, GError **error)
{
  GArray *weak = self->parts.weak, *stages = self->parts.stage_first;
  guint first = g_array_index (stages, guint32, stages->len - 1);

  if (!require (open, STAGE_THRESHOLD, "stageThreshold", error)
      || !require (open, WEAKS, "weakClassifiers", error))
    return;
  if (first == weak->len) {
    fail (error, "a stage without weak classifiers");
    return;
  }
  g_array_index (weak, CuvWeak, first).restart = TRUE;
  g_array_index (weak, CuvWeak, weak->len - 1).threshold = self->threshold;
}

static gboolean
check_rect (Parser *self, const Rect *rect, GError **error)
{
  if (rect->x + 3 * rect->width <= self->width
      && rect->y + 3 * rect->height <= self->height)
    return TRUE;
  self->line = rect->line;
  fail (error,
      "3x3 blocks of %d x %d pixels at (%d, %d) reach out of the window of %d "
      "x %d",
      rect->width, rect->height, rect->x, rect->y, (int) self->width,
      (int) self->height);
  return FALSE;
}

static gboolean
place_features (Parser *self, GError **error)
{
  for (guint i = 0; i < self->features->len; i++) {
    if (!check_rect (self, &g_array_index (self->features, Rect, i), error))
      return FALSE;
  }
  for (guint i = 0; i < self->wanted->len; i++) {
    const Wanted *wanted = &g_array_index (self->wanted, Wanted, i);
    CuvLbpNode *node = &g_array_index (self->parts.nodes, CuvLbpNode, i);
    const Rect *rect;

    if (wanted->feature < 0 || (guint) wanted->feature >= self->features->len) {
      self->line = wanted->line;
      fail (error, "a node wants feature %d of %u", wanted->feature,
          self->features->len);
      return FALSE;
    }
    rect = &g_array_index (self->features, Rect, wanted->feature);
    node->x = (int16_t) rect->x;
    node->y = (int16_t) rect->y;
    node->width = (int16_t) rect->width;
    node->height = (int16_t) rect->height;
  }
  return TRUE;
}

static void
end_cascade (Parser *self, const Open *open, GError **error)
{
  if (!require (open, FEATURE_TYPE, "featureType", error)
      || !require (open, WIDTH, "width", error)
      || !require (open, HEIGHT, "height", error)
      || !require (open, FEATURE_PARAMS, "featureParams", error)
      || !require (open, STAGES, "stages", error)
      || !require (open, FEATURES, "features", error))
    return;
  if (self->max_cat_count == 0)
    fail (error, "<maxCatCount> is missing");
  else if (self->parts.stage_first->len == 0)
    fail (error, "a cascade without stages");
  else
    place_features (self, error);
}

/* ---- elements ---- */

static const char *
attribute (const char **names, const char **values, const char *name)
{
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp (names[i], name) == 0)
      return values[i];
  }
  return "";
}

/* Known models of other kinds: what they are, and the way out. */
static gboolean
is_other_kind (const char *name, const char *type_id, GError **error)
{
  if (strcmp (type_id, "opencv-haar-classifier") == 0)
    fail (error,
        "this is an old-format OpenCV Haar cascade (opencv-haar-classifier); "
        "only new-format cascades with LBP features are supported: train one "
        "with opencv_traincascade -featureType LBP");
  else if (strcmp (name, "WaldBoostClassifier") == 0)
    fail (error,
        "this is a WaldBoostClassifier model; only OpenCV cascades "
        "with LBP features are supported");
  else if (strcmp (name, "waldboost") == 0)
    fail (error,
        "this is a model of OpenCV's WBDetector (<waldboost>); only cascades "
        "with LBP features are supported");
  else
    return FALSE;
  return TRUE;
}

static int
find_element (Place parent, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    if (elements[i].parent == parent && strcmp (elements[i].name, name) == 0)
      return (int) i;
  }
  return -1;
}

static void
begin_place (Parser *self, Place place, GError **error)
{
  switch (place) {
    case STAGE:
      begin_stage (self, error);
      break;
    case WEAKS:
    case STAGES:
    case FEATURES:
      if (!(self->open[2].seen & (1u << FEATURE_TYPE)))
        fail (error, "<featureType> must come before stages and features");
      break;
    case WEAK:
      self->first_node = self->parts.nodes->len;
      self->first_leaf = self->parts.leaves->len;
      break;
    default:
      break;
  }
}

static void
start_element (GMarkupParseContext *context, const char *name,
    const char **names, const char **values, gpointer data, GError **error)
{
  Parser *self = data;
  Open *parent = &self->open[self->depth];
  int i = find_element (parent->place, name);
  Place place = i >= 0 ? elements[i].place : SKIP;

  g_markup_parse_context_get_position (context, &self->line, NULL);
  if (is_other_kind (name, attribute (names, values, "type_id"), error))
    return;
  if (self->depth == CUV_MODEL_MAX_DEPTH) {
    fail (error, "more than %d elements in each other", CUV_MODEL_MAX_DEPTH);
    return;
  }
  if (place != SKIP && strcmp (name, "_") != 0
      && (parent->seen & (1u << place))) {
    fail (error, "<%s> stands here twice", name);
    return;
  }
  parent->seen |= 1u << place;
  self->open[++self->depth] = (Open){ place, 0 };
  g_string_truncate (self->text, 0);
  begin_place (self, place, error);
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data,
    GError **error)
{
  Parser *self = data;
  const Open *open = &self->open[self->depth--];

  g_markup_parse_context_get_position (context, &self->line, NULL);
  switch (open->place) {
    case WEAK:
      end_weak (self, open, error);
      break;
    case STAGE:
      end_stage (self, open, error);
      break;
    case FEATURE:
      require (open, RECT, "rect", error);
      break;
    case CASCADE:
      end_cascade (self, open, error);
      break;
    default:
      read_text (self, open->place, self->text->str, error);
      break;
  }
  g_string_truncate (self->text, 0);
}

static void
add_text (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  Parser *self = data;

  if (self->open[self->depth].place != SKIP)
    g_string_append_len (self->text, text, size);
}

/* Comments and processing instructions are nothing to us. */
static void
pass_through (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  Parser *self = data;

  if (size >= 9 && strncmp (text, "<!DOCTYPE", 9) == 0) {
    g_markup_parse_context_get_position (context, &self->line, NULL);
    fail (error, "document types and entities are not supported");
  }
}

/* ---- entry ---- */

static gboolean
parse (Parser *self, const char *bytes, size_t size, GError **error)
{
  static const GMarkupParser callbacks = { start_element, end_element, add_text,
    pass_through, NULL };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&callbacks, 0, self, NULL);
  gboolean ok =
      g_markup_parse_context_parse (context, bytes, (gssize) size, error)
      && g_markup_parse_context_end_parse (context, error);

  if (!ok && (*error)->domain == G_MARKUP_ERROR)
    g_markup_parse_context_get_position (context, &self->line, NULL);
  g_markup_parse_context_free (context);
  if (ok && !(self->open[1].seen & (1u << CASCADE))) {
    fail (error,
        "this is not a model that is known here; supported are OpenCV "
        "cascades with LBP features");
    ok = FALSE;
  }
  return ok;
}

static char *
describe (const Parser *self, const GError *error)
{
  char *text, *copy;

  if (error->domain == G_MARKUP_ERROR)
    text = g_strdup_printf (
        "line %d: not well-formed XML: %s", self->line, error->message);
  else
    text = g_strdup_printf ("line %d: %s", self->line, error->message);
  g_strdelimit (text, "\r\n", ' ');
  copy = strdup (text);
  g_free (text);
  return copy;
}

const CuvWaldboostModel *
cuv_model_parse (const char *bytes, size_t size, char **error)
{
  Parser self = { .open[0].place = DOCUMENT };
  const CuvWaldboostModel *model = NULL;
  GError *reason = NULL;

  cuv_model_builder_init (&self.parts);
  self.features = g_array_new (FALSE, FALSE, sizeof (Rect));
  self.wanted = g_array_new (FALSE, FALSE, sizeof (Wanted));
  self.text = g_string_new (NULL);
  if (size > CUV_MODEL_MAX_BYTES)
    fail (&reason, "a file of more than %d MB is not read as a model",
        CUV_MODEL_MAX_BYTES >> 20);
  else if (parse (&self, bytes, size, &reason))
    model = cuv_model_builder_finish (
        &self.parts, (int) self.width, (int) self.height);
  if (model == NULL) {
    *error = describe (&self, reason);
    g_error_free (reason);
    cuv_model_builder_clear (&self.parts);
  }
  g_array_unref (self.features);
  g_array_unref (self.wanted);
  g_string_free (self.text, TRUE);
  return model;
}
