/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The integer geometry of regions, which CPU and GPU share.
 *
 * A region is walked along x or y, whichever it extends more in: t is the
 * coordinate along the walk, c the one across. Its chord goes from its first
 * to its last pixel. */
#ifndef CUV_HOUGH_REGIONS_H
#define CUV_HOUGH_REGIONS_H

#include "cuv-api.h"
#include "hough/hough-types.h"

/* Number of times that each region is split, each time where it bends most. */
#define CUV_HOUGH_REGION_SPLITS 4

/* Number of times that each region is split again after gaps have been
 * bridged. */
#define CUV_HOUGH_REGION_RESPLITS 2

/* Minimum extent of a region that looks for others across a gap. */
#define CUV_HOUGH_REGION_MIN_BRIDGED 5

/* Extreme pixels: top and bottom are y << 16 | x, left and right x << 16 | y.
 */
typedef struct {
  uint32_t top, bottom, left, right;
} CuvRegionBox;

/* Pixels in both halves of a chord, and the sums of their distances from it
 * across, in 1/64 pixel. */
typedef struct {
  int32_t n[2], sum[2];
} CuvRegionSums;

typedef struct {
  int32_t wide;   /* boolean: t is x */
  int32_t t, c;   /* the first pixel */
  int32_t dt, dc; /* from it to the last one; |dc| <= dt */
} CuvRegionChord;

/* Returns the maximum number of edges; if there are more, no regions are
 * formed. */
CUV_HOST_DEVICE int64_t
cuv_region_max_edges (int width, int height)
{
  return ((int64_t) width * height + 1) / 2;
}

/* Returns the difference of two directions of gradients, which are orientation
 * bins, plus n_bins for the opposite ones: 0 .. n_bins. */
CUV_HOST_DEVICE int
cuv_region_turn (int a, int b, int n_bins)
{
  int apart = a < b ? b - a : a - b;

  return apart <= n_bins ? apart : 2 * n_bins - apart;
}

/* Whether adjacent edges of these directions belong together: they differ by up
 * to 22.5 degrees. */
CUV_HOST_DEVICE int
cuv_region_joins (int a, int b, int n_bins)
{
  return 8 * cuv_region_turn (a, b, n_bins) <= n_bins;
}

CUV_HOST_DEVICE CuvRegionChord
cuv_region_chord (const CuvRegionBox *box)
{
  int wide = (box->right >> 16) - (box->left >> 16)
      >= (box->bottom >> 16) - (box->top >> 16);
  uint32_t first = wide ? box->left : box->top;
  uint32_t last = wide ? box->right : box->bottom;
  CuvRegionChord chord;

  chord.wide = wide;
  chord.t = (int32_t) (first >> 16);
  chord.c = (int32_t) (first & 0xffff);
  chord.dt = (int32_t) (last >> 16) - chord.t;
  chord.dc = (int32_t) (last & 0xffff) - chord.c;
  return chord;
}

/* Computes the position of pixel y << 16 | x relative to the chord's first
 * pixel. */
CUV_HOST_DEVICE void
cuv_region_relative (
    const CuvRegionChord *chord, uint32_t pixel, int *t, int *c)
{
  int x = (int) (pixel & 0xffff), y = (int) (pixel >> 16);

  *t = (chord->wide ? x : y) - chord->t;
  *c = (chord->wide ? y : x) - chord->c;
}

/* Returns the side of the chord that a direction points to: (x, y) is the
 * boundary of its bin. */
CUV_HOST_DEVICE int
cuv_region_side (const CuvRegionChord *chord, int x, int y, int turned)
{
  int dx = chord->wide ? chord->dt : chord->dc;
  int dy = chord->wide ? chord->dc : chord->dt;

  return (y * dx >= x * dy) != turned;
}

/* Returns the first or last pixel of a chord, y << 16 | x. */
CUV_HOST_DEVICE uint32_t
cuv_region_end (const CuvRegionChord *chord, int last)
{
  uint32_t t = (uint32_t) (chord->t + (last ? chord->dt : 0));
  uint32_t c = (uint32_t) (chord->c + (last ? chord->dc : 0));

  return chord->wide ? c << 16 | t : t << 16 | c;
}

#define CUV_HOUGH_REGION_OPPOSITE (UINT64_C (1) << 63)

/* Returns a pixel's key; a region is split by its greatest key. The key is 0
 * within 1.5 pixels of the chord. If pixels oppose the first one, as those on
 * both sides of a bar do, they are split off, and the key's low 32 bits are one
 * of them; otherwise the region is split at the farthest pixel, and the key's
 * low 16 bits are its t relative to the chord's first pixel. */
