/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the XML of a model of trees on channels. */
#include "model/channels.h"
#include "model/reader.h"

#include <string.h>

#define ROOT CUV_CHANNELS_ROOT

typedef struct {
  CuvChannelsModel model;
  GArray *nodes;      /* CuvChannelsNode */
  GArray *leaves;     /* int16_t */
  GArray *thresholds; /* int32_t */
  GString *text;      /* text of the open tree */
  int depth;          /* number of open elements */
} Parser;

static gboolean
next_integer (
    char **text, gint64 low, gint64 high, gint64 *value, GError **error)
{
  char *word = cuv_next_word (text);

  if (word == NULL)
    return cuv_model_fail (
        error, "a number is missing at the end of an attribute or of a tree");
  return cuv_to_integer (word, low, high, value, error);
}

/* ---- the root ---- */

static gboolean
check_attributes (const CuvTag *tag, GError **error)
{
  static const char *const known[] = { "version", "width", "height", "shrink",
    "levels", "overhang", "object", "depth", "threshold", "confidence", NULL };

  for (int i = 0; tag->names[i] != NULL; i++) {
    if (!g_strv_contains (known, tag->names[i]))
      return cuv_model_fail (
          error, "unknown attribute '%.*s'", CUV_MAX_SHOWN, tag->names[i]);
  }
  return TRUE;
}

/* Reads the width or height of the window, in blocks. */
static gboolean
read_side (const CuvTag *tag, const char *name, int shrink, int32_t *n_blocks,
    GError **error)
{
  int side;

  if (!cuv_attribute_integer (tag, name, CUV_CHANNELS_MIN_SIDE,
          CUV_CHANNELS_MAX_SIDE, &side, error))
    return FALSE;
  if (side % shrink != 0)
    return cuv_model_fail (error,
        "%s is %d, but must be a multiple of shrink, %d", name, side, shrink);
  *n_blocks = side / shrink;
  return TRUE;
}

/* Reads an attribute of n integers. */
static gboolean
read_integers (const char *value, const char *name, int n, gint64 limit,
    int32_t *numbers, GError **error)
{
  char *copy = g_strdup (value), *text = copy;
  gboolean ok = TRUE;

  for (int i = 0; i < n && ok; i++) {
    gint64 number = 0;

    ok = next_integer (&text, -limit, limit, &number, error);
    numbers[i] = (int32_t) number;
  }
  if (ok && cuv_more_words (&text))
    ok = cuv_model_fail (error, "%s has more than %d numbers", name, n);
  g_free (copy);
  return ok;
}

/* Returns whether each window, even one that extends beyond the picture, has a
 * part of the object inside the picture. */
static gboolean
exceeds_overhang (const CuvChannelsModel *model)
{
  const CuvChannelsTrees *trees = &model->trees;
  const int32_t overhang = trees->overhang * trees->shrink;
  const int32_t *box = model->object;

  return box[0] + box[2] > overhang && box[1] + box[3] > overhang
      && box[0] < trees->columns * trees->shrink - overhang
      && box[1] < trees->rows * trees->shrink - overhang;
}

/* Reads the rectangle of the object, which must be inside the window. */
static gboolean
read_object_box (const CuvTag *tag, CuvChannelsModel *model, GError **error)
{
  const CuvChannelsTrees *trees = &model->trees;
  const int32_t *box = model->object;
  const char *value;

  return cuv_attribute_text (tag, "object", &value, error)
      && read_integers (
          value, "object", 4, CUV_CHANNELS_MAX_SIDE, model->object, error)
      && ((box[0] >= 0 && box[1] >= 0 && box[2] > 0 && box[3] > 0
              && box[0] + box[2] <= trees->columns * trees->shrink
              && box[1] + box[3] <= trees->rows * trees->shrink)
          || cuv_model_fail (
              error, "object must be a rectangle inside the window"))
      && (exceeds_overhang (model)
          || cuv_model_fail (error,
              "object lies in the part of the window that may extend beyond "
              "the picture: overhang is %d blocks",
              trees->overhang));
}

/* Reads the attribute confidence, which may be missing. */
static gboolean
read_confidence (const CuvTag *tag, CuvChannelsModel *model, GError **error)
{
  const char *value = cuv_attribute (tag, "confidence");
  int32_t numbers[2];

  if (value == NULL)
    return TRUE;
  if (!read_integers (value, "confidence", 2, 1 << 30, numbers, error))
    return FALSE;
  model->even = numbers[0];
  model->spread = numbers[1];
  return model->spread > 0
      || cuv_model_fail (error, "the spread of confidence must be above 0");
}

