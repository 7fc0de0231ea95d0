/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "controls/value.h"

#include <math.h>

/* ---- ranges ---- */

#define UNSIGNED_RANGE(TYPE, Type)                                             \
  if (G_IS_PARAM_SPEC_##TYPE (spec)) {                                         \
    const GParamSpec##Type *s = G_PARAM_SPEC_##TYPE (spec);                    \
                                                                               \
    *minimum = (gint64) MIN ((guint64) s->minimum, G_MAXINT64);                \
    *maximum = (gint64) MIN ((guint64) s->maximum, G_MAXINT64);                \
    return TRUE;                                                               \
  }
#define SIGNED_RANGE(TYPE, Type)                                               \
  if (G_IS_PARAM_SPEC_##TYPE (spec)) {                                         \
    *minimum = (gint64) G_PARAM_SPEC_##TYPE (spec)->minimum;                   \
    *maximum = (gint64) G_PARAM_SPEC_##TYPE (spec)->maximum;                   \
    return TRUE;                                                               \
  }

/* Returns FALSE if the property is not an integer. The range ends at G_MAXINT64
 * like the integers of JSON here. */
static gboolean
integer_range (const GParamSpec *spec, gint64 *minimum, gint64 *maximum)
{
  SIGNED_RANGE (INT, Int)
  SIGNED_RANGE (INT64, Int64)
  SIGNED_RANGE (LONG, Long)
  SIGNED_RANGE (CHAR, Char)
  UNSIGNED_RANGE (UINT, UInt)
  UNSIGNED_RANGE (UINT64, UInt64)
  UNSIGNED_RANGE (ULONG, ULong)
  UNSIGNED_RANGE (UCHAR, UChar)
  return FALSE;
}

static gboolean
float_range (const GParamSpec *spec, gdouble *minimum, gdouble *maximum)
{
  if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    *minimum = G_PARAM_SPEC_DOUBLE (spec)->minimum;
    *maximum = G_PARAM_SPEC_DOUBLE (spec)->maximum;
  } else if (G_IS_PARAM_SPEC_FLOAT (spec)) {
    *minimum = (gdouble) G_PARAM_SPEC_FLOAT (spec)->minimum;
    *maximum = (gdouble) G_PARAM_SPEC_FLOAT (spec)->maximum;
  } else {
    return FALSE;
  }
  return TRUE;
}

const gchar *
cuv_control_type (const GParamSpec *spec)
{
  gdouble low, high;
  gint64 minimum, maximum;

  if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    return "boolean";
  if (G_IS_PARAM_SPEC_STRING (spec))
    return "text";
  if (G_IS_PARAM_SPEC_ENUM (spec))
    return "choice";
  if (G_IS_PARAM_SPEC_FLAGS (spec))
    return "flags";
  if (integer_range (spec, &minimum, &maximum))
    return "integer";
  return float_range (spec, &low, &high) ? "number" : NULL;
}

/* ---- reading ---- */

/* Reads a whole number: JavaScript also writes large ones as 1e20. */
static gboolean
whole_number (JsonNode *node, gint64 *number)
{
  const GType type = json_node_get_value_type (node);
  const gdouble value = type == G_TYPE_DOUBLE ? json_node_get_double (node) : 0;

  if (type == G_TYPE_INT64)
    *number = json_node_get_int (node);
  else if (type == G_TYPE_DOUBLE && value == floor (value)
      && fabs (value) < 9e18)
    *number = (gint64) value;
  else
    return FALSE;
  return TRUE;
}

static gchar *
parse_integer (GParamSpec *spec, JsonNode *node, GValue *value)
{
  GValue wide = G_VALUE_INIT;
  gint64 number, minimum, maximum;

  integer_range (spec, &minimum, &maximum);
  if (!whole_number (node, &number) || number < minimum || number > maximum)
    return g_strdup_printf ("expected a whole number from %" G_GINT64_FORMAT
                            " to %" G_GINT64_FORMAT,
        minimum, maximum);
  g_value_init (&wide, G_TYPE_INT64);
  g_value_set_int64 (&wide, number);
  g_value_transform (&wide, value);
  return NULL;
}

