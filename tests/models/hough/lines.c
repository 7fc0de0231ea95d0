/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector as a program, for comparisons with other implementations.
 *
 *   lines edges PICTURE.pgm blur|sharp l1|l2 LOW HIGH
 *       writes the edge map, one byte per pixel
 *   lines votes MAP.pgm THETAS
 *       writes the two sizes of the accumulator, and its cells of 32 bits
 *   lines peaks MAP.pgm THETAS THRESHOLD all|cross|square N
 *       prints a line for each peak: row, rho, votes
 *   lines lines MAP.pgm rho-theta|pclines DIRECTIONS THRESHOLD N
 *       prints a line for each peak: rho, theta in radians, votes
 *   lines time PICTURE.pgm canny|input METHOD THETAS WINDOW THREADS ROUNDS
 *       prints a line for each round: microseconds for edges, votes, peaks;
 *       then the numbers of edges and peaks, and the method
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reference/canny.h"
#include "cpu/hough-cpu.h"

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "lines: %s\n", what);
  exit (1);
}

/* Reads a binary 8-bit PGM without comments. */
static CuvFrame
read_picture (const char *path)
{
  FILE *file = fopen (path, "rb");
  CuvFrame frame = { .model = CUV_MODEL_GREY, .n_components = 1 };
  size_t n;

  if (file == NULL
      || fscanf (file, "P5 %d %d 255%*1[\n]", &frame.width, &frame.height) != 2)
    die (path);
  n = (size_t) frame.width * (size_t) frame.height;
  frame.component[0] = (CuvComponent){ malloc (n), frame.width, 1, 0, 0 };
  if (fread (frame.component[0].data, 1, n, file) != n)
    die (path);
  fclose (file);
  return frame;
}

static void
write_all (const void *data, size_t size, size_t n)
{
  if (fwrite (data, size, n, stdout) != n)
    die ("cannot write");
}

static void
find_edges (char **args)
{
  CuvFrame frame = read_picture (args[0]);
  CuvCannyParams params = { strcmp (args[1], "blur") == 0,
    strcmp (args[2], "l2") == 0 ? CUV_CANNY_L2 : CUV_CANNY_L1, atoi (args[3]),
    atoi (args[4]) };
  CuvCanny *canny = cuv_canny_new (frame.width, frame.height);

  cuv_canny_run (canny, &frame, &params);
  write_all (canny->edges, (size_t) frame.width, (size_t) frame.height);
  cuv_canny_free (canny);
  free (frame.component[0].data);
}

/* Votes for the edges of a map. */
static uint32_t *
vote (const char *path, CuvLineKind kind, const char *period,
    CuvHoughLayout *layout)
{
  CuvFrame map = read_picture (path);
  const uint8_t *data = map.component[0].data;
  size_t n =
      cuv_hough_list_edges (data, map.width, map.height, map.width, NULL);
  uint32_t *list = malloc ((n + 1) * sizeof *list), *votes;
  CuvHoughConfig config = { kind, map.width, map.height, atoi (period), 0, -90,
    90, 1, 90, 0 };

  cuv_hough_list_edges (data, map.width, map.height, map.width, list);
  if (cuv_hough_layout_init (layout, &config) != NULL)
    die (cuv_hough_layout_init (layout, &config));
  votes = malloc (cuv_hough_n_cells (layout) * sizeof *votes);
  cuv_hough_vote (layout, &(CuvEdgeList){ list, NULL, n }, votes);
  free (list);
  free (map.component[0].data);
  return votes;
}

static void
write_votes (char **args)
{
  CuvHoughLayout layout;
  uint32_t *votes = vote (args[0], CUV_LINES_RHO_THETA, args[1], &layout);
  int32_t sizes[2] = { layout.n_rows, layout.n_cells };

  write_all (sizes, sizeof sizes[0], 2);
  write_all (votes, sizeof *votes, cuv_hough_n_cells (&layout));
  cuv_hough_layout_clear (&layout);
  free (votes);
}

