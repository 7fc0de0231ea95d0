/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "controls/target.h"

#include <gobject/gvaluecollector.h>

/* ---- what can be a control ---- */

/* GST_PARAM_CONTROLLABLE properties change while playing as well. Many elements
 * set only that flag. */
static gchar *
property_problem (const GParamSpec *spec)
{
  if (!(spec->flags & G_PARAM_WRITABLE)
      || (spec->flags & G_PARAM_CONSTRUCT_ONLY))
    return g_strdup ("it cannot be set: remove it from controls");
  if (cuv_control_type (spec) == NULL)
    return g_strdup_printf ("its type %s has no control: remove it from "
                            "controls",
        g_type_name (G_PARAM_SPEC_VALUE_TYPE (spec)));
  if (!(spec->flags & (GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)))
    return g_strdup ("its element does not say that it can change while "
                     "playing: remove it from controls");
  return NULL;
}

#define NUMBER_SPEC(type, low, high)                                           \
  g_param_spec_##type (name, NULL, NULL, low, high, 0, G_PARAM_READWRITE)

/* Makes the description of an argument, whose range is that of its type. NULL:
 * not supported. */
static GParamSpec *
argument_spec (GType type, guint i)
{
  gchar name[] = "argument-0";

  name[sizeof name - 2] = (gchar) ('1' + i);
  type &= ~G_SIGNAL_TYPE_STATIC_SCOPE;
  switch (type) {
    case G_TYPE_INT:
      return NUMBER_SPEC (int, G_MININT, G_MAXINT);
    case G_TYPE_UINT:
      return NUMBER_SPEC (uint, 0, G_MAXUINT);
    case G_TYPE_INT64:
      return NUMBER_SPEC (int64, G_MININT64, G_MAXINT64);
    case G_TYPE_UINT64:
      return NUMBER_SPEC (uint64, 0, G_MAXUINT64);
    case G_TYPE_FLOAT:
      return NUMBER_SPEC (float, -G_MAXFLOAT, G_MAXFLOAT);
    case G_TYPE_DOUBLE:
      return NUMBER_SPEC (double, -G_MAXDOUBLE, G_MAXDOUBLE);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (name, NULL, NULL, FALSE, G_PARAM_READWRITE);
    case G_TYPE_STRING:
      return g_param_spec_string (name, NULL, NULL, NULL, G_PARAM_READWRITE);
    default:
      return NULL;
  }
}

#define MAX_ARGUMENTS 9

/* Whether what a signal returns can be sent to viewers. */
static gboolean
has_text (GType type)
{
  GParamSpec *spec;

  if (type == G_TYPE_NONE || G_TYPE_IS_ENUM (type))
    return TRUE;
  spec = argument_spec (type, 0);
  if (spec == NULL)
    return FALSE;
  g_param_spec_unref (g_param_spec_ref_sink (spec));
  return TRUE;
}

static gchar *
read_signal (CuvControlTarget *self, const GSignalQuery *query)
{
  if (!(query->signal_flags & G_SIGNAL_ACTION))
    return g_strdup ("it is not an action signal: remove it from controls");
  self->signal = query->signal_id;
  self->returns = query->return_type & ~G_SIGNAL_TYPE_STATIC_SCOPE;
  if (!has_text (self->returns))
    return g_strdup_printf ("it returns the type %s, which has no control: "
                            "remove it from controls",
        g_type_name (self->returns));
  for (guint i = 0; i < query->n_params; i++) {
    GParamSpec *spec =
        i < MAX_ARGUMENTS ? argument_spec (query->param_types[i], i) : NULL;

    if (spec == NULL)
      return g_strdup_printf ("its argument %u has the type %s, which has no "
                              "control: remove it from controls",
          i + 1, g_type_name (query->param_types[i]));
    g_ptr_array_add (self->arguments, g_param_spec_ref_sink (spec));
  }
  return NULL;
}

static gchar *
find_member (CuvControlTarget *self, GstElement *element, const gchar *member)
{
  GSignalQuery query;
  const guint signal = g_signal_lookup (member, G_OBJECT_TYPE (element));

  self->property =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), member);
  if (self->property != NULL) {
    g_param_spec_ref (self->property);
    return property_problem (self->property);
  }
  if (signal == 0)
    return g_strdup_printf ("%s has no such property or signal: correct the "
                            "name; gst-inspect-1.0 %s lists them",
        self->factory, self->factory);
  g_signal_query (signal, &query);
  return read_signal (self, &query);
}

CuvControlTarget *
cuv_control_target_new (
    GstElement *element, const gchar *member, gchar **problem)
{
  CuvControlTarget *self = g_new0 (CuvControlTarget, 1);
  GstElementFactory *factory = gst_element_get_factory (element);

  self->refs = 1;
  self->factory =
      g_intern_string (factory != NULL ? GST_OBJECT_NAME (factory)
                                       : G_OBJECT_TYPE_NAME (element));
  self->arguments =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_param_spec_unref);
  g_weak_ref_init (&self->element, element);
  *problem = find_member (self, element, member);
  if (*problem == NULL)
    return self;
  cuv_control_target_unref (self);
  return NULL;
}

