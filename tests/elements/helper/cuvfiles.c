/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of tests: pictures, an index, temporary folders. */
#include "config.h"
#include "cuvelements.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "index/ldpindex.h"

enum { SIZE = 16 };

static gchar *index_path, *temp_folder;

gchar *
cuv_test_file (const gchar *name)
{
  const gchar *folder = g_getenv ("CUV_TEST_DATA");
  gchar *path = g_build_filename (
      folder ? folder : "/usr/share/doc/opencv-doc/examples/data", name, NULL);

  fail_unless (g_file_test (path, G_FILE_TEST_EXISTS),
      "no such file: %s; scripts/setup.sh installs opencv-doc; "
      "set CUV_TEST_DATA to use another folder",
      path);
  return path;
}

static void
remove_index (void)
{
  g_unlink (index_path);
  g_free (index_path);
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
  writer = cuv_ldp_index_writer_open (index_path, &info, false, &error);
  fail_unless (writer != NULL
          && cuv_ldp_index_writer_append (writer, counts, "black", NULL, &error)
          && cuv_ldp_index_writer_close (writer, &error),
      "%s", error);
}

const gchar *
cuv_index_path (void)
{
  if (index_path == NULL) {
    index_path =
        g_strdup_printf ("%s/cuv-%d.ldp", g_get_tmp_dir (), (gint) getpid ());
    write_index ();
    atexit (remove_index);
  }
  return index_path;
}

static gchar *output_path;

static void
remove_output (void)
{
  g_remove (output_path);
  g_free (output_path);
}

const gchar *
cuv_output_path (void)
{
  if (output_path == NULL) {
    output_path =
        g_strdup_printf ("%s/cuv-%d.xml", g_get_tmp_dir (), (gint) getpid ());
    atexit (remove_output);
  }
  return output_path;
}

/* ---- a folder ---- */

void
cuv_folder_enter (void)
{
  temp_folder = g_dir_make_tmp ("cuv-XXXXXX", NULL);
  fail_unless (temp_folder != NULL && g_chdir (temp_folder) == 0);
}

void
cuv_folder_leave (void)
{
  GDir *dir = g_dir_open (".", 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    g_remove (name);
  g_dir_close (dir);
  fail_unless (g_chdir ("/") == 0 && g_rmdir (temp_folder) == 0);
  g_clear_pointer (&temp_folder, g_free);
}
