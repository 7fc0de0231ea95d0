/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random.h"

#define MAX_WORK 96 /* bounds the time that a frame takes */

guint
below (guint n)
{
  return (guint) g_random_int_range (0, (gint32) n);
}

gboolean
once_in (guint n)
{
  return below (n) == 0;
}

/* Excludes properties that open files, and those of base classes. */
static gboolean
is_fuzzed (const GParamSpec *spec)
{
  static const gchar *const files[] = { "model", "index", "location",
    "file-path", "target-image", "basis-location", "zones-location",
    "spool-path", "target", NULL };
  const gchar *owner = g_type_name (spec->owner_type);

  return (spec->flags & G_PARAM_WRITABLE)
      && !(spec->flags & G_PARAM_CONSTRUCT_ONLY)
      && spec->owner_type != GST_TYPE_OBJECT
      && !g_str_has_prefix (owner, "GstBase")
      && !g_strv_contains (files, spec->name);
}

/* Bounds the time that a frame takes; the values remain valid. */
static gdouble
largest (const GParamSpec *spec, gdouble maximum)
{
  static const gchar *const work[] = { "iterations", "descriptor-width",
    "descriptor-height", "weak", "copies", "negative-samples", NULL };

  return g_strv_contains (work, spec->name) ? MIN (maximum, MAX_WORK) : maximum;
}

static gdouble
random_number (gdouble least, gdouble most, gdouble usual)
{
  switch (below (5)) {
    case 0:
      return least;
    case 1:
      return most;
    case 2:
      return CLAMP (usual * g_random_double_range (0, 3), least, most);
    case 3:
      return CLAMP (below (100), least, most);
    default:
      return least + (most - least) * g_random_double ();
  }
}

static const gchar *
random_text (void)
{
  static const gchar *const texts[] = { NULL, "", "a", "-1", "0,0,10,10",
    "1,2,3", "9999999999", "{\"a\":1}", "[", "%d", "%s%n", "face,eye",
    "face=0xff00ff00", "Sans 0", "0-0", "1-300,5", "bad\xff", "nan", ";,=" };

  return texts[below (G_N_ELEMENTS (texts))];
}

static void
set_random_array (GValue *value, const GParamSpec *spec)
{
  const GParamSpec *item = GST_PARAM_SPEC_ARRAY_LIST (spec)->element_spec;

  for (guint i = below (9); i > 0; i--) {
    GValue number = G_VALUE_INIT, as_item = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_set_double (&number, random_number (-2, 400, 1));
    g_value_init (&as_item, item != NULL ? item->value_type : G_TYPE_INT);
    g_value_transform (&number, &as_item);
    gst_value_array_append_and_take_value (value, &as_item);
  }
}

static void
set_random_value (GValue *value, const GParamSpec *spec)
{
#define NUMBER(Type, type)                                                     \
  if (G_IS_PARAM_SPEC_##Type (spec)) {                                         \
    const GParamSpec##type *p = (const GParamSpec##type *) spec;               \
    const gdouble number = random_number ((gdouble) p->minimum,                \
        largest (spec, (gdouble) p->maximum), (gdouble) p->default_value);     \
    GValue from = G_VALUE_INIT;                                                \
    g_value_init (&from, G_TYPE_DOUBLE);                                       \
    g_value_set_double (&from, number);                                        \
    g_value_transform (&from, value);                                          \
    return;                                                                    \
  }
  NUMBER (INT, Int)
  NUMBER (UINT, UInt)
  NUMBER (DOUBLE, Double)
#undef NUMBER
  if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (value, g_random_boolean ());
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    g_value_set_enum (value, klass->values[below (klass->n_values)].value);
  } else if (G_IS_PARAM_SPEC_STRING (spec)) {
    g_value_set_static_string (value, random_text ());
  } else if (GST_IS_PARAM_SPEC_ARRAY_LIST (spec)) {
    set_random_array (value, spec);
  }
}

GPtrArray *
random_properties (GstElement *element)
{
  GPtrArray *some = g_ptr_array_new ();
  guint n;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++)
    if (is_fuzzed (all[i]))
      g_ptr_array_add (some, all[i]);
  g_free (all);
  return some;
}

void
random_set (GstElement *element, GPtrArray *properties)
{
  GParamSpec *spec;
  GValue value = G_VALUE_INIT;

  if (properties->len == 0)
    return;
  spec = properties->pdata[below (properties->len)];
  g_value_init (&value, spec->value_type);
  g_param_value_set_default (spec, &value);
  set_random_value (&value, spec);
  g_param_value_validate (spec, &value);
  g_object_set_property (G_OBJECT (element), spec->name, &value);
  g_value_unset (&value);
}

void
random_get (GstElement *element)
{
  guint n;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (!(all[i]->flags & G_PARAM_READABLE))
      continue;
    g_value_init (&value, all[i]->value_type);
    g_object_get_property (G_OBJECT (element), all[i]->name, &value);
    g_value_unset (&value);
  }
  g_free (all);
}
