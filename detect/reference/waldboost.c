/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evaluates features and classifiers window by window. */
#include "reference/waldboost-reference.h"

#include <math.h>

/* A window: pointers to its top left corner in the integral images. */
typedef struct {
  const CuvWaldboostModel *model;
  const uint32_t *sums, *squares, *tilted;
  ptrdiff_t stride;
  float norm; /* HAAR: factor (cascades) or divisor (WaldBoost) of values */
} Window;

/* ---- sums ---- */

static uint32_t
rect_sum (const uint32_t *integral, ptrdiff_t stride, int x, int y, int width,
    int height)
{
  const uint32_t *top = integral + y * stride + x;
  const uint32_t *bottom = top + height * stride;

  return bottom[width] - bottom[0] - top[width] + top[0];
}

/* Sums a rectangle rotated by 45 degrees about its top corner (x, y). */
static uint32_t
tilted_sum (const uint32_t *tilted, ptrdiff_t stride, int x, int y, int width,
    int height)
{
  const uint32_t *top = tilted + y * stride + x;
  const uint32_t *right = top + width * stride + width;

  return top[0] - top[height * stride - height] - right[0]
      + right[height * stride - height];
}

/* ---- grids of blocks ---- */

static uint32_t
block_value (const Window *window, const CuvGridNode *node, int block)
{
  int w = node->width, h = node->height;
  uint32_t area = (uint32_t) (w * h);
  uint32_t sum = rect_sum (window->sums, window->stride,
      node->x + block % 3 * w, node->y + block / 3 * h, w, h);

  switch (window->model->block_value) {
    case CUV_BLOCK_MEAN_TRUNC:
      return sum / area;
    case CUV_BLOCK_MEAN_ROUND:
      return (sum + area / 2) / area;
    default:
      return sum;
  }
}

static int
local_binary_pattern (const uint32_t *values, bool inclusive)
{
  static const uint8_t clockwise[8] = { 0, 1, 2, 5, 8, 7, 6, 3 };
  int code = 0;

  for (int i = 0; i < 8; i++) {
    uint32_t neighbour = values[clockwise[i]], centre = values[4];

    code = code << 1 | (inclusive ? neighbour >= centre : neighbour > centre);
  }
  return code;
}

static int
rank (const uint32_t *values, int k)
{
  int n = 0;

  for (int i = 0; i < 9; i++)
    n += values[k] > values[i];
  return n;
}

static int
grid_code (const Window *window, const CuvGridNode *node)
{
  uint32_t values[9];

  for (int k = 0; k < 9; k++)
    values[k] = block_value (window, node, k);
  switch (window->model->feature) {
    case CUV_FEATURE_LRD:
      return rank (values, node->a) - rank (values, node->b) + 8;
    case CUV_FEATURE_LRP:
      return rank (values, node->a) + 10 * rank (values, node->b);
    case CUV_FEATURE_LBP:
    case CUV_FEATURE_HAAR: /* these have no grid */
    case CUV_FEATURE_CHANNELS:
      break;
  }
  return local_binary_pattern (values, window->model->inclusive != 0);
}

int
cuv_grid_code (const CuvWaldboostModel *model, const CuvIntegrals *integrals,
    int x, const CuvGridNode *node)
{
  const Window window = { .model = model,
    .sums = (const uint32_t *) integrals->sums + x,
    .stride = integrals->stride };

  return grid_code (&window, node);
}

/* ---- Haar ---- */

static int32_t
haar_rect (const Window *window, const CuvHaarNode *node, int i)
{
  const CuvHaarRect *rect = &node->rect[i];

  return (int32_t) (node->tilted
          ? tilted_sum (window->tilted, window->stride, rect->x, rect->y,
              rect->width, rect->height)
          : rect_sum (window->sums, window->stride, rect->x, rect->y,
              rect->width, rect->height));
}

/* Returns the value of a node of a cascade's tree. */
static float
haar_value (const Window *window, const CuvHaarNode *node)
{
  float value = node->rect[0].weight * (float) haar_rect (window, node, 0)
      + node->rect[1].weight * (float) haar_rect (window, node, 1);

  if (node->rect[2].weight != 0)
    value += node->rect[2].weight * (float) haar_rect (window, node, 2);
  return value * window->norm;
}

/* Returns the bin of a WaldBoost feature's value. */
static int
haar_code (const Window *window, const CuvHaarNode *node)
{
  int64_t sum = 0;
  float value, bin;

  for (int i = 0; i < 3; i++) {
    if (node->rect[i].weight != 0)
      sum += (int64_t) node->rect[i].weight * haar_rect (window, node, i);
  }
  value = (float) sum / node->divisor / window->norm;
  bin = (value - node->minimum) / (node->maximum - node->minimum)
          * (float) (node->bins - 1)
      + 0.5f;
  if (!(bin > 0))
    return 0;
  return bin < (float) (node->bins - 1) ? (int) bin : node->bins - 1;
}

/* Sets a cascade's normalisation factor, from the window without its outer
 * pixels. Returns false if the contrast is too low. */
static bool
cascade_norm (Window *window)
{
  int w = window->model->window_width - 2;
  int h = window->model->window_height - 2;
  uint32_t sum, squares;
  double factor;

  if (w <= 0 || h <= 0)
    return false;
  sum = rect_sum (window->sums, window->stride, 1, 1, w, h);
  squares = rect_sum (window->squares, window->stride, 1, 1, w, h);
  factor = (double) (w * h) * squares - (double) sum * sum;
  if (!(factor > 0))
    return false;
  window->norm = (float) (1 / sqrt (factor));
  return (double) (w * h) * (double) window->norm < 0.1;
}

