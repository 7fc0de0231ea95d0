/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "settings/gstcuvfields.h"

/* ---- fields ---- */

GType
gst_cuv_setting_type (const GstCuvSetting *setting)
{
  return setting->get_type != NULL ? setting->get_type () : setting->type;
}

/* Returns the type that an owned field points to: a string or a boxed type. */
static GType
owned_type (const GstCuvSetting *setting)
{
  const GType type = gst_cuv_setting_type (setting);

  return type == GST_TYPE_ARRAY ? G_TYPE_VALUE : type;
}

static gboolean
is_owned (const GstCuvSetting *setting)
{
  const GType type = owned_type (setting);

  return type == G_TYPE_STRING || G_TYPE_FUNDAMENTAL (type) == G_TYPE_BOXED;
}

gpointer
gst_cuv_setting_field (gpointer settings, const GstCuvSetting *setting)
{
  return G_STRUCT_MEMBER_P (settings, setting->offset);
}

static void
replace_string (gchar **field, const gchar *text)
{
  gchar *copy = g_strdup (text);

  g_free (*field);
  *field = copy;
}

static void
replace_boxed (gpointer *field, GType type, gconstpointer value)
{
  gpointer copy = value != NULL ? g_boxed_copy (type, value) : NULL;

  if (*field != NULL)
    g_boxed_free (type, *field);
  *field = copy;
}

/* Frees the owned fields of `to`, and replaces them by copies of those of
 * `from`, or by NULL if `from` is NULL. */
static void
replace_owned (const GstCuvSettingsTable *table, gpointer to, gpointer from)
{
  for (guint i = 0; i < table->n; i++) {
    const GstCuvSetting *setting = &table->list[i];
    gpointer *field = gst_cuv_setting_field (to, setting);

    if (setting->get != NULL || !is_owned (setting))
      continue;
    if (setting->type == G_TYPE_STRING)
      replace_string ((gchar **) field,
          from != NULL ? *(gchar **) gst_cuv_setting_field (from, setting)
                       : NULL);
    else
      replace_boxed (field, owned_type (setting),
          from != NULL ? *(gpointer *) gst_cuv_setting_field (from, setting)
                       : NULL);
  }
  for (guint i = 0; i < table->n_owned; i++) {
    const GstCuvOwnedField *owned = &table->owned[i];

    replace_boxed (G_STRUCT_MEMBER_P (to, owned->offset), owned->type (),
        from != NULL ? G_STRUCT_MEMBER (gpointer, from, owned->offset) : NULL);
  }
}

static void
zero_owned (const GstCuvSettingsTable *table, gpointer settings)
{
  for (guint i = 0; i < table->n; i++) {
    const GstCuvSetting *setting = &table->list[i];

    if (setting->get == NULL && is_owned (setting))
      *(gpointer *) gst_cuv_setting_field (settings, setting) = NULL;
  }
  for (guint i = 0; i < table->n_owned; i++)
    G_STRUCT_MEMBER (gpointer, settings, table->owned[i].offset) = NULL;
}

gpointer
gst_cuv_settings_copy (const GstCuvSettingsTable *table, gpointer settings)
{
  gpointer copy = g_memdup2 (settings, table->size);

  zero_owned (table, copy);
  replace_owned (table, copy, settings);
  return copy;
}

void
gst_cuv_settings_free (const GstCuvSettingsTable *table, gpointer settings)
{
  replace_owned (table, settings, NULL);
  g_free (settings);
}

/* ---- values ---- */

static gint
get_int (const GValue *value)
{
  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (G_VALUE_HOLDS_UINT (value))
    return (gint) g_value_get_uint (value);
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_value_get_boolean (value);
  if (G_VALUE_HOLDS_FLAGS (value))
    return (gint) g_value_get_flags (value);
  return g_value_get_enum (value);
}

static gboolean
store_fraction (gint *field, gint numerator, gint denominator)
{
  const gboolean changes = field[0] != numerator || field[1] != denominator;

  field[0] = numerator;
  field[1] = denominator;
  return changes;
}

#define STORE(type, field, value)                                              \
  (*(type *) (field) != (value) ? (*(type *) (field) = (value), TRUE) : FALSE)

