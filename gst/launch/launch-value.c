/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/launch-private.h"

#include <string.h>

/* ---- values as text ---- */

static gchar *
enum_text (const GValue *value)
{
  GEnumClass *klass = g_type_class_ref (G_VALUE_TYPE (value));
  const GEnumValue *found = g_enum_get_value (klass, g_value_get_enum (value));
  gchar *text = found != NULL ? g_strdup (found->value_nick) : NULL;

  g_type_class_unref (klass);
  return text;
}

/* Bits without a name are written as a number. */
static gchar *
flags_text (const GValue *value)
{
  GFlagsClass *klass = g_type_class_ref (G_VALUE_TYPE (value));
  guint left = g_value_get_flags (value);
  GString *text = g_string_new (NULL);

  while (left != 0) {
    const GFlagsValue *flag = g_flags_get_first_value (klass, left);

    if (flag == NULL || flag->value == 0)
      break;
    g_string_append_printf (
        text, "%s%s", text->len > 0 ? "+" : "", flag->value_nick);
    left &= ~flag->value;
  }
  if (left != 0 || text->len == 0)
    g_string_printf (text, "0x%08x", g_value_get_flags (value));
  g_type_class_unref (klass);
  return g_string_free (text, FALSE);
}

/* Returns the shortest text that reads back as the same number. */
static gchar *
number_text (gdouble number, gboolean is_float)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  gdouble again;

  for (gint digits = 6; digits <= 17; digits++) {
    g_snprintf (format, sizeof format, "%%.%dg", digits);
    again = g_ascii_strtod (
        g_ascii_formatd (text, sizeof text, format, number), NULL);
    if (again == number || (is_float && (gfloat) again == (gfloat) number))
      break;
  }
  return g_strdup (text);
}

/* Returns the text of other types, or NULL if it cannot be read back. */
static gchar *
serialized_text (const GValue *value)
{
  GValue again = G_VALUE_INIT;
  gchar *text = GST_VALUE_HOLDS_CAPS (value)
      ? gst_caps_to_string (gst_value_get_caps (value))
      : gst_value_serialize (value);

  g_value_init (&again, G_VALUE_TYPE (value));
  if (text != NULL && !gst_value_deserialize (&again, text))
    g_clear_pointer (&text, g_free);
  g_value_unset (&again);
  return text;
}

static gchar *
value_text (const GValue *value)
{
  const gchar *string;

  if (G_VALUE_HOLDS_ENUM (value))
    return enum_text (value);
  if (G_VALUE_HOLDS_FLAGS (value))
    return flags_text (value);
  if (G_VALUE_HOLDS_DOUBLE (value))
    return number_text (g_value_get_double (value), FALSE);
  if (G_VALUE_HOLDS_FLOAT (value))
    return number_text ((gdouble) g_value_get_float (value), TRUE);
  if (G_VALUE_HOLDS_OBJECT (value) || G_VALUE_HOLDS_POINTER (value)
      || (G_VALUE_HOLDS_BOXED (value) && g_value_get_boxed (value) == NULL))
    return NULL;
  if (!G_VALUE_HOLDS_STRING (value))
    return serialized_text (value);
  string = g_value_get_string (value);
  return g_strdup (string != NULL ? string : "");
}

/* ---- passwords ---- */

#define SECRET "(?:password|passwd|passphrase|user-pw|proxy-pw|token|secret)"

/* A file or a variable of the environment is only the secret's place. */
static gboolean
is_secret (const gchar *name)
{
  return g_regex_match_simple (
             SECRET, name, G_REGEX_CASELESS, (GRegexMatchFlags) 0)
      && !g_str_has_suffix (name, "-file") && !g_str_has_suffix (name, "-env");
}

static gchar *
replace (gchar *text, const gchar *pattern, const gchar *with)
{
  GRegex *regex = g_regex_new (
      pattern, G_REGEX_CASELESS | G_REGEX_RAW, (GRegexMatchFlags) 0, NULL);
  gchar *result =
      g_regex_replace (regex, text, -1, 0, with, (GRegexMatchFlags) 0, NULL);

  g_regex_unref (regex);
  g_free (text);
  return result != NULL ? result : g_strdup ("PASSWORD");
}

/* Takes ownership of the text of a property, and returns what may be shown. */
static gchar *
without_secrets (const gchar *name, gchar *text)
{
  if (is_secret (name) && *text != '\0') {
    g_free (text);
    return g_strdup ("PASSWORD");
  }
  text = replace (text, "(://[^/?#\\s\"@:]*:)[^/?#\\s\"]*@", "\\1PASSWORD@");
  /* fields of a query, and of a structure */
  return replace (text,
      "((?:^|[?&;,\\s])[\\w-]*" SECRET
      "(?![\\w-]*-(?:file|env)=)[\\w-]*=(?:\\(\\w+\\))?)"
      "(?:\"(?:\\\\.|[^\"\\\\])*\"|[^&;,\\s\"]+)",
      "\\1PASSWORD");
}

/* ---- quotes ---- */