/* Sets the standard deviation of the window's pixels, at least least_sigma. */
static void
waldboost_norm (Window *window)
{
  int w = window->model->window_width, h = window->model->window_height;
  uint32_t sum = rect_sum (window->sums, window->stride, 0, 0, w, h);
  uint32_t squares = rect_sum (window->squares, window->stride, 0, 0, w, h);
  double n = (double) (w * h);

  window->norm = (float) (sqrt (n * squares - (double) sum * (double) sum) / n);
  if (!(window->norm >= window->model->least_sigma))
    window->norm = window->model->least_sigma;
}

/* ---- weak classifiers ---- */

/* Returns the next node of a tree, or minus the number of a leaf. */
static int32_t
next_node (const Window *window, int32_t at)
{
  const CuvWaldboostModel *model = window->model;

  if (model->feature == CUV_FEATURE_HAAR) {
    const CuvHaarNode *node = &model->haar_nodes[at];

    return haar_value (window, node) < node->threshold ? node->left
                                                       : node->right;
  } else {
    const CuvGridNode *node = &model->nodes[at];
    int code = grid_code (window, node);

    return node->subset[code >> 5] >> (code & 31) & 1 ? node->left
                                                      : node->right;
  }
}

static float
tree_response (const Window *window, const CuvWeak *weak)
{
  int32_t at = 0;

  do {
    at = next_node (window, weak->first_node + at);
  } while (at > 0);
  return window->model->leaves[weak->first_leaf - at];
}

/* Returns the leaf selected by a WaldBoost feature. */
static int32_t
selected_leaf (const Window *window, const CuvWeak *weak)
{
  const CuvWaldboostModel *model = window->model;
  int code = model->feature == CUV_FEATURE_HAAR
      ? haar_code (window, &model->haar_nodes[weak->first_node])
      : grid_code (window, &model->nodes[weak->first_node]);

  return weak->first_leaf + code;
}

/* ---- windows, by arithmetic ---- */

static int
evaluate_stages (const Window *window, float *score)
{
  const CuvWaldboostModel *model = window->model;
  const CuvWeak *weak = model->weak;
  double sum = 0;

  for (int i = 0; i < model->n_weak; i++) {
    if (weak[i].restart)
      sum = 0;
    sum += (double) tree_response (window, &weak[i]);
    if (sum < (double) weak[i].threshold)
      return i;
  }
  *score = (float) (sum - (double) weak[model->n_weak - 1].threshold);
  return model->n_weak;
}

static int
evaluate_fixed (const Window *window, float *score)
{
  const CuvWaldboostModel *model = window->model;
  int32_t sum = 0;

  for (int i = 0; i < model->n_weak; i++) {
    sum += model->fixed_leaves[selected_leaf (window, &model->weak[i])];
    if (sum < model->weak[i].fixed_threshold)
      return i;
  }
  *score = (float) ldexp (
      (double) sum - (double) model->fixed_final_threshold, -model->fixed_bits);
  return sum > model->fixed_final_threshold ? model->n_weak : model->n_weak - 1;
}

static int
evaluate_float (const Window *window, float *score)
{
  const CuvWaldboostModel *model = window->model;
  float sum = 0;

  for (int i = 0; i < model->n_weak; i++) {
    sum += model->leaves[selected_leaf (window, &model->weak[i])];
    if (sum < model->weak[i].threshold)
      return i;
  }
  *score = sum - model->final_threshold;
  return sum > model->final_threshold ? model->n_weak : model->n_weak - 1;
}

/* Returns false if a cascade's window has too little contrast. */
static bool
window_init (Window *self, const CuvWaldboostModel *model,
    const CuvIntegrals *integrals, int x)
{
  *self = (Window){ model, (const uint32_t *) integrals->sums + x, NULL, NULL,
    integrals->stride, 1 };
  if (model->feature != CUV_FEATURE_HAAR)
    return true;
  self->squares = (const uint32_t *) integrals->squares + x;
  if (model->tilted)
    self->tilted = (const uint32_t *) integrals->tilted + x;
  if (model->arithmetic == CUV_SUM_STAGES)
    return cascade_norm (self);
  waldboost_norm (self);
  return true;
}

int
cuv_evaluate_window (const CuvWaldboostModel *model,
    const CuvIntegrals *integrals, int x, float *score)
{
  Window window;

  if (!window_init (&window, model, integrals, x))
    return -1;
  switch (model->arithmetic) {
    case CUV_SUM_FIXED:
      return evaluate_fixed (&window, score);
    case CUV_SUM_FLOAT:
      return evaluate_float (&window, score);
    default:
      return evaluate_stages (&window, score);
  }
}

double
cuv_last_stage_sum (
    const CuvWaldboostModel *model, const CuvIntegrals *integrals, int x)
{
  Window window;
  double sum = 0;

  window_init (&window, model, integrals, x);
  for (int i = model->stage_first[model->n_stages - 1]; i < model->n_weak; i++)
    sum += (double) tree_response (&window, &model->weak[i]);
  return sum;
}

static bool
is_in_range (const CuvScanRow *row, int i)
{
  return row->plan->ranges == NULL
      || (i >= row->range.first && i < row->range.end);
}

void
cuv_scan_row (const CuvScanRow *row, CuvHitList *list)
{
  const CuvWaldboostModel *model = row->model;

  for (int i = 0; i < row->n_x; i++) {
    float score = 0;
    int x = i * row->step;
    int passed = is_in_range (row, i)
        ? cuv_evaluate_window (model, &row->integrals, x, &score)
        : -1;

    cuv_hit_list_count (list, row->plan, passed);
    if (passed == model->n_weak)
      cuv_hit_list_add (list, row->level, x, row->y, score);
    if (row->plan->skip && passed >= 0 && passed < model->stage_first[1])
      i++;
  }
}