static gchar *
parse_number (GParamSpec *spec, JsonNode *node, GValue *value)
{
  const GType type = json_node_get_value_type (node);
  gdouble number = NAN, minimum, maximum;
  gchar low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];

  if (type == G_TYPE_DOUBLE || type == G_TYPE_INT64)
    number = json_node_get_double (node);
  /* the limits of a float are floats, too */
  if (G_IS_PARAM_SPEC_FLOAT (spec) && fabs (number) <= (gdouble) G_MAXFLOAT)
    number = (gdouble) (gfloat) number;
  float_range (spec, &minimum, &maximum);
  if (!isfinite (number) || number < minimum || number > maximum)
    return g_strdup_printf ("expected a number from %s to %s",
        g_ascii_formatd (low, sizeof low, "%g", minimum),
        g_ascii_formatd (high, sizeof high, "%g", maximum));
  if (G_IS_PARAM_SPEC_FLOAT (spec))
    g_value_set_float (value, (gfloat) number);
  else
    g_value_set_double (value, number);
  return NULL;
}

static gchar *
parse_choice (GParamSpec *spec, JsonNode *node, GValue *value)
{
  const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
  const gchar *nick = json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : NULL;
  GString *nicks;

  for (guint i = 0; i < klass->n_values && nick != NULL; i++) {
    if (g_str_equal (klass->values[i].value_nick, nick)) {
      g_value_set_enum (value, klass->values[i].value);
      return NULL;
    }
  }
  nicks = g_string_new ("expected one of");
  for (guint i = 0; i < klass->n_values; i++)
    g_string_append_printf (
        nicks, "%s %s", i > 0 ? "," : "", klass->values[i].value_nick);
  return g_string_free (nicks, FALSE);
}

static gchar *
parse_flags (GParamSpec *spec, JsonNode *node, GValue *value)
{
  GFlagsClass *klass = G_PARAM_SPEC_FLAGS (spec)->flags_class;
  JsonArray *array =
      JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint flags = 0;

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++) {
    JsonNode *element = json_array_get_element (array, i);
    const GFlagsValue *flag =
        json_node_get_value_type (element) == G_TYPE_STRING
        ? g_flags_get_value_by_nick (klass, json_node_get_string (element))
        : NULL;

    if (flag == NULL)
      return g_strdup ("expected a list of its flags");
    flags |= flag->value;
  }
  g_value_set_flags (value, flags);
  return array != NULL ? NULL : g_strdup ("expected a list of its flags");
}

