/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "waldboost-models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
random_between (int low, int high)
{
  return low + (int) cuv_check_below ((uint32_t) (high - low + 1));
}

/* ---- samples ---- */

SamplePool
sample_pool_new (int capacity)
{
  return (SamplePool){ malloc (capacity * sizeof (Sample)), 0, capacity };
}

void
sample_pool_free (SamplePool *self)
{
  free (self->samples);
  self->samples = NULL;
}

void
sample_pool_add (SamplePool *self, const CuvWaldboostModel *model,
    const uint8_t *pixels, int width, int height, int n)
{
  if (width < model->window_width || height < model->window_height)
    return;
  for (int i = 0; i < n && self->n < self->capacity; i++) {
    int x = random_between (0, width - model->window_width);
    int y = random_between (0, height - model->window_height);
    Sample sample = { { pixels + (size_t) y * width + x, width }, 1, 0 };

    if (oracle_norm (model, sample.window, &sample.norm))
      self->samples[self->n++] = sample;
  }
}

void
sample_pool_respond (SamplePool *self, const CuvWaldboostModel *model, int k)
{
  for (int i = 0; i < self->n; i++) {
    Sample *sample = &self->samples[i];
    int leaf = oracle_leaf (model, k, sample->window, sample->norm);

    if (model->weak[k].restart)
      sample->sum = 0;
    if (model->arithmetic == CUV_SUM_FIXED)
      sample->sum += model->fixed_leaves[leaf];
    else if (model->arithmetic == CUV_SUM_FLOAT)
      sample->sum = (float) ((float) sample->sum + model->leaves[leaf]);
    else
      sample->sum += model->leaves[leaf];
  }
}

static int
compare_falling (const void *a, const void *b)
{
  double x = ((const Sample *) a)->sum, y = ((const Sample *) b)->sum;

  return (x < y) - (x > y);
}

double
sample_pool_threshold (SamplePool *self, int n)
{
  if (self->n == 0)
    return -INFINITY;
  qsort (self->samples, self->n, sizeof *self->samples, compare_falling);
  return self->samples[n < 1 ? 0 : n > self->n ? self->n - 1 : n - 1].sum;
}

void
sample_pool_drop (SamplePool *self, double threshold)
{
  int kept = 0;

  for (int i = 0; i < self->n; i++) {
    if (!(self->samples[i].sum < threshold))
      self->samples[kept++] = self->samples[i];
  }
  self->n = kept;
}

/* ---- nodes ---- */

static void
set_children (int32_t *left, int32_t *right, int index, int n_nodes)
{
  int32_t *child[2] = { left, right };

  for (int i = 0; i < 2; i++) {
    if (index + 1 < n_nodes && cuv_check_below (2))
      *child[i] = random_between (index + 1, n_nodes - 1);
    else
      *child[i] = -random_between (0, n_nodes);
  }
}

static int
block_side (const ModelKind *kind, int window)
{
  int most = window / 3;

  if (kind->max_block > 0 && kind->max_block < most)
    most = kind->max_block;
  return random_between (1, most);
}

static CuvGridNode
random_grid_node (
    const ModelKind *kind, const CuvWaldboostModel *model, int index, int n)
{
  CuvGridNode node = { .width =
                           (int16_t) block_side (kind, model->window_width),
    .height = (int16_t) block_side (kind, model->window_height),
    .a = (int16_t) random_between (0, 7) };

  node.x = (int16_t) random_between (0, model->window_width - 3 * node.width);
  node.y = (int16_t) random_between (0, model->window_height - 3 * node.height);
  node.b = (int16_t) random_between (node.a + 1, 8);
  if (model->arithmetic == CUV_SUM_STAGES) {
    for (int i = 0; i < 8; i++)
      node.subset[i] = cuv_check_random ();
    set_children (&node.left, &node.right, index, n);
  }
  return node;
}

