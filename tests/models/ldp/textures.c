/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns as a program, for comparisons with other
 * implementations.
 *
 *   textures describe ORDER BLOCK GRID DIRECTIONS merged|apart valid|replicate
 *       256|uniform|LEVELS WIDTH HEIGHT PICTURE.pgm
 *       writes the histograms of the picture resized to WIDTH x HEIGHT, 32 bits
 *       per count
 *   textures similarity ORDER GRID PICTURE.pgm ...
 *       prints the similarities of all pairs, a line for each picture
 *   textures match ORDER GRID N PICTURE.pgm ...
 *       prints the similarities of the first N pictures with all others, a
 *       line for each of them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuvcheck.h"
#include "cpu/ldp-cpu.h"

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "textures: %s\n", what);
  exit (1);
}

/* Reads a binary 8-bit PGM; free() the pixels. */
static CuvFrame
read_picture (const char *path)
{
  CuvFrame frame = { .model = CUV_MODEL_GREY, .n_components = 1 };
  uint8_t *pixels = cuv_check_read_pgm (path, &frame.width, &frame.height);

  if (pixels == NULL)
    die (path);
  frame.component[0] = (CuvComponent){ pixels, frame.width, 1, 0, 0 };
  return frame;
}

/* Returns the counts of a picture; free() them. */
static uint32_t *
describe (const CuvLdpLayout *layout, const char *path)
{
  const CuvFrame frame = read_picture (path);
  const CuvLdpRect rect = { 0, 0, frame.width, frame.height };
  const size_t n = cuv_ldp_n_counts (layout);
  CuvLdpCpu *cpu = cuv_ldp_cpu_new (layout);
  uint32_t *counts = malloc (n * sizeof *counts);
  const void *made = cuv_ldp_cpu_run (cpu, &frame, &rect, 0);

  for (size_t i = 0; i < n; i++)
    counts[i] = cuv_ldp_count_size (layout) == 4 ? ((const uint32_t *) made)[i]
                                                 : ((const uint16_t *) made)[i];
  cuv_ldp_cpu_free (cpu);
  free (frame.component[0].data);
  return counts;
}

static void
set_layout (
    CuvLdpLayout *layout, const CuvLdpParams *params, int width, int height)
{
  const char *wrong = cuv_ldp_layout_init (layout, params, width, height);

  if (wrong != NULL)
    die (wrong);
}

static void
write_counts (char **args)
{
  const char *bins = args[6];
  CuvLdpParams params = { .order = atoi (args[0]),
    .block = atoi (args[1]),
    .grid = atoi (args[2]),
    .directions = atoi (args[3]),
    .is_merged = strcmp (args[4], "merged") == 0,
    .border =
        strcmp (args[5], "replicate") == 0 ? CUV_LDP_REPLICATE : CUV_LDP_VALID,
    .bins = strcmp (bins, "256") == 0   ? CUV_LDP_BINS_256
        : strcmp (bins, "uniform") == 0 ? CUV_LDP_BINS_UNIFORM
                                        : CUV_LDP_BINS_LEVELS,
    .levels = atoi (bins) };
  CuvLdpLayout layout;
  uint32_t *counts;
  size_t n;

  set_layout (&layout, &params, atoi (args[7]), atoi (args[8]));
  counts = describe (&layout, args[9]);
  n = cuv_ldp_n_counts (&layout);
  if (fwrite (counts, sizeof *counts, n, stdout) != n)
    die ("cannot write");
  free (counts);
}

/* Prints the similarities of the first n_rows pictures with those from first
 * on. All must have the size of the first. */
static void
print_similarity (char **args, int n_rows, int first, int n, char **paths)
{
  const CuvLdpParams params = {
    .order = atoi (args[0]), .grid = atoi (args[1]), .directions = 15
  };
  CuvFrame frame = read_picture (paths[0]);
  uint32_t **counts = malloc ((size_t) n * sizeof *counts);
  CuvLdpLayout layout;

  set_layout (&layout, &params, frame.width, frame.height);
  free (frame.component[0].data);
  for (int i = 0; i < n; i++)
    counts[i] = describe (&layout, paths[i]);
  for (int i = 0; i < n_rows; i++) {
    for (int j = first; j < n; j++)
      printf (
          "%.9f ", cuv_ldp_similarity (&layout, counts[i], &layout, counts[j]));
    printf ("\n");
  }
  for (int i = 0; i < n; i++)
    free (counts[i]);
  free (counts);
}

int
main (int argc, char **argv)
{
  if (argc == 12 && strcmp (argv[1], "describe") == 0)
    write_counts (argv + 2);
  else if (argc > 4 && strcmp (argv[1], "similarity") == 0)
    print_similarity (argv + 2, argc - 4, 0, argc - 4, argv + 4);
  else if (argc > 5 && strcmp (argv[1], "match") == 0)
    print_similarity (
        argv + 2, atoi (argv[4]), atoi (argv[4]), argc - 5, argv + 5);
  else
    die ("usage: see textures.c");
  return 0;
}
