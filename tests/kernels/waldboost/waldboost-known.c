/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures whose feature codes are known by hand. A model with a single weak
 * classifier, which rejects nothing and whose leaves are the codes, returns the
 * code of every window as its score. */
#include "reference/waldboost-reference.h"
#include "waldboost-versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const CuvWaldboostParams one_level = {
  .scan = CUV_SCAN_DENSE, .octaves = 1, .levels_per_octave = 1
};

typedef struct {
  CuvFeature feature;
  int inclusive;
  int window, block; /* both square; the grid is at (x, y) */
  int x, y;
  int a, b;
} GridCase;

static RandomModel *
model_for_grid (const GridCase *grid)
{
  ModelKind kind = { .feature = grid->feature,
    .arithmetic = CUV_SUM_FIXED,
    .inclusive = grid->inclusive,
    .n_stages = 1 };
  RandomModel *self =
      random_model_without_thresholds (&kind, grid->window, grid->window);
  CuvGridNode *node = &self->nodes[0];

  node->x = (int16_t) grid->x;
  node->y = (int16_t) grid->y;
  node->width = node->height = (int16_t) grid->block;
  node->a = (int16_t) grid->a;
  node->b = (int16_t) grid->b;
  self->model.max_block_area = grid->block * grid->block;
  self->model.fixed_bits = 6;
  for (int i = 0; i < self->model.n_leaves; i++) {
    self->leaves[i] = (float) i;
    self->fixed_leaves[i] = i << 6;
  }
  self->model.final_threshold = -1;
  self->model.fixed_final_threshold = -(1 << 6);
  return self;
}

/* Returns the expected code of the window at (x, y). */
typedef int (*ExpectedCode) (const GridCase *grid, int x, int y);

static const uint8_t *source_pixels; /* read by half_range_pixel() */
static int source_width;

static void
check_codes (const char *what, const GridCase *grid, const CuvCheckFrame *frame,
    ExpectedCode expected_code)
{
  RandomModel *random = model_for_grid (grid);
  int w = frame->frame.width, h = frame->frame.height, wrong = 0;
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &one_level, w, h);
  CuvWaldboostResult result =
      run_reference (&random->model, plan, &frame->frame);

  cuv_check_case ("%s, feature %d, inclusive %d, blocks of %d", what,
      grid->feature, grid->inclusive, grid->block);
  CUV_CHECK (result.n_hits == (w - grid->window + 1) * (h - grid->window + 1),
      ": %d", result.n_hits);
  for (int i = 0; i < result.n_hits; i++) {
    const CuvWaldboostHit *hit = &result.hits[i];

    wrong += hit->score != (float) (expected_code (grid, hit->x, hit->y) + 1);
  }
  CUV_CHECK (wrong == 0, ": %d of %d", wrong, result.n_hits);
  check_versions (&random->model, plan, frame, &result);
  free_result (&result);
  cuv_waldboost_plan_free (plan);
  free (random);
}

typedef uint8_t (*Pixel) (int x, int y);

static CuvCheckFrame
picture_of (int width, int height, Pixel pixel)
{
  CuvCheckFrame self =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &self.frame.component[0];

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      grey->data[y * grey->stride + x] = pixel (x, y);
  }
  return self;
}

/* Checks all features in windows of 7 x 7 pixels. */
static void
check_all_features (const char *what, const CuvCheckFrame *frame, int block,
    ExpectedCode expected_code)
{
  static const GridCase grids[] = {
    { CUV_FEATURE_LBP, 0, 7, 1, 1, 1, 0, 0 },
    { CUV_FEATURE_LBP, 1, 7, 1, 1, 1, 0, 0 },
    { CUV_FEATURE_LRD, 0, 7, 1, 1, 1, 0, 2 },
    { CUV_FEATURE_LRP, 0, 7, 1, 1, 1, 0, 2 },
  };

  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    GridCase grid = grids[i];

    grid.block = block;
    check_codes (what, &grid, frame, expected_code);
  }
}

/* ---- a constant picture ---- */

static uint8_t
constant_pixel (int x, int y)
{
  return 77;
}

static int
constant_code (const GridCase *grid, int x, int y)
{
  return grid->feature == CUV_FEATURE_LBP ? grid->inclusive ? 255 : 0
      : grid->feature == CUV_FEATURE_LRD  ? 8
                                          : 0;
}

/* ---- an edge ---- */

#define EDGE 17