CUV_HOST_DEVICE uint64_t
cuv_region_key (const CuvRegionChord *chord, uint32_t pixel, int opposes)
{
  int64_t length2 =
      (int64_t) chord->dt * chord->dt + (int64_t) chord->dc * chord->dc;
  int32_t cross, away; /* sizes are at most CUV_HOUGH_MAX_SIZE, 2^14 */
  int aside, t, c;

  if (opposes)
    return CUV_HOUGH_REGION_OPPOSITE | pixel;
  cuv_region_relative (chord, pixel, &t, &c);
  cross = c * chord->dt - t * chord->dc;
  if (4 * (int64_t) cross * cross <= 9 * length2)
    return 0;
  aside = 2 * t - chord->dt;
  away = (cross < 0 ? -cross : cross) / chord->dt;
  return (uint64_t) away << 32 | (uint64_t) (aside < 0 ? -aside : aside) << 16
      | (uint64_t) t;
}

/* Returns the pixel, y << 16 | x, that identifies the part to which a pixel
 * belongs after its region is split by a key. */
CUV_HOST_DEVICE uint32_t
cuv_region_part (
    const CuvRegionChord *chord, uint64_t key, uint32_t pixel, int opposes)
{
  int at = (int) (key & 0xffff), t, c;

  if (key >= CUV_HOUGH_REGION_OPPOSITE)
    return opposes ? (uint32_t) key : cuv_region_end (chord, 0);
  cuv_region_relative (chord, pixel, &t, &c);
  return cuv_region_end (chord, t > at || t == chord->dt);
}

/* Sets *pixel to y << 16 | x, n steps beyond an end of the chord and `aside`
 * pixels across. Returns whether it is inside the frame. */
CUV_HOST_DEVICE int
cuv_region_beyond (const CuvRegionChord *chord, int last, int n, int aside,
    int width, int height, uint32_t *pixel)
{
  int rise = (2 * n * chord->dc + chord->dt) / (2 * chord->dt);
  int t = chord->t + (last ? chord->dt + n : -n);
  int c = chord->c + (last ? chord->dc + rise : -rise) + aside;
  int x = chord->wide ? t : c, y = chord->wide ? c : t;

  *pixel = (uint32_t) y << 16 | (uint32_t) x;
  return x >= 0 && x < width && y >= 0 && y < height;
}

/* Returns the half of the chord that a pixel near it is in, and sets *distance
 * to the pixel's distance in 1/64 pixel. */
CUV_HOST_DEVICE int
cuv_region_half (const CuvRegionChord *chord, uint32_t pixel, int *distance)
{
  int slope = chord->dc * 65536 / (chord->dt > 0 ? chord->dt : 1), t, c;

  cuv_region_relative (chord, pixel, &t, &c);
  *distance = (c * 65536 - t * slope) >> 10;
  return 2 * t > chord->dt;
}

/* Returns the segment of a straight region: through the mean points of both
 * halves, from the chord's first to its last t. */
CUV_HOST_DEVICE CuvLineSegment
cuv_region_segment (const CuvRegionChord *chord, const CuvRegionSums *sums)
{
  const int m0 = 4 * sums->sum[0] / (sums->n[0] > 0 ? sums->n[0] : 1);
  const int m1 = 4 * sums->sum[1] / (sums->n[1] > 0 ? sums->n[1] : 1);
  const int t[2] = { 256 * chord->t, 256 * (chord->t + chord->dt) };
  const int c[2] = { 256 * chord->c + (3 * m0 - m1) / 2,
    256 * (chord->c + chord->dc) + (3 * m1 - m0) / 2 };
  CuvLineSegment segment;

  segment.x1 = chord->wide ? t[0] : c[0];
  segment.y1 = chord->wide ? c[0] : t[0];
  segment.x2 = chord->wide ? t[1] : c[1];
  segment.y2 = chord->wide ? c[1] : t[1];
  segment.votes = (uint32_t) (sums->n[0] + sums->n[1]);
  return segment;
}

/* Whether the direction (nx, ny) of a normal is between the limits. */
CUV_HOST_DEVICE int
cuv_region_in_range (const CuvThetaRange *range, int64_t nx, int64_t ny)
{
  int64_t cross = range->from_x * ny - range->from_y * nx;

  if (range->all)
    return 1;
  if (cross < 0
      || (cross == 0 && range->from_x * nx + range->from_y * ny < 0)) {
    nx = -nx;
    ny = -ny;
  }
  return nx * range->to_y - ny * range->to_x > 0;
}

/* Whether the parameters ask for this segment, and three quarters of its steps
 * have an edge, because parts of a region need not be connected. */
CUV_HOST_DEVICE int
cuv_region_is_wanted (const CuvLineSegment *segment, const CuvThetaRange *range,
    const CuvSegmentParams *params, uint32_t threshold)
{
  int64_t dx = segment->x2 - segment->x1, dy = segment->y2 - segment->y1;
  int64_t length = 256 * (int64_t) params->min_length;
  int64_t across = dx < 0 ? -dx : dx, down = dy < 0 ? -dy : dy;
  int64_t steps = across > down ? across : down;

  if (params->min_length > 2 * CUV_HOUGH_MAX_SIZE)
    return 0; /* its square would overflow */
  return segment->votes > threshold
      && 4 * 256 * (int64_t) segment->votes >= 3 * steps
      && dx * dx + dy * dy >= length * length
      && cuv_region_in_range (range, -dy, dx);
}

#endif
