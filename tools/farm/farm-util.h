/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all files of cuvision-farm use: valid names, time, the log, JSON values
 * that other programs wrote, and hiding passwords. */
#ifndef FARM_UTIL_H
#define FARM_UTIL_H

#include <json-glib/json-glib.h>

/* Whether the text is a valid name of a camera or worker: 1 to 200 letters,
 * digits, '_', '-', '=' and, except at the ends or twice in a row, '.'. */
gboolean farm_is_name (const gchar *text);
#define FARM_NAME_RULE                                                         \
  "at most 200 letters, digits, _, -, =, and single dots between them"

/* Returns the microseconds since the machine was started, including time in
 * suspension, in which leases run out as well. */
gint64 farm_now (void);

/* Prints a line to stderr. */
void farm_log (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* Returns a member's text, or `otherwise` if the member is missing or has
 * another type. */
const gchar *farm_member (
    JsonObject *object, const gchar *name, const gchar *otherwise);

/* Returns a member's whole number, or `otherwise`. */
gint64 farm_int_member (
    JsonObject *object, const gchar *name, gint64 otherwise);

/* Parses a JSON object. Refuses text above 64 KiB or with too many or too
 * deeply nested values: otherwise whoever may write to a bucket could crash all
 * workers.
 */
JsonObject *farm_parse_object (const gchar *text, GError **error);

/* Returns the text with "***" in place of what is between "://" and "@" of
 * URIs. */
gchar *farm_redact (const gchar *text);

#endif
