/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one way to read JSON that others wrote. json-glib recurses without a
 * limit of depth, takes about 100 bytes of memory for a value of two bytes, and
 * wraps large integers around; so the text is checked before it is parsed. */
#ifndef CUV_JSON_READER_H
#define CUV_JSON_READER_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_JSON_MAX_DEPTH 64
#define CUV_JSON_MAX_VALUES (1 << 20)
#define CUV_JSON_MAX_BYTES (16 << 20) /* of a file */

/* An object node, or NULL and the reason: the text is nested more than
 * CUV_JSON_MAX_DEPTH deep, has more than max_values values, a number that
 * neither gint64 nor gdouble can hold, is not UTF-8, not JSON (comments and
 * single quotes are not), or not an object. */
JsonNode *cuv_json_parse_object (
    const gchar *text, gsize max_values, GError **error);

/* The same of a regular file with at most max_bytes. */
JsonNode *cuv_json_load_object (
    const gchar *path, gsize max_bytes, gsize max_values, GError **error);

G_END_DECLS

#endif
