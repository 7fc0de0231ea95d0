/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inner loops in C, inline: for the C function table and for the tails of
 * AVX2 loops. */
#ifndef CUV_HOUGH_DSP_C_H
#define CUV_HOUGH_DSP_C_H

#include <stdlib.h>
#include <string.h>
#include "cuvgrey.h"
#include "cpu/hough-dsp.h"

static inline void
cuv_blur_across (const uint8_t *row, int width, uint16_t *out)
{
  for (int x = 0; x < width; x++)
    out[x] = (uint16_t) (row[x - 2] + 4 * row[x - 1] + 6 * row[x]
        + 4 * row[x + 1] + row[x + 2]);
}

static inline void
cuv_blur_down (const uint16_t *const rows[5], int width, uint8_t *out)
{
  const uint16_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3],
                 *e = rows[4];

  for (int x = 0; x < width; x++)
    out[x] = (uint8_t) ((uint16_t) (a[x] + 4 * b[x] + 6 * c[x] + 4 * d[x] + e[x]
                            + 128)
        >> 8);
}

static inline int32_t
cuv_norm_at (const CuvGradientRow *row, CuvCannyNorm norm, int x)
{
  return norm == CUV_CANNY_L1 ? row->l1[x] : row->l2[x];
}

static inline int64_t
cuv_norm_limit (CuvCannyNorm norm, int64_t limit)
{
  return norm == CUV_CANNY_L1 ? limit : limit * limit;
}

static inline void
cuv_suppress (const CuvGradientRow *const rows[3], int width,
    const CuvCannyParams *params, uint8_t *out)
{
  const CuvCannyNorm norm = params->norm;
  const int64_t low = cuv_norm_limit (norm, params->low);
  const int64_t high = cuv_norm_limit (norm, params->high);

  for (int x = 1; x < width - 1; x++) {
    int32_t m = cuv_norm_at (rows[1], norm, x);
    int gx = rows[1]->gx[x], gy = rows[1]->gy[x];
    int a = abs (gx), b = abs (gy), tan22 = 2 * a * 13573 >> 16;
    int dx = b > tan22 + 2 * a ? 0 : (gx ^ gy) < 0 && b > tan22 ? -1 : 1;
    int dy = b > tan22;

    out[x] = CUV_HOUGH_PIXEL_NONE;
    if (m > low && m > cuv_norm_at (rows[1 - dy], norm, x - dx)
        && m >= cuv_norm_at (rows[1 + dy], norm, x + dx))
      out[x] = m > high ? CUV_HOUGH_PIXEL_EDGE : CUV_HOUGH_PIXEL_WEAK;
  }
}

static inline int
cuv_find_seed (const uint8_t *const rows[3], int x, int end)
{
  for (; x < end; x++) {
    int around = 0;

    if (rows[1][x] != CUV_HOUGH_PIXEL_EDGE)
      continue;
    for (int i = 0; i < 3; i++)
      around |= rows[i][x - 1] | rows[i][x] | rows[i][x + 1];
    if ((around & CUV_HOUGH_PIXEL_WEAK) != 0)
      break;
  }
  return x;
}

static inline size_t
cuv_list (uint8_t *row, int width, uint32_t first, uint32_t *pixels)
{
  size_t n = 0;

  for (int x = 0; x < width; x++) {
    if (row[x] == CUV_HOUGH_PIXEL_EDGE)
      pixels[n++] = first + (uint32_t) x;
    row[x] = row[x] == CUV_HOUGH_PIXEL_EDGE ? 255 : 0;
  }
  return n;
}

/* Gathers pixels first .. end - 1 of one line. */
static inline void
cuv_gather_pixels (
    const CuvGather *work, int line, int first, int end, uint32_t *middle)
{
  const uint8_t *pixels = work->map + (ptrdiff_t) line * work->n;
  int32_t at = line * work->step + work->offset;

  for (int v = first; v < end; v++)
    middle[(at + v * work->d) >> 16] += pixels[v] & 1;
}

static inline void
cuv_gather (const CuvGather *work, uint8_t *lanes, uint32_t *middle)
{
  for (int line = 0; line < work->n_lines; line++)
    cuv_gather_pixels (work, line, 0, work->n, middle);
}

static inline void
cuv_vote (
    const CuvHoughRow *row, const uint32_t *pixels, size_t n, uint32_t *middle)
{
  for (size_t i = 0; i < n; i++)
    middle[cuv_hough_cell (
        row, (int) (pixels[i] & 0xffff), (int) (pixels[i] >> 16))]++;
}

static inline void
cuv_vote_pair (
    const CuvHoughPair *pair, const uint32_t *pixels, size_t n, uint32_t *table)
{
  for (size_t i = 0; i < n; i++)
    table[cuv_hough_pair_index (
        pair, (int) (pixels[i] & 0xffff), (int) (pixels[i] >> 16))]++;
}

static inline void
cuv_add_counts (uint32_t *counts, int n, uint32_t *a, uint32_t *b)
{
  for (int i = 0; i < n; i++) {
    a[i] += counts[i];
    b[i] += counts[i];
    counts[i] = 0;
  }
}

#endif
