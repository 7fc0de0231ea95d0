/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recognises the format and walks the elements by its rules. */
#include "model/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model/channels.h"
#include "model/text.h"

/* maximum number of bytes between two tags, enough for the numbers of 65536
 * nodes */
#define MAX_TEXT (16 << 20)

/* ---- rules ---- */

static const CuvElementRule *
find_rule (const CuvModelFormat *format, int parent, const char *name)
{
  for (guint i = 0; i < format->n_rules; i++) {
    const CuvElementRule *rule = &format->rules[i];

    if (rule->parent == parent && strcmp (rule->name, name) == 0)
      return rule;
  }
  return NULL;
}

/* ---- format ---- */

static void
choose_format (CuvModelReader *self, const CuvModelFormat *format)
{
  self->format = format;
  self->state = g_malloc0 (format->state_size);
  format->init (self);
}

/* Recognises a model in <opencv_storage>: it may have any name, but its first
 * known child determines the format. */
static void
recognise_parent (CuvModelReader *self, CuvElement *parent, const char *name)
{
  static const CuvModelFormat *const formats[] = { &cuv_format_opencv,
    &cuv_format_opencv_old, &cuv_format_wbd };

  for (guint i = 0; i < G_N_ELEMENTS (formats) && self->format == NULL; i++) {
    if (find_rule (formats[i], CUV_ROLE_MODEL, name) != NULL) {
      choose_format (self, formats[i]);
      parent->role = CUV_ROLE_MODEL;
      parent->rule = &formats[i]->model;
    }
  }
}

/* Returns the role of an element while the format is unknown. */
static int
recognise (CuvModelReader *self, const CuvTag *tag)
{
  const CuvElement *parent = &self->open[self->depth];
  const char *type = cuv_attribute (tag, "type_id");

  if (strcmp (tag->name, "WaldBoostClassifier") == 0) {
    choose_format (self, &cuv_format_butfit);
    return CUV_ROLE_MODEL;
  }
  if (self->depth == 0 && strcmp (tag->name, CUV_STORAGE) == 0)
    return CUV_ROLE_STORAGE;
  if (parent->role != CUV_ROLE_STORAGE)
    return CUV_ROLE_SKIP;
  if (type == NULL || strcmp (type, "opencv-haar-classifier") != 0)
    return CUV_ROLE_TOP;
  choose_format (self, &cuv_format_opencv_old);
  return CUV_ROLE_MODEL;
}

/* ---- elements ---- */

/* Returns the number of lines from the start tag to the first word. */
static int
lines_before (const char *text)
{
  int n = 0;

  for (; g_ascii_isspace (*text); text++)
    n += *text == '\n';
  return n;
}

static void
push (CuvModelReader *self, int role, const CuvElementRule *rule,
    const CuvTag *tag, GError **error)
{
  self->open[++self->depth] = (CuvElement){ role, self->line, rule, 0 };
  g_string_truncate (self->text, 0);
  if (rule != NULL && rule->begin != NULL)
    rule->begin (self, tag, error);
}

/* Returns the format's rule for an element, or NULL. */
static const CuvElementRule *
apply_rule (CuvModelReader *self, const char *name, GError **error)
{
  CuvElement *parent = &self->open[self->depth];
  const CuvElementRule *rule;

  if (self->format == NULL || parent->role < CUV_ROLE_MODEL)
    return NULL;
  rule = find_rule (self->format, parent->role, name);
  if (rule == NULL)
    return NULL;
  if (!(rule->flags & CUV_ELEMENT_MANY) && (parent->seen & (1u << rule->role)))
    cuv_model_fail (error, "<%s> appears more than once", name);
  parent->seen |= 1u << rule->role;
  return rule;
}

void
cuv_reader_start (CuvModelReader *self, const CuvTag *tag, GError **error)
{
  CuvElement *parent = &self->open[self->depth];
  const CuvElementRule *rule;
  int role = CUV_ROLE_SKIP;

  if (self->depth == CUV_MODEL_MAX_DEPTH) {
    cuv_model_fail (error, "elements are nested more than %d levels deep",
        CUV_MODEL_MAX_DEPTH);
    return;
  }
  if (self->format == NULL && parent->role == CUV_ROLE_TOP)
    recognise_parent (self, parent, tag->name);
  rule = apply_rule (self, tag->name, error);
  if (rule != NULL)
    role = rule->role;
  else if (self->format == NULL)
    role = recognise (self, tag);
  if (rule == NULL && role == CUV_ROLE_MODEL)
    rule = &self->format->model;
  if (*error == NULL)
    push (self, role, rule, tag, error);
}

static gboolean
has_text (const CuvElement *element)
{
  return element->rule != NULL && element->rule->flags & CUV_ELEMENT_TEXT;
}

