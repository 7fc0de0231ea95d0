/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random models, and the definition of a scan once more: pixels summed one by
 * one, no integral pictures, no taps. */
#ifndef CUV_TEST_WALDBOOST_ORACLE_H
#define CUV_TEST_WALDBOOST_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuvcheck.h"
#include "waldboost.h"

/* ---- random models ---- */

typedef struct {
  int max_window; /* pixels, a side */
  int n_stages, max_weak;
  int max_nodes; /* of a tree; 1 = stumps */
  double pass;   /* the share of windows that a stage lets through, about */
} ModelKind;

#define MAX_WEAK 512
#define MAX_NODES 8

typedef struct {
  CuvWaldboostModel model;
  CuvWeak weak[MAX_WEAK];
  CuvGridNode nodes[MAX_WEAK * MAX_NODES];
  float leaves[MAX_WEAK * (MAX_NODES + 1)];
  int32_t stage_first[65];
} RandomModel;

static int
random_between (int low, int high)
{
  return low + (int) cuv_check_below ((uint32_t) (high - low + 1));
}

static CuvGridNode
random_node (int window_width, int window_height, int index, int n_nodes)
{
  CuvGridNode node = { .width = (int16_t) random_between (1, window_width / 3),
    .height = (int16_t) random_between (1, window_height / 3) };
  int32_t *child[2] = { &node.left, &node.right };

  node.x = (int16_t) random_between (0, window_width - 3 * node.width);
  node.y = (int16_t) random_between (0, window_height - 3 * node.height);
  for (int i = 0; i < 8; i++)
    node.subset[i] = cuv_check_random ();
  for (int i = 0; i < 2; i++) {
    if (index + 1 < n_nodes && cuv_check_below (2))
      *child[i] = random_between (index + 1, n_nodes - 1);
    else
      *child[i] = -random_between (0, n_nodes);
  }
  return node;
}

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* A sum that the stage can take, below which few of its sums are: sums equal to
 * the threshold are then the rule. */
static float
random_threshold (RandomModel *self, int first, int end, double pass)
{
  enum { N = 99 };
  float sums[N];

  for (int k = 0; k < N; k++) {
    double sum = 0;

    for (int i = first; i < end; i++) {
      int n = (i + 1 < self->model.n_weak ? self->weak[i + 1].first_leaf
                                          : self->model.n_leaves)
          - self->weak[i].first_leaf;

      sum += self->leaves[self->weak[i].first_leaf + random_between (0, n - 1)];
    }
    sums[k] = (float) sum;
  }
  qsort (sums, N, sizeof *sums, compare_floats);
  return sums[(int) ((1 - pass) * (N - 1))];
}

static void
add_weak (RandomModel *self, const ModelKind *kind)
{
  CuvWaldboostModel *model = &self->model;
  int n = random_between (1, kind->max_nodes);

  self->weak[model->n_weak++] = (CuvWeak){ .first_node = model->n_nodes,
    .first_leaf = model->n_leaves,
    .threshold = -INFINITY };
  for (int i = 0; i < n; i++)
    self->nodes[model->n_nodes++] =
        random_node (model->window_width, model->window_height, i, n);
  for (int i = 0; i <= n; i++)
    self->leaves[model->n_leaves++] =
        (float) random_between (-1000, 1000) / 777.f;
}

static RandomModel *
random_model (const ModelKind *kind)
{
  RandomModel *self = calloc (1, sizeof *self);
  CuvWaldboostModel *model = &self->model;

  *model = (CuvWaldboostModel){ .inclusive = 1,
    .scan = CUV_SCAN_OPENCV,
    .weak = self->weak,
    .nodes = self->nodes,
    .leaves = self->leaves,
    .stage_first = self->stage_first,
    .n_stages = kind->n_stages };
  model->window_width = random_between (3, kind->max_window);
  model->window_height = random_between (3, kind->max_window);
  for (int s = 0; s < kind->n_stages; s++) {
    int n = random_between (1, kind->max_weak);

    self->stage_first[s] = model->n_weak;
    for (int i = 0; i < n; i++)
      add_weak (self, kind);
    self->weak[self->stage_first[s]].restart = 1;
    self->weak[model->n_weak - 1].threshold = random_threshold (
        self, self->stage_first[s], model->n_weak, kind->pass);
  }
  self->stage_first[kind->n_stages] = model->n_weak;
  model->stumps = model->n_nodes == model->n_weak;
  for (int i = 0; i < model->n_nodes; i++) {
    int area = self->nodes[i].width * self->nodes[i].height;

    if (area > model->max_block_area)
      model->max_block_area = area;
  }
  return self;
}

