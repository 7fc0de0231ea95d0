/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "waldboost-oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

uint8_t *
oracle_grey (const CuvFrame *frame)
{
  uint8_t *grey = malloc ((size_t) frame->width * frame->height + 1);

  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++)
      grey[(size_t) y * frame->width + x] = cuv_frame_grey (frame, x, y);
  }
  return grey;
}

/* The two samples that are interpolated, and the weight of the second in
 * 1/256. */
typedef struct {
  int at[2], weight;
} Interpolation;

/* scale: number of input samples per output sample. */
static Interpolation
exact_interpolation (int i, double scale, int n_in)
{
  double place = scale * (i + 0.5) - 0.5;
  Interpolation mix = { { (int) floor (place) },
    (int) rint ((place - floor (place)) * 256) };

  if (place < 0)
    mix = (Interpolation){ { 0 }, 0 };
  else if (mix.at[0] >= n_in - 1)
    mix = (Interpolation){ { n_in - 1 }, 0 };
  mix.at[1] = mix.at[0] + (mix.weight > 0);
  return mix;
}

/* Computes in 16.16 fixed point, as the dense pyramid does. */
static Interpolation
dense_interpolation (int i, int n_out, int n_in)
{
  long step = (n_in * 65536L + n_out / 2) / n_out;
  long place = i * step + step / 2 - 32768;
  Interpolation mix;

  if (place < 0)
    place = 0;
  if (place > (n_in - 1) * 65536L)
    place = (n_in - 1) * 65536L;
  mix = (Interpolation){ { (int) (place / 65536) }, (int) (place / 256 % 256) };
  mix.at[1] = mix.at[0] + (mix.weight > 0);
  return mix;
}

static uint8_t
interpolate (const uint8_t *in, int width, Interpolation x, Interpolation y)
{
  const uint8_t *top = in + (size_t) y.at[0] * width;
  const uint8_t *bottom = in + (size_t) y.at[1] * width;
  double value = (256. - x.weight) * (256 - y.weight) * top[x.at[0]]
      + (double) x.weight * (256 - y.weight) * top[x.at[1]]
      + (256. - x.weight) * y.weight * bottom[x.at[0]]
      + (double) x.weight * y.weight * bottom[x.at[1]];

  return (uint8_t) floor (value / 65536 + 0.5);
}

static uint8_t *
halve (uint8_t *in, int *width, int *height)
{
  int w = *width / 2, h = *height / 2;
  uint8_t *out = malloc ((size_t) w * h + 1);

  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      const uint8_t *p = in + (size_t) 2 * y * *width + 2 * x;

      out[(size_t) y * w + x] =
          (uint8_t) ((p[0] + p[1] + p[*width] + p[*width + 1] + 2) / 4);
    }
  }
  free (in);
  *width = w;
  *height = h;
  return out;
}

/* ---- turned and enlarged pictures ---- */

/* Returns the pixel of the frame at a distance from its centre, by bilinear
 * interpolation with weights rounded down to 1/256. */
static uint8_t
pixel_at (const uint8_t *in, int width, int height, double right, double down)
{
  double x = right + (width - 1) / 2., y = down + (height - 1) / 2.;
  Interpolation across = { { (int) floor (x) }, (int) ((x - floor (x)) * 256) };
  Interpolation along = { { (int) floor (y) }, (int) ((y - floor (y)) * 256) };

  if (x < 0 || y < 0 || x > width - 1 || y > height - 1)
    return 128;
  across.at[1] = across.at[0] + (across.weight > 0);
  along.at[1] = along.at[0] + (along.weight > 0);
  return interpolate (in, width, across, along);
}

/* Turns a frame. Sine and cosine have 16 bits, so that places are exact in
 * double precision. */
static uint8_t *
turn (const CuvFrame *frame, const CuvWaldboostPlan *plan)
{
  const double angle = plan->turn.degrees * M_PI / 180;
  const double c = rint (cos (angle) * 65536) / 65536;
  const double s = rint (sin (angle) * 65536) / 65536;
  const int w = frame->width, h = frame->height;
  const int width = (int) ceil (fabs (c) * w + fabs (s) * h);
  const int height = (int) ceil (fabs (s) * w + fabs (c) * h);
  uint8_t *in = oracle_grey (frame);
  uint8_t *out = malloc ((size_t) width * height + 1);

  CUV_CHECK (plan->turn.width == width && plan->turn.height == height,
      ": %d x %d, expected %d x %d", plan->turn.width, plan->turn.height, width,
      height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      double right = x - (width - 1) / 2., down = y - (height - 1) / 2.;

      out[(size_t) y * width + x] =
          pixel_at (in, w, h, right * c - down * s, right * s + down * c);
    }
  }
  free (in);
  return out;
}

