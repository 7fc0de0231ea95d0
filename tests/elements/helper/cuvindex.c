/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvelements.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "index/ldpindex.h"

enum { SIZE = 16 };

static gchar *path;

static void
remove_index (void)
{
  g_unlink (path);
  g_free (path);
}

static void
write_index (void)
{
  static const guint8 black[SIZE * SIZE];
  const CuvLdpParams params = { .order = 2, .grid = 1, .directions = 1 };
  CuvLdpIndexInfo info;
  CuvLdpIndexWriter *writer = NULL;
  uint32_t counts[CUV_LDP_CODES];
  char *error = NULL;

  cuv_ldp_index_info_init (&info, &params, SIZE, SIZE, 2, 2);
  cuv_ldp_describe (&info.layout, black, counts);
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  fail_unless (writer != NULL
          && cuv_ldp_index_writer_append (writer, counts, "black", NULL, &error)
          && cuv_ldp_index_writer_close (writer, &error),
      "%s", error);
}

const gchar *
cuv_index_path (void)
{
  if (path == NULL) {
    path =
        g_strdup_printf ("%s/cuv-%d.ldp", g_get_tmp_dir (), (gint) getpid ());
    write_index ();
    atexit (remove_index);
  }
  return path;
}
