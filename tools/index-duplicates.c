/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* duplicates: finds entries that look alike. */
#include "cpu/ldp-match.h"
#include "cuvision-index.h"

#include <stdio.h>

/* From this similarity on, two entries with the parameters of `add` show the
 * same picture: docs/accuracy.md. For other parameters it is not known. */
static const gdouble usual_similarity = 0.54;

static gdouble
choose_threshold (const CuvLdpIndex *index)
{
  if (option_similarity >= 0)
    return option_similarity;
  return has_add_defaults (&cuv_ldp_index_info (index)->layout)
      ? usual_similarity
      : 1;
}

/* Sets originals[i] to the first entry with equal histograms: i if no earlier
 * entry has the same. */

static void
find_equal (const CuvLdpIndex *index, guint64 *originals)
{
  const gsize size = cuv_ldp_index_info (index)->descriptor_size;
  GHashTable *seen = g_hash_table_new_full (
      g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

  for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++) {
    GBytes *bytes =
        g_bytes_new_static (cuv_ldp_index_descriptor (index, i), size);
    guint64 *first = g_hash_table_lookup (seen, bytes);

    if (first != NULL) {
      originals[i] = *first;
      g_bytes_unref (bytes);
    } else {
      g_hash_table_insert (seen, bytes, &originals[i]);
    }
  }
  g_hash_table_unref (seen);
}

/* Sets originals[i] to the most similar earlier entry, if any reaches the
 * threshold. Returns FALSE if out of memory. */
static gboolean
find_similar (const CuvLdpIndex *index, gdouble threshold, guint64 *originals)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const guint64 n = cuv_ldp_index_n_entries (index);
  CuvLdpMatcher *matcher = cuv_ldp_matcher_new (&info->layout);
  gdouble *similarities = g_try_new (gdouble, n + 1);
  gdouble *best = g_try_new (gdouble, n + 1); /* similarity to originals[i] */
  const gboolean ok = matcher != NULL && similarities != NULL && best != NULL;

  for (guint64 i = 0; ok && i < n; i++)
    best[i] = originals[i] == i ? threshold : 1;
  for (guint64 i = 0; ok && i + 1 < n; i++) {
    const CuvLdpPackedQuery query = { cuv_ldp_index_descriptor (index, i),
      similarities, false };

    if (originals[i] != i)
      continue;
    cuv_ldp_matcher_run (matcher, &query, 1,
        cuv_ldp_index_descriptor (index, 0), info->stride, i + 1, n, 0);
    for (guint64 k = i + 1; k < n; k++) {
      if (similarities[k] > best[k]
          || (originals[k] == k && similarities[k] >= threshold)) {
        originals[k] = i;
        best[k] = similarities[k];
      }
    }
  }
  g_free (similarities);
  g_free (best);
  cuv_ldp_matcher_free (matcher);
  return ok;
}

static void
print_duplicates (const CuvLdpIndex *index, const guint64 *originals)
{
  for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++) {
    if (originals[i] != i)
      printf ("%" G_GUINT64_FORMAT "\t%s\t%" G_GUINT64_FORMAT "\t%s\n", i,
          entry_name (index, i), originals[i],
          entry_name (index, originals[i]));
  }
}

gboolean
command_duplicates (gchar **arguments)
{
  char *problem;
  CuvLdpIndex *index = cuv_ldp_index_open (arguments[0], &problem);
  guint64 n, *originals;
  gboolean ok = TRUE;
  gdouble threshold;

  if (index == NULL)
    return print_error (problem);
  n = cuv_ldp_index_n_entries (index);
  originals = g_new (guint64, n + 1);
  for (guint64 i = 0; i < n; i++)
    originals[i] = i;
  find_equal (index, originals);
  threshold = choose_threshold (index);
  if (threshold < 1)
    ok = find_similar (index, threshold, originals) || print_error (NULL);
  if (ok)
    print_duplicates (index, originals);
  g_free (originals);
  cuv_ldp_index_free (index);
  return ok;
}
