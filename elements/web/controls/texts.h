/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What clients are sent, as JSON texts to be freed:
 *
 *   {"type": "controls", "controls": [...], "can_save": true}   all of them,
 * with their values
 *   {"type": "values", "values": {"detect.min-neighbors": 4}}   that changed
 *   {"type": "done", "id": 1, "control": ..., "value": ...}   value in force,
 * or what the signal returned
 *   {"type": "refused", "id": 1, "control": ..., "reason": ...}
 *   {"type": "warning", "element": ..., "text": ...} */
#ifndef CUV_CONTROL_TEXTS_H
#define CUV_CONTROL_TEXTS_H

#include "controls/controls-private.h"

G_BEGIN_DECLS

/* Begin and end a text of this type. */
void cuv_control_text_begin (CuvJson *json, const gchar *type);
gchar *cuv_control_text_end (CuvJson *json);

/* control: NULL, and value: unset, if there is none. */
gchar *cuv_control_text_done (
    gint64 id, const gchar *control, const GValue *value);
/* id: 0, and control: NULL, if the message did not have them. */
gchar *cuv_control_text_refused (
    gint64 id, const gchar *control, const gchar *reason);
gchar *cuv_control_text_warning (const gchar *element, const gchar *text);

/* values: of each control; unset if there is none. */
gchar *cuv_control_text_controls (
    const CuvControls *self, CuvControlTarget **targets, const GValue *values);
/* Returns NULL if no value is set. */
gchar *cuv_control_text_values (const CuvControls *self, const GValue *values);

G_END_DECLS

#endif