static gchar *
parse_boolean (JsonNode *node, GValue *value)
{
  if (json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return g_strdup ("expected true or false");
  g_value_set_boolean (value, json_node_get_boolean (node));
  return NULL;
}

static gchar *
parse_text (JsonNode *node, GValue *value)
{
  if (json_node_get_value_type (node) != G_TYPE_STRING
      || !g_utf8_validate (json_node_get_string (node), -1, NULL))
    return g_strdup ("expected a text");
  g_value_set_string (value, json_node_get_string (node));
  return NULL;
}

static gchar *
parse_any (GParamSpec *spec, JsonNode *node, GValue *value)
{
  gdouble low, high;

  if (G_IS_PARAM_SPEC_FLAGS (spec))
    return parse_flags (spec, node, value);
  if (!JSON_NODE_HOLDS_VALUE (node))
    return g_strdup ("expected a single value");
  if (G_IS_PARAM_SPEC_ENUM (spec))
    return parse_choice (spec, node, value);
  if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    return parse_boolean (node, value);
  if (G_IS_PARAM_SPEC_STRING (spec))
    return parse_text (node, value);
  return float_range (spec, &low, &high) ? parse_number (spec, node, value)
                                         : parse_integer (spec, node, value);
}

/* g_param_value_validate() changes what the property's own rules forbid. */
gchar *
cuv_control_value_parse (GParamSpec *spec, JsonNode *node, GValue *value)
{
  gchar *problem;

  g_value_init (value, G_PARAM_SPEC_VALUE_TYPE (spec));
  problem = parse_any (spec, node, value);
  if (problem == NULL && g_param_value_validate (spec, value))
    problem = g_strdup ("the property does not accept this value");
  if (problem != NULL)
    g_value_unset (value);
  return problem;
}

/* ---- writing ---- */

static void
write_flags (CuvJson *json, const GValue *value)
{
  GFlagsClass *klass = g_type_class_ref (G_VALUE_TYPE (value));
  guint left = g_value_get_flags (value);

  cuv_json_begin_array (json);
  for (guint i = 0; i < klass->n_values; i++) {
    const GFlagsValue *flag = &klass->values[i];

    if (flag->value == 0 || (left & flag->value) != flag->value)
      continue;
    cuv_json_next (json);
    cuv_json_string (json, flag->value_nick);
  }
  cuv_json_end_array (json);
  g_type_class_unref (klass);
}

static void
write_as (CuvJson *json, const GValue *value, GType type)
{
  GValue wide = G_VALUE_INIT;

  g_value_init (&wide, type);
  g_value_transform (value, &wide);
  cuv_json_value (json, &wide);
  g_value_unset (&wide);
}

void
cuv_control_value_write (CuvJson *json, const GValue *value)
{
  if (G_VALUE_HOLDS_FLAGS (value))
    write_flags (json, value);
  else if (G_VALUE_HOLDS_LONG (value) || G_VALUE_HOLDS_CHAR (value))
    write_as (json, value, G_TYPE_INT64);
  else if (G_VALUE_HOLDS_ULONG (value) || G_VALUE_HOLDS_UCHAR (value))
    write_as (json, value, G_TYPE_UINT64);
  else
    cuv_json_value (json, value);
}

/* An element may keep an empty text as NULL. */
gboolean
cuv_control_value_equal (GParamSpec *spec, const GValue *a, const GValue *b)
{
  const gchar *text = "", *other = "";

  if (!G_VALUE_HOLDS_STRING (a))
    return g_param_values_cmp (spec, a, b) == 0;
  if (g_value_get_string (a) != NULL)
    text = g_value_get_string (a);
  if (g_value_get_string (b) != NULL)
    other = g_value_get_string (b);
  return g_str_equal (text, other);
}

static void
write_choice (CuvJson *json, const gchar *nick, const gchar *name)
{
  cuv_json_next (json);
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "nick", nick);
  cuv_json_string_member (json, "text", name);
  cuv_json_end_object (json);
}

static void
write_choices (CuvJson *json, const GParamSpec *spec)
{
  cuv_json_key (json, "choices");
  cuv_json_begin_array (json);
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    for (guint i = 0; i < klass->n_values; i++)
      write_choice (
          json, klass->values[i].value_nick, klass->values[i].value_name);
  } else {
    const GFlagsClass *klass = G_PARAM_SPEC_FLAGS (spec)->flags_class;

    for (guint i = 0; i < klass->n_values; i++)
      if (klass->values[i].value != 0)
        write_choice (
            json, klass->values[i].value_nick, klass->values[i].value_name);
  }
  cuv_json_end_array (json);
}

static void
write_range (CuvJson *json, const GParamSpec *spec)
{
  gdouble low, high;
  gint64 minimum, maximum;

  if (integer_range (spec, &minimum, &maximum)) {
    cuv_json_key (json, "minimum");
    cuv_json_int (json, minimum);
    cuv_json_key (json, "maximum");
    cuv_json_int (json, maximum);
  } else if (G_IS_PARAM_SPEC_FLOAT (spec)) {
    cuv_json_key (json, "minimum");
    cuv_json_float (json, G_PARAM_SPEC_FLOAT (spec)->minimum);
    cuv_json_key (json, "maximum");
    cuv_json_float (json, G_PARAM_SPEC_FLOAT (spec)->maximum);
  } else if (float_range (spec, &low, &high)) {
    cuv_json_key (json, "minimum");
    cuv_json_double (json, low);
    cuv_json_key (json, "maximum");
    cuv_json_double (json, high);
  }
}

void
cuv_control_type_write (CuvJson *json, const GParamSpec *spec)
{
  cuv_json_string_member (json, "type", cuv_control_type (spec));
  if (G_IS_PARAM_SPEC_ENUM (spec) || G_IS_PARAM_SPEC_FLAGS (spec))
    write_choices (json, spec);
  else
    write_range (json, spec);
}
