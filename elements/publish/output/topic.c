/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "output/topic.h"

#include <string.h>

#define SOURCE "{source}"
#define KIND "{kind}"
#define MAX_KAFKA 249  /* bytes, Kafka's own limit */
#define MAX_MQTT 65535 /* bytes, the limit of MQTT's strings */

/* slash: whether '/' and '$' are allowed, as in a template but not in a source.
 */
static gboolean
is_allowed (gunichar c, CuvTopicSyntax syntax, gboolean slash)
{
  if (syntax == CUV_TOPIC_KAFKA)
    return (c < 128 && g_ascii_isalnum ((gchar) c)) || c == '.' || c == '_'
        || c == '-';
  return !g_unichar_iscntrl (c) && c != '+' && c != '#'
      && (slash || (c != '/' && c != '$'));
}

static gboolean
all_are_allowed (const gchar *text, CuvTopicSyntax syntax)
{
  for (; *text != '\0'; text = g_utf8_next_char (text)) {
    if (!is_allowed (g_utf8_get_char (text), syntax, TRUE))
      return FALSE;
  }
  return TRUE;
}

gboolean
cuv_topic_check (const gchar *pattern, CuvTopicSyntax syntax, GError **error)
{
  gboolean kafka = syntax == CUV_TOPIC_KAFKA;
  gsize most = kafka ? MAX_KAFKA : MAX_MQTT, size;
  gboolean ok = g_utf8_validate (pattern, -1, NULL);
  gchar *text = ok ? cuv_topic_expand (pattern, syntax, "s", "k") : NULL;

  size = ok ? strlen (text) : 0;
  ok = size > 0 && size <= most && all_are_allowed (text, syntax)
      && strpbrk (text, "{}") == NULL && text[0] != '$';
  g_free (text);
  if (!ok)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "topic '%s' is not valid: expected text of %s, with " SOURCE
        " and " KIND " as optional placeholders",
        pattern,
        kafka ? "ASCII letters, digits and . _ -, at most 249 characters,"
              : "UTF-8 without + # and control characters, not beginning "
                "with $,");
  return ok;
}

gboolean
cuv_topic_has_kind (const gchar *pattern)
{
  return strstr (pattern, KIND) != NULL;
}

gboolean
cuv_topic_is_prefix (const gchar *text)
{
  return *text != '\0' && *text != '$' && strlen (text) < MAX_MQTT / 2
      && g_utf8_validate (text, -1, NULL) && !g_str_has_suffix (text, "/")
      && all_are_allowed (text, CUV_TOPIC_MQTT);
}

static gchar *
clean (const gchar *source, CuvTopicSyntax syntax)
{
  gchar *valid = g_utf8_make_valid (source, -1);
  GString *text = g_string_new (NULL);

  for (const gchar *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    g_string_append_unichar (text, is_allowed (c, syntax, FALSE) ? c : '_');
  }
  g_free (valid);
  return g_string_free (text, FALSE);
}

gchar *
cuv_topic_expand (const gchar *pattern, CuvTopicSyntax syntax,
    const gchar *source, const gchar *kind)
{
  GString *topic = g_string_new (NULL);
  gchar *name = clean (source, syntax);

  while (*pattern != '\0') {
    if (g_str_has_prefix (pattern, SOURCE)) {
      g_string_append (topic, name);
      pattern += strlen (SOURCE);
    } else if (g_str_has_prefix (pattern, KIND)) {
      g_string_append (topic, kind);
      pattern += strlen (KIND);
    } else {
      g_string_append_c (topic, *pattern++);
    }
  }
  g_free (name);
  if (syntax == CUV_TOPIC_KAFKA)
    g_string_truncate (topic, MIN (topic->len, MAX_KAFKA));
  return g_string_free (topic, FALSE);
}

static void
append_percent (GString *topic, const gchar *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    g_string_append_printf (topic, "%%%02X", (guchar) bytes[i]);
}

static gboolean
is_plain (gunichar c)
{
  return g_unichar_isgraph (c) && c != '/' && c != '+' && c != '#' && c != '%';
}

/* Returns the length of the beginning that needs no escapes. */
static gsize
plain_length (const gchar *text)
{
  const gchar *end = text;

  for (;;) {
    const gunichar c = (guchar) *end < 128
        ? (gunichar) *end
        : g_utf8_get_char_validated (end, -1);

    if (c >= (gunichar) -2 || !is_plain (c))
      return (gsize) (end - text);
    end = g_utf8_next_char (end);
  }
}

/* Returns the length of a character, 1 for a byte that is not UTF-8. */
static gsize
character_length (const gchar *text)
{
  return g_utf8_get_char_validated (text, -1) < (gunichar) -2
      ? (gsize) (g_utf8_next_char (text) - text)
      : 1;
}

void
cuv_topic_append_level (GString *topic, const gchar *text)
{
  for (gsize n; *text != '\0'; text += n) {
    n = plain_length (text);
    if (n > 0) {
      g_string_append_len (topic, text, (gssize) n);
    } else {
      n = character_length (text);
      append_percent (topic, text, n);
    }
  }
}
