/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses a file with values of controls:
 *
 *   {"visionwebsink": 1, "values": {"detect.min-neighbors": 4}} */
#ifndef CUV_CONTROL_SETTINGS_FORMAT_H
#define CUV_CONTROL_SETTINGS_FORMAT_H

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define CUV_CONTROL_SETTINGS_VERSION 1

/* Parses a text that is not trusted and ends with a zero byte. Returns the
 * object with the values, which are numbers, texts, booleans or lists of these.
 * Returns NULL and what is wrong, to be freed. */
JsonObject *cuv_control_settings_parse (
    const gchar *text, gsize size, gchar **problem);

G_END_DECLS

#endif