static CuvHaarRect
random_rect (const CuvWaldboostModel *model, bool tilted, float weight)
{
  int W = model->window_width, H = model->window_height;
  CuvHaarRect rect = { .weight = weight };

  if (tilted) { /* corners at x - height, x + width, y + width + height */
    int most = W < H ? W : H;

    rect.width = (int16_t) random_between (1, most - 1);
    rect.height = (int16_t) random_between (1, most - rect.width);
    rect.x = (int16_t) random_between (rect.height, W - rect.width);
    rect.y = (int16_t) random_between (0, H - rect.width - rect.height);
  } else {
    rect.width = (int16_t) random_between (1, W);
    rect.height = (int16_t) random_between (1, H);
    rect.x = (int16_t) random_between (0, W - rect.width);
    rect.y = (int16_t) random_between (0, H - rect.height);
  }
  return rect;
}

/* Returns part (i, k) of a rectangle that is split into two across and one or
 * two down. */
static CuvHaarRect
part_of (const CuvHaarRect *whole, bool tilted, int down, int i, int k)
{
  int w = whole->width / 2, h = whole->height / down;

  return (
      CuvHaarRect){ .x = (int16_t) (whole->x + i * w - (tilted ? k * h : 0)),
    .y = (int16_t) (whole->y + k * h + (tilted ? i * w : 0)),
    .width = (int16_t) w,
    .height = (int16_t) h,
    .weight = 2 };
}

/* Sets the rectangles as in most features of trained models: the whole with
 * weight -1, and one half or two opposite quarters with weight 2. */
static void
set_parts (CuvHaarNode *node, const CuvWaldboostModel *model)
{
  CuvHaarRect whole = random_rect (model, node->tilted, -1);
  int down = random_between (1, 2), i = (int) cuv_check_below (2);

  whole.width = (int16_t) (whole.width & ~1);
  whole.height = (int16_t) (whole.height & ~1);
  if (whole.width == 0 || whole.height == 0)
    return;
  node->rect[0] = whole;
  node->rect[1] = part_of (&whole, node->tilted, down, i, 0);
  node->rect[2] = part_of (&whole, node->tilted, down, !i, 1);
  if (down == 1)
    node->rect[2].weight = 0;
}

/* Makes a node whose weights balance the areas of its rectangles. In models of
 * even height weights are integers, as in most model files. */
static CuvHaarNode
random_tree_node (
    const ModelKind *kind, const CuvWaldboostModel *model, int index, int n)
{
  CuvHaarNode node = { .tilted = kind->tilted && cuv_check_below (2) };

  node.rect[0] = random_rect (model, node.tilted, -1);
  node.rect[1] = random_rect (model, node.tilted, 1);
  node.rect[1].weight = (float) (node.rect[0].width * node.rect[0].height)
      / (float) (node.rect[1].width * node.rect[1].height);
  if (cuv_check_below (3) == 0) {
    node.rect[2] = random_rect (model, node.tilted, 2);
    node.rect[0].weight = -2;
  }
  if (model->window_height % 2 == 0)
    node.rect[1].weight = (float) random_between (2, 9);
  if (cuv_check_below (2))
    set_parts (&node, model);
  set_children (&node.left, &node.right, index, n);
  return node;
}

/* Makes one of BUT FIT's six features from weighted rectangles: first the
 * whole, then parts. */
static CuvHaarNode
random_table_node (const CuvWaldboostModel *model)
{
  static const struct {
    int across, down, norm;
    int part[2], weight[2]; /* of the blocks, row by row */
  } kinds[6] = { { 2, 1, 1, { 0, -1 }, { -2, 0 } },
    { 1, 2, 1, { 0, -1 }, { -2, 0 } }, { 3, 1, 2, { 1, -1 }, { -3, 0 } },
    { 1, 3, 2, { 1, -1 }, { -3, 0 } }, { 2, 2, 2, { 1, 2 }, { -2, -2 } },
    { 3, 3, 8, { 4, -1 }, { -9, 0 } } };
  int k = random_between (0, 5);
  int a = kinds[k].across, d = kinds[k].down;
  int w = random_between (1, model->window_width / a);
  int h = random_between (1, model->window_height / d);
  int x = random_between (0, model->window_width - a * w);
  int y = random_between (0, model->window_height - d * h);
  CuvHaarNode node = { .rect[0] = { (int16_t) x, (int16_t) y, (int16_t) (a * w),
                           (int16_t) (d * h), 1 },
    .divisor = (float) (kinds[k].norm * w * h),
    .bins = random_between (2, 40) };

  for (int i = 0; i < 2 && kinds[k].part[i] >= 0; i++) {
    int block = kinds[k].part[i];

    node.rect[i + 1] = (CuvHaarRect){ (int16_t) (x + block % a * w),
      (int16_t) (y + block / a * h), (int16_t) w, (int16_t) h,
      (float) kinds[k].weight[i] };
  }
  node.minimum = -(float) random_between (0, 100) / 50;
  node.maximum = node.minimum + (float) random_between (1, 100) / 30;
  return node;
}