static gboolean
read_root (Parser *self, const CuvTag *tag, GError **error)
{
  CuvChannelsModel *model = &self->model;
  CuvChannelsTrees *trees = &model->trees;
  int version;

  if (strcmp (tag->name, ROOT) != 0)
    return cuv_model_fail (
        error, "the root is <%.*s>, not <" ROOT ">", CUV_MAX_SHOWN, tag->name);
  return cuv_attribute_integer (tag, "version", 1, 1, &version, error)
      && check_attributes (tag, error)
      && cuv_attribute_integer (tag, "shrink", 2, 4, &trees->shrink, error)
      && (trees->shrink != 3 || cuv_model_fail (error, "shrink must be 2 or 4"))
      && read_side (tag, "width", trees->shrink, &trees->columns, error)
      && read_side (tag, "height", trees->shrink, &trees->rows, error)
      && cuv_attribute_integer (
          tag, "levels", 1, CUV_CHANNELS_MAX_LEVELS, &model->levels, error)
      && cuv_attribute_integer (tag, "overhang", 0,
          MIN (trees->columns, trees->rows) / 4, &trees->overhang, error)
      && read_object_box (tag, model, error)
      && cuv_attribute_integer (
          tag, "depth", 1, CUV_CHANNELS_MAX_DEPTH, &trees->depth, error)
      && cuv_attribute_integer (
          tag, "threshold", -(1 << 30), 1 << 30, &trees->final_threshold, error)
      && read_confidence (tag, model, error);
}

/* ---- recognition ---- */

static bool
starts_with (const char *text, const char *end, const char *prefix)
{
  const size_t n = strlen (prefix);

  return (size_t) (end - text) >= n && memcmp (text, prefix, n) == 0;
}

/* Returns the position after the next occurrence of a mark, or `end` if there
 * is none. */
static const char *
skip_to (const char *text, const char *end, const char *mark)
{
  while (text < end && !starts_with (text, end, mark))
    text++;
  return text < end ? text + strlen (mark) : end;
}

bool
cuv_channels_is_model (const char *text, size_t size)
{
  const char *end = text + size;

  for (;;) {
    while (text < end && g_ascii_isspace (*text))
      text++;
    if (starts_with (text, end, "<?"))
      text = skip_to (text, end, "?>");
    else if (starts_with (text, end, "<!--"))
      text = skip_to (text, end, "-->");
    else
      return starts_with (text, end, "<" ROOT);
  }
}

/* ---- trees ---- */

static gboolean
read_threshold (Parser *self, char **text, GError **error)
{
  char *word = cuv_next_word (text);
  gint64 value = INT32_MIN;
  int32_t threshold;

  if (word == NULL)
    return cuv_model_fail (error, "the tree is empty");
  if (strcmp (word, CUV_CHANNELS_NO_THRESHOLD) != 0
      && !cuv_to_integer (word, -(1 << 30), 1 << 30, &value, error))
    return FALSE;
  threshold = (int32_t) value;
  g_array_append_val (self->thresholds, threshold);
  return TRUE;
}

static gboolean
read_node (Parser *self, char **text, GError **error)
{
  const CuvChannelsTrees *trees = &self->model.trees;
  gint64 channel, column, row, threshold;
  CuvChannelsNode node;

  if (!next_integer (text, 0, CUV_CHANNELS_N - 1, &channel, error)
      || !next_integer (text, 0, trees->columns - 1, &column, error)
      || !next_integer (text, 0, trees->rows - 1, &row, error)
      || !next_integer (text, 1, 255, &threshold, error))
    return FALSE;
  node = (CuvChannelsNode){ (uint8_t) channel, (uint8_t) column, (uint8_t) row,
    (uint8_t) threshold };
  g_array_append_val (self->nodes, node);
  return TRUE;
}

static gboolean
read_tree (Parser *self, char *text, GError **error)
{
  const int n_leaves = 1 << self->model.trees.depth;

  if (self->thresholds->len == CUV_CHANNELS_MAX_TREES)
    return cuv_model_fail (
        error, "there are more than %d trees", CUV_CHANNELS_MAX_TREES);
  if (!read_threshold (self, &text, error))
    return FALSE;
  for (int i = 0; i < n_leaves - 1; i++) {
    if (!read_node (self, &text, error))
      return FALSE;
  }
  for (int i = 0; i < n_leaves; i++) {
    gint64 value;
    int16_t leaf;

    if (!next_integer (&text, INT16_MIN, INT16_MAX, &value, error))
      return FALSE;
    leaf = (int16_t) value;
    g_array_append_val (self->leaves, leaf);
  }
  return !cuv_more_words (&text)
      || cuv_model_fail (
          error, "a tree has more numbers than its depth allows");
}

