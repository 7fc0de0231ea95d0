/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A message of a page: what to do, and with what.
 *
 *   {"type": "set", "id": 1, "control": "detect.min-neighbors", "value": 4}
 *   {"type": "call", "id": 2, "control": "track.set-target",
 *     "arguments": [10, 20, 30, 40]}
 *   {"type": "save", "id": 3}
 *   {"type": "line", "id": 4}
 *
 * A value is a number, text, a boolean, or a list of texts for flags. The other
 * types are for ../teach/teach.h: docs/visionwebsink.md has them all. */
#ifndef CUV_CONTROL_MESSAGE_H
#define CUV_CONTROL_MESSAGE_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_CONTROL_MAX_VALUES 64 /* in a list */

typedef enum {
  CUV_CONTROL_SET,
  CUV_CONTROL_CALL,
  CUV_CONTROL_SAVE, /* write the values of controls to settings-file */
  CUV_CONTROL_LINE, /* send the pipeline as text */
  /* of teach */
  CUV_CONTROL_KEEP,
  CUV_CONTROL_HOLD,
  CUV_CONTROL_FORGET,
  CUV_CONTROL_TRAIN,
  CUV_CONTROL_STOP,
  CUV_CONTROL_USE,
} CuvControlAction;

typedef struct {
  CuvControlAction action;
  gint64 id;            /* from 1 on; 0: unknown, in a refused message */
  const gchar *control; /* "element.property" or "element.signal", or NULL */
  JsonNode *value;      /* the member that the action has: any value; arguments:
                         * an array; example: an object; frame, count: a whole
                         * number; label: text; NULL if it has none */
  JsonNode *root;       /* what the pointers point into */
} CuvControlMessage;

/* Parses a message that is not trusted. Returns NULL, or why it is refused, to
 * be freed; then only id is valid, and 0 if unknown. Call
 * cuv_control_message_clear() in either case. */
gchar *cuv_control_message_parse (
    CuvControlMessage *self, const gchar *data, gsize size);

void cuv_control_message_clear (CuvControlMessage *self);

/* Whether this can be the value of a control. */
gboolean cuv_control_is_value (JsonNode *node);

G_END_DECLS

#endif