/* ---- weak classifiers ---- */

static int
count_leaves (const RandomModel *self, int n_nodes)
{
  const CuvWaldboostModel *model = &self->model;

  if (model->arithmetic == CUV_SUM_STAGES)
    return n_nodes + 1;
  if (model->feature == CUV_FEATURE_HAAR)
    return self->haar_nodes[model->n_nodes - 1].bins;
  return model->feature == CUV_FEATURE_LBP ? 256
      : model->feature == CUV_FEATURE_LRD  ? 17
                                           : 100;
}

static void
add_weak (RandomModel *self, const ModelKind *kind)
{
  CuvWaldboostModel *model = &self->model;
  bool tree = model->arithmetic == CUV_SUM_STAGES;
  int n = tree ? random_between (1, kind->max_nodes) : 1;
  /* with 64 floats hold the sums exactly */
  float divisor = model->window_width % 2 ? 64 : 777;

  self->weak[model->n_weak++] = (CuvWeak){ .first_node = model->n_nodes,
    .first_leaf = model->n_leaves,
    .threshold = -INFINITY,
    .fixed_threshold = INT32_MIN };
  for (int i = 0; i < n; i++) {
    if (model->feature != CUV_FEATURE_HAAR)
      self->nodes[model->n_nodes++] = random_grid_node (kind, model, i, n);
    else if (tree)
      self->haar_nodes[model->n_nodes++] = random_tree_node (kind, model, i, n);
    else
      self->haar_nodes[model->n_nodes++] = random_table_node (model);
  }
  for (int i = count_leaves (self, n); i > 0; i--) {
    float leaf = (float) random_between (-1000, 1000) / divisor;

    self->leaves[model->n_leaves] = leaf;
    self->fixed_leaves[model->n_leaves++] =
        (int32_t) lrintf (ldexpf (leaf, model->fixed_bits));
  }
}

static void
add_facts (RandomModel *self)
{
  CuvWaldboostModel *model = &self->model;

  model->stumps = model->n_nodes == model->n_weak;
  for (int i = 0; i < model->n_nodes; i++) {
    int area = self->nodes[i].width * self->nodes[i].height;

    if (area > model->max_block_area)
      model->max_block_area = area;
    if (self->haar_nodes[i].tilted)
      model->tilted = 1;
  }
  if (model->feature == CUV_FEATURE_HAAR)
    model->haar_nodes = self->haar_nodes;
  else
    model->nodes = self->nodes;
  if (model->arithmetic == CUV_SUM_FIXED)
    model->fixed_leaves = self->fixed_leaves;
}

RandomModel *
random_model_without_thresholds (const ModelKind *kind, int width, int height)
{
  RandomModel *self = calloc (1, sizeof *self);
  CuvWaldboostModel *model = &self->model;
  bool cascade = kind->arithmetic == CUV_SUM_STAGES;

  *model = (CuvWaldboostModel){ .feature = kind->feature,
    .arithmetic = kind->arithmetic,
    .block_value = kind->block_value,
    .inclusive = kind->inclusive,
    .scan = cascade ? CUV_SCAN_OPENCV : CUV_SCAN_DENSE,
    .window_width = width,
    .window_height = height,
    .n_stages = kind->n_stages,
    .final_threshold = -INFINITY,
    .fixed_final_threshold = -(1 << 30),
    /* sums stay below 2^30, as the parser guarantees */
    .fixed_bits = random_between (4, kind->n_stages > 100 ? 16 : 19),
    .least_sigma = (float) random_between (1, 3),
    .weak = self->weak,
    .leaves = self->leaves,
    .stage_first = self->stage_first };
  for (int s = 0; s < kind->n_stages; s++) {
    self->stage_first[s] = model->n_weak;
    for (int i = cascade ? random_between (1, kind->max_weak) : 1; i > 0; i--)
      add_weak (self, kind);
    self->weak[self->stage_first[s]].restart = cascade;
  }
  self->stage_first[kind->n_stages] = model->n_weak;
  add_facts (self);
  return self;
}

