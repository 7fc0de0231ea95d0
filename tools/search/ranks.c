/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of ranks that do not depend on MPI: this rank's number, and the
 * errors of all ranks. */
#include "search-tool.h"

#include <string.h>

Ranks ranks = { 0, 1, 1, 0 };

gboolean
ranks_is_root (void)
{
  return ranks.rank == 0;
}

void
ranks_print_error (const gchar *text)
{
  if (ranks_is_root ())
    g_printerr ("cuvision-search: %s\n", text);
}

/* Prefixes rank and machine if there are several ranks. */
static gchar *
signed_text (const gchar *text)
{
  if (text == NULL || ranks.size == 1)
    return g_strdup (text);
  return g_strdup_printf (
      "rank %d on %s: %s", ranks.rank, g_get_host_name (), text);
}

static void
print_all (gchar *text)
{
  gchar *own = signed_text (text);
  GByteArray *all = ranks_gather (own, own != NULL ? strlen (own) + 1 : 0);

  for (gsize at = 0; all != NULL && at < all->len;) {
    const gchar *next = (const gchar *) all->data + at;

    ranks_print_error (next);
    at += strlen (next) + 1;
  }
  g_clear_pointer (&all, g_byte_array_unref);
  g_free (own);
  g_free (text);
}

void
ranks_print (gchar *text)
{
  print_all (text);
}

gboolean
ranks_agree (gchar *problem)
{
  const gboolean ok = ranks_min (problem == NULL);

  if (!ok)
    print_all (problem);
  return ok;
}