static void
print_peaks (char **args)
{
  CuvHoughLayout layout;
  uint32_t *votes = vote (args[0], CUV_LINES_RHO_THETA, args[1], &layout);
  CuvPeakParams params = { (uint32_t) atoi (args[2]),
    strcmp (args[3], "all") == 0         ? CUV_PEAKS_ALL
        : strcmp (args[3], "cross") == 0 ? CUV_PEAKS_CROSS
                                         : CUV_PEAKS_SQUARE,
    atoi (args[4]) };
  size_t room = cuv_hough_n_cells (&layout);
  CuvHoughPeak *peaks = malloc (room * sizeof *peaks);
  CuvPeakList list = { peaks, room, 0 };

  cuv_hough_peaks (&layout, votes, &params, &list);
  for (size_t i = 0; i < list.n; i++)
    printf ("%d %d %u\n", peaks[i].k, peaks[i].r, peaks[i].votes);
  free (peaks);
  cuv_hough_layout_clear (&layout);
  free (votes);
}

static void
print_lines (char **args)
{
  CuvHoughLayout layout;
  uint32_t *votes = vote (args[0],
      strcmp (args[1], "pclines") == 0 ? CUV_LINES_PCLINES
                                       : CUV_LINES_RHO_THETA,
      args[2], &layout);
  CuvPeakParams params = { (uint32_t) atoi (args[3]), CUV_PEAKS_SQUARE,
    atoi (args[4]) };
  CuvHoughPeak peaks[CUV_HOUGH_MAX_LINES];
  CuvPeakList list = { peaks, CUV_HOUGH_MAX_LINES, 0 };
  double rho, theta;

  cuv_hough_peaks (&layout, votes, &params, &list);
  for (size_t i = 0; i < list.n && i < list.max; i++) {
    cuv_hough_line (&layout, peaks[i].k, peaks[i].r, &rho, &theta);
    printf ("%.9g %.9g %u\n", rho, theta, peaks[i].votes);
  }
  cuv_hough_layout_clear (&layout);
  free (votes);
}

static void
time_runs (char **args)
{
  static const char *const methods[] = { "auto", "global", "shared", "gather",
    "ring" };
  CuvFrame frame = read_picture (args[0]);
  CuvHoughConfig config = { CUV_LINES_RHO_THETA, frame.width, frame.height,
    atoi (args[3]), 0, -90, 90, 1, atof (args[4]), 0 };
  CuvHoughParams params = {
    .source =
        strcmp (args[1], "canny") == 0 ? CUV_EDGES_CANNY : CUV_EDGES_INPUT,
    .canny = { .low = 50, .high = 100 },
    .peaks = { 200, CUV_PEAKS_CROSS, 1 },
    .max_lines = CUV_HOUGH_MAX_LINES,
  };
  CuvHoughLayout layout;
  CuvHoughResult result;
  CuvHoughCpu *cpu;

  while (strcmp (args[2], methods[params.method]) != 0)
    params.method++;
  if (cuv_hough_layout_init (&layout, &config) != NULL)
    die (cuv_hough_layout_init (&layout, &config));
  cpu = cuv_hough_cpu_new (&layout);
  if (cpu == NULL)
    die ("out of memory");
  for (int i = 0; i < atoi (args[6]); i++) {
    cuv_hough_cpu_run (cpu, &frame, &params, atoi (args[5]), &result);
    printf ("%.1f %.1f %.1f\n", (double) result.edges_us,
        (double) result.votes_us, (double) result.peaks_us);
  }
  printf ("%lld %d %s\n", (long long) result.n_edges, result.n_found,
      methods[result.method]);
  cuv_hough_cpu_free (cpu);
  cuv_hough_layout_clear (&layout);
  free (frame.component[0].data);
}

int
main (int argc, char **argv)
{
  if (argc == 7 && strcmp (argv[1], "edges") == 0)
    find_edges (argv + 2);
  else if (argc == 4 && strcmp (argv[1], "votes") == 0)
    write_votes (argv + 2);
  else if (argc == 7 && strcmp (argv[1], "peaks") == 0)
    print_peaks (argv + 2);
  else if (argc == 7 && strcmp (argv[1], "lines") == 0)
    print_lines (argv + 2);
  else if (argc == 9 && strcmp (argv[1], "time") == 0)
    time_runs (argv + 2);
  else
    die ("usage: see lines.c");
  return 0;
}
