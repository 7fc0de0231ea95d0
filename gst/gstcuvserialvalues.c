/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures as variants. GStreamer's text would be no substitute: if one field
 * cannot be parsed, the whole structure is lost, and the parser has no depth
 * limit. */
#include "config.h"
#include "gstcuvserial.h"

#include <string.h>

#if GST_CHECK_VERSION(1, 24, 0)
/* GVariant allows 128 levels; each of ours uses several. */
#define MAX_DEPTH 8
#define VALUES "a" GST_CUV_SERIAL_VALUE

static GVariant *structure_to_variant (const GstStructure *, guint depth);

/* ---- values to variants ---- */

static GVariant *
text_to_variant (const gchar *text)
{
  gchar *valid = text != NULL ? g_utf8_make_valid (text, -1) : NULL;
  GVariant *variant = g_variant_new ("ms", valid);

  g_free (valid);
  return variant;
}

static GVariant *
bytes_to_variant (GBytes *bytes)
{
  return bytes != NULL
      ? g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE)
      : NULL;
}

static GVariant *value_to_variant (const GValue *value, guint depth);

/* Converts values. Returns NULL if one of them cannot be sent. */
static GVariant *
values_to_variant (const GValue *values, guint n,
    const GValue *(*get) (const GValue *, guint), guint depth)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (VALUES));
  for (guint i = 0; i < n; i++) {
    GVariant *value = value_to_variant (get (values, i), depth);

    if (value == NULL) {
      g_variant_builder_clear (&builder);
      return NULL;
    }
    g_variant_builder_add_value (&builder, value);
  }
  return g_variant_builder_end (&builder);
}

static GVariant *
container_to_variant (const GValue *value, guchar *tag, guint depth)
{
  if (depth >= MAX_DEPTH)
    return NULL;
  if (GST_VALUE_HOLDS_ARRAY (value)) {
    *tag = 'a';
    return values_to_variant (value, gst_value_array_get_size (value),
        gst_value_array_get_value, depth + 1);
  }
  if (GST_VALUE_HOLDS_LIST (value)) {
    *tag = 'l';
    return values_to_variant (value, gst_value_list_get_size (value),
        gst_value_list_get_value, depth + 1);
  }
  if (GST_VALUE_HOLDS_STRUCTURE (value) && gst_value_get_structure (value)) {
    *tag = 'S';
    return structure_to_variant (gst_value_get_structure (value), depth + 1);
  }
  return NULL;
}

static GVariant *
boxed_to_variant (const GValue *value, guchar *tag, guint depth)
{
  if (G_VALUE_HOLDS (value, G_TYPE_BYTES)) {
    *tag = 'y';
    return bytes_to_variant (g_value_get_boxed (value));
  }
  if (GST_VALUE_HOLDS_FRACTION (value)) {
    *tag = 'q';
    return g_variant_new ("(ii)", gst_value_get_fraction_numerator (value),
        gst_value_get_fraction_denominator (value));
  }
  return container_to_variant (value, tag, depth);
}

#define WRITE(t, variant)                                                      \
  *tag = t;                                                                    \
  return variant

static GVariant *
content (const GValue *value, guchar *tag, guint depth)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_BOOLEAN:
      WRITE ('b', g_variant_new_boolean (g_value_get_boolean (value)));
    case G_TYPE_INT:
      WRITE ('i', g_variant_new_int32 (g_value_get_int (value)));
    case G_TYPE_UINT:
      WRITE ('u', g_variant_new_uint32 (g_value_get_uint (value)));
    case G_TYPE_INT64:
      WRITE ('x', g_variant_new_int64 (g_value_get_int64 (value)));
    case G_TYPE_UINT64:
      WRITE ('t', g_variant_new_uint64 (g_value_get_uint64 (value)));
    case G_TYPE_FLOAT:
      WRITE ('f', g_variant_new_double ((gdouble) g_value_get_float (value)));
    case G_TYPE_DOUBLE:
      WRITE ('d', g_variant_new_double (g_value_get_double (value)));
    case G_TYPE_STRING:
      WRITE ('s', text_to_variant (g_value_get_string (value)));
    default:
      return boxed_to_variant (value, tag, depth);
  }
}

/* Converts a value. Returns NULL if values of this type cannot be sent. */
static GVariant *
value_to_variant (const GValue *value, guint depth)
{
  guchar tag;
  GVariant *inner = content (value, &tag, depth);

  return inner != NULL ? g_variant_new (GST_CUV_SERIAL_VALUE, tag, inner)
                       : NULL;
}

/* ---- structures to variants ---- */

typedef struct {
  const GstStructure *structure;
  GVariantBuilder fields;
  guint depth;
} Fields;

static gboolean
add_field (GQuark name, const GValue *value, gpointer data)
{
  static gint warned;
  Fields *self = data;
  GVariant *variant = value_to_variant (value, self->depth);
  gchar *valid;

  if (variant == NULL) {
    if (g_atomic_int_compare_and_exchange (&warned, 0, 1))
      GST_WARNING ("field \"%s\" of %s is not sent to other processes: values "
                   "of type %s cannot be serialised",
          g_quark_to_string (name), gst_structure_get_name (self->structure),
          G_VALUE_TYPE_NAME (value));
    return TRUE;
  }
  valid = g_utf8_make_valid (g_quark_to_string (name), -1);
  g_variant_builder_add (
      &self->fields, "(s@" GST_CUV_SERIAL_VALUE ")", valid, variant);
  g_free (valid);
  return TRUE;
}

static GVariant *
structure_to_variant (const GstStructure *structure, guint depth)
{
  Fields self = { .structure = structure, .depth = depth };

  g_variant_builder_init (
      &self.fields, G_VARIANT_TYPE ("a(s" GST_CUV_SERIAL_VALUE ")"));
  gst_structure_foreach (structure, add_field, &self);
  return g_variant_new (GST_CUV_SERIAL_STRUCTURE,
      gst_structure_get_name (structure), &self.fields);
}

