/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines: edges, votes and peaks against their definitions taken literally. */
#include "config.h"
#include "canny.h"
#include "cuvcheck.h"
#include "hough-cuda.h"
#include "hough-oracle.h"
#include "hough.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  int width, height;
} sizes[] = { { 1, 1 }, { 2, 1 }, { 1, 9 }, { 3, 3 }, { 4, 3 }, { 17, 33 },
  { 64, 48 }, { 161, 91 } };
#define N_SIZES (sizeof sizes / sizeof *sizes)

/* ---- edges ---- */

static CuvCannyParams
random_canny (void)
{
  CuvCannyParams params = { .blur = cuv_check_below (2),
    .norm = cuv_check_below (2) ? CUV_CANNY_L1 : CUV_CANNY_L2,
    .low = (int) cuv_check_below (150) };

  params.high = params.low + (int) cuv_check_below (200);
  return params;
}

static void
check_canny (const char *format, int width, int height, CuvCheckFill fill)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, width, height, fill);
  CuvCannyParams params = random_canny ();
  CuvCanny *canny = cuv_canny_new (width + 5, height + 3);
  uint8_t *expected = oracle_canny (&frame.frame, &params);

  cuv_check_case ("Canny, %s %dx%d, fill %d, blur %d, norm %d, %d %d", format,
      width, height, fill, params.blur, params.norm, params.low, params.high);
  for (int run = 0; run < 2; run++) { /* nothing is left of the first */
    cuv_canny_run (canny, &frame.frame, &params);
    CUV_CHECK (
        memcmp (canny->edges, expected, (size_t) width * (size_t) height) == 0);
  }
  free (expected);
  cuv_canny_free (canny);
  cuv_check_frame_free (&frame);
}

static void
check_edges (void)
{
  for (int f = 0; cuv_check_formats[f] != NULL; f++)
    check_canny (cuv_check_formats[f], 97, 63, CUV_CHECK_TEXTURE);
  for (size_t i = 0; i < N_SIZES; i++) {
    for (int fill = 0; fill < CUV_CHECK_N_FILLS; fill++)
      check_canny ("GRAY8", sizes[i].width, sizes[i].height, fill);
  }
  for (int i = 0; i < 20; i++)
    check_canny ("GRAY8", 80, 60, CUV_CHECK_TEXTURE);
}

/* A picture of pixels that value() says; its edges. */
static CuvCanny *
edges_of (int width, int height, uint8_t (*value) (int x, int y),
    const CuvCannyParams *params)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &frame.frame.component[0];
  CuvCanny *canny = cuv_canny_new (width, height);

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      grey->data[y * grey->stride + x] = value (x, y);
  }
  cuv_canny_run (canny, &frame.frame, params);
  cuv_check_frame_free (&frame);
  return canny;
}

static int
count_edges (const CuvCanny *canny)
{
  int n = 0;

  for (int at = 0; at < canny->width * canny->height; at++)
    n += canny->edges[at] != 0;
  return n;
}

static uint8_t
step (int x, int y)
{
  return x < 20 ? 50 : 150;
}

static uint8_t
ramp (int x, int y)
{
  return (uint8_t) (4 * x);
}

static uint8_t
disc (int x, int y)
{
  return (x - 32) * (x - 32) + (y - 32) * (y - 32) < 400 ? 200 : 20;
}

/* A long weak edge. */
static uint8_t
wave (int x, int y)
{
  return y > 32 + 24 * sin (x / 20.) ? 30 : 0;
}

/* The same, beginning strongly and getting weak little by little. */
static uint8_t
fading_wave (int x, int y)
{
  return wave (x, y) != 0 && x < 85 ? (uint8_t) (200 - 2 * x) : wave (x, y);
}

