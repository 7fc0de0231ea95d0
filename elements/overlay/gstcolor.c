/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcolor.h"

#include <pango/pango.h>
#include <string.h>

guint
gst_cuv_color_opaque_if_none (guint argb)
{
  return argb >> 24 == 0 ? argb | 0xff000000u : argb;
}

static gboolean
parse_digits (const gchar *digits, guint base, guint *argb)
{
  guint64 number;

  if (!g_ascii_isxdigit (digits[0])
      || !g_ascii_string_to_unsigned (
          digits, base, 0, G_MAXUINT32, &number, NULL))
    return FALSE;
  *argb = (guint) number;
  return TRUE;
}

/* GStreamer writes alpha first, Pango last: text with alpha is parsed here. */
static gboolean
parse_color_text (const gchar *text, guint *argb)
{
  PangoColor color;

  if (g_ascii_strncasecmp (text, "0x", 2) == 0)
    return parse_digits (text + 2, 16, argb);
  if (g_ascii_isdigit (text[0]))
    return parse_digits (text, 10, argb);
  if (text[0] == '#' && strlen (text) == 9)
    return parse_digits (text + 1, 16, argb);
  if (!pango_color_parse (&color, text))
    return FALSE;
  *argb = 0xff000000u | color.red >> 8 << 16 | color.green >> 8 << 8
      | color.blue >> 8;
  return TRUE;
}

gboolean
gst_cuv_color_from_value (const GValue *value, guint *argb)
{
  if (G_VALUE_HOLDS_UINT (value))
    *argb = g_value_get_uint (value);
  else if (G_VALUE_HOLDS_INT (value))
    *argb = (guint) g_value_get_int (value);
  else
    return G_VALUE_HOLDS_STRING (value) && g_value_get_string (value) != NULL
        && parse_color_text (g_value_get_string (value), argb);
  return TRUE;
}

/* ---- the type ---- */

static gboolean
deserialize (GValue *value, const gchar *text)
{
  guint argb;

  if (!parse_color_text (text, &argb))
    return FALSE;
  g_value_set_uint (value, argb);
  return TRUE;
}

static gchar *
serialize (const GValue *value)
{
  return g_strdup_printf ("0x%08x", g_value_get_uint (value));
}

GType
gst_cuv_color_get_type (void)
{
  static gsize type = 0;
  static const GTypeInfo info = { 0 };
  static GstValueTable table = { .serialize = serialize,
    .deserialize = deserialize }; /* GStreamer keeps the pointer */

  if (g_once_init_enter (&type)) {
    table.type = g_type_register_static (G_TYPE_UINT, "GstCuvColor", &info, 0);
    gst_value_register (&table);
    g_once_init_leave (&type, table.type);
  }
  return type;
}
