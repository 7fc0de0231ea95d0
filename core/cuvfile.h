/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files that a user names: regular files only, since a FIFO may block and
 * a device may never end. */
#ifndef CUV_FILE_H
#define CUV_FILE_H

#include <glib.h>
#include "cuv-api.h"

CUV_BEGIN

/* Opens a file for reading. Sets *size to the file's size, unless it is NULL.
 * On failure returns -1 and sets *problem to the reason, a static text. */
CUV_API int cuv_file_open (
    const char *path, guint64 *size, const char **problem);

/* Reads a whole file of at most limit bytes, and adds a NUL; g_free() *bytes.
 * size may be NULL. A larger file is an error. Errors name the file. */
CUV_API gboolean cuv_file_read (
    const gchar *path, gsize limit, gchar **bytes, gsize *size, GError **error);

/* Whether cuv_file_open() succeeds; for files that libraries read themselves.
 */
CUV_API gboolean cuv_file_check (const gchar *path, GError **error);

/* Size limits for files whose format has none. */
#define CUV_FILE_MAX_SECRET (64 << 10) /* a password, a token */
#define CUV_FILE_MAX_TEXT (1 << 20)    /* settings, certificates, labels */

CUV_END

#endif