static void
check_known_edges (void)
{
  const CuvCannyParams l1 = { .norm = CUV_CANNY_L1, .low = 50, .high = 100 };
  const CuvCannyParams weak = { .norm = CUV_CANNY_L1, .low = 20, .high = 400 };
  const CuvCannyParams all_strong = {
    .norm = CUV_CANNY_L1, .low = 20, .high = 20
  };
  CuvCanny *canny = edges_of (64, 64, step, &l1), *all;

  cuv_check_case ("a step");
  CUV_CHECK (count_edges (canny) == 62, ": %d", count_edges (canny));
  for (int y = 1; y < 63; y++)
    CUV_CHECK (canny->edges[y * 64 + 19] == 255, ": row %d", y);
  cuv_canny_free (canny);

  cuv_check_case ("a ramp");
  canny = edges_of (60, 20, ramp, &l1);
  CUV_CHECK (count_edges (canny) == 0, ": %d", count_edges (canny));
  cuv_canny_free (canny);

  cuv_check_case ("a disc");
  canny = edges_of (64, 64, disc, &l1);
  CUV_CHECK (count_edges (canny) > 100 && count_edges (canny) < 140, ": %d",
      count_edges (canny));
  cuv_canny_free (canny);

  cuv_check_case ("a weak wave");
  canny = edges_of (512, 64, wave, &weak);
  CUV_CHECK (count_edges (canny) == 0, ": %d", count_edges (canny));
  cuv_canny_free (canny);
  canny = edges_of (512, 64, fading_wave, &weak);
  all = edges_of (512, 64, fading_wave, &all_strong);
  CUV_CHECK (count_edges (canny) > 510, ": %d", count_edges (canny));
  CUV_CHECK (memcmp (canny->edges, all->edges, 512 * 64) == 0);
  cuv_canny_free (canny);
  cuv_canny_free (all);
}

/* ---- votes ---- */

static void
init_space (CuvHoughSpace *space, const CuvHoughShape *shape)
{
  CUV_CHECK (cuv_hough_space_init (space, shape) == NULL);
}

/* About one pixel in so many. */
static uint8_t *
random_map (int width, int height, int one_in)
{
  uint8_t *map = calloc ((size_t) width * (size_t) height, 1);

  for (int at = 0; at < width * height; at++)
    map[at] = cuv_check_below ((uint32_t) one_in) == 0 ? 255 : 0;
  return map;
}

static void
check_peaks (const CuvHoughSpace *space, const uint32_t *accumulator)
{
  size_t room = cuv_hough_n_cells (space);
  CuvHoughPeak *peaks = malloc (room * sizeof *peaks);
  CuvHoughPeak *expected = malloc (room * sizeof *expected);

  for (int i = 0; i < 8; i++) {
    CuvPeakParams params = { .threshold = cuv_check_below (8),
      .rule = (CuvPeakRule) (i % 3),
      .neighborhood = 3 + 2 * (int) cuv_check_below (3) };
    size_t n = oracle_peaks (space, accumulator, &params, expected);
    size_t few = cuv_check_below ((uint32_t) n + 2);
    CuvPeakList list = { peaks, room, 0 };

    cuv_hough_peaks (space, accumulator, &params, &list);
    CUV_CHECK (list.n == n);
    CUV_CHECK (memcmp (peaks, expected, n * sizeof *peaks) == 0,
        ": rule %d, %d", params.rule, params.neighborhood);
    list.max = few;
    cuv_hough_peaks (space, accumulator, &params, &list);
    CUV_CHECK (list.n == n);
    CUV_CHECK (
        memcmp (peaks, expected, (few < n ? few : n) * sizeof *peaks) == 0,
        ": the first %zu of %zu", few, n);
  }
  free (peaks);
  free (expected);
}

static void
check_space (int width, int height, int period, bool inclusive, double rho_step)
{
  CuvHoughShape shape = { CUV_LINES_RHO_THETA, width, height, period, inclusive,
    -90, 90, rho_step, 90 };
  CuvHoughSpace space;
  uint8_t *map = random_map (width, height, 4);
  size_t n = cuv_hough_list_edges (map, width, height, width, NULL);
  uint32_t *list = malloc ((n + 1) * sizeof *list);
  uint32_t *votes, *expected;
  uint64_t sum = 0;

  cuv_check_case ("%dx%d, %d rows, inclusive %d, step %g", width, height,
      period, inclusive, rho_step);
  init_space (&space, &shape);
  votes = malloc (cuv_hough_n_cells (&space) * sizeof *votes);
  CUV_CHECK (cuv_hough_list_edges (map, width, height, width, list) == n);
  cuv_hough_vote (&space, &(CuvEdgeList){ list, NULL, n }, votes);
  expected = oracle_votes (&space, map);
  CUV_CHECK (
      memcmp (votes, expected, cuv_hough_n_cells (&space) * sizeof *votes)
      == 0);
  CUV_CHECK (space.n_rows == period + inclusive);
  /* with other steps halves are rounded up on both sides of 0 */
  for (int r = -space.radius; inclusive && rho_step == 1 && r <= space.radius;
       r++)
    CUV_CHECK (votes[space.radius + r]
            == votes[cuv_hough_n_cells (&space) - 1
                - (size_t) (space.radius + r)],
        ": the last row is the first, rho %d", r);
  for (size_t i = 0; i < cuv_hough_n_cells (&space); i++)
    sum += votes[i];
  CUV_CHECK (sum == n * (size_t) space.n_rows);
  check_peaks (&space, votes);
  free (expected);
  free (votes);
  free (list);
  free (map);
  cuv_hough_space_clear (&space);
}