/* ---- the definition once more ---- */

/* The two samples that output i of n_out mixes, and the share of the second in
 * 1/256. */
static void
mix_of (int i, int n_out, int n_in, int at[2], int *share)
{
  double place = (i + 0.5) * n_in / n_out - 0.5;

  at[0] = (int) floor (place);
  *share = (int) rint ((place - at[0]) * 256);
  if (place < 0) {
    at[0] = 0;
    *share = 0;
  } else if (at[0] >= n_in - 1) {
    at[0] = n_in - 1;
    *share = 0;
  }
  at[1] = at[0] + (*share > 0);
}

static uint8_t *
oracle_level (const CuvFrame *frame, int width, int height)
{
  uint8_t *level = malloc ((size_t) width * height);

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      int xs[2], ys[2], right, down;
      double value;

      mix_of (x, width, frame->width, xs, &right);
      mix_of (y, height, frame->height, ys, &down);
      value =
          (256. - right) * (256 - down) * cuv_frame_grey (frame, xs[0], ys[0])
          + (double) right * (256 - down) * cuv_frame_grey (frame, xs[1], ys[0])
          + (256. - right) * down * cuv_frame_grey (frame, xs[0], ys[1])
          + (double) right * down * cuv_frame_grey (frame, xs[1], ys[1]);
      level[y * width + x] = (uint8_t) floor (value / 65536 + 0.5);
    }
  }
  return level;
}

static long
oracle_block (const uint8_t *pixels, int stride, int x0, int y0, int w, int h)
{
  long sum = 0;

  for (int y = y0; y < y0 + h; y++) {
    for (int x = x0; x < x0 + w; x++)
      sum += pixels[y * stride + x];
  }
  return sum;
}

static bool
oracle_left (const CuvGridNode *node, const uint8_t *window, int stride)
{
  static const int order[8] = { 0, 1, 2, 5, 8, 7, 6, 3 }; /* in rows of 3 */
  long sums[9];
  int code = 0;

  for (int k = 0; k < 9; k++)
    sums[k] = oracle_block (window, stride, node->x + k % 3 * node->width,
        node->y + k / 3 * node->height, node->width, node->height);
  for (int k = 0; k < 8; k++)
    code += sums[order[k]] >= sums[4] ? 128 >> k : 0;
  return (node->subset[code / 32] & (1u << code % 32)) != 0;
}

/* The number of the stage in which the window fails, n_stages for a hit. */
static int
oracle_window (const CuvWaldboostModel *model, const uint8_t *window,
    int stride, float *score)
{
  for (int s = 0; s < model->n_stages; s++) {
    double sum = 0;

    for (int i = model->stage_first[s]; i < model->stage_first[s + 1]; i++) {
      const CuvWeak *weak = &model->weak[i];
      int at = 0;

      do {
        const CuvGridNode *node = &model->nodes[weak->first_node + at];

        at = oracle_left (node, window, stride) ? node->left : node->right;
      } while (at > 0);
      sum += (double) model->leaves[weak->first_leaf - at];
    }
    *score = (float) (sum
        - (double) model->weak[model->stage_first[s + 1] - 1].threshold);
    if (sum < model->weak[model->stage_first[s + 1] - 1].threshold)
      return s;
  }
  return model->n_stages;
}

static CuvWaldboostResult
oracle_scan (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvFrame *frame)
{
  CuvWaldboostHit *hits = malloc (CUV_WALDBOOST_MAX_HITS * sizeof *hits);
  CuvWaldboostResult result = { .hits = hits };

  for (int l = 0; l < plan->n_levels; l++) {
    const CuvWaldboostLevel *level = &plan->levels[l];
    uint8_t *pixels = oracle_level (frame, level->width, level->height);

    for (int j = 0; j < level->n_y; j++) {
      for (int i = 0; i < level->n_x; i++) {
        int x = i * level->step, y = j * level->step;
        float score = 0;
        int stage = oracle_window (
            model, pixels + y * level->width + x, level->width, &score);

        result.windows++;
        if (stage == model->n_stages)
          hits[result.n_hits++] = (CuvWaldboostHit){ l, x, y, score };
        i += stage == 0;
      }
    }
    free (pixels);
  }
  return result;
}

#endif