/* ---- elements ---- */

static void
start_element (GMarkupParseContext *context, const char *name,
    const char **names, const char **values, gpointer data, GError **error)
{
  Parser *self = data;
  const CuvTag tag = { name, names, values };

  if (self->depth == 0)
    read_root (self, &tag, error);
  else if (self->depth > 1 || strcmp (name, CUV_CHANNELS_TREE) != 0
      || names[0] != NULL)
    cuv_model_fail (
        error, "unexpected element or attribute: <%.*s>", CUV_MAX_SHOWN, name);
  g_string_truncate (self->text, 0);
  self->depth++;
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data,
    GError **error)
{
  Parser *self = data;

  self->depth--;
  if (self->depth == 1)
    read_tree (self, self->text->str, error);
}

static void
add_text (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  Parser *self = data;

  for (gsize i = 0; self->depth < 2 && i < size; i++) {
    if (!g_ascii_isspace (text[i])) {
      cuv_model_fail (error, "unexpected text between elements");
      return;
    }
  }
  g_string_append_len (self->text, text, (gssize) size);
}

static void
parser_clear (Parser *self)
{
  g_array_unref (self->nodes);
  g_array_unref (self->leaves);
  g_array_unref (self->thresholds);
  g_string_free (self->text, TRUE);
}

/* Moves the arrays into a new model. */
static CuvChannelsModel *
finish_model (Parser *self)
{
  CuvChannelsModel *model = g_new (CuvChannelsModel, 1);

  *model = self->model;
  model->trees.n_trees = (int32_t) self->thresholds->len;
  model->trees.nodes = g_array_steal (self->nodes, NULL);
  model->trees.leaves = g_array_steal (self->leaves, NULL);
  model->trees.thresholds = g_array_steal (self->thresholds, NULL);
  return model;
}

/* Rejects an empty document, which GLib's parser accepts. */
static gboolean
check_trees (const Parser *self, GError **error)
{
  return self->thresholds->len > 0
      || cuv_model_fail (error, "there are no trees");
}

/* Describes the problem and frees it. */
static char *
describe (GMarkupParseContext *context, GError *problem)
{
  int line;

  g_markup_parse_context_get_position (context, &line, NULL);
  if (problem->domain == G_MARKUP_ERROR)
    g_prefix_error (&problem, "not well-formed XML: ");
  return cuv_model_describe (line, problem);
}

CuvChannelsModel *
cuv_channels_model_parse (const char *bytes, size_t size, char **error)
{
  static const GMarkupParser callbacks = { start_element, end_element, add_text,
    NULL, NULL };
  Parser self = { .nodes = g_array_new (FALSE, FALSE, sizeof (CuvChannelsNode)),
    .leaves = g_array_new (FALSE, FALSE, sizeof (int16_t)),
    .thresholds = g_array_new (FALSE, FALSE, sizeof (int32_t)),
    .text = g_string_new (NULL) };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&callbacks, 0, &self, NULL);
  GError *problem = NULL;
  CuvChannelsModel *model = NULL;

  if (g_markup_parse_context_parse (context, bytes, (gssize) size, &problem)
      && g_markup_parse_context_end_parse (context, &problem)
      && check_trees (&self, &problem))
    model = finish_model (&self);
  else
    *error = describe (context, problem);
  g_markup_parse_context_free (context);
  parser_clear (&self);
  return model;
}

void
cuv_channels_model_free (CuvChannelsModel *self)
{
  if (self == NULL)
    return;
  g_free ((gpointer) self->trees.nodes);
  g_free ((gpointer) self->trees.leaves);
  g_free ((gpointer) self->trees.thresholds);
  g_free (self);
}

CuvChannelsModel *
cuv_channels_model_copy (const CuvChannelsModel *self)
{
  const CuvChannelsTrees *trees = &self->trees;
  const gsize n = (gsize) trees->n_trees;
  const gsize n_nodes = n * ((1u << trees->depth) - 1);
  CuvChannelsModel *copy = g_memdup2 (self, sizeof *self);

  copy->trees.nodes = g_memdup2 (trees->nodes, n_nodes * sizeof *trees->nodes);
  copy->trees.leaves =
      g_memdup2 (trees->leaves, (n << trees->depth) * sizeof *trees->leaves);
  copy->trees.thresholds =
      g_memdup2 (trees->thresholds, n * sizeof *trees->thresholds);
  return copy;
}
