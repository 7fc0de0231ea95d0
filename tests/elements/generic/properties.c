/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of every element of the project: defaults, limits, flags,
 * controllers, presets. */
#include "cuvelements.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define MUTABLE                                                                \
  (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED                          \
      | GST_PARAM_MUTABLE_PLAYING)

static GPtrArray *names;

/* Returns the properties that the project adds; unref the array. */
static GPtrArray *
own_properties (GstElement *element)
{
  GPtrArray *own = g_ptr_array_new ();
  guint n;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    const gchar *owner = g_type_name (all[i]->owner_type);

    if (all[i]->owner_type != GST_TYPE_OBJECT
        && all[i]->owner_type != GST_TYPE_ELEMENT
        && strncmp (owner, "GstBase", 7) != 0
        && strcmp (owner, "GstPushSrc") != 0)
      g_ptr_array_add (own, all[i]);
  }
  g_free (all);
  return own;
}

static gboolean
is_number (GParamSpec *spec)
{
  return g_value_type_transformable (spec->value_type, G_TYPE_DOUBLE)
      && !G_IS_PARAM_SPEC_ENUM (spec) && !G_IS_PARAM_SPEC_FLAGS (spec)
      && !G_IS_PARAM_SPEC_BOOLEAN (spec);
}

/* GLib's default of a boxed type is NULL, which not all properties accept. */
static gboolean
has_default (GParamSpec *spec)
{
  return (spec->flags & G_PARAM_WRITABLE) && !G_IS_PARAM_SPEC_BOXED (spec);
}

static void
get_value (GstElement *element, GParamSpec *spec, GValue *value)
{
  g_value_init (value, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, value);
}

CUV_LOOP_TEST (flags_and_descriptions, names->len)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make (names->pdata[__i__], NULL);
  g_autoptr (GPtrArray) own = own_properties (element);
  GParamSpec *stats;

  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];
    guint when = spec->flags & MUTABLE;

    fail_unless (
        (spec->flags & G_PARAM_STATIC_STRINGS) == G_PARAM_STATIC_STRINGS, "%s",
        spec->name);
    fail_unless (strlen (g_param_spec_get_nick (spec)) > 0
            && strlen (g_param_spec_get_blurb (spec)) > 0,
        "%s", spec->name);
    fail_if ((spec->flags & G_PARAM_WRITABLE) && when != GST_PARAM_MUTABLE_READY
            && when != GST_PARAM_MUTABLE_PAUSED
            && when != GST_PARAM_MUTABLE_PLAYING,
        "%s has no GST_PARAM_MUTABLE flag", spec->name);
    fail_if ((spec->flags & GST_PARAM_CONTROLLABLE)
            && when != GST_PARAM_MUTABLE_PLAYING,
        "%s is controllable but not mutable while playing", spec->name);
    /* a change of final-threshold reads a file */
    fail_if (is_number (spec) && when == GST_PARAM_MUTABLE_PLAYING
            && strcmp (spec->name, "n-threads") != 0
            && strcmp (spec->name, "final-threshold") != 0
            && !(spec->flags & GST_PARAM_CONTROLLABLE),
        "%s should be controllable", spec->name);
  }
  stats = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");
  fail_unless (stats != NULL && stats->value_type == GST_TYPE_STRUCTURE
      && !(stats->flags & G_PARAM_WRITABLE));
}

CUV_LOOP_TEST (defaults_are_set, names->len)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make (names->pdata[__i__], NULL);
  g_autoptr (GPtrArray) own = own_properties (element);

  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];
    GValue value = G_VALUE_INIT;

    if (!(spec->flags & G_PARAM_READABLE))
      continue;
    get_value (element, spec, &value);
    fail_if (has_default (spec) && !g_param_value_defaults (spec, &value),
        "%s does not have its default", spec->name);
    fail_if (g_param_value_validate (spec, &value), "%s", spec->name);
    g_value_unset (&value);
  }
}

/* Sets the number, clamped to the property's range, and reads it back. */
static void
set_number (GstElement *element, GParamSpec *spec, gdouble number)
{
  GValue wanted = G_VALUE_INIT, value = G_VALUE_INIT, got = G_VALUE_INIT;

  g_value_init (&wanted, G_TYPE_DOUBLE);
  g_value_set_double (&wanted, number);
  g_value_init (&value, spec->value_type);
  g_value_transform (&wanted, &value);
  g_param_value_validate (spec, &value);
  g_object_set_property (G_OBJECT (element), spec->name, &value);
  get_value (element, spec, &got);
  fail_unless (g_param_values_cmp (spec, &value, &got) == 0,
      "%s does not accept %g", spec->name, number);
  g_value_unset (&got);
  g_value_unset (&value);
}

static void
set_flags (GstElement *element, GParamSpec *spec, guint flags)
{
  guint got;

  g_object_set (element, spec->name, flags, NULL);
  g_object_get (element, spec->name, &got, NULL);
  fail_unless_equals_int (got, flags);
}

