/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcuvstructure.h"

#include <gobject/gvaluecollector.h>

GQuark
gst_cuv_quark (const gchar *name)
{
  static GPrivate tables = G_PRIVATE_INIT ((GDestroyNotify) g_hash_table_unref);
  GHashTable *known = g_private_get (&tables);
  GQuark quark;

  if (name == NULL)
    return 0;
  if (known == NULL) {
    known = g_hash_table_new (g_str_hash, g_str_equal);
    g_private_set (&tables, known);
  }
  quark = GPOINTER_TO_UINT (g_hash_table_lookup (known, name));
  if (quark == 0) {
    quark = g_quark_from_string (name);
    g_hash_table_insert (
        known, (gpointer) g_quark_to_string (quark), GUINT_TO_POINTER (quark));
  }
  return quark;
}

#if GST_CHECK_VERSION(1, 26, 0)
/* Names are not quarks. */
static GstStructure *
new_empty (const gchar *name)
{
  return gst_structure_new_empty (name);
}

void
gst_cuv_structure_take_value (
    GstStructure *self, const gchar *field, GValue *value)
{
  gst_structure_take_value (self, field, value);
}

const GValue *
gst_cuv_structure_get_value (const GstStructure *self, const gchar *field)
{
  return gst_structure_get_value (self, field);
}
#else
static GstStructure *
new_empty (const gchar *name)
{
  return gst_structure_new_id_empty (gst_cuv_quark (name));
}

void
gst_cuv_structure_take_value (
    GstStructure *self, const gchar *field, GValue *value)
{
  gst_structure_id_take_value (self, gst_cuv_quark (field), value);
}

const GValue *
gst_cuv_structure_get_value (const GstStructure *self, const gchar *field)
{
  return gst_structure_id_get_value (self, gst_cuv_quark (field));
}
#endif

const gchar *
gst_cuv_structure_get_string (const GstStructure *self, const gchar *field)
{
  const GValue *value = gst_cuv_structure_get_value (self, field);

  return value != NULL && G_VALUE_HOLDS_STRING (value)
      ? g_value_get_string (value)
      : NULL;
}

gboolean
gst_cuv_structure_get_uint (
    const GstStructure *self, const gchar *field, guint *number)
{
  const GValue *value = gst_cuv_structure_get_value (self, field);
  const gboolean found = value != NULL && G_VALUE_HOLDS_UINT (value);

  if (found)
    *number = g_value_get_uint (value);
  return found;
}

static void
set_fields (GstStructure *self, va_list arguments)
{
  const gchar *field;

  while ((field = va_arg (arguments, const gchar *)) != NULL) {
    const GType type = va_arg (arguments, GType);
    GValue value = G_VALUE_INIT;
    gchar *problem = NULL;

    G_VALUE_COLLECT_INIT (&value, type, arguments, 0, &problem);
    if (problem != NULL) {
      g_critical ("%s: %s", field, problem);
      g_free (problem);
      return;
    }
    gst_cuv_structure_take_value (self, field, &value);
  }
}

GstStructure *
gst_cuv_structure_new (const gchar *name, ...)
{
  GstStructure *self = new_empty (name);
  va_list arguments;

  va_start (arguments, name);
  set_fields (self, arguments);
  va_end (arguments);
  return self;
}

void
gst_cuv_structure_set (GstStructure *self, ...)
{
  va_list arguments;

  va_start (arguments, self);
  set_fields (self, arguments);
  va_end (arguments);
}
