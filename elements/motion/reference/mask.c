/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

/* Inverts the first n bits of a row. */
static void
invert_first (uint64_t *row, int n)
{
  for (; n >= 64; n -= 64)
    *row++ ^= ~UINT64_C (0);
  if (n > 0)
    *row ^= ~(~UINT64_C (0) << n);
}

/* Returns how many centres of values of row y are left of an edge; 0 if none
 * are, or the edge does not pass the row. The upper end of an edge belongs to
 * it, the lower one does not. across, y: in 1/16 pixel, of a value and of the
 * centres. */
static int
values_left_of (
    CuvMotionPoint a, CuvMotionPoint b, int64_t across, int64_t y, int width)
{
  const CuvMotionPoint upper = a.y < b.y ? a : b, lower = a.y < b.y ? b : a;
  const int64_t down = (int64_t) lower.y - upper.y;
  int64_t left, step;

  if (y < upper.y || y >= lower.y)
    return 0;
  /* the edge is at upper.x + (y - upper.y) * (lower.x - upper.x) / down */
  left = upper.x * down + (y - upper.y) * ((int64_t) lower.x - upper.x)
      - across / 2 * down;
  step = across * down;
  return left <= 0 ? 0
      : left / step >= width
      ? width
      : cuv_motion_min ((int) ((left + step - 1) / step), width);
}

/* Each edge inverts what is left of it: what has an odd number of edges on its
 * right is inside. */
static void
mark_row (uint64_t *row, const CuvMotionPoint *points, int n, int64_t across,
    int64_t y, int width)
{
  CuvMotionPoint a = points[n - 1];

  for (int i = 0; i < n; i++) {
    invert_first (row, values_left_of (a, points[i], across, y, width));
    a = points[i];
  }
}

void
cuv_motion_mask_polygon (const CuvMotionBits *unmasked,
    const CuvMotionPoint *points, int n, int across, int down, uint64_t *row)
{
  for (int y = 0; y < unmasked->height; y++) {
    uint64_t *words = unmasked->words + (int64_t) y * unmasked->stride;

    for (int i = 0; i < unmasked->stride; i++)
      row[i] = 0;
    mark_row (row, points, n, (int64_t) across * CUV_MOTION_POINT_SCALE,
        ((int64_t) 2 * y + 1) * down * CUV_MOTION_POINT_SCALE / 2,
        unmasked->width);
    for (int i = 0; i < unmasked->stride; i++)
      words[i] &= ~row[i];
  }
}

void
cuv_motion_hide (uint8_t *mask, int width, int height, const uint64_t *unmasked)
{
  const int stride = cuv_motion_n_words (width);

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      if (!(unmasked[(int64_t) y * stride + x / 64] >> x % 64 & 1))
        mask[(int64_t) y * width + x] = CUV_MOTION_STILL;
    }
  }
}