uint8_t *
oracle_picture (const CuvFrame *frame, const CuvWaldboostPlan *plan, int *width,
    int *height)
{
  const int w = plan->turn.width, h = plan->turn.height;
  uint8_t *in = turn (frame, plan), *out;

  *width = plan->picture_width;
  *height = plan->picture_height;
  if (*width == w && *height == h)
    return in;
  out = malloc ((size_t) *width * *height + 1);
  for (int y = 0; y < *height; y++) {
    for (int x = 0; x < *width; x++)
      out[(size_t) y * *width + x] =
          interpolate (in, w, exact_interpolation (x, (double) w / *width, w),
              exact_interpolation (y, (double) h / *height, h));
  }
  free (in);
  return out;
}

bool
oracle_keeps (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int x, int y)
{
  const double c = plan->turn.cos / 65536., s = plan->turn.sin / 65536.;
  const double across = (double) plan->turn.width / level->width;
  const double down = (double) plan->turn.height / level->height;
  const double w = model->window_width * across;
  const double h = model->window_height * down;
  const double right = x * across + w / 2 - plan->turn.width / 2.;
  const double below = y * down + h / 2 - plan->turn.height / 2.;
  const bool lies = fabs (s) > fabs (c);

  return fabs (right * c - below * s) + (lies ? h : w) / 2
      < plan->width / 2. + 1e-9
      && fabs (right * s + below * c) + (lies ? w : h) / 2
      < plan->height / 2. + 1e-9;
}

/* Returns the number of pixels of the frame or octave per pixel of the level.
 * WBDetector resizes by a factor, and copies if the size stays the same. */
static double
scale_of (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level, int n,
    int n_level)
{
  bool copy = plan->picture_width == level->width
      && plan->picture_height == level->height;

  return plan->scan == CUV_SCAN_WBD && !copy ? 1 / (double) level->factor
                                             : (double) n / n_level;
}

uint8_t *
oracle_level (const CuvFrame *frame, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level)
{
  bool dense = plan->scan == CUV_SCAN_DENSE;
  int w, h;
  uint8_t *in = oracle_picture (frame, plan, &w, &h);
  uint8_t *out = malloc ((size_t) level->width * level->height);

  for (double octave = 2; dense && octave <= level->scale; octave *= 2)
    in = halve (in, &w, &h);
  for (int y = 0; y < level->height; y++) {
    for (int x = 0; x < level->width; x++) {
      double fx = scale_of (plan, level, w, level->width);
      double fy = scale_of (plan, level, h, level->height);
      Interpolation across = dense ? dense_interpolation (x, level->width, w)
                                   : exact_interpolation (x, fx, w);
      Interpolation down = dense ? dense_interpolation (y, level->height, h)
                                 : exact_interpolation (y, fy, h);

      out[(size_t) y * level->width + x] = interpolate (in, w, across, down);
    }
  }
  free (in);
  return out;
}

/* ---- grids ---- */

static long
sum_pixels (OracleWindow window, int x0, int y0, int w, int h)
{
  long sum = 0;

  for (int y = y0; y < y0 + h; y++) {
    for (int x = x0; x < x0 + w; x++)
      sum += window.pixels[y * window.stride + x];
  }
  return sum;
}

static double
block_value (const CuvWaldboostModel *model, OracleWindow window,
    const CuvGridNode *node, int row, int column)
{
  int w = node->width, h = node->height;
  double sum = (double) sum_pixels (
      window, node->x + column * w, node->y + row * h, w, h);

  if (model->block_value == CUV_BLOCK_MEAN_TRUNC)
    return floor (sum / (w * h));
  if (model->block_value == CUV_BLOCK_MEAN_ROUND)
    return floor (sum / (w * h) + 0.5);
  return sum;
}

static int
rank_of (double values[3][3], int k)
{
  int n = 0;

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      n += values[k / 3][k % 3] > values[i][j];
  }
  return n;
}

static int
grid_code (const CuvWaldboostModel *model, OracleWindow window,
    const CuvGridNode *node)
{
  static const int bit[3][3] = { { 128, 64, 32 }, { 1, 0, 16 }, { 2, 4, 8 } };
  double values[3][3];
  int code = 0;

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      values[i][j] = block_value (model, window, node, i, j);
  }
  if (model->feature == CUV_FEATURE_LRD)
    return 8 + rank_of (values, node->a) - rank_of (values, node->b);
  if (model->feature == CUV_FEATURE_LRP)
    return rank_of (values, node->b) * 10 + rank_of (values, node->a);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      if (values[i][j] > values[1][1]
          || (model->inclusive && values[i][j] == values[1][1]))
        code += bit[i][j];
    }
  }
  return code;
}