static void
check_children (
    const CuvModelReader *self, const CuvElement *element, GError **error)
{
  for (guint i = 0; i < self->format->n_rules && *error == NULL; i++) {
    const CuvElementRule *rule = &self->format->rules[i];

    if (rule->parent == element->role && rule->flags & CUV_ELEMENT_REQUIRED
        && !(element->seen & (1u << rule->role)))
      cuv_model_fail (error, "<%s> is missing", rule->name);
  }
  if (*error == NULL && element->seen == 0 && element->rule->if_empty != NULL)
    cuv_model_fail (error, "%s", element->rule->if_empty);
}

static void
read_integer (CuvModelReader *self, const CuvElementRule *rule, GError **error)
{
  char *word = cuv_only_word (self->text->str, rule->name, error);
  gint64 value;

  if (word != NULL
      && cuv_to_integer (word, rule->low, rule->high, &value, error))
    G_STRUCT_MEMBER (int32_t, self->state, rule->offset) = (int32_t) value;
}

void
cuv_reader_end (CuvModelReader *self, GError **error)
{
  const CuvElement *element = &self->open[self->depth--];
  const CuvElementRule *rule = element->rule;

  if (has_text (element))
    self->line = element->line + lines_before (self->text->str);
  if (rule != NULL)
    check_children (self, element, error);
  if (*error == NULL && rule != NULL && rule->high > 0)
    read_integer (self, rule, error);
  else if (*error == NULL && rule != NULL && rule->end != NULL)
    rule->end (self, element, self->text->str, error);
  g_string_truncate (self->text, 0);
}

void
cuv_reader_add_text (
    CuvModelReader *self, const char *text, gsize size, GError **error)
{
  if (!has_text (&self->open[self->depth]))
    return;
  if (self->text->len + size > MAX_TEXT)
    cuv_model_fail (
        error, "an element holds more than %d MB, the limit", MAX_TEXT >> 20);
  else
    g_string_append_len (self->text, text, (gssize) size);
}

/* ---- entry point ---- */

/* Parses trees on channels. options->final_threshold is added to the file's;
 * the parser's limits leave room for the sum. */
static const CuvWaldboostModel *
parse_channels (
    const CuvModelText *text, const CuvModelOptions *options, char **error)
{
  CuvChannelsModel *channels =
      cuv_channels_model_parse (text->start, text->size, error);

  if (channels == NULL)
    return NULL;
  if (options != NULL)
    channels->trees.final_threshold +=
        (int32_t) lrintf (CLAMP (options->final_threshold, -1000, 1000) * 256);
  return cuv_model_of_channels (channels);
}

char *
cuv_model_describe (int line, GError *error)
{
  char *reason = g_utf8_make_valid (error->message, -1);
  char *text = g_strdup_printf ("line %d: %s", line, reason);
  char *copy;

  for (char *c = text; *c != '\0'; c++) {
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  }
  copy = strdup (text);
  g_free (text);
  g_free (reason);
  g_error_free (error);
  return copy;
}

static gboolean
read_elements (CuvModelReader *self, const CuvModelText *text, GError **error)
{
  if (!(text->syntax == CUV_SYNTAX_XML
              ? cuv_parse_xml (self, text->start, text->size, error)
              : cuv_parse_yaml (self, text->start, text->size, error)))
    return FALSE;
  return self->format != NULL
      || cuv_model_fail (error,
          "not a model of a supported format; supported are " CUV_FORMATS);
}

/* Parses a model whose format is a table of rules. */
static const CuvWaldboostModel *
parse_by_rules (
    const CuvModelText *text, const CuvModelOptions *options, char **error)
{
  CuvModelReader self = { .text = g_string_new (NULL) };
  const CuvWaldboostModel *model = NULL;
  GError *reason = NULL;

  if (options != NULL)
    self.options = *options;
  cuv_model_builder_init (&self.builder);
  if (read_elements (&self, text, &reason)) {
    model = cuv_model_builder_finish (&self.builder);
  } else {
    *error = cuv_model_describe (self.line, reason);
    cuv_model_builder_clear (&self.builder);
  }
  if (self.format != NULL)
    self.format->clear (self.state);
  g_free (self.state);
  g_string_free (self.text, TRUE);
  return model;
}

const CuvWaldboostModel *
cuv_model_parse (const char *bytes, size_t size, const CuvModelOptions *options,
    char **error)
{
  const CuvWaldboostModel *model = NULL;
  CuvModelText text = { 0 };
  GError *reason = NULL;
  int line = 0;

  if (!cuv_model_text_read (&text, bytes, size, &line, &reason)) {
    *error = cuv_model_describe (line, reason);
  } else if (text.syntax == CUV_SYNTAX_XML
      && cuv_channels_is_model (text.start, text.size)) {
    model = parse_channels (&text, options, error);
  } else {
    model = parse_by_rules (&text, options, error);
  }
  g_free (text.owned);
  return model;
}
