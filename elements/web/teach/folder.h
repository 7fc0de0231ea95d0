/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in the folder that pictures are saved in. Names are relative to the
 * open folder; symbolic links in it are not followed when writing. Problems are
 * texts to be freed. */
#ifndef CUV_TEACH_FOLDER_H
#define CUV_TEACH_FOLDER_H

#include <glib.h>

G_BEGIN_DECLS

/* Opens the folder, which it creates if its parent exists, for this process
 * alone. Returns its file descriptor, or -1 and the problem. */
gint cuv_folder_open (const gchar *path, gchar **problem);

/* Makes sure that the folder has a folder of this name. Returns NULL or the
 * problem. */
gchar *cuv_folder_add (gint folder, const gchar *name);

/* Writes a new file; *exists says whether the problem is that it exists. */
gchar *cuv_folder_create (gint folder, const gchar *name, gconstpointer data,
    gsize size, gboolean *exists);
/* Writes a file in one step, instead of one that exists. */
gchar *cuv_folder_replace (
    gint folder, const gchar *name, gconstpointer data, gsize size);
/* Renames a file that a program has written. */
gchar *cuv_folder_rename (gint folder, const gchar *from, const gchar *to);
void cuv_folder_remove (gint folder, const gchar *name);
/* Removes a folder in it with its files. */
void cuv_folder_remove_all (gint folder, const gchar *name);

/* Whether the folder has anything of this name; a folder. */
gboolean cuv_folder_has (gint folder, const gchar *name);
gboolean cuv_folder_is_folder (gint folder, const gchar *name);

/* Returns the size of a regular file, or -1. */
gint64 cuv_folder_size (gint folder, const gchar *name);
/* Reads a regular file of at most max bytes. Returns NULL if there is none. */
GBytes *cuv_folder_read (gint folder, const gchar *name, gsize max);

G_END_DECLS

#endif
