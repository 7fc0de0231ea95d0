/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads groups and keys of the configuration file. The functions named
 * key_read_... leave *value as it is if the group lacks the key. Those that can
 * fail return FALSE with an error that names group and key if its value is
 * invalid. */
#ifndef FARM_KEY_FILE_H
#define FARM_KEY_FILE_H

#include <glib.h>

typedef struct {
  GKeyFile *file;
  const gchar *group;
} KeyGroup;

/* Loads a file in UTF-8 in which a backslash at the end continues a line and
 * each group appears once. Returns NULL with an error. */
GKeyFile *key_file_load (const gchar *path, GError **error);

/* Sets the error. Returns FALSE. */
gboolean key_fail (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Refuses keys of the group that are not among the known ones. */
gboolean key_check_names (
    const KeyGroup *self, const gchar *const *known, GError **error);

/* Reads the value as it stands, without GKeyFile's escapes, because a
 * gst-launch line has backslashes of its own. An empty value is read as
 * NULL. */
void key_read_text (const KeyGroup *self, const gchar *key, gchar **value);
/* Reads a whole number, 0 .. most. */
gboolean key_read_count (const KeyGroup *self, const gchar *key, guint most,
    guint *value, GError **error);
/* Reads a time. least, most: limits in seconds; *value is set in
 * microseconds. */
gboolean key_read_seconds (const KeyGroup *self, const gchar *key,
    gdouble least, gdouble most, gint64 *value, GError **error);
gboolean key_read_boolean (
    const KeyGroup *self, const gchar *key, gboolean *value, GError **error);
/* Reads the file that KEY-file names, or the environment variable that KEY-env
 * names. */
gboolean key_read_secret (
    const KeyGroup *self, const gchar *key, gchar **value, GError **error);

#endif
