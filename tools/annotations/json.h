/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads members of JSON objects that may be absent or of any type. */
#ifndef CUV_ANNOTATIONS_JSON_H
#define CUV_ANNOTATIONS_JSON_H

#include "annotations.h"
#include "cuvjsonreader.h"

/* Returns the node's object, NULL if node is NULL or not an object. */
JsonObject *cuv_json_object (JsonNode *node);

/* Return a member, or NULL or `otherwise` if the object has no member of that
 * name and type. */
JsonArray *cuv_json_array (JsonObject *object, const gchar *member);
const gchar *cuv_json_text (JsonObject *object, const gchar *member);
gint64 cuv_json_integer (
    JsonObject *object, const gchar *member, gint64 otherwise);

/* Reads an array. Returns FALSE if the member is not an array of n numbers. */
gboolean cuv_json_numbers (
    JsonObject *object, const gchar *member, gdouble *numbers, guint n);

/* Reads a number. Returns FALSE if the member is not one. */
gboolean cuv_json_number (
    JsonObject *object, const gchar *member, gdouble *number);

/* Reads an array of two numbers. Returns FALSE if it is not one. */
gboolean cuv_json_point (JsonNode *node, gdouble *x, gdouble *y);

/* Sets the picture's size from two members, if the object has them. */
void cuv_json_size (JsonObject *object, const gchar *width, const gchar *height,
    CuvAnnotated *picture);

#endif
