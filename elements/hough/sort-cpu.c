/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Edges sorted by the group of their gradient, by counting. */
#include "hough-cpu-private.h"

#include <string.h>

/* The first edge of a piece. */
static size_t
first_edge (const CuvHoughCpu *self, int piece)
{
  return self->list.n * (size_t) piece / CUV_N_SORT_PIECES;
}

/* The gradients of n edges, which are not at the border. */
static void
find_gradients (const CuvHoughCpu *self, const uint32_t *pixels, int n,
    int16_t *gx, int16_t *gy)
{
  const ptrdiff_t stride = self->stride;

  for (int i = 0; i < n; i++) {
    const uint8_t *b = self->source + (ptrdiff_t) (pixels[i] >> 16) * stride
        + (pixels[i] & 0xffff);
    const uint8_t *a = b - stride, *c = b + stride;
    int falling = c[1] - a[-1], rising = a[1] - c[-1];

    gx[i] = (int16_t) (falling + rising + 2 * (b[1] - b[-1]));
    gy[i] = (int16_t) (falling - rising + 2 * (c[0] - a[0]));
  }
}

static void
group_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  enum { N = 256 };
  int16_t gx[N], gy[N];
  const size_t end = first_edge (self, piece + 1);
  size_t *n_of_group = self->next_of_group[piece];

  memset (n_of_group, 0, (size_t) self->space->n_groups * sizeof *n_of_group);
  for (size_t i = first_edge (self, piece); i < end; i += N) {
    int n = end - i < N ? (int) (end - i) : N;

    find_gradients (self, self->pixels + i, n, gx, gy);
    self->steps.group (self->space, gx, gy, n, self->groups + i);
    for (int j = 0; j < n; j++)
      n_of_group[self->groups[i + (size_t) j]]++;
  }
}

/* From how many to where. */
static void
place_groups (CuvHoughCpu *self)
{
  size_t at = 0;

  for (int g = 0; g < self->space->n_groups; g++) {
    self->first_of_group[g] = at;
    for (int piece = 0; piece < CUV_N_SORT_PIECES; piece++) {
      size_t n = self->next_of_group[piece][g];

      self->next_of_group[piece][g] = at;
      at += n;
    }
  }
  self->first_of_group[self->space->n_groups] = at;
}

static void
sort_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  size_t *next = self->next_of_group[piece];

  for (size_t i = first_edge (self, piece); i < first_edge (self, piece + 1);
       i++)
    self->sorted[next[self->groups[i]]++] = self->pixels[i];
}

void
cuv_hough_cpu_sort (CuvHoughCpu *self)
{
  if (self->params->source != CUV_EDGES_CANNY
      || self->space->shape.window >= 90)
    return;
  cuv_hough_cpu_pieces (self, CUV_N_SORT_PIECES, group_piece);
  place_groups (self);
  cuv_hough_cpu_pieces (self, CUV_N_SORT_PIECES, sort_piece);
  self->list.groups = self->groups;
}