gboolean
gst_cuv_setting_store (
    const GstCuvSetting *setting, gpointer field, const GValue *value)
{
  const gchar *text;

  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      return STORE (gdouble, field, g_value_get_double (value));
    case G_TYPE_FLOAT:
      return STORE (gfloat, field, g_value_get_float (value));
    case G_TYPE_UINT64:
      return STORE (guint64, field, g_value_get_uint64 (value));
    case G_TYPE_STRING:
      text = g_value_get_string (value);
      if (setting->text != NULL && (text == NULL || *text == '\0'))
        text = setting->text;
      replace_string (field, text);
      return TRUE;
    default:
      if (GST_VALUE_HOLDS_FRACTION (value))
        return store_fraction (field, gst_value_get_fraction_numerator (value),
            gst_value_get_fraction_denominator (value));
      if (!is_owned (setting))
        return STORE (gint, field, get_int (value));
      replace_boxed (field, owned_type (setting),
          G_VALUE_HOLDS_BOXED (value) ? g_value_get_boxed (value) : value);
      return TRUE;
  }
}

/* An unset structure is read as an empty one: GstPreset cannot write NULL. */
static void
fetch_empty_structure (const GstCuvSetting *setting, GValue *value)
{
  if (G_VALUE_HOLDS (value, GST_TYPE_STRUCTURE))
    g_value_take_boxed (value, gst_structure_new_empty (setting->name));
}

void
gst_cuv_setting_fetch (
    const GstCuvSetting *setting, gconstpointer field, GValue *value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const gdouble *) field);
      break;
    case G_TYPE_FLOAT:
      g_value_set_float (value, *(const gfloat *) field);
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, *(const guint64 *) field);
      break;
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar *const *) field);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *(const gint *) field);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, (guint) * (const gint *) field);
      break;
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const gint *) field);
      break;
    default:
      if (G_VALUE_HOLDS_FLAGS (value))
        g_value_set_flags (value, (guint) * (const gint *) field);
      else if (G_VALUE_HOLDS_ENUM (value))
        g_value_set_enum (value, *(const gint *) field);
      else if (GST_VALUE_HOLDS_FRACTION (value))
        gst_value_set_fraction (
            value, ((const gint *) field)[0], ((const gint *) field)[1]);
      else if (G_VALUE_HOLDS_UINT (value))
        g_value_set_uint (value, (guint) * (const gint *) field);
      else if (*(gpointer const *) field == NULL)
        fetch_empty_structure (setting, value);
      else if (G_VALUE_HOLDS_BOXED (value))
        g_value_set_boxed (value, *(gpointer const *) field);
      else
        g_value_copy (*(GValue *const *) field, value);
  }
}

void
gst_cuv_setting_store_default (const GstCuvSetting *setting, gpointer field)
{
  if (setting->type == G_TYPE_STRING)
    replace_string (field, setting->text);
  else if (setting->type == G_TYPE_DOUBLE)
    *(gdouble *) field = setting->value;
  else if (setting->type == G_TYPE_FLOAT)
    *(gfloat *) field = (gfloat) setting->value;
  else if (setting->type == G_TYPE_UINT64)
    *(guint64 *) field = (guint64) setting->value;
  else if (gst_cuv_setting_type (setting) == GST_TYPE_FRACTION)
    store_fraction (field, (gint) setting->value, 1);
  else if (!is_owned (setting))
    *(gint *) field = (gint) setting->value;
}

gchar *
gst_cuv_setting_describe (const GstCuvSetting *setting, gpointer settings)
{
  GValue value = G_VALUE_INIT;
  gchar *text, *valid;

  g_value_init (&value, gst_cuv_setting_type (setting));
  gst_cuv_setting_fetch (
      setting, gst_cuv_setting_field (settings, setting), &value);
  if (G_VALUE_HOLDS_STRING (&value))
    text = g_value_dup_string (&value);
  else if (GST_VALUE_HOLDS_STRUCTURE (&value))
    text = gst_structure_to_string (gst_value_get_structure (&value));
  else
    text = gst_value_serialize (&value);
  g_value_unset (&value);
  valid = text != NULL ? g_utf8_make_valid (text, -1) : g_strdup ("");
  g_free (text);
  return valid;
}

void
gst_cuv_settings_free_parsed (
    const GstCuvSettingsTable *table, gpointer settings)
{
  for (guint i = 0; i < table->n_owned; i++)
    replace_boxed (G_STRUCT_MEMBER_P (settings, table->owned[i].offset),
        table->owned[i].type (), NULL);
}