/* Sets no flag, each single flag, and all flags. */
static void
set_each_flag (GstElement *element, GParamSpec *spec)
{
  GFlagsClass *values = G_PARAM_SPEC_FLAGS (spec)->flags_class;

  set_flags (element, spec, 0);
  for (guint i = 0; i < values->n_values; i++)
    set_flags (element, spec, values->values[i].value);
  set_flags (element, spec, values->mask);
}

static void
set_limits (GstElement *element, GParamSpec *spec)
{
  if (G_IS_PARAM_SPEC_INT (spec)) {
    set_number (element, spec, G_PARAM_SPEC_INT (spec)->minimum);
    set_number (element, spec, G_PARAM_SPEC_INT (spec)->maximum);
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    set_number (element, spec, G_PARAM_SPEC_UINT (spec)->minimum);
    set_number (element, spec, G_PARAM_SPEC_UINT (spec)->maximum);
  } else if (G_IS_PARAM_SPEC_FLOAT (spec)) {
    set_number (element, spec, G_PARAM_SPEC_FLOAT (spec)->minimum);
    set_number (element, spec, G_PARAM_SPEC_FLOAT (spec)->maximum);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    set_number (element, spec, G_PARAM_SPEC_DOUBLE (spec)->minimum);
    set_number (element, spec, G_PARAM_SPEC_DOUBLE (spec)->maximum);
  } else if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    set_number (element, spec, !G_PARAM_SPEC_BOOLEAN (spec)->default_value);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    GEnumClass *values = G_PARAM_SPEC_ENUM (spec)->enum_class;

    for (guint i = 0; i < values->n_values; i++) {
      g_object_set (element, spec->name, values->values[i].value, NULL);
      gint got;

      g_object_get (element, spec->name, &got, NULL);
      fail_unless_equals_int (got, values->values[i].value);
    }
  } else if (G_IS_PARAM_SPEC_FLAGS (spec)) {
    set_each_flag (element, spec);
  }
}

static void
set_default (GstElement *element, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, spec->value_type);
  g_param_value_set_default (spec, &value);
  g_object_set_property (G_OBJECT (element), spec->name, &value);
  g_value_unset (&value);
}

CUV_LOOP_TEST (limits_can_be_set, names->len)
{
  g_autoptr (GstElement) element = cuv_element_new (names->pdata[__i__]);
  g_autoptr (GPtrArray) own = own_properties (element);

  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];

    if (!(spec->flags & G_PARAM_WRITABLE))
      continue;
    set_limits (element, spec);
    set_default (element, spec);
  }
}

static const gchar *
format_for (const gchar *name)
{
  return cuv_element_takes (name, "NV12") ? "NV12" : "RGBx";
}

/* A harness needs a sink and a source pad that take video frames. */
static gboolean
passes_frames (const gchar *name)
{
  return cuv_element_takes (name, format_for (name))
      && cuv_element_makes (name, "NV12");
}

static const gchar *
format_of (GstElement *element)
{
  return format_for (GST_OBJECT_NAME (gst_element_get_factory (element)));
}

/* visioncrop may find the object of the frame too small. */
static void
push (GstHarness *h, guint n)
{
  GstBuffer *frame = cuv_frame_new (format_of (h->element), 64, 48), *out;

  GST_BUFFER_PTS (frame) = n * GST_SECOND / 30;
  gst_buffer_add_video_region_of_interest_meta (frame, "x", 4, 4, 20, 20);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  out = gst_harness_try_pull (h);
  fail_unless (out != NULL
      || g_str_has_prefix (GST_OBJECT_NAME (h->element), "visionc"));
  gst_clear_buffer (&out);
}

/* Sets limits between frames; no frame is pushed while a number is at its
 * limit, which may mean "find everything". */
CUV_LOOP_TEST (properties_change_while_playing, names->len)
{
  GPtrArray *own;
  GstHarness *h;

  if (!passes_frames (names->pdata[__i__]))
    return;
  h = cuv_element_harness (names->pdata[__i__]);
  own = own_properties (h->element);
  cuv_harness_caps (h, format_for (names->pdata[__i__]), 64, 48);
  push (h, 0);
  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];

    if ((spec->flags & MUTABLE) != GST_PARAM_MUTABLE_PLAYING
        || strcmp (spec->name, "model") == 0)
      continue;
    set_limits (h->element, spec);
    if (!is_number (spec))
      push (h, 2 * i + 1);
    set_default (h->element, spec);
    push (h, 2 * i + 2);
  }
  g_ptr_array_unref (own);
  gst_harness_teardown (h);
}

static gdouble
number_of (GstElement *element, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;

  get_value (element, spec, &value);
  g_value_init (&number, G_TYPE_DOUBLE);
  g_value_transform (&value, &number);
  g_value_unset (&value);
  return g_value_get_double (&number);
}

