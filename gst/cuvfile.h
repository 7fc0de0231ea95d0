/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading files that a user names: regular ones only, since a FIFO blocks and a
 * device need not end. */
#ifndef CUV_FILE_H
#define CUV_FILE_H

#include <glib.h>
#include "cuv-api.h"

CUV_BEGIN

/* A descriptor for reading; *size, unless NULL, is the file's. Below 0 on
 * failure, with the reason, which is not freed. */
CUV_API int cuv_file_open (
    const char *path, guint64 *size, const char **problem);

/* The whole content, of at most limit bytes, and a NUL after it; g_free() it.
 * size may be NULL. Beyond the limit nothing is read. Errors name the file. */
CUV_API gboolean cuv_file_read (
    const gchar *path, gsize limit, gchar **bytes, gsize *size, GError **error);

/* Whether the file can be opened like that, for libraries that do it
 * themselves. */
CUV_API gboolean cuv_file_check (const gchar *path, GError **error);

/* Limits of files that no format bounds. */
#define CUV_FILE_MAX_SECRET (64 << 10) /* a password, a token */
#define CUV_FILE_MAX_TEXT (1 << 20)    /* settings, certificates, labels */

CUV_END

#endif