/* ---- Haar ---- */

/* Returns the sum of a rectangle that is rotated about its top corner: its
 * pixels lie between four diagonals. */
static long
sum_tilted (OracleWindow window, const CuvHaarRect *rect)
{
  long sum = 0;

  for (int y = rect->y; y < rect->y + rect->width + rect->height; y++) {
    for (int x = rect->x - rect->height; x < rect->x + rect->width; x++) {
      int falling = (x - rect->x) + (y - rect->y);
      int rising = (y - rect->y) - (x - rect->x);

      if (falling >= -1 && falling <= 2 * rect->width - 2 && rising >= 1
          && rising <= 2 * rect->height)
        sum += window.pixels[y * window.stride + x];
    }
  }
  return sum;
}

static long
sum_rect (const CuvHaarNode *node, OracleWindow window, int i)
{
  const CuvHaarRect *r = &node->rect[i];

  return node->tilted ? sum_tilted (window, r)
                      : sum_pixels (window, r->x, r->y, r->width, r->height);
}

bool
oracle_norm (const CuvWaldboostModel *model, OracleWindow window, float *norm)
{
  int border = model->arithmetic == CUV_SUM_STAGES;
  int w = model->window_width - 2 * border;
  int h = model->window_height - 2 * border;
  double sum = 0, squares = 0, n = (double) w * h, spread;

  if (model->feature != CUV_FEATURE_HAAR)
    return true;
  for (int y = border; y < border + h; y++) {
    for (int x = border; x < border + w; x++) {
      sum += window.pixels[y * window.stride + x];
      squares += pow (window.pixels[y * window.stride + x], 2);
    }
  }
  spread = n * squares - sum * sum;
  if (!border) {
    *norm = (float) (sqrt (spread) / n);
    *norm = *norm < model->least_sigma ? model->least_sigma : *norm;
    return true;
  }
  *norm = (float) (1 / sqrt (spread));
  return spread > 0 && n * *norm < 0.1;
}

float
oracle_haar (const CuvWaldboostModel *model, const CuvHaarNode *node,
    OracleWindow window, float norm)
{
  float value = 0;
  long sum = 0;

  for (int i = 0; i < 3; i++) {
    if (node->rect[i].weight != 0) {
      long pixels = sum_rect (node, window, i);

      sum += (long) node->rect[i].weight * pixels;
      value += node->rect[i].weight * (float) pixels;
    }
  }
  if (model->arithmetic == CUV_SUM_STAGES)
    return value * norm;
  return (float) sum / node->divisor / norm;
}

static int
haar_bin (const CuvHaarNode *node, float value)
{
  float bin = (value - node->minimum) / (node->maximum - node->minimum);

  bin = floorf (bin * (float) (node->bins - 1) + 0.5f);
  return (int) fminf (fmaxf (bin, 0), (float) (node->bins - 1));
}

/* ---- windows ---- */

static int
tree_leaf (const CuvWaldboostModel *model, const CuvWeak *weak,
    OracleWindow window, float norm)
{
  int at = 0;

  do {
    if (model->feature == CUV_FEATURE_HAAR) {
      const CuvHaarNode *node = &model->haar_nodes[weak->first_node + at];

      at = oracle_haar (model, node, window, norm) < node->threshold
          ? node->left
          : node->right;
    } else {
      const CuvGridNode *node = &model->nodes[weak->first_node + at];
      int code = grid_code (model, window, node);

      at = node->subset[code / 32] & (1u << code % 32) ? node->left
                                                       : node->right;
    }
  } while (at > 0);
  return weak->first_leaf - at;
}

int
oracle_leaf (
    const CuvWaldboostModel *model, int k, OracleWindow window, float norm)
{
  const CuvWeak *weak = &model->weak[k];

  if (model->arithmetic == CUV_SUM_STAGES)
    return tree_leaf (model, weak, window, norm);
  if (model->feature == CUV_FEATURE_HAAR) {
    const CuvHaarNode *node = &model->haar_nodes[weak->first_node];

    return weak->first_leaf
        + haar_bin (node, oracle_haar (model, node, window, norm));
  }
  return weak->first_leaf
      + grid_code (model, window, &model->nodes[weak->first_node]);
}

/* For cascades, returns the index of the stage that rejects the window, or
 * n_stages for a hit. */
