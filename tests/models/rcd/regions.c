/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search for a region as a program, for comparisons with NumPy.
 *
 *   regions PICTURE.ppm rgb-grad|tuzel9|grey-grad jbld|forstner CELL REFINE
 *           X Y WIDTH HEIGHT
 *       prints the box and the distance of each window of 0.5, 1 and 1.5 times
 *       the box's size, then of the best one after refinement
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rcd.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

enum { N_LEVELS = 3 };

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "regions: %s\n", what);
  exit (1);
}

/* Reads a binary 8-bit PPM without comments. */
static CuvFrame
read_picture (const char *path)
{
  FILE *file = fopen (path, "rb");
  CuvFrame frame = { .model = CUV_MODEL_RGB, .n_components = 3 };
  uint8_t *pixels;
  size_t n;

  if (file == NULL
      || fscanf (file, "P6 %d %d 255%*1[\n]", &frame.width, &frame.height) != 2)
    die (path);
  n = 3 * (size_t) frame.width * (size_t) frame.height;
  pixels = malloc (n);
  if (fread (pixels, 1, n, file) != n)
    die (path);
  fclose (file);
  for (int i = 0; i < 3; i++)
    frame.component[i] = (CuvComponent){ pixels + i, 3 * frame.width, 3, 0, 0 };
  return frame;
}

static void
set_target (CuvRcdTarget *target, const CuvFrame *frame, CuvRcdConfig *shape,
    const CuvRcdArea *area, const CuvRcdBox *box)
{
  int64_t sums[CUV_RCD_MAX_SUMS];

  cuv_rcd_box_sums (frame, shape->features, box, sums);
  if (!cuv_rcd_model_from_sums (&target->model, sums,
          cuv_rcd_n_features (shape->features), box, shape->lambda))
    die ("the box cannot be a target");
  for (int l = 0; l < N_LEVELS; l++) {
    const int columns = (l + 1) * box->width / 2 / shape->cell;
    const int rows = (l + 1) * box->height / 2 / shape->cell;
    CuvRcdLevel *level = &target->levels[target->n_levels++];

    *level = cuv_rcd_level (area, columns, rows, 1, shape->max_windows);
    shape->max_windows += cuv_rcd_level_windows (level);
  }
}

static void
print_box (const CuvRcdBox *box, double score, CuvRcdMetric metric)
{
  printf ("%d %d %d %d %.17g\n", box->x, box->y, box->width, box->height,
      cuv_rcd_distance (score, metric));
}

static void
print_windows (
    const CuvRcdConfig *shape, const CuvRcdSearch *search, const double *scores)
{
  for (int l = 0; l < N_LEVELS; l++) {
    const CuvRcdLevel *level = &search->targets[0].levels[l];

    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      CuvRcdBox box = cuv_rcd_level_box (&search->area, level, shape->cell, i);

      print_box (&box, scores[level->first + i], shape->metric);
    }
  }
}

int
main (int argc, char **argv)
{
  CuvRcdTarget target = { .n_levels = 0 };
  CuvRcdSearch search = { .n_targets = 1, .targets = &target };
  CuvRcdConfig shape = { .max_targets = 1, .lambda = 1.0 / 12.0 };
  CuvRcdMatch match;
  CuvRcdBox box;
  CuvFrame frame;
  double *scores;

  if (argc != 10)
    die ("usage: see regions.c");
  frame = read_picture (argv[1]);
  shape.features = strcmp (argv[2], "rgb-grad") == 0 ? CUV_RCD_RGB_GRAD
      : strcmp (argv[2], "tuzel9") == 0              ? CUV_RCD_TUZEL9
                                                     : CUV_RCD_GREY_GRAD;
  shape.metric =
      strcmp (argv[3], "jbld") == 0 ? CUV_RCD_JBLD : CUV_RCD_FORSTNER;
  shape.width = frame.width;
  shape.height = frame.height;
  shape.cell = atoi (argv[4]);
  search.refine = atoi (argv[5]);
  box = (CuvRcdBox){ atoi (argv[6]), atoi (argv[7]), atoi (argv[8]),
    atoi (argv[9]) };
  search.area =
      (CuvRcdArea){ 0, 0, frame.width / shape.cell, frame.height / shape.cell };
  set_target (&target, &frame, &shape, &search.area, &box);
  scores = malloc (((size_t) shape.max_windows + 1) * sizeof *scores);
  if (!cuv_rcd_search (&shape, &frame, &search, scores, &match))
    die ("out of memory");
  print_windows (&shape, &search, scores);
  print_box (&match.box, match.score, shape.metric);
  free (scores);
  free (frame.component[0].data);
  return 0;
}
