/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads words, numbers and attributes of model files; see reader.h. */
#include "model/reader.h"

#include <math.h>
#include <string.h>

gboolean
cuv_model_fail (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
      g_error_new_valist (
          g_quark_from_static_string ("cuv-model"), 0, format, args));
  va_end (args);
  return FALSE;
}

/* ---- words ---- */

gboolean
cuv_more_words (char **text)
{
  while (g_ascii_isspace (**text))
    (*text)++;
  return **text != '\0';
}

char *
cuv_next_word (char **text)
{
  char *word, *end;

  if (!cuv_more_words (text))
    return NULL;
  word = *text;
  for (end = word; *end != '\0' && !g_ascii_isspace (*end);)
    end++;
  *text = *end != '\0' ? end + 1 : end;
  *end = '\0';
  return word;
}

char *
cuv_only_word (char *text, const char *name, GError **error)
{
  char *word = cuv_next_word (&text);

  if (word == NULL || cuv_next_word (&text) != NULL) {
    cuv_model_fail (error, "<%s> must hold one value", name);
    return NULL;
  }
  return word;
}

/* ---- numbers ---- */

gboolean
cuv_to_integer (
    const char *word, gint64 low, gint64 high, gint64 *value, GError **error)
{
  char *end;

  *value = g_ascii_strtoll (word, &end, 10);
  if (end != word && *end == '\0' && *value >= low && *value <= high)
    return TRUE;
  return cuv_model_fail (error,
      "'%.*s' is not an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
      CUV_MAX_SHOWN, word, low, high);
}

gboolean
cuv_to_double (const char *word, double *value, GError **error)
{
  char *end;

  *value = g_ascii_strtod (word, &end);
  if (end != word && *end == '\0' && isfinite (*value))
    return TRUE;
  return cuv_model_fail (
      error, "'%.*s' is not a finite number", CUV_MAX_SHOWN, word);
}

gboolean
cuv_to_float (const char *word, float *value, GError **error)
{
  double parsed;

  if (!cuv_to_double (word, &parsed, error))
    return FALSE;
  *value = (float) parsed;
  if (isfinite (*value))
    return TRUE;
  return cuv_model_fail (
      error, "'%.*s' is not a finite number", CUV_MAX_SHOWN, word);
}

gboolean
cuv_to_limited (const char *word, float limit, float *value, GError **error)
{
  if (!cuv_to_float (word, value, error))
    return FALSE;
  if (fabsf (*value) <= limit)
    return TRUE;
  return cuv_model_fail (error, "'%.*s' is not a number from %g to %g",
      CUV_MAX_SHOWN, word, (double) -limit, (double) limit);
}

/* ---- attributes ---- */

const char *
cuv_attribute (const CuvTag *tag, const char *name)
{
  for (int i = 0; tag->names[i] != NULL; i++) {
    if (strcmp (tag->names[i], name) == 0)
      return tag->values[i];
  }
  return NULL;
}

gboolean
cuv_attribute_text (
    const CuvTag *tag, const char *name, const char **text, GError **error)
{
  *text = cuv_attribute (tag, name);
  if (*text != NULL)
    return TRUE;
  return cuv_model_fail (error, "<%s> has no attribute %s", tag->name, name);
}

gboolean
cuv_attribute_integer (const CuvTag *tag, const char *name, int low, int high,
    int *value, GError **error)
{
  const char *text;
  gint64 parsed;

  if (!cuv_attribute_text (tag, name, &text, error))
    return FALSE;
  if (cuv_to_integer (text, low, high, &parsed, error)) {
    *value = (int) parsed;
    return TRUE;
  }
  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

gboolean
cuv_attribute_float (const CuvTag *tag, const char *name, float limit,
    float *value, GError **error)
{
  const char *text;

  if (!cuv_attribute_text (tag, name, &text, error))
    return FALSE;
  if (cuv_to_limited (text, limit, value, error))
    return TRUE;
  g_prefix_error (error, "%s: ", name);
  return FALSE;
}