CuvControlTarget *
cuv_control_target_ref (CuvControlTarget *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
cuv_control_target_unref (CuvControlTarget *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_weak_ref_clear (&self->element);
  g_clear_pointer (&self->property, g_param_spec_unref);
  g_ptr_array_unref (self->arguments);
  g_free (self);
}

/* ---- acting ---- */

static void
get_property (const CuvControlTarget *self, GstElement *element, GValue *value)
{
  g_value_init (value, G_PARAM_SPEC_VALUE_TYPE (self->property));
  g_object_get_property (G_OBJECT (element), self->property->name, value);
}

gboolean
cuv_control_target_get (CuvControlTarget *self, GValue *value)
{
  GstElement *element;

  if (self->property == NULL || !(self->property->flags & G_PARAM_READABLE))
    return FALSE;
  element = g_weak_ref_get (&self->element);
  if (element == NULL)
    return FALSE;
  get_property (self, element, value);
  gst_object_unref (element);
  return TRUE;
}

static void
call_signal (const CuvControlTarget *self, GstElement *element, GArray *values,
    GValue *result)
{
  GArray *all = g_array_new (FALSE, TRUE, sizeof (GValue));
  GValue instance = G_VALUE_INIT;

  g_value_init (&instance, G_OBJECT_TYPE (element));
  g_value_set_object (&instance, element);
  g_array_append_val (all, instance);
  g_array_append_vals (all, values->data, values->len);
  if (self->returns != G_TYPE_NONE)
    g_value_init (result, self->returns);
  g_signal_emitv ((const GValue *) (gpointer) all->data, self->signal, 0,
      self->returns != G_TYPE_NONE ? result : NULL);
  g_value_unset (&instance);
  g_array_unref (all);
}

gboolean
cuv_control_target_act (CuvControlTarget *self, GArray *values, GValue *result)
{
  GstElement *element = g_weak_ref_get (&self->element);

  if (element == NULL)
    return FALSE;
  if (self->property != NULL) {
    g_object_set_property (G_OBJECT (element), self->property->name,
        &g_array_index (values, GValue, 0));
    if (self->property->flags & G_PARAM_READABLE)
      get_property (self, element, result);
  } else {
    call_signal (self, element, values, result);
  }
  gst_object_unref (element);
  return TRUE;
}

/* ---- JSON ---- */

/* Returns NULL, or what was expected. */
static gchar *
append_parsed (GArray *values, GParamSpec *spec, JsonNode *node)
{
  GValue value = G_VALUE_INIT;
  gchar *problem = cuv_control_value_parse (spec, node, &value);

  if (problem == NULL)
    g_array_append_val (values, value);
  return problem;
}

static gchar *
parse_arguments (const CuvControlTarget *self, GArray *values, JsonNode *node)
{
  JsonArray *array = json_node_get_array (node);
  gchar *problem = NULL;

  if (json_array_get_length (array) != self->arguments->len)
    return g_strdup_printf ("expected %u arguments", self->arguments->len);
  for (guint i = 0; i < self->arguments->len && problem == NULL; i++) {
    gchar *expected = append_parsed (
        values, self->arguments->pdata[i], json_array_get_element (array, i));

    if (expected != NULL)
      problem = g_strdup_printf ("argument %u: %s", i + 1, expected);
    g_free (expected);
  }
  return problem;
}

GArray *
cuv_control_target_parse (
    CuvControlTarget *self, JsonNode *node, gchar **problem)
{
  GArray *values = g_array_new (FALSE, TRUE, sizeof (GValue));

  g_array_set_clear_func (values, (GDestroyNotify) g_value_unset);
  *problem = self->property != NULL
      ? append_parsed (values, self->property, node)
      : parse_arguments (self, values, node);
  if (*problem != NULL)
    g_clear_pointer (&values, g_array_unref);
  return values;
}

static void
write_property (CuvJson *json, GParamSpec *spec)
{
  cuv_json_string_member (json, "nick", g_param_spec_get_nick (spec));
  cuv_json_string_member (json, "blurb", g_param_spec_get_blurb (spec));
  cuv_json_key (json, "default");
  cuv_control_value_write (json, g_param_spec_get_default_value (spec));
  cuv_control_type_write (json, spec);
}

static void
write_signal (CuvJson *json, const CuvControlTarget *self)
{
  cuv_json_string_member (json, "type", "signal");
  cuv_json_key (json, "arguments");
  cuv_json_begin_array (json);
  for (guint i = 0; i < self->arguments->len; i++) {
    cuv_json_next (json);
    cuv_json_begin_object (json);
    cuv_control_type_write (json, self->arguments->pdata[i]);
    cuv_json_end_object (json);
  }
  cuv_json_end_array (json);
}

void
cuv_control_target_write (CuvJson *json, const CuvControlTarget *self)
{
  cuv_json_string_member (json, "factory", self->factory);
  if (self->property != NULL)
    write_property (json, self->property);
  else
    write_signal (json, self);
}
