/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "farm-util.h"

#include <gio/gio.h>
#include <gst/record/json.h>
#include <string.h>
#include <time.h>

#define MAX_VALUE 65536 /* bytes of JSON */

gboolean
farm_is_name (const gchar *text)
{
  const gsize size = strlen (text);

  return size > 0 && size <= 200 && text[0] != '.' && text[size - 1] != '.'
      && strstr (text, "..") == NULL
      && strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-=.") == size;
}

gint64
farm_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_BOOTTIME, &now);
  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

void
farm_log (const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("cuvision-farm: %s\n", text);
  g_free (text);
}

const gchar *
farm_member (JsonObject *object, const gchar *name, const gchar *otherwise)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node)
          && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : otherwise;
}

gint64
farm_int_member (JsonObject *object, const gchar *name, gint64 otherwise)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node)
          && json_node_get_value_type (node) == G_TYPE_INT64
      ? json_node_get_int (node)
      : otherwise;
}

JsonObject *
farm_parse_object (const gchar *text, GError **error)
{
  JsonNode *node;
  JsonObject *object;

  if (strlen (text) > MAX_VALUE) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
        "it has more than " G_STRINGIFY (MAX_VALUE) " bytes");
    return NULL;
  }
  node = cuv_json_parse_object (text, CUV_JSON_MAX_VALUES, error);
  if (node == NULL)
    return NULL;
  object = json_node_dup_object (node);
  json_node_unref (node);
  return object;
}

gchar *
farm_redact (const gchar *text)
{
  GRegex *regex = g_regex_new ("://[^/\\s\"']*@", 0, 0, NULL);
  gchar *valid = g_utf8_make_valid (text, -1);
  gchar *out =
      g_regex_replace_literal (regex, valid, -1, 0, "://***@", 0, NULL);

  g_free (valid);
  g_regex_unref (regex);
  return out;
}
