/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only rank, in a build without MPI. */
#include "search-tool.h"

/* Refuses to run under mpirun: each process would search all entries and print
 * all results. */
gboolean
ranks_init (int *argc, char ***argv)
{
  static const gchar *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gchar *size = g_getenv (sizes[i]);

    if (size == NULL || g_ascii_strtoll (size, NULL, 10) <= 1)
      continue;
    g_printerr ("cuvision-search: built without MPI, but started as %s "
                "processes: start it without mpirun, or install libopenmpi-dev "
                "and rebuild it\n",
        size);
    return FALSE;
  }
  return TRUE;
}

void
ranks_finish (void)
{
}

void
ranks_broadcast (gpointer bytes, gsize size, gint from)
{
}

void
ranks_await (gpointer bytes, gsize size)
{
}

GByteArray *
ranks_gather (gconstpointer bytes, gsize size)
{
  return g_byte_array_append (
      g_byte_array_new (), size > 0 ? bytes : "", (guint) size);
}

gdouble
ranks_max (gdouble value)
{
  return value;
}

gint
ranks_min (gint value)
{
  return value;
}

void
ranks_wait_for_all (void)
{
}
