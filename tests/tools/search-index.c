/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes index files of random histograms that describe no pictures and have no
 * thumbnails: search-index GRID SIZE ENTRIES SEED FILE...
 *
 * The entries, called 0, 1, ..., are dealt out to the files in consecutive runs
 * of equal length. One in eight repeats an earlier one, so that queries have
 * ties in different parts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "index/ldpindex.h"

static uint64_t state;

/* splitmix64 */
static uint64_t
next_random (void)
{
  uint64_t x = state += 0x9e3779b97f4a7c15;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* Most codes are in a few bins, as in pictures. The first bin gets the
 * remaining ones. */
static void
fill_histogram (uint32_t *counts, int n_bins, uint32_t total)
{
  uint32_t left = total;

  memset (counts, 0, (size_t) n_bins * sizeof *counts);
  for (int i = 1; i < n_bins && left > 0; i++) {
    const uint64_t bits = next_random ();
    const uint32_t most = total / 64 >> (bits >> 32) % 6;
    const uint32_t count = (uint32_t) bits % (most + 1);

    counts[i] = count < left ? count : left;
    left -= counts[i];
  }
  counts[0] += left;
}

static void
fill_entry (const CuvLdpLayout *layout, uint64_t seed, uint32_t *counts)
{
  state = seed;
  for (int i = 0; i < layout->columns * layout->rows; i++) {
    const uint32_t total =
        cuv_ldp_total (layout, i % layout->columns, i / layout->columns);

    for (int h = 0; h < layout->n_histograms; h++, counts += layout->n_bins)
      fill_histogram (counts, layout->n_bins, total);
  }
}

static void
fail (const char *problem)
{
  fprintf (stderr, "search-index: %s\n", problem);
  exit (1);
}

/* Writes entries first .. end - 1. */
static void
write_file (const char *path, const CuvLdpIndexInfo *info, uint64_t first,
    uint64_t end, uint64_t seed)
{
  uint32_t *counts = malloc (cuv_ldp_n_counts (&info->layout) * sizeof *counts);
  char *problem, name[30];
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, info, false, &problem);

  if (writer == NULL)
    fail (problem);
  for (uint64_t i = first; i < end; i++) {
    state = seed + i * 1000003;
    fill_entry (&info->layout,
        seed + (next_random () % 8 == 0 ? next_random () % (i + 1) : i) * 77777,
        counts);
    snprintf (name, sizeof name, "%" PRIu64, i);
    if (!cuv_ldp_index_writer_append (writer, counts, name, NULL, &problem))
      fail (problem);
  }
  if (!cuv_ldp_index_writer_close (writer, &problem))
    fail (problem);
  free (counts);
}

int
main (int argc, char **argv)
{
  CuvLdpParams params = { .order = 3, .directions = 15 };
  CuvLdpIndexInfo info;
  const char *problem;
  uint64_t n, seed;

  if (argc < 6)
    fail ("usage: search-index GRID SIZE ENTRIES SEED FILE...");
  params.grid = atoi (argv[1]);
  n = strtoull (argv[3], NULL, 10);
  seed = strtoull (argv[4], NULL, 10);
  problem = cuv_ldp_index_info_init (
      &info, &params, atoi (argv[2]), atoi (argv[2]), 0, 0);
  if (problem != NULL)
    fail (problem);
  for (int i = 5; i < argc; i++) {
    const uint64_t n_files = (uint64_t) argc - 5, file = (uint64_t) i - 5;

    write_file (
        argv[i], &info, n * file / n_files, n * (file + 1) / n_files, seed);
  }
  return 0;
}
