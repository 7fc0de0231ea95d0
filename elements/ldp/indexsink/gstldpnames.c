/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "indexsink/gstldpnames.h"

#include <string.h>

/* Parses the number format after a %. Returns the text after it, or NULL if it
 * is none. */
static const gchar *
parse_format (const gchar *text, gboolean *has_zeros, gint *width)
{
  *has_zeros = *text == '0';
  for (*width = 0; g_ascii_isdigit (*text) && *width < 100; text++)
    *width = 10 * *width + (*text - '0');
  return *text == 'd' && *width < 100 ? text + 1 : NULL;
}

gchar *
gst_ldp_name_check (const gchar *pattern)
{
  const gchar *c = pattern;
  guint n_numbers = 0;
  gboolean has_zeros;
  gint width;

  if (pattern != NULL && !g_utf8_validate (pattern, -1, NULL))
    return g_strdup ("entry-name is not UTF-8: set another");
  while (c != NULL && (c = strchr (c, '%')) != NULL) {
    if (c[1] == '%') {
      c += 2;
      continue;
    }
    c = parse_format (c + 1, &has_zeros, &width);
    n_numbers++;
    if (c == NULL || n_numbers > 1)
      return g_strdup_printf ("entry-name '%s' has %s: it may have one number, "
                              "as %%d or %%05d, and "
                              "%%%% for a percent sign",
          pattern, c == NULL ? "an unknown % format" : "two numbers");
  }
  return NULL;
}

gboolean
gst_ldp_name_has_number (const gchar *pattern)
{
  gchar *a, *b;
  gboolean has;

  if (pattern == NULL)
    return TRUE;
  a = gst_ldp_name_expand (pattern, 0);
  b = gst_ldp_name_expand (pattern, 1);
  has = strcmp (a, b) != 0;
  g_free (a);
  g_free (b);
  return has;
}

gchar *
gst_ldp_name_expand (const gchar *pattern, guint64 number)
{
  GString *name = g_string_new (NULL);
  gboolean has_zeros;
  gint width;

  for (const gchar *c = pattern; *c != '\0';) {
    if (*c != '%' || c[1] == '%') {
      g_string_append_c (name, *c);
      c += *c == '%' ? 2 : 1;
      continue;
    }
    c = parse_format (c + 1, &has_zeros, &width);
    g_string_append_printf (name,
        has_zeros ? "%0*" G_GUINT64_FORMAT : "%*" G_GUINT64_FORMAT, width,
        number);
  }
  return g_string_free (name, FALSE);
}
