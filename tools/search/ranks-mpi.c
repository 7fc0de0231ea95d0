/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ranks of an MPI program. */
#include "search-tool.h"

#include <mpi.h>

/* Prepares a process that no launcher started. Open MPI 4 would start its
 * daemon for it, which needs programs that may not be installed, and create a
 * folder in /tmp, where two processes that start or end at the same time can
 * fail. */
static void
prepare_single_rank (void)
{
  if (g_getenv ("PMIX_RANK") != NULL || g_getenv ("PMI_RANK") != NULL)
    return; /* PMI_RANK is set by srun */
  g_setenv ("OMPI_MCA_ess_singleton_isolated", "1", FALSE);
  g_setenv ("OMPI_MCA_orte_create_session_dirs", "0", FALSE);
}

gboolean
ranks_init (int *argc, char ***argv)
{
  MPI_Comm local;
  int provided;

  prepare_single_rank ();
  MPI_Init_thread (argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank (MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size (MPI_COMM_WORLD, &ranks.size);
  MPI_Comm_split_type (
      MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  MPI_Comm_rank (local, &ranks.i_local);
  MPI_Comm_size (local, &ranks.n_local);
  MPI_Comm_free (&local);
  return TRUE;
}

void
ranks_finish (void)
{
  MPI_Finalize ();
}

/* ---- bytes ---- */

enum { CHUNK = 1 << 30 }; /* counts of MPI are int */

void
ranks_broadcast (gpointer bytes, gsize size, gint from)
{
  for (gsize done = 0; done < size; done += CHUNK)
    MPI_Bcast ((guint8 *) bytes + done, (int) MIN (size - done, CHUNK),
        MPI_BYTE, from, MPI_COMM_WORLD);
}

/* MPI_Bcast() would keep a core busy until the root calls it. This function
 * sleeps between checks, for 1 % of the time waited so far but at most 1 ms. */
void
ranks_await (gpointer bytes, gsize size)
{
  const gint64 start = g_get_monotonic_time ();
  MPI_Request request;
  gint64 waited;
  int done = 0;

  MPI_Ibcast (bytes, (int) size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  for (;;) {
    MPI_Test (&request, &done, MPI_STATUS_IGNORE);
    if (done)
      return;
    waited = g_get_monotonic_time () - start;
    if (waited > 1000)
      g_usleep ((gulong) MIN (waited / 100, 1000));
  }
}

static int *
offsets_of (const int *sizes, gsize *total)
{
  int *offsets = g_new (int, ranks.size);

  *total = 0;
  for (gint i = 0; i < ranks.size; i++) {
    offsets[i] = (int) *total;
    *total += (gsize) sizes[i];
  }
  if (*total <= G_MAXINT)
    return offsets;
  g_printerr ("cuvision-search: the ranks' results take %" G_GSIZE_FORMAT
              " bytes, more than MPI can gather: lower --k\n",
      *total);
  MPI_Abort (MPI_COMM_WORLD, 1);
  return offsets;
}

GByteArray *
ranks_gather (gconstpointer bytes, gsize size)
{
  const gboolean is_root = ranks_is_root ();
  const int n = (int) size;
  GByteArray *all = is_root ? g_byte_array_new () : NULL;
  int *sizes = is_root ? g_new (int, ranks.size) : NULL, *offsets = NULL;
  gsize total = 0;

  MPI_Gather (&n, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is_root) {
    offsets = offsets_of (sizes, &total);
    g_byte_array_set_size (all, (guint) total);
  }
  MPI_Gatherv (bytes, n, MPI_BYTE, is_root ? all->data : NULL, sizes, offsets,
      MPI_BYTE, 0, MPI_COMM_WORLD);
  g_free (offsets);
  g_free (sizes);
  return all;
}

gdouble
ranks_max (gdouble value)
{
  gdouble max = value;

  MPI_Reduce (&value, &max, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return max;
}

gint
ranks_min (gint value)
{
  int min = value;

  MPI_Allreduce (&value, &min, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return min;
}

void
ranks_wait_for_all (void)
{
  MPI_Barrier (MPI_COMM_WORLD);
}
