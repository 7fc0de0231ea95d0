/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of Home Assistant's MQTT discovery: each describes one sensor, which
 * Home Assistant then shows.
 * https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery */
#ifndef CUV_HOME_ASSISTANT_H
#define CUV_HOME_ASSISTANT_H

#include "record/json.h"

G_BEGIN_DECLS

/* The topic below the prefix where Home Assistant says "online". */
#define CUV_HOME_ASSISTANT_BIRTH "status"

/* A number in a message with the state of a row: one sensor. Topics identify
 * it. */
typedef struct {
  const gchar *prefix;       /* of the topics that Home Assistant reads */
  const gchar *source;       /* name of the device, which has all sensors */
  const gchar *status_topic; /* {"status": "online"}: available */
  const gchar *state_topic;  /* a JSON object */
  const gchar *member;       /* the object's member with the number */
  const gchar *row;          /* name of the row; "": none */
  const gchar *unit;         /* NULL: none */
  gboolean counter;          /* only increases, or begins again at 0 */
} CuvSensor;

/* Returns the topic of the sensor's discovery message, to be freed. */
gchar *cuv_sensor_topic (const CuvSensor *self);

/* Writes the discovery message. */
void cuv_sensor_to_json (CuvJson *json, const CuvSensor *self);

G_END_DECLS

#endif