GVariant *
gst_cuv_serial_from_structure (const GstStructure *structure)
{
  return structure_to_variant (structure, 0);
}

/* ---- variants to values ---- */

static gboolean value_from_variant (GVariant *variant, GValue *value);

static gboolean
values_from_variant (GVariant *variant, GValue *value, GType type,
    void (*append) (GValue *, GValue *))
{
  g_value_init (value, type);
  for (gsize i = 0; i < g_variant_n_children (variant); i++) {
    GVariant *child = g_variant_get_child_value (variant, i);
    GValue inner = G_VALUE_INIT;
    const gboolean ok = value_from_variant (child, &inner);

    g_variant_unref (child);
    if (!ok)
      return FALSE;
    append (value, &inner);
  }
  return TRUE;
}

static gboolean
fraction_from_variant (GVariant *variant, GValue *value)
{
  gint numerator, denominator;

  g_variant_get (variant, "(ii)", &numerator, &denominator);
  if (denominator == 0 || denominator < -G_MAXINT || numerator < -G_MAXINT)
    return FALSE;
  g_value_init (value, GST_TYPE_FRACTION);
  gst_value_set_fraction (value, numerator, denominator);
  return TRUE;
}

static gboolean
structure_value (GVariant *variant, GValue *value)
{
  GstStructure *structure = gst_cuv_serial_to_structure (variant);

  if (structure == NULL)
    return FALSE;
  g_value_init (value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (value, structure);
  return TRUE;
}

#define READ(name, type, value)                                                \
  g_value_init (out, type);                                                    \
  g_value_##name (out, value);                                                 \
  return TRUE

static gboolean
read_boxed (guchar tag, GVariant *variant, GValue *out)
{
  gchar *text;

  switch (tag) {
    case 'y':
      READ (take_boxed, G_TYPE_BYTES, g_variant_get_data_as_bytes (variant));
    case 'q':
      return fraction_from_variant (variant, out);
    case 'a':
      return values_from_variant (
          variant, out, GST_TYPE_ARRAY, gst_value_array_append_and_take_value);
    case 'l':
      return values_from_variant (
          variant, out, GST_TYPE_LIST, gst_value_list_append_and_take_value);
    case 'S':
      return structure_value (variant, out);
    default: /* 's' */
      g_variant_get (variant, "ms", &text);
      READ (take_string, G_TYPE_STRING, text);
  }
}

static gboolean
read_content (guchar tag, GVariant *variant, GValue *out)
{
  switch (tag) {
    case 'b':
      READ (set_boolean, G_TYPE_BOOLEAN, g_variant_get_boolean (variant));
    case 'i':
      READ (set_int, G_TYPE_INT, g_variant_get_int32 (variant));
    case 'u':
      READ (set_uint, G_TYPE_UINT, g_variant_get_uint32 (variant));
    case 'x':
      READ (set_int64, G_TYPE_INT64, g_variant_get_int64 (variant));
    case 't':
      READ (set_uint64, G_TYPE_UINT64, g_variant_get_uint64 (variant));
    case 'f':
      READ (set_float, G_TYPE_FLOAT, (gfloat) g_variant_get_double (variant));
    case 'd':
      READ (set_double, G_TYPE_DOUBLE, g_variant_get_double (variant));
    default:
      return read_boxed (tag, variant, out);
  }
}

static const struct {
  guchar tag;
  const gchar *type;
} types[] = { { 'b', "b" }, { 'i', "i" }, { 'u', "u" }, { 'x', "x" },
  { 't', "t" }, { 'f', "d" }, { 'd', "d" }, { 's', "ms" }, { 'y', "ay" },
  { 'q', "(ii)" }, { 'a', VALUES }, { 'l', VALUES },
  { 'S', GST_CUV_SERIAL_STRUCTURE } };

static gboolean
is_content (guchar tag, GVariant *variant)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (types[i].tag == tag)
      return g_variant_is_of_type (variant, G_VARIANT_TYPE (types[i].type));
  }
  return FALSE;
}

/* Converts a variant. On failure the value stays empty. */
static gboolean
value_from_variant (GVariant *variant, GValue *value)
{
  GVariant *inner;
  gboolean ok;
  guchar tag;

  g_variant_get (variant, GST_CUV_SERIAL_VALUE, &tag, &inner);
  ok = is_content (tag, inner) && read_content (tag, inner, value);
  g_variant_unref (inner);
  if (!ok && G_IS_VALUE (value))
    g_value_unset (value);
  return ok;
}

/* GStreamer asserts that names have this form. */
static gboolean
is_name (const gchar *name)
{
  return g_ascii_isalpha (name[0])
      && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/-_.:+")
      == strlen (name);
}

GstStructure *
gst_cuv_serial_to_structure (GVariant *variant)
{
  const gchar *name, *field;
  GstStructure *structure = NULL;
  GVariantIter *fields;
  GVariant *child;

  g_variant_get (variant, "(&sa(s" GST_CUV_SERIAL_VALUE "))", &name, &fields);
  if (is_name (name) && gst_cuv_serial_quark (name) != 0)
    structure = gst_structure_new_empty (name);
  while (structure != NULL
      && g_variant_iter_next (
          fields, "(&s@" GST_CUV_SERIAL_VALUE ")", &field, &child)) {
    GValue value = G_VALUE_INIT;

    if (gst_cuv_serial_quark (field) != 0 && value_from_variant (child, &value))
      gst_structure_take_value (structure, field, &value);
    g_variant_unref (child);
  }
  g_variant_iter_free (fields);
  return structure;
}
#endif
