/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of a property or argument as JSON, checked by its GParamSpec: numbers,
 * texts, booleans, enumerations as nicks, flags as lists of nicks. */
#ifndef CUV_CONTROL_VALUE_H
#define CUV_CONTROL_VALUE_H

#include "record/json.h"

G_BEGIN_DECLS

/* Returns "integer", "number", "boolean", "text", "choice" or "flags"; NULL for
 * other types, which are not supported. */
const gchar *cuv_control_type (const GParamSpec *spec);

/* Reads a value of the property's type and range. value: zero-filled. Returns
 * NULL, or what was expected, to be freed; value is then not set. */
gchar *cuv_control_value_parse (
    GParamSpec *spec, JsonNode *node, GValue *value);

/* Writes a value of the property's type. */
void cuv_control_value_write (CuvJson *json, const GValue *value);

/* Whether both are the same, for a property. */
gboolean cuv_control_value_equal (
    GParamSpec *spec, const GValue *a, const GValue *b);

/* Adds to the open object: "type", and "minimum", "maximum" and "choices" where
 * the type has them. */
void cuv_control_type_write (CuvJson *json, const GParamSpec *spec);

G_END_DECLS

#endif
