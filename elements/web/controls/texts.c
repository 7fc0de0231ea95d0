/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "controls/texts.h"

void
cuv_control_text_begin (CuvJson *json, const gchar *type)
{
  cuv_json_init (json);
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "type", type);
}

gchar *
cuv_control_text_end (CuvJson *json)
{
  gchar *text;
  gsize size;

  cuv_json_end_object (json);
  text = cuv_json_steal (json, &size);
  cuv_json_clear (json);
  return text;
}

static void
add_value (CuvJson *json, const gchar *key, const GValue *value)
{
  if (!G_IS_VALUE (value))
    return;
  cuv_json_key (json, key);
  cuv_control_value_write (json, value);
}

static void
add_id (CuvJson *json, gint64 id)
{
  cuv_json_key (json, "id");
  cuv_json_int (json, id);
}

gchar *
cuv_control_text_done (gint64 id, const gchar *control, const GValue *value)
{
  CuvJson json;

  cuv_control_text_begin (&json, "done");
  add_id (&json, id);
  if (control != NULL)
    cuv_json_string_member (&json, "control", control);
  add_value (&json, "value", value);
  return cuv_control_text_end (&json);
}

gchar *
cuv_control_text_refused (gint64 id, const gchar *control, const gchar *reason)
{
  CuvJson json;

  cuv_control_text_begin (&json, "refused");
  if (id != 0)
    add_id (&json, id);
  if (control != NULL)
    cuv_json_string_member (&json, "control", control);
  cuv_json_string_member (&json, "reason", reason);
  return cuv_control_text_end (&json);
}

gchar *
cuv_control_text_warning (const gchar *element, const gchar *text)
{
  CuvJson json;

  cuv_control_text_begin (&json, "warning");
  cuv_json_string_member (&json, "element", element);
  cuv_json_string_member (&json, "text", text);
  return cuv_control_text_end (&json);
}

static void
add_control (CuvJson *json, const CuvControl *control,
    const CuvControlTarget *target, const GValue *value)
{
  cuv_json_next (json);
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "control", control->name);
  cuv_json_string_member (json, "element", control->element);
  cuv_json_string_member (json, "name", control->member);
  if (target != NULL)
    cuv_control_target_write (json, target);
  else
    cuv_json_string_member (json, "type", "missing");
  add_value (json, "value", value);
  cuv_json_end_object (json);
}

gchar *
cuv_control_text_controls (
    const CuvControls *self, CuvControlTarget **targets, const GValue *values)
{
  CuvJson json;

  cuv_control_text_begin (&json, "controls");
  cuv_json_key (&json, "can_save");
  cuv_json_boolean (&json, self->settings_file != NULL);
  cuv_json_key (&json, "controls");
  cuv_json_begin_array (&json);
  for (guint i = 0; i < self->n; i++)
    add_control (&json, &self->list[i], targets[i], &values[i]);
  cuv_json_end_array (&json);
  return cuv_control_text_end (&json);
}

gchar *
cuv_control_text_values (const CuvControls *self, const GValue *values)
{
  CuvJson json;
  guint n = 0;

  cuv_control_text_begin (&json, "values");
  cuv_json_key (&json, "values");
  cuv_json_begin_object (&json);
  for (guint i = 0; i < self->n; i++) {
    n += G_IS_VALUE (&values[i]);
    add_value (&json, self->list[i].name, &values[i]);
  }
  cuv_json_end_object (&json);
  if (n > 0)
    return cuv_control_text_end (&json);
  cuv_json_clear (&json);
  return NULL;
}
