/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http/exposition.h"

#include <math.h>

/* Quotation marks are escaped in values of labels, but not in help texts. */
static void
append_metric_text (GString *out, const gchar *text, gboolean is_label)
{
  gchar *valid = g_utf8_make_valid (text, -1);

  for (const gchar *c = valid; *c != '\0'; c++) {
    if (*c == '\n') {
      g_string_append (out, "\\n");
      continue;
    }
    if (*c == '\\' || (*c == '"' && is_label))
      g_string_append_c (out, '\\');
    g_string_append_c (out, *c);
  }
  g_free (valid);
}

void
cuv_exposition_metric (
    GString *out, const gchar *name, const gchar *type, const gchar *help)
{
  g_string_append_printf (out, "# HELP %s ", name);
  append_metric_text (out, help, FALSE);
  g_string_append_printf (out, "\n# TYPE %s %s\n", name, type);
}

void
cuv_exposition_sample (GString *out, const gchar *name)
{
  g_string_append (out, name);
}

/* A sample that has labels ends with a quotation mark. */
static gboolean
has_labels (const GString *out)
{
  return out->str[out->len - 1] == '"';
}

void
cuv_exposition_label (GString *out, const gchar *name, const gchar *value)
{
  g_string_append_c (out, has_labels (out) ? ',' : '{');
  g_string_append_printf (out, "%s=\"", name);
  append_metric_text (out, value, TRUE);
  g_string_append_c (out, '"');
}

void
cuv_exposition_value (GString *out, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  if (has_labels (out))
    g_string_append_c (out, '}');
  if (isnan (value))
    g_string_append (out, " NaN\n");
  else if (isinf (value))
    g_string_append (out, value > 0 ? " +Inf\n" : " -Inf\n");
  else
    g_string_append_printf (
        out, " %s\n", g_ascii_formatd (text, sizeof text, "%.15g", value));
}

void
cuv_exposition_single (GString *out, const gchar *name, const gchar *type,
    const gchar *help, gdouble value)
{
  cuv_exposition_metric (out, name, type, help);
  cuv_exposition_sample (out, name);
  cuv_exposition_value (out, value);
}

gchar *
cuv_exposition_name (const gchar *text)
{
  GString *name = g_string_new (g_ascii_isdigit (*text) ? "_" : NULL);

  for (; *text != '\0'; text++)
    g_string_append_c (
        name, g_ascii_isalnum (*text) ? g_ascii_tolower (*text) : '_');
  return g_string_free (name, FALSE);
}
