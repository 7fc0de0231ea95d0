/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "controls/settings.h"

#include <math.h>
#include "controls/settings-format.h"
#include "cuvfile.h"

/* ---- reading ---- */

/* Gives the controls their values. */
static gchar *
take_values (CuvControls *self, JsonObject *values)
{
  JsonObjectIter at;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&at, values);
  while (json_object_iter_next (&at, &name, &node)) {
    CuvControl *control = cuv_controls_find (self, name);

    if (control == NULL)
      return g_strdup_printf ("%s is not in the property controls: add it "
                              "there, or remove it from the file",
          name);
    control->saved = json_node_ref (node);
  }
  return NULL;
}

static gchar *
read_settings (CuvControls *self, const gchar *text, gsize size)
{
  gchar *problem, *full;
  JsonObject *values = cuv_control_settings_parse (text, size, &problem);

  if (values != NULL)
    problem = take_values (self, values);
  g_clear_pointer (&values, json_object_unref);
  if (problem == NULL)
    return NULL;
  full = g_strdup_printf ("settings-file '%s' cannot be used: %s; correct or "
                          "remove the file",
      self->settings_file, problem);
  g_free (problem);
  return full;
}

gchar *
cuv_control_settings_load (CuvControls *self)
{
  GError *error = NULL;
  gchar *text, *problem = NULL;
  gsize size;

  if (cuv_file_read (
          self->settings_file, CUV_FILE_MAX_TEXT, &text, &size, &error)) {
    problem = read_settings (self, text, size);
    g_free (text);
  } else if (!g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
    problem = g_strdup_printf ("settings-file cannot be used: %s; set it to a "
                               "file of settings or a new one",
        error->message);
  }
  g_clear_error (&error);
  return problem;
}

gchar *
cuv_control_settings_problem (
    const CuvControls *self, const CuvControl *control, gchar *reason)
{
  gchar *problem =
      g_strdup_printf ("settings-file '%s' cannot be used: %s: %s; correct the "
                       "value, or remove it from the file",
          self->settings_file, control->name, reason);

  g_free (reason);
  return problem;
}

/* ---- writing ---- */

/* JSON has no other numbers, and reads no larger ones. */
static gboolean
can_be_read (const GValue *value)
{
  GValue wide = G_VALUE_INIT;
  gboolean can = TRUE;

  g_value_init (&wide, G_TYPE_DOUBLE);
  if (!G_VALUE_HOLDS_STRING (value) && g_value_transform (value, &wide))
    can = isfinite (g_value_get_double (&wide))
        && ((!G_VALUE_HOLDS_UINT64 (value) && !G_VALUE_HOLDS_ULONG (value))
            || g_value_get_double (&wide) < 9.2e18);
  g_value_unset (&wide);
  return can;
}

static void
write_value (CuvJson *json, const gchar *name, const GValue *value)
{
  cuv_json_key (json, name);
  if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value) == NULL)
    cuv_json_string (json, "");
  else
    cuv_control_value_write (json, value);
}

/* An element that is missing keeps the value for which it is expected. */
static void
write_control (CuvJson *json, const CuvControl *control, const GValue *value)
{
  if (G_IS_VALUE (value) && can_be_read (value)) {
    write_value (json, control->name, value);
  } else if (!G_IS_VALUE (value) && control->saved != NULL) {
    cuv_json_key (json, control->name);
    cuv_json_node (json, control->saved);
  }
}

static gchar *
write_values (const CuvControls *self, const GValue *values, gsize *size)
{
  CuvJson json;
  gchar *text;

  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_key (&json, "visionwebsink");
  cuv_json_int (&json, CUV_CONTROL_SETTINGS_VERSION);
  cuv_json_key (&json, "values");
  cuv_json_begin_object (&json);
  for (guint i = 0; i < self->n; i++)
    write_control (&json, &self->list[i], &values[i]);
  cuv_json_end_object (&json);
  cuv_json_end_object (&json);
  text = cuv_json_steal (&json, size);
  cuv_json_clear (&json);
  return text;
}

gchar *
cuv_control_settings_save (const CuvControls *self, const GValue *values)
{
  GError *error = NULL;
  gsize size;
  gchar *text = write_values (self, values, &size), *problem = NULL;

  if (size > CUV_FILE_MAX_TEXT)
    problem = g_strdup_printf (
        "the values have more than %d bytes, the limit", CUV_FILE_MAX_TEXT);
  else if (!g_file_set_contents_full (self->settings_file, text, (gssize) size,
               G_FILE_SET_CONTENTS_CONSISTENT, 0666, &error)) {
    problem = g_strdup_printf ("settings-file of visionwebsink cannot be "
                               "written: %s",
        error->message);
    g_error_free (error);
  }
  g_free (text);
  return problem;
}
