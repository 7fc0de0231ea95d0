/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that are compiled twice: in C, and with AVX2 enabled, where the
 * compiler vectorises them or they handle the rest of a row. */
#ifndef CUV_RCD_DSP_TEMPLATE_H
#define CUV_RCD_DSP_TEMPLATE_H

#include <stdlib.h>
#include "cpu/rcd-dsp.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

/* ---- features ----
 *
 * Branches on step make it a constant, so that the compiler vectorises. */

static inline void
cuv_rcd_convert (const uint8_t *from, int step, int n, int16_t *out)
{
  for (int i = 0; i < n; i++)
    out[i] = from[i * step];
}

static inline void
cuv_rcd_convert_pairs (const uint8_t *from, int step, int n, int16_t *out)
{
  for (int i = 0; i < n; i++)
    out[2 * i] = out[2 * i + 1] = from[i * step];
}

/* Writes n samples, from pixel x on, of a component with half the frame's
 * columns. */
static inline void
cuv_rcd_upsample (const uint8_t *row, int step, int x, int n, int16_t *out)
{
  const uint8_t *from = row + (ptrdiff_t) ((x + 1) >> 1) * step;
  const int odd = x & 1 & (n > 0), pairs = (n - odd) / 2;

  if (odd)
    out[0] = row[(ptrdiff_t) (x >> 1) * step];
  if (step == 1)
    cuv_rcd_convert_pairs (from, 1, pairs, out + odd);
  else if (step == 2)
    cuv_rcd_convert_pairs (from, 2, pairs, out + odd);
  else
    cuv_rcd_convert_pairs (from, step, pairs, out + odd);
  if (odd + 2 * pairs < n)
    out[n - 1] = from[(ptrdiff_t) pairs * step];
}

static inline void
cuv_rcd_samples (const CuvComponent *c, int x, int y, int n, int16_t *out)
{
  const uint8_t *row = c->data + (ptrdiff_t) (y >> c->ysub) * c->stride;
  const uint8_t *from = row + (ptrdiff_t) x * c->step;

  if (c->xsub == 1)
    cuv_rcd_upsample (row, c->step, x, n, out);
  else if (c->step == 1)
    cuv_rcd_convert (from, 1, n, out);
  else if (c->step == 2)
    cuv_rcd_convert (from, 2, n, out);
  else if (c->step == 3)
    cuv_rcd_convert (from, 3, n, out);
  else if (c->step == 4)
    cuv_rcd_convert (from, 4, n, out);
  else
    cuv_rcd_convert (from, c->step, n, out);
}

static inline void
cuv_rcd_grey_row (const int16_t *const rgb[3], int n, int16_t *out)
{
  for (int i = 0; i < n; i++)
    out[i] = (int16_t) cuv_rcd_grey_of_rgb (rgb[0][i], rgb[1][i], rgb[2][i]);
}

static inline void
cuv_rcd_gradients (
    const int16_t *const rows[3], int n, int16_t *ix, int16_t *iy)
{
  const int16_t *a = rows[0], *b = rows[1], *c = rows[2];

  for (int i = 0; i < n; i++) {
    ix[i] = (int16_t) (a[i + 1] + 2 * b[i + 1] + c[i + 1] - a[i - 1]
        - 2 * b[i - 1] - c[i - 1]);
    iy[i] = (int16_t) (c[i - 1] + 2 * c[i] + c[i + 1] - a[i - 1] - 2 * a[i]
        - a[i + 1]);
  }
}

static inline void
cuv_rcd_abs_derivatives (
    const int16_t *const rows[3], int n, int16_t *const out[4])
{
  const int16_t *a = rows[0], *b = rows[1], *c = rows[2];
  int16_t *ix = out[0], *iy = out[1], *ixx = out[2], *iyy = out[3];

  cuv_rcd_gradients (rows, n, ix, iy);
  for (int i = 0; i < n; i++) {
    ix[i] = (int16_t) abs (ix[i]);
    iy[i] = (int16_t) abs (iy[i]);
    ixx[i] = (int16_t) abs (b[i - 1] - 2 * b[i] + b[i + 1]);
    iyy[i] = (int16_t) abs (a[i] - 2 * b[i] + c[i]);
  }
}

/* ---- scores ---- */

static inline double
cuv_rcd_window_score (
    const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges, int n)
{
  const CuvRcdBox box = { edges->x, row->y, row->width, row->height };
  int64_t sums[CUV_RCD_MAX_SUMS];

  for (int k = 0; k < CUV_RCD_SUMS (n); k++)
    sums[k] = row->lower[edges->right + k] - row->lower[edges->left + k]
        - row->upper[edges->right + k] + row->upper[edges->left + k];
  return cuv_rcd_score (sums, n, &box, row->model, row->metric, row->lambda);
}

/* A constant n lets the compiler unroll. */
static inline void
cuv_rcd_score_row (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *edges,
    int n_windows, double *scores)
{
  for (int i = 0; i < n_windows; i++) {
    if (row->n == 3)
      scores[i] = cuv_rcd_window_score (row, &edges[i], 3);
    else if (row->n == 5)
      scores[i] = cuv_rcd_window_score (row, &edges[i], 5);
    else
      scores[i] = cuv_rcd_window_score (row, &edges[i], 9);
  }
}

#endif
