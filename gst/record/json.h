/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds JSON text value by value. Keys are sorted, text is always valid UTF-8,
 * numbers never depend on the locale, and what JSON cannot express (NaN,
 * infinity, unknown types, values nested more than CUV_JSON_MAX_DEPTH levels
 * deep) becomes null. */
#ifndef CUV_JSON_H
#define CUV_JSON_H

#include <gst/gst.h>
#include "cuvjsonreader.h"

G_BEGIN_DECLS

typedef struct {
  GString *text;
  GArray *members; /* members of all open objects */
  GArray *objects; /* open objects, innermost last */
  GString *sorted; /* scratch */
  guint depth;     /* depth of the value being written */
} CuvJson;

void cuv_json_init (CuvJson *self);
void cuv_json_clear (CuvJson *self);

/* Returns the text, to be freed by the caller, and leaves self empty. */
gchar *cuv_json_steal (CuvJson *self, gsize *size);

/* Between begin and end, write any number of members: a key, then one value. */
void cuv_json_begin_object (CuvJson *self);
void cuv_json_key (CuvJson *self, const gchar *name);
/* Reserves these names, a list that ends with NULL, in the open object for
 * cuv_json_key(). */
void cuv_json_reserve (CuvJson *self, const gchar *const *names);
/* Like cuv_json_key(), but uses name_2, name_3, ... if the open object has name
 * or reserves it. Returns that number, 1 for the name itself. */
guint cuv_json_new_key (CuvJson *self, const gchar *name);
void cuv_json_end_object (CuvJson *self);

/* Between begin and end, write any number of elements: next, then one value. */
void cuv_json_begin_array (CuvJson *self);
void cuv_json_next (CuvJson *self);
void cuv_json_end_array (CuvJson *self);

void cuv_json_null (CuvJson *self);
void cuv_json_boolean (CuvJson *self, gboolean value);
void cuv_json_int (CuvJson *self, gint64 value);
void cuv_json_uint (CuvJson *self, guint64 value);
/* Write the shortest text that reads back as the same double, or float. */
void cuv_json_double (CuvJson *self, gdouble value);
void cuv_json_float (CuvJson *self, gfloat value);
/* Writes a string; NULL is written as null. */
void cuv_json_string (CuvJson *self, const gchar *value);
/* Writes a key and a string. */
void cuv_json_string_member (
    CuvJson *self, const gchar *name, const gchar *value);
/* Writes bytes as base64. */
void cuv_json_bytes (CuvJson *self, gconstpointer data, gsize size);

/* Writes a value: numbers, strings, structures, arrays and lists as their JSON
 * counterparts, bytes as base64, enumerations as their nick; fractions and
 * other types that GStreamer can serialize become strings. */
void cuv_json_value (CuvJson *self, const GValue *value);
/* Adds the structure's fields to the open object. */
void cuv_json_fields (CuvJson *self, const GstStructure *structure);
void cuv_json_node (CuvJson *self, JsonNode *node);
/* Adds the members of an object node to the open object. */
void cuv_json_node_members (CuvJson *self, JsonNode *node);

G_END_DECLS

#endif
