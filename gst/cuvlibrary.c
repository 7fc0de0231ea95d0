/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvlibrary.h"

#include <gmodule.h>

static gboolean
find_symbols (
    GModule *module, const CuvSymbol *symbols, gsize n, GError **error)
{
  for (gsize i = 0; i < n; i++) {
    if (!g_module_symbol (module, symbols[i].name, symbols[i].pointer)) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
          "%s lacks %s: install a newer version", g_module_name (module),
          symbols[i].name);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
cuv_library_open (const gchar *file, const gchar *package,
    const CuvSymbol *symbols, gsize n, GError **error)
{
  GModule *module = g_module_open (file, G_MODULE_BIND_LOCAL);

  if (module == NULL) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "%s; install the package %s", g_module_error (), package);
    return FALSE;
  }
  /* keeps it open: such libraries have threads and exit handlers */
  g_module_make_resident (module);
  return find_symbols (module, symbols, n, error);
}
