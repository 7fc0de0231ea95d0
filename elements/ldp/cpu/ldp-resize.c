/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each frame row is resized horizontally and added, weighted, to the sums of
 * its picture row. */
#include "cpu/ldp-resize.h"

#include <stdlib.h>
#include <string.h>
#include "cuvgrey.h"
#include "ldp/ldp-resize.h"

/* The n source pixels, from `first` on, that contribute to one pixel. */
typedef struct {
  int first, n;
  const uint32_t *weights;
} Taps;

struct _CuvLdpResizer {
  int width, height, n_workers;
  int from;          /* width of frames, 0 = not prepared */
  Taps *taps;        /* one per pixel of a row */
  uint32_t *weights; /* of all taps */
  uint64_t *sums;    /* per worker: a row of the picture */
  uint8_t *grey;     /* per worker: a row of the frame */
};

CuvLdpResizer *
cuv_ldp_resizer_new (int width, int height, int n_workers)
{
  CuvLdpResizer *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->width = width;
  self->height = height;
  self->n_workers = n_workers;
  self->taps = calloc ((size_t) width, sizeof *self->taps);
  self->sums = calloc ((size_t) width * (size_t) n_workers, sizeof *self->sums);
  if (self->taps != NULL && self->sums != NULL)
    return self;
  cuv_ldp_resizer_free (self);
  return NULL;
}

void
cuv_ldp_resizer_free (CuvLdpResizer *self)
{
  if (self == NULL)
    return;
  free (self->grey);
  free (self->sums);
  free (self->taps);
  free (self->weights);
  free (self);
}

/* Writes the taps of pixel x to weights. Returns how many. */
static int
find_taps (const CuvLdpResizer *self, int x, Taps *taps, uint32_t *weights)
{
  int span[2];

  *taps = (Taps){ .weights = weights };
  cuv_ldp_find_source_span (self->from, self->width, x, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (self->from, self->width, x, i);

    if (weight <= 0)
      continue;
    if (taps->n == 0)
      taps->first = i;
    weights[taps->n++] = (uint32_t) weight;
  }
  return taps->n;
}

bool
cuv_ldp_resizer_prepare (CuvLdpResizer *self, int from)
{
  uint32_t *next;

  if (from == self->from)
    return true;
  self->from = 0; /* invalid until all memory is allocated */
  free (self->weights);
  free (self->grey);
  /* enlarging: two taps each; reducing: a source pixel belongs to two pixels
   * only where it lies across their border */
  self->weights =
      calloc ((size_t) (from + 3 * self->width), sizeof *self->weights);
  self->grey = malloc ((size_t) from * (size_t) self->n_workers);
  if (self->weights == NULL || self->grey == NULL)
    return false;
  self->from = from;
  next = self->weights;
  for (int x = 0; x < self->width; x++)
    next += find_taps (self, x, &self->taps[x], next);
  return true;
}

/* Resizes a frame row horizontally and adds it, times `weight`, to the sums. */
static void
add_row (const CuvLdpResizer *self, const uint8_t *grey, uint64_t weight,
    uint64_t *sums)
{
  for (int x = 0; x < self->width; x++) {
    const Taps *taps = &self->taps[x];
    uint32_t sum = 0; /* fits: weights sum to less than 2^24 */

    for (int i = 0; i < taps->n; i++)
      sum += taps->weights[i] * grey[taps->first + i];
    sums[x] += weight * sum;
  }
}

void
cuv_ldp_resizer_run (
    CuvLdpResizer *self, int worker, const CuvFrame *frame, int y, uint8_t *row)
{
  const uint64_t total =
      (uint64_t) (cuv_ldp_total_weight (frame->width, self->width)
          * cuv_ldp_total_weight (frame->height, self->height));
  uint64_t *sums = self->sums + (size_t) worker * (size_t) self->width;
  uint8_t *grey = self->grey + (size_t) worker * (size_t) self->from;
  int span[2];

  memset (sums, 0, (size_t) self->width * sizeof *sums);
  cuv_ldp_find_source_span (frame->height, self->height, y, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (frame->height, self->height, y, i);

    if (weight <= 0)
      continue;
    cuv_grey_row (frame, i, grey);
    add_row (self, grey, (uint64_t) weight, sums);
  }
  for (int x = 0; x < self->width; x++)
    row[x] = (uint8_t) ((sums[x] + total / 2) / total);
}
