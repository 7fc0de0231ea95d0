/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the elements of YAML and of JSON, which is YAML to libyaml. There is
 * no recursion and no tree: values are passed on one by one, as those of XML
 * are. */
#include "model/reader.h"

#include <string.h>
#include <yaml.h>

typedef struct {
  CuvModelReader *reader;
  gboolean is_map[CUV_MODEL_MAX_DEPTH
      + 1];  /* boolean for each open element: it is a mapping */
  char *key; /* name of the next value in a mapping; NULL: the key comes next */
} Yaml;

static gboolean
in_map (const Yaml *self)
{
  return self->is_map[self->reader->depth];
}

/* Returns the name after the last colon, as in
 * "tag:yaml.org,2002:opencv-haar-classifier". */
static const char *
name_of_tag (const yaml_char_t *tag)
{
  const char *colon = tag != NULL ? strrchr ((const char *) tag, ':') : NULL;

  return colon != NULL ? colon + 1 : NULL;
}

static void
yaml_start (Yaml *self, const yaml_char_t *yaml_tag, GError **error)
{
  const char *names[] = { "type_id", NULL };
  const char *values[] = { name_of_tag (yaml_tag), NULL };
  CuvTag tag = { "_", values[0] != NULL ? names : names + 1, values };

  if (self->reader->depth == 0)
    tag.name = CUV_STORAGE;
  else if (in_map (self))
    tag.name = self->key;
  if (tag.name == NULL)
    cuv_model_fail (error, "a key is not a name");
  else
    cuv_reader_start (self->reader, &tag, error);
  g_clear_pointer (&self->key, g_free);
}

static void
start_collection (
    Yaml *self, const yaml_char_t *tag, gboolean is_map, GError **error)
{
  yaml_start (self, tag, error);
  if (*error == NULL)
    self->is_map[self->reader->depth] = is_map;
}

static void
add_scalar (Yaml *self, const yaml_event_t *event, GError **error)
{
  const char *value = (const char *) event->data.scalar.value;
  const gsize size = event->data.scalar.length;

  if (self->reader->depth == 0) {
    return;
  } else if (!in_map (self)) {
    cuv_reader_add_text (self->reader, value, size, error);
    if (*error == NULL)
      cuv_reader_add_text (self->reader, " ", 1, error);
  } else if (self->key == NULL) {
    self->key = g_strndup (value, size);
  } else {
    yaml_start (self, NULL, error);
    if (*error == NULL)
      cuv_reader_add_text (self->reader, value, size, error);
    if (*error == NULL)
      cuv_reader_end (self->reader, error);
  }
}

static void
handle (Yaml *self, const yaml_event_t *event, GError **error)
{
  switch (event->type) {
    case YAML_MAPPING_START_EVENT:
      start_collection (self, event->data.mapping_start.tag, TRUE, error);
      break;
    case YAML_SEQUENCE_START_EVENT:
      start_collection (self, event->data.sequence_start.tag, FALSE, error);
      break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      cuv_reader_end (self->reader, error);
      break;
    case YAML_SCALAR_EVENT:
      add_scalar (self, event, error);
      break;
    case YAML_ALIAS_EVENT:
      cuv_model_fail (
          error, "YAML aliases are not supported: write each value out");
      break;
    default:
      break;
  }
}

/* Reads events up to the end of the first document. */
static gboolean
read_events (
    Yaml *self, yaml_parser_t *parser, int skipped_lines, GError **error)
{
  yaml_event_type_t type = YAML_NO_EVENT;
  yaml_event_t event;

  while (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
    if (!yaml_parser_parse (parser, &event)) {
      self->reader->line = (int) parser->problem_mark.line + 1 + skipped_lines;
      return cuv_model_fail (error, "not well-formed YAML or JSON: %s",
          parser->problem != NULL ? parser->problem : "out of memory");
    }
    self->reader->line = (int) event.start_mark.line + 1 + skipped_lines;
    handle (self, &event, error);
    type = event.type;
    yaml_event_delete (&event);
    if (*error != NULL)
      return FALSE;
  }
  return TRUE;
}

/* Skips to the document and counts the lines before it. There are two reasons:
 * cv::FileStorage writes "%YAML:1.0" where YAML demands a blank, and libyaml
 * compares each directive with all others, which takes quadratic time. */
static gboolean
skip_directives (const char **text, gsize *size, int *n_lines, GError **error)
{
  const char *at = *text, *end = at + *size, *document;

  while (at < end && g_ascii_isspace (*at))
    at++;
  if (at == end || *at != '%')
    return TRUE;
  document = g_strstr_len (at, end - at, "\n---");
  if (document == NULL)
    return cuv_model_fail (
        error, "not well-formed YAML: no line --- after %%YAML");
  for (at = *text; at <= document; at++)
    *n_lines += *at == '\n';
  *text = at;
  *size = (gsize) (end - at);
  return TRUE;
}

gboolean
cuv_parse_yaml (
    CuvModelReader *reader, const char *text, gsize size, GError **error)
{
  Yaml self = { .reader = reader };
  int skipped_lines = 0;
  yaml_parser_t parser;
  gboolean ok;

  if (!skip_directives (&text, &size, &skipped_lines, error))
    return FALSE;
  if (!yaml_parser_initialize (&parser))
    return cuv_model_fail (error, "out of memory");
  yaml_parser_set_encoding (&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string (&parser, (const yaml_char_t *) text, size);
  ok = read_events (&self, &parser, skipped_lines, error);
  yaml_parser_delete (&parser);
  g_free (self.key);
  return ok;
}