static uint8_t
edge_pixel (int x, int y)
{
  return x < EDGE ? 40 : 41;
}

/* Returns the code for blocks of one pixel. The number of dark columns
 * determines the ranks: with one, each of 6 bright blocks exceeds 3 dark ones,
 * with two, each of 3 exceeds 6. Block 0 is in the left column, block 2 in the
 * right one. */
static int
edge_code (const GridCase *grid, int x, int y)
{
  int dark = EDGE - (x + grid->x);

  if (dark <= 0 || dark >= 3)
    return constant_code (grid, x, y);
  switch (grid->feature) {
    case CUV_FEATURE_LBP:
      if (dark == 1) /* the centre is bright */
        return grid->inclusive ? 64 + 32 + 16 + 8 + 4 : 0;
      return grid->inclusive ? 255 : 32 + 16 + 8;
    case CUV_FEATURE_LRD:
      return (dark == 1 ? 0 - 3 : 0 - 6) + 8;
    default:
      return dark == 1 ? 30 : 60;
  }
}

/* ---- a checkerboard ---- */

static uint8_t
checker_pixel (int x, int y)
{
  return (x + y) % 2 ? 255 : 0;
}

/* Returns the code of a checkerboard, in which bright blocks exceed the 5 or 4
 * dark ones. */
static int
checker_code (const GridCase *grid, int x, int y)
{
  bool bright = (x + grid->x + y + grid->y) % 2; /* centre and corners */

  switch (grid->feature) {
    case CUV_FEATURE_LBP:
      if (bright)
        return grid->inclusive ? 128 + 32 + 8 + 2 : 0;
      return grid->inclusive ? 255 : 64 + 16 + 4 + 1;
    case CUV_FEATURE_LRD:
      return 8; /* equal corners */
    default:
      return bright ? 44 : 0;
  }
}

/* ---- a window at each corner ---- */

#define CORNER_WIDTH 41
#define CORNER_HEIGHT 29

static uint8_t
corner_pixel (int x, int y)
{
  return (x == 0 || x == CORNER_WIDTH - 1) && (y == 0 || y == CORNER_HEIGHT - 1)
      ? 255
      : 100;
}

/* Returns the code of a grid in a corner of the window: its corner block is
 * bright only in the window at the same corner of the picture. */
static int
corner_code (const GridCase *grid, int x, int y)
{
  bool right = grid->x > 0, bottom = grid->y > 0;
  bool there = x == (right ? CORNER_WIDTH - grid->window : 0)
      && y == (bottom ? CORNER_HEIGHT - grid->window : 0);
  int bit = bottom ? right ? 8 : 2 : right ? 32 : 128;

  return there ? bit : 0;
}

static void
check_corners (void)
{
  CuvCheckFrame frame = picture_of (CORNER_WIDTH, CORNER_HEIGHT, corner_pixel);

  for (int corner = 0; corner < 4; corner++) {
    GridCase grid = { CUV_FEATURE_LBP, 0, 9, 1, corner & 1 ? 6 : 0,
      corner & 2 ? 6 : 0, 0, 0 };

    check_codes ("a window at a corner", &grid, &frame, corner_code);
  }
  cuv_check_frame_free (&frame);
}

/* ---- grey transforms ---- */

static uint8_t
half_range_pixel (int x, int y)
{
  return source_pixels[y * source_width + x] / 2;
}

/* Returns a pixel that was transformed by a strictly increasing function that
 * is far from linear. */
static uint8_t
transformed_pixel (int x, int y)
{
  int value = half_range_pixel (x, y);

  return (uint8_t) (value < 50 ? value
          : value < 60         ? 3 * value - 99
          : value < 100        ? value + 30
                               : value + 128);
}

/* Runs a model on all windows of a picture. */
static CuvWaldboostResult
scores_of (const RandomModel *random, const CuvCheckFrame *frame)
{
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (
      &random->model, &one_level, frame->frame.width, frame->frame.height);
  CuvWaldboostResult result =
      run_reference (&random->model, plan, &frame->frame);

  check_versions (&random->model, plan, frame, &result);
  cuv_waldboost_plan_free (plan);
  return result;
}

