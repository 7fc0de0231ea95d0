/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens libraries at run time, so that users install only those that they
 * need. */
#ifndef CUV_LIBRARY_H
#define CUV_LIBRARY_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  const gchar *name;
  gpointer *pointer; /* set to the function */
} CuvSymbol;

/* Opens a library, which stays open, and sets the n pointers. The error names
 * the library and its Debian package. */
gboolean cuv_library_open (const gchar *file, const gchar *package,
    const CuvSymbol *symbols, gsize n, GError **error);

G_END_DECLS

#endif
