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
