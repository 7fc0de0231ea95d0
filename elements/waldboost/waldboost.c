/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector's definition. Every other version returns the same. */
#include "waldboost-scan.h"

static uint32_t
block_sum (
    const uint32_t *sums, ptrdiff_t stride, int x, int y, int width, int height)
{
  const uint32_t *top = sums + y * stride + x;
  const uint32_t *bottom = top + height * stride;

  return bottom[width] - bottom[0] - top[width] + top[0];
}

/* The local binary pattern of 3x3 blocks: bit 7 is the top left one's, and so
 * on clockwise. */
static int
pattern (const uint32_t *sums, ptrdiff_t stride, const CuvGridNode *node)
{
  static const uint8_t column[8] = { 0, 1, 2, 2, 2, 1, 0, 0 };
  static const uint8_t row[8] = { 0, 0, 0, 1, 2, 2, 2, 1 };
  int w = node->width, h = node->height;
  uint32_t centre = block_sum (sums, stride, node->x + w, node->y + h, w, h);
  int code = 0;

  for (int i = 0; i < 8; i++) {
    uint32_t neighbour = block_sum (
        sums, stride, node->x + column[i] * w, node->y + row[i] * h, w, h);
    code = code << 1 | (neighbour >= centre);
  }
  return code;
}

static float
weak_response (const CuvWaldboostModel *model, const CuvWeak *weak,
    const uint32_t *sums, ptrdiff_t stride)
{
  int32_t next = 0;

  do {
    const CuvGridNode *node = &model->nodes[weak->first_node + next];
    int code = pattern (sums, stride, node);

    next =
        node->subset[code >> 5] >> (code & 31) & 1 ? node->left : node->right;
  } while (next > 0);
  return model->leaves[weak->first_leaf - next];
}

int
cuv_evaluate_window (const CuvWaldboostModel *model, const uint32_t *sums,
    ptrdiff_t stride, float *score)
{
  const CuvWeak *weak = model->weak;
  double sum = 0;

  for (int i = 0; i < model->n_weak; i++) {
    if (weak[i].restart)
      sum = 0;
    sum += weak_response (model, &weak[i], sums, stride);
    if (sum < weak[i].threshold)
      return i;
  }
  *score = (float) (sum - (double) weak[model->n_weak - 1].threshold);
  return model->n_weak;
}

/* After a window that fails in the first stage the next one is skipped. */
void
cuv_scan_row (const CuvScanRow *row, CuvHitList *list)
{
  const CuvWaldboostModel *model = row->model;
  const uint32_t *sums = row->sums;

  for (int i = 0; i < row->n_x; i++) {
    float score;
    int passed =
        cuv_evaluate_window (model, sums + i * row->step, row->stride, &score);

    list->windows++;
    if (passed < model->stage_first[1])
      i++;
    else
      list->stage_0++;
    if (passed == model->n_weak)
      cuv_hit_list_add (list, row->level, i * row->step, row->y, score);
  }
}
