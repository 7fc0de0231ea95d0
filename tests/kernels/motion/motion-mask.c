/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks drawn from polygons against what defines them. */
#include "cuvcheck.h"
#include "motion.h"

#include <string.h>

#define MAX_POINTS 9
#define MAX_WIDTH 150
#define MAX_HEIGHT 40

/* Whether an odd number of edges is above (x, y); the test's rays go up, the
 * code's to the right. Sets *on_edge if the point is on one. */
static bool
is_inside (const CuvMotionPoint *points, int n, int x, int y, bool *on_edge)
{
  bool inside = false;

  for (int i = 0; i < n; i++) {
    const CuvMotionPoint p = points[i], q = points[(i + 1) % n];
    const CuvMotionPoint a = p.x < q.x ? p : q, b = p.x < q.x ? q : p;
    const int64_t side =
        (int64_t) (b.x - a.x) * (y - a.y) - (int64_t) (b.y - a.y) * (x - a.x);

    if (side == 0 && x >= a.x && x <= b.x && y >= cuv_motion_min (a.y, b.y)
        && y <= cuv_motion_max (a.y, b.y))
      *on_edge = true;
    if (a.x <= x && x < b.x && side > 0)
      inside = !inside;
  }
  return inside;
}

static bool
bit_at (const CuvMotionBits *bits, int x, int y)
{
  return bits->words[y * bits->stride + x / 64] >> x % 64 & 1;
}

static int
check_mask (const CuvMotionBits *drawn, const CuvMotionPoint *points, int n,
    int across, int down)
{
  int n_masked = 0;

  for (int y = 0; y < drawn->height; y++) {
    for (int x = 0; x < drawn->stride * 64; x++) {
      bool on_edge = false;
      const bool inside = is_inside (points, n, (2 * x + 1) * across * 8,
          (2 * y + 1) * down * 8, &on_edge);

      if (x >= drawn->width)
        CUV_CHECK (bit_at (drawn, x, y), ": %d,%d is outside", x, y);
      else if (!on_edge)
        CUV_CHECK (bit_at (drawn, x, y) != inside, ": %d,%d", x, y);
      n_masked += inside;
    }
  }
  return n_masked;
}

static int
random_coordinate (int length)
{
  return (int) cuv_check_below ((unsigned) (length * 32)) - length * 8;
}

CUV_CHECKS_CPU (mask)
{
  uint64_t words[(MAX_WIDTH / 64 + 1) * MAX_HEIGHT], row[MAX_WIDTH / 64 + 1];
  int n_masked = 0;

  for (int i = 0; i < 400; i++) {
    const int width = 1 + (int) cuv_check_below (MAX_WIDTH);
    const int height = 1 + (int) cuv_check_below (MAX_HEIGHT);
    const int across = 1 + (int) cuv_check_below (16);
    const int down = 1 + (int) cuv_check_below (16);
    const int n = 3 + (int) cuv_check_below (MAX_POINTS - 2);
    CuvMotionBits drawn = { words, width, height, cuv_motion_n_words (width) };
    CuvMotionPoint points[MAX_POINTS];

    cuv_check_case (
        "mask %d: %dx%d values of %dx%d", i, width, height, across, down);
    for (int k = 0; k < n; k++)
      points[k] = (CuvMotionPoint){ random_coordinate (width * across),
        random_coordinate (height * down) };
    memset (words, 0xff, sizeof words);
    cuv_motion_mask_polygon (&drawn, points, n, across, down, row);
    n_masked += check_mask (&drawn, points, n, across, down);
  }
  CUV_CHECK (n_masked > 1000, ": %d", n_masked);
}

/* A polygon has what is on its left and upper edges, not what is on the others;
 * far points do not overflow. */
CUV_CHECKS_CPU (mask_edges)
{
  const int far = 1 << 28, first = 20 * 16 + 8, end = 30 * 16 + 8;
  const CuvMotionPoint upright[] = { { first, -far }, { end, -far },
    { end, far }, { first, far } };
  const CuvMotionPoint lying[] = { { -far, first }, { far, first },
    { far, end }, { -far, end } };
  uint64_t across = ~UINT64_C (0), down[64], row[1];

  cuv_motion_mask_polygon (
      &(CuvMotionBits){ &across, 64, 1, 1 }, upright, 4, 1, 1, row);
  CUV_CHECK (across == ~(UINT64_C (0x3ff) << 20), ": %llx",
      (unsigned long long) across);
  memset (down, 0xff, sizeof down);
  cuv_motion_mask_polygon (
      &(CuvMotionBits){ down, 1, 64, 1 }, lying, 4, 1, 1, row);
  for (int y = 0; y < 64; y++)
    CUV_CHECK ((down[y] & 1) == (y < 20 || y >= 30), ": row %d", y);
}