static int
cascade_stage (const CuvWaldboostModel *model, OracleWindow window, float norm,
    float *score)
{
  for (int s = 0; s < model->n_stages; s++) {
    int end = model->stage_first[s + 1];
    float threshold = model->weak[end - 1].threshold;
    double sum = 0;

    for (int k = model->stage_first[s]; k < end; k++)
      sum += model->leaves[oracle_leaf (model, k, window, norm)];
    *score = (float) (sum - threshold);
    if (sum < threshold)
      return s;
  }
  return model->n_stages;
}

/* For WaldBoost models, returns the number of weak classifiers that the window
 * passes. */
static int
waldboost_passed (const CuvWaldboostModel *model, OracleWindow window,
    float norm, float *score)
{
  bool fixed = model->arithmetic == CUV_SUM_FIXED;
  double final = fixed ? (double) model->fixed_final_threshold
                       : (double) model->final_threshold;
  double sum = 0;

  for (int k = 0; k < model->n_weak; k++) {
    const CuvWeak *weak = &model->weak[k];
    int leaf = oracle_leaf (model, k, window, norm);

    if (fixed)
      sum += model->fixed_leaves[leaf];
    else
      sum = (float) ((float) sum + model->leaves[leaf]);
    if (sum
        < (fixed ? (double) weak->fixed_threshold : (double) weak->threshold))
      return k;
  }
  *score = fixed ? (float) ((sum - final) / pow (2, model->fixed_bits))
                 : (float) sum - model->final_threshold;
  return sum > final ? model->n_weak : model->n_weak - 1;
}

/* Returns whether a window is left out: in turned frames, Haar cascades find no
 * contrast in windows whose boxes leave the frame. */
static bool
is_left_out (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvWaldboostLevel *level, int x, int y)
{
  return plan->turn.degrees % 90 != 0 && model->feature == CUV_FEATURE_HAAR
      && model->arithmetic == CUV_SUM_STAGES
      && !oracle_keeps (model, plan, level, x, y);
}

/* Evaluates and counts a window. Returns whether it is a hit. *first_stage is
 * set if the first stage rejects it, so that the next window is skipped. */
static bool
visit (const CuvWaldboostModel *model, OracleWindow window,
    CuvWaldboostResult *result, uint64_t *passed, float *score,
    bool *first_stage)
{
  float norm = 1;
  int n;

  *first_stage = false;
  result->windows++;
  if (!oracle_norm (model, window, &norm))
    return false;
  if (model->arithmetic == CUV_SUM_STAGES) {
    int stage = cascade_stage (model, window, norm, score);

    *first_stage = stage == 0;
    n = model->stage_first[stage];
    result->weak +=
        (uint64_t)
            model->stage_first[stage < model->n_stages ? stage + 1 : stage];
  } else {
    n = waldboost_passed (model, window, norm, score);
    result->weak += (uint64_t) (n < model->n_weak ? n + 1 : n);
  }
  passed[n]++;
  return n == model->n_weak;
}

static void
scan_level (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    int index, const uint8_t *pixels, CuvWaldboostResult *result,
    uint64_t *passed)
{
  const CuvWaldboostLevel *level = &plan->levels[index];
  CuvWaldboostHit *hits = (CuvWaldboostHit *) result->hits;

  for (int j = 0; j < level->n_y; j++) {
    for (int i = 0; i < level->n_x; i++) {
      int x = i * level->step, y = j * level->step;
      OracleWindow window = { pixels + (size_t) y * level->width + x,
        level->width };
      float score = 0;
      bool first_stage = false;

      if (is_left_out (model, plan, level, x, y))
        result->windows++;
      else if (visit (model, window, result, passed, &score, &first_stage))
        hits[result->n_hits++] = (CuvWaldboostHit){ index, x, y, score };
      if (plan->scan == CUV_SCAN_OPENCV && first_stage)
        i++;
    }
  }
}

CuvWaldboostResult
oracle_scan (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvFrame *frame)
{
  uint64_t *survivors = calloc (plan->n_segments, sizeof *survivors);
  uint64_t *passed = calloc (model->n_weak + 1, sizeof *passed);
  CuvWaldboostResult result = { .survivors = survivors,
    .hits = malloc (CUV_WALDBOOST_MAX_HITS * sizeof *result.hits) };

  for (int i = 0; i < plan->n_levels; i++) {
    if (plan->levels[i].n_x == 0)
      continue; /* other levels are resized from it */
    uint8_t *pixels = oracle_level (frame, plan, &plan->levels[i]);

    scan_level (model, plan, i, pixels, &result, passed);
    free (pixels);
  }
  for (int s = 0; s < plan->n_segments; s++) {
    for (int n = plan->segment_end[s]; n <= model->n_weak; n++)
      survivors[s] += passed[n];
  }
  free (passed);
  return result;
}