/* Controls the property one step up, or down from its maximum. */
static void
control (GstHarness *h, GParamSpec *spec)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  GstObject *object = GST_OBJECT (h->element);
  GstControlBinding *binding;
  gdouble before = number_of (h->element, spec), wanted;

  set_number (h->element, spec, before + 1);
  wanted = number_of (h->element, spec);
  if (wanted == before) {
    set_number (h->element, spec, before - 1);
    wanted = number_of (h->element, spec);
  }
  set_default (h->element, spec);
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (values, 0, before);
  gst_timed_value_control_source_set (values, GST_SECOND, wanted);
  gst_object_add_control_binding (object,
      gst_direct_control_binding_new_absolute (object, spec->name, source));
  push (h, 0);
  fail_unless (number_of (h->element, spec) == before, "%s", spec->name);
  push (h, 31);
  fail_unless (number_of (h->element, spec) == wanted,
      "%s is not controlled: %g, not %g", spec->name,
      number_of (h->element, spec), wanted);
  binding = gst_object_get_control_binding (object, spec->name);
  gst_object_remove_control_binding (object, binding);
  gst_object_unref (binding);
  gst_object_unref (source);
  set_default (h->element, spec);
}

CUV_LOOP_TEST (controllers_set_properties, names->len)
{
  GPtrArray *own;
  GstHarness *h;
  guint n = 0;

  if (!passes_frames (names->pdata[__i__]))
    return;
  h = cuv_element_harness (names->pdata[__i__]);
  own = own_properties (h->element);
  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];

    if (!(spec->flags & GST_PARAM_CONTROLLABLE) || !is_number (spec))
      continue;
    if (n++ == 0)
      cuv_harness_caps (h, format_for (names->pdata[__i__]), 64, 48);
    control (h, spec);
  }
  g_print ("%s: %u controlled\n", (gchar *) names->pdata[__i__], n);
  g_ptr_array_unref (own);
  gst_harness_teardown (h);
}

/* Returns as text all readable and writable properties, which a preset has to
 * keep. */
static GPtrArray *
texts_of (GstElement *element, GPtrArray *own)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < own->len; i++) {
    GParamSpec *spec = own->pdata[i];
    GValue value = G_VALUE_INIT;

    if ((spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE) {
      gchar *text;

      get_value (element, spec, &value);
      text = gst_value_serialize (&value);
      /* GStreamer adds backslashes to a loaded string with a space */
      for (gchar *c = text; c != NULL && *c != '\0'; c++)
        while (*c == '\\')
          memmove (c, c + 1, strlen (c));
      g_ptr_array_add (texts, g_strdup_printf ("%s is %s", spec->name, text));
      g_free (text);
      g_value_unset (&value);
    }
  }
  return texts;
}

CUV_LOOP_TEST (presets_save_and_load, names->len)
{
  GstElement *element = gst_element_factory_make (names->pdata[__i__], NULL);
  GPtrArray *own = own_properties (element), *saved, *loaded;

  fail_unless (GST_IS_PRESET (element), "%s has no presets",
      (gchar *) names->pdata[__i__]);
  for (guint i = 0; i < own->len; i++) {
    if (((GParamSpec *) own->pdata[i])->flags & G_PARAM_WRITABLE)
      set_limits (element, own->pdata[i]);
    /* the limit, all flags, may be the default */
    if (G_IS_PARAM_SPEC_FLAGS (own->pdata[i]))
      set_flags (element, own->pdata[i],
          G_PARAM_SPEC_FLAGS (own->pdata[i])->flags_class->values[1].value);
  }
  saved = texts_of (element, own);
  fail_unless (gst_preset_save_preset (GST_PRESET (element), "test"));
  gst_object_unref (element);

  element = gst_element_factory_make (names->pdata[__i__], NULL);
  fail_unless (gst_preset_load_preset (GST_PRESET (element), "test"));
  loaded = texts_of (element, own);
  for (guint i = 0; i < saved->len; i++)
    fail_unless_equals_string (loaded->pdata[i], saved->pdata[i]);
  fail_unless (gst_preset_delete_preset (GST_PRESET (element), "test"));
  g_ptr_array_unref (saved);
  g_ptr_array_unref (loaded);
  g_ptr_array_unref (own);
  gst_object_unref (element);
}

/* An element, and the setting that keeps it from starting. */
static const gchar *const unusable[][3] = {
  { "visionpublish", "file-path=/none/x", "! fakesink" },
  { "visionwebsink", "token-file=/none", "" },
  { "visionwebsink", "address=192.0.2.1", "" },
  { "envisrc", "location=/none.hdr", "! fakesink" },
  { "envisink", "", "" },
  { "ldpindexsink", "", "" },
  { "waldboosttrain", "", "" },
  { "waldboostdetect", "model=/none", "! fakesink" },
};

static guint
count_errors (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR)) != NULL) {
    n++;
    gst_message_unref (message);
  }
  return n;
}

CUV_LOOP_TEST (failed_start_is_one_error, G_N_ELEMENTS (unusable))
{
  const gchar *const *parts = unusable[__i__];
  gchar *line = g_strdup_printf ("%s %s %s %s",
      g_str_has_suffix (parts[0], "src") ? "" : "fakesrc !", parts[0], parts[1],
      parts[2]);
  GError *error = NULL;
  GstElement *pipeline;

  if (!g_ptr_array_find_with_equal_func (names, parts[0], g_str_equal, NULL)) {
    g_free (line); /* this build does not have the element */
    return;
  }
  pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (count_errors (pipeline), 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (line);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  names = cuv_element_names ();
  g_assert (names->len > 0);
}
