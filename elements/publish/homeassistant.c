/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "homeassistant.h"

#include <string.h>

/* Characters of an id before its checksum. */
#define MAX_READABLE 80
#define CHECKSUM_DIGITS 12

/* ---- ids ---- */

/* Returns an id of letters, digits, _ and - only, which is all that a discovery
 * topic may contain: the readable part of an id, and a checksum of the topic
 * that identifies what it stands for, as names may differ in other characters
 * only. */
static gchar *
make_id (const gchar *topic, const gchar *const *parts)
{
  GString *id = g_string_new ("cuvision");
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);

  g_checksum_update (checksum, (const guchar *) topic, -1);
  for (; *parts != NULL; parts++) {
    g_checksum_update (checksum, (const guchar *) "", 1);
    g_checksum_update (checksum, (const guchar *) *parts, -1);
    g_string_append_c (id, '_');
    for (const gchar *p = *parts; *p != '\0'; p++)
      g_string_append_c (id, g_ascii_isalnum (*p) || *p == '-' ? *p : '_');
  }
  g_string_truncate (id, MIN (id->len, MAX_READABLE));
  g_string_append_printf (
      id, "_%.*s", CHECKSUM_DIGITS, g_checksum_get_string (checksum));
  g_checksum_free (checksum);
  return g_string_free (id, FALSE);
}

static gchar *
device_id (const CuvSensor *self)
{
  const gchar *const parts[] = { self->source, NULL };

  return make_id (self->status_topic, parts);
}

static gchar *
sensor_id (const CuvSensor *self)
{
  const gchar *const parts[] = { self->source, self->row, self->member, NULL };

  return make_id (self->state_topic, parts);
}

gchar *
cuv_sensor_topic (const CuvSensor *self)
{
  gchar *id = sensor_id (self);
  gchar *topic = g_strdup_printf ("%s/sensor/%s/config", self->prefix, id);

  g_free (id);
  return topic;
}

/* ---- the message ---- */

/* Like string_member(), but frees the value. */
static void
take_member (CuvJson *json, const gchar *key, gchar *value)
{
  cuv_json_string_member (json, key, value);
  g_free (value);
}

static void
append_origin (CuvJson *json)
{
  cuv_json_key (json, "origin");
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "name", "gst-cuvision");
  cuv_json_string_member (json, "sw_version", VERSION);
  cuv_json_end_object (json);
}

static void
append_device (CuvJson *json, const CuvSensor *self)
{
  cuv_json_key (json, "device");
  cuv_json_begin_object (json);
  take_member (json, "identifiers", device_id (self));
  cuv_json_string_member (json, "manufacturer", "gst-cuvision");
  cuv_json_string_member (json, "model", "visionpublish");
  cuv_json_string_member (json, "name", self->source);
  cuv_json_string_member (json, "sw_version", VERSION);
  cuv_json_end_object (json);
}

/* Returns a template that reads the member, whatever its name is. */
static gchar *
value_template (const gchar *member)
{
  GString *text = g_string_new ("{{ value_json['");

  for (; *member != '\0'; member++) {
    if (*member == '\'' || *member == '\\')
      g_string_append_c (text, '\\');
    g_string_append_c (text, *member);
  }
  g_string_append (text, "'] }}");
  return g_string_free (text, FALSE);
}

static gchar *
sensor_name (const CuvSensor *self)
{
  return g_strconcat (
      self->row, *self->row != '\0' ? " " : "", self->member, NULL);
}

void
cuv_sensor_to_json (CuvJson *json, const CuvSensor *self)
{
  cuv_json_begin_object (json);
  cuv_json_string_member (json, "availability_topic", self->status_topic);
  cuv_json_string_member (json, "availability_template",
      "{{ 'online' if value_json.status == 'online' else 'offline' }}");
  append_device (json, self);
  take_member (json, "name", sensor_name (self));
  append_origin (json);
  cuv_json_string_member (
      json, "state_class", self->counter ? "total_increasing" : "measurement");
  cuv_json_string_member (json, "state_topic", self->state_topic);
  take_member (json, "unique_id", sensor_id (self));
  if (self->unit != NULL)
    cuv_json_string_member (json, "unit_of_measurement", self->unit);
  take_member (json, "value_template", value_template (self->member));
  cuv_json_end_object (json);
}
