/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of cuvision-farm that read or change the buckets and exit. */
#ifndef FARM_COMMANDS_H
#define FARM_COMMANDS_H

#include "store.h"

/* Commands print to stdout and return FALSE with an error on failure. value: a
 * JSON object, or "-" to read it from standard input. */
gboolean command_put (
    Store *store, const gchar *camera, const gchar *value, GError **error);
gboolean command_get (Store *store, const gchar *camera, GError **error);
gboolean command_remove (Store *store, const gchar *camera, GError **error);
/* Prints a table of cameras or, with `json`, a JSON array. */
gboolean command_list (Store *store, gboolean json, GError **error);

#endif
