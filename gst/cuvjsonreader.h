/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads JSON that is not trusted. json-glib recurses without a depth limit,
 * needs about 100 bytes of memory for a value of two bytes, and wraps large
 * integers around, so the text is checked before it is parsed. */
#ifndef CUV_JSON_READER_H
#define CUV_JSON_READER_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_JSON_MAX_DEPTH 64
#define CUV_JSON_MAX_VALUES (1 << 20)
#define CUV_JSON_MAX_BYTES (16 << 20) /* bytes of a file */

/* Returns an object node, or NULL and an error: the text is nested more than
 * CUV_JSON_MAX_DEPTH levels deep, has more than max_values values or a number
 * that neither gint64 nor gdouble can hold, or it is not UTF-8, not JSON (which
 * has no comments or single quotes), or not an object. */
JsonNode *cuv_json_parse_object (
    const gchar *text, gsize max_values, GError **error);

/* Reads a regular file of at most max_bytes, and calls
 * cuv_json_parse_object(). */
JsonNode *cuv_json_load_object (
    const gchar *path, gsize max_bytes, gsize max_values, GError **error);

G_END_DECLS

#endif