static void
check_transform (void)
{
  CuvCheckFrame texture =
      cuv_check_frame_new ("GRAY8", 70, 50, CUV_CHECK_NOISE);
  uint8_t *pixels = oracle_grey (&texture.frame);
  CuvCheckFrame before, after;

  source_pixels = pixels;
  source_width = 70;
  before = picture_of (70, 50, half_range_pixel);
  after = picture_of (70, 50, transformed_pixel);
  for (int feature = CUV_FEATURE_LBP; feature <= CUV_FEATURE_LRP; feature++) {
    GridCase grid = { feature, 0, 8, 1, 3, 2, 1, 7 };
    RandomModel *random = model_for_grid (&grid);
    CuvWaldboostResult a = scores_of (random, &before);
    CuvWaldboostResult b = scores_of (random, &after);

    cuv_check_case ("increasing grey transform, feature %d", feature);
    CUV_CHECK (a.n_hits == b.n_hits
        && memcmp (a.hits, b.hits, a.n_hits * sizeof *a.hits) == 0);
    free_result (&a);
    free_result (&b);
    free (random);
  }
  cuv_check_frame_free (&before);
  cuv_check_frame_free (&after);
  cuv_check_frame_free (&texture);
  free (pixels);
}

/* ---- no contrast ---- */

/* Checks that a Haar cascade visits all windows of a constant picture and has
 * no hits. */
static void
check_flat (void)
{
  ModelKind kind = { "Haar cascade", CUV_FEATURE_HAAR, CUV_SUM_STAGES,
    CUV_BLOCK_SUM, 0, 12, 0, 3, 4, 1, 1, 1 };
  CuvCheckFrame frame = picture_of (60, 45, constant_pixel);
  RandomModel *random = random_model (&kind, &frame.frame);
  CuvWaldboostParams params = { .scale_factor = 1.2 };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &params, 60, 45);
  CuvWaldboostResult result =
      run_reference (&random->model, plan, &frame.frame);
  uint64_t windows = 0;

  cuv_check_case ("no contrast");
  for (int i = 0; i < plan->n_levels; i++)
    windows += (uint64_t) plan->levels[i].n_x * plan->levels[i].n_y;
  CUV_CHECK (result.windows == windows && windows > 0);
  CUV_CHECK (result.n_hits == 0 && result.weak == 0);
  check_versions (&random->model, plan, &frame, &result);
  free_result (&result);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
  free (random);
}

/* ---- integral pictures ---- */

/* Returns the sum of the triangle above (x, y) that opens upwards. */
static uint32_t
triangle (const uint8_t *pixels, int width, int x, int y)
{
  uint32_t sum = 0;

  for (int j = 0; j < y; j++) {
    for (int i = 0; i < width; i++)
      sum += abs (i - x + 1) <= y - j - 1 ? pixels[j * width + i] : 0;
  }
  return sum;
}

static void
check_tilted_rows (int width, int height)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_NOISE);
  uint8_t *pixels = oracle_grey (&frame.frame);
  uint8_t *zeros = calloc (width, 1), *above = zeros;
  uint32_t *rows = calloc ((height + 2) * (width + 1), sizeof *rows);
  int wrong = 0;

  for (int y = 0; y < height; y++) {
    uint32_t *row = rows + (y + 2) * (width + 1);
    uint8_t *grey = pixels + y * width;

    cuv_tilted_row (row, row - (width + 1), row - 2 * (width + 1), grey, above,
        width, 1, width + 1);
    for (int x = 0; x <= width; x++)
      wrong += row[x] != triangle (pixels, width, x, y + 1);
    above = grey;
  }
  cuv_check_case ("tilted rows of %d x %d", width, height);
  CUV_CHECK (wrong == 0, ": %d", wrong);
  cuv_check_frame_free (&frame);
  free (pixels);
  free (zeros);
  free (rows);
}

CUV_CHECKS (check_known_codes)
{
  CuvCheckFrame constant = picture_of (50, 40, constant_pixel);
  CuvCheckFrame edge = picture_of (50, 40, edge_pixel);
  CuvCheckFrame checker = picture_of (50, 40, checker_pixel);

  check_all_features ("constant", &constant, 1, constant_code);
  check_all_features ("constant", &constant, 2, constant_code);
  check_all_features ("edge", &edge, 1, edge_code);
  check_all_features ("checkerboard", &checker, 1, checker_code);
  check_all_features ("checkerboard", &checker, 2, constant_code);
  check_corners ();
  check_transform ();
  check_flat ();
  check_tilted_rows (1, 5);
  check_tilted_rows (2, 7);
  check_tilted_rows (23, 19);
  cuv_check_frame_free (&constant);
  cuv_check_frame_free (&edge);
  cuv_check_frame_free (&checker);
}