static gboolean
has_only (const gchar *text, const gchar *also)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isalnum (*text) && strchr (also, *text) == NULL)
      return FALSE;
  return TRUE;
}

static void
append_in_quotes (GString *out, const gchar *text, const gchar *special)
{
  g_string_append_c (out, '"');
  for (; *text != '\0'; text++) {
    if (strchr (special, *text) != NULL)
      g_string_append_c (out, '\\');
    g_string_append_c (out, *text);
  }
  g_string_append_c (out, '"');
}

/* GStreamer has its own quotes within those of the shell, and reads a text that
 * begins with one as quoted once more. */
static void
append_quoted (GString *out, const gchar *text, gboolean is_string)
{
  GString *inner;

  if (*text != '\0' && has_only (text, "_./:%+@,=-")) {
    g_string_append (out, text);
    return;
  }
  if (*text != '\0' && *text != '\''
      && strpbrk (text, "\"\\\t\n\r\f\v") == NULL) {
    append_in_quotes (out, text, "$`");
    return;
  }
  inner = g_string_new (NULL);
  append_in_quotes (inner, text, "\"\\");
  if (is_string && *text == '"') {
    gchar *once = g_string_free (inner, FALSE);

    inner = g_string_new (NULL);
    append_in_quotes (inner, once, "\"\\");
    g_free (once);
  }
  append_in_quotes (out, inner->str, "\"\\$`");
  g_string_free (inner, TRUE);
}

void
gst_cuv_launch_add_text (
    GString *out, const gchar *name, const gchar *text, gboolean is_string)
{
  g_string_append_printf (out, " %s=", name);
  append_quoted (out, text, is_string);
}

/* ---- properties ---- */

static gboolean
is_setting (const GParamSpec *spec)
{
  return (spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE
      && !(spec->flags & G_PARAM_DEPRECATED)
      && spec->owner_type != GST_TYPE_OBJECT;
}

static void
get_value (gpointer object, GParamSpec *spec, GValue *value)
{
  g_value_init (value, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_object_get_property (object, spec->name, value);
}

static gboolean
is_default (gpointer usual, GParamSpec *spec, const GValue *value)
{
  GValue other = G_VALUE_INIT;
  gchar *a, *b;
  gboolean same;

  if (usual == NULL)
    return g_param_value_defaults (spec, value);
  get_value (usual, spec, &other);
  a = value_text (value);
  b = value_text (&other);
  same = a != NULL && b != NULL ? g_str_equal (a, b)
                                : g_param_values_cmp (spec, value, &other) == 0;
  g_free (a);
  g_free (b);
  g_value_unset (&other);
  return same;
}

/* Returns whether the property is not the default, and could be written. */
static gboolean
add_property (GstCuvLaunch *self, GstCuvLaunchNode *node, const gchar *prefix,
    GParamSpec *spec, const GValue *value)
{
  gchar *text =
      spec->flags & G_PARAM_CONSTRUCT_ONLY ? NULL : value_text (value);
  gchar *name = g_strconcat (prefix, spec->name, NULL);
  const gboolean written = text != NULL;

  if (!written)
    gst_cuv_launch_note (
        self, "%s of %s cannot be written as text", name, node->name);
  else
    text = without_secrets (spec->name, text);
  if (written)
    gst_cuv_launch_add_text (
        node->properties, name, text, G_VALUE_HOLDS_STRING (value));
  node->n_properties += written;
  g_free (name);
  g_free (text);
  return written;
}

/* usual: an object with default values; NULL: those of the GParamSpecs. */
static gboolean
add_object_properties (GstCuvLaunch *self, GstCuvLaunchNode *node,
    const gchar *prefix, gpointer object, gpointer usual, GType base)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  gboolean any = FALSE;

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (!is_setting (specs[i]) || g_type_is_a (base, specs[i]->owner_type))
      continue;
    get_value (object, specs[i], &value);
    if (!is_default (usual, specs[i], &value))
      any |= add_property (self, node, prefix, specs[i], &value);
    g_value_unset (&value);
  }
  g_free (specs);
  return any;
}

void
gst_cuv_launch_add_properties (GstCuvLaunch *self, GstCuvLaunchNode *node)
{
  GstElementFactory *factory = gst_element_get_factory (node->element);
  GstElement *usual =
      factory != NULL ? gst_element_factory_create (factory, NULL) : NULL;

  if (usual != NULL)
    gst_object_ref_sink (usual);
  add_object_properties (
      self, node, "", node->element, usual, GST_TYPE_ELEMENT);
  gst_clear_object (&usual);
}

gboolean
gst_cuv_launch_add_pad (GstCuvLaunch *self, GstCuvLaunchNode *node, GstPad *pad)
{
  gchar *prefix = g_strconcat (GST_PAD_NAME (pad), "::", NULL);
  const gboolean any = GST_IS_CHILD_PROXY (node->element)
      && add_object_properties (self, node, prefix, pad, NULL, GST_TYPE_PAD);

  g_free (prefix);
  return any;
}