/* ---- thresholds ---- */

void
set_threshold (RandomModel *self, int k, double threshold)
{
  self->weak[k].threshold = (float) threshold;
  if (self->model.arithmetic == CUV_SUM_FIXED)
    self->weak[k].fixed_threshold =
        isinf (threshold) ? INT32_MIN : (int32_t) threshold;
}

void
set_final_threshold (RandomModel *self, double threshold)
{
  self->model.final_threshold = (float) threshold;
  self->model.fixed_final_threshold =
      isinf (threshold) ? -(1 << 30) : (int32_t) threshold;
}

/* Sets thresholds of Haar trees to values of samples, which makes ties. */
static void
set_splits (RandomModel *self, int k, const SamplePool *pool)
{
  const CuvWaldboostModel *model = &self->model;
  int end =
      k + 1 < model->n_weak ? self->weak[k + 1].first_node : model->n_nodes;

  for (int i = self->weak[k].first_node; i < end && pool->n > 0; i++) {
    const Sample *sample = &pool->samples[cuv_check_below ((uint32_t) pool->n)];

    self->haar_nodes[i].threshold =
        oracle_haar (model, &self->haar_nodes[i], sample->window, sample->norm);
  }
}

/* Returns whether weak classifier k has a threshold: in cascades the last one
 * of a stage, otherwise two of three. */
static bool
has_test (const CuvWaldboostModel *model, int k, int stage)
{
  if (model->arithmetic == CUV_SUM_STAGES)
    return k == model->stage_first[stage + 1] - 1;
  return cuv_check_below (3) > 0;
}

static void
set_thresholds (RandomModel *self, SamplePool *pool, double pass)
{
  const CuvWaldboostModel *model = &self->model;
  bool cascade = model->arithmetic == CUV_SUM_STAGES;

  for (int k = 0, stage = 0; k < model->n_weak; k++) {
    double threshold;

    if (model->feature == CUV_FEATURE_HAAR && cascade)
      set_splits (self, k, pool);
    sample_pool_respond (pool, model, k);
    if (has_test (model, k, stage)) {
      threshold = sample_pool_threshold (pool, (int) (pass * pool->n));
      if (cascade && isinf (threshold))
        threshold = -1e6;
      set_threshold (self, k, threshold);
      sample_pool_drop (pool, threshold);
    }
    stage += k + 1 == model->stage_first[stage + 1];
  }
  set_final_threshold (self, sample_pool_threshold (pool, pool->n * 3 / 4));
}

RandomModel *
random_model_of_window (
    const ModelKind *kind, const CuvFrame *frame, int width, int height)
{
  RandomModel *self = random_model_without_thresholds (kind, width, height);
  SamplePool pool = sample_pool_new (500);
  uint8_t *grey = oracle_grey (frame);

  sample_pool_add (&pool, &self->model, grey, frame->width, frame->height, 500);
  set_thresholds (self, &pool, kind->pass);
  sample_pool_free (&pool);
  free (grey);
  return self;
}

int
random_window_side (const ModelKind *kind)
{
  int least = kind->feature == CUV_FEATURE_HAAR ? 4 : 3;

  return random_between (least, kind->max_window);
}

RandomModel *
random_model (const ModelKind *kind, const CuvFrame *frame)
{
  int width = random_window_side (kind), height = random_window_side (kind);

  return random_model_of_window (kind, frame, width, height);
}