static void
check_spaces (void)
{
  static const int thetas[] = { 1, 2, 5, 30, 180 };

  for (size_t i = 0; i < N_SIZES; i++) {
    for (size_t t = 0; t < sizeof thetas / sizeof *thetas; t++) {
      bool inclusive = thetas[t] > 1 && cuv_check_below (3) == 0;

      if (cuv_check_options.few && sizes[i].width > 20 && thetas[t] > 30)
        continue;
      check_space (sizes[i].width, sizes[i].height, thetas[t], inclusive,
          cuv_check_below (2) ? 1 : 1 + cuv_check_below (300) / 100.);
    }
  }
}

/* A line of 50 pixels has a cell of 50 votes where it is, and none has more. */
static void
check_line (const char *name, int dx, int dy, int k, int r)
{
  const CuvHoughShape shape = { CUV_LINES_RHO_THETA, 100, 100, 180, 0, -90, 90,
    1, 90 };
  CuvHoughSpace space;
  CuvPeakParams params = { 30, CUV_PEAKS_SQUARE, 3 };
  uint32_t list[50], *votes;
  CuvHoughPeak peak = { 0 };
  CuvPeakList peaks = { &peak, 1, 0 };

  cuv_check_case ("a line, %s", name);
  for (int i = 0; i < 50; i++)
    list[i] = (uint32_t) (20 + i * dy) << 16 | (uint32_t) (30 + i * dx);
  init_space (&space, &shape);
  votes = malloc (cuv_hough_n_cells (&space) * sizeof *votes);
  cuv_hough_vote (&space, &(CuvEdgeList){ list, NULL, 50 }, votes);
  CUV_CHECK (votes[k * space.n_cells + space.radius + r] == 50);
  cuv_hough_peaks (&space, votes, &params, &peaks);
  CUV_CHECK (peaks.n >= 1);
  CUV_CHECK (peak.votes == 50, ": %u", peak.votes);
  free (votes);
  cuv_hough_space_clear (&space);
}

/* ---- times ---- */

typedef struct {
  CuvCheckFrame frame;
  CuvCanny *canny;
  CuvHoughSpace space;
  uint32_t *list, *votes;
  size_t n;
} Bench;

static void
find_edges (void *data)
{
  const CuvCannyParams params = {
    .norm = CUV_CANNY_L1, .low = 50, .high = 100
  };
  Bench *self = data;

  cuv_canny_run (self->canny, &self->frame.frame, &params);
}

static void
vote (void *data)
{
  Bench *self = data;

  cuv_hough_vote (
      &self->space, &(CuvEdgeList){ self->list, NULL, self->n }, self->votes);
}

static void
bench (void)
{
  const int width = 1920, height = 1080;
  const double pixels = (double) width * height;
  Bench self = { .frame = cuv_check_frame_new (
                     "GRAY8", width, height, CUV_CHECK_TEXTURE),
    .canny = cuv_canny_new (width, height) };

  cuv_check_report ("canny c", cuv_check_time (find_edges, &self), pixels, 0);
  self.list = malloc ((size_t) pixels * sizeof *self.list);
  self.n =
      cuv_hough_list_edges (self.canny->edges, width, height, width, self.list);
  init_space (&self.space,
      &(CuvHoughShape){
          CUV_LINES_RHO_THETA, width, height, 180, 0, -90, 90, 1, 90 });
  self.votes = malloc (cuv_hough_n_cells (&self.space) * sizeof *self.votes);
  printf ("%zu edges\n", self.n);
  cuv_check_report ("hough votes c", cuv_check_time (vote, &self), pixels, 0);
  cuv_hough_space_clear (&self.space);
  free (self.votes);
  free (self.list);
  cuv_canny_free (self.canny);
  cuv_check_frame_free (&self.frame);
}

static void
run (void)
{
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench)
      hough_bench_cuda ();
    hough_check_cuda ();
    return;
  }
  if (cuv_check_options.bench)
    bench ();
  check_edges ();
  check_known_edges ();
  check_spaces ();
  check_line ("vertical", 0, 1, 90, 30);
  check_line ("horizontal", 1, 0, 0, -20);
  check_line ("down to the right", 1, 1, 45, 7);
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
