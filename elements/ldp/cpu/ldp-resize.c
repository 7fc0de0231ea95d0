/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First rows become as wide as they are to be, then they are added. */
#include "cpu/ldp-resize.h"

#include <stdlib.h>
#include <string.h>
#include "cuvgrey.h"
#include "ldp/ldp-picture.h"

/* What a pixel takes of a row: n from `first` on, so much each. */
typedef struct {
  int first, n;
  const uint32_t *weights;
} Share;

/* A thread's. */
typedef struct {
  uint8_t *grey;  /* a row of the frame */
  uint64_t *sums; /* a row of the picture */
} Worker;

struct _CuvLdpResizer {
  int width, height, from;
  Share *shares; /* of a row's pixels */
  uint32_t *weights;
  int n_workers;
  Worker *workers;
};

CuvLdpResizer *
cuv_ldp_resizer_new (int width, int height, int n_workers)
{
  CuvLdpResizer *self = calloc (1, sizeof *self);
  bool whole;

  if (self == NULL)
    return NULL;
  self->width = width;
  self->height = height;
  self->n_workers = n_workers;
  self->shares = calloc ((size_t) width, sizeof *self->shares);
  self->workers = calloc ((size_t) n_workers, sizeof *self->workers);
  whole = self->shares != NULL && self->workers != NULL;
  for (int i = 0; whole && i < n_workers; i++) {
    self->workers[i].sums =
        calloc ((size_t) width, sizeof *self->workers[i].sums);
    whole = self->workers[i].sums != NULL;
  }
  if (whole)
    return self;
  cuv_ldp_resizer_free (self);
  return NULL;
}

void
cuv_ldp_resizer_free (CuvLdpResizer *self)
{
  if (self == NULL)
    return;
  for (int i = 0; self->workers != NULL && i < self->n_workers; i++) {
    free (self->workers[i].grey);
    free (self->workers[i].sums);
  }
  free (self->workers);
  free (self->shares);
  free (self->weights);
  free (self);
}

/* Those of pixel x, which go to weights. Returns how many. */
static int
find_share (const CuvLdpResizer *self, int x, Share *share, uint32_t *weights)
{
  int span[2];

  *share = (Share){ .weights = weights };
  cuv_ldp_find_span (self->from, self->width, x, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (self->from, self->width, x, i);

    if (weight <= 0)
      continue;
    if (share->n == 0)
      share->first = i;
    weights[share->n++] = (uint32_t) weight;
  }
  return share->n;
}

bool
cuv_ldp_resizer_prepare (CuvLdpResizer *self, int from)
{
  uint32_t *next;

  if (from == self->from)
    return true;
  self->from = 0; /* until all is there */
  free (self->weights);
  /* larger, each takes two; smaller, pixels are shared at edges only */
  self->weights =
      calloc ((size_t) (from + 3 * self->width), sizeof *self->weights);
  if (self->weights == NULL)
    return false;
  for (int i = 0; i < self->n_workers; i++) {
    free (self->workers[i].grey);
    self->workers[i].grey = malloc ((size_t) from);
    if (self->workers[i].grey == NULL)
      return false;
  }
  self->from = from;
  next = self->weights;
  for (int x = 0; x < self->width; x++)
    next += find_share (self, x, &self->shares[x], next);
  return true;
}

/* As wide as the picture, `weight` times. */
static void
add_row (const CuvLdpResizer *self, const uint8_t *grey, uint64_t weight,
    uint64_t *sums)
{
  for (int x = 0; x < self->width; x++) {
    const Share *share = &self->shares[x];
    uint32_t sum = 0; /* weights add up to less than 2^24 */

    for (int i = 0; i < share->n; i++)
      sum += share->weights[i] * grey[share->first + i];
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
  Worker *mine = &self->workers[worker];
  int span[2];

  memset (mine->sums, 0, (size_t) self->width * sizeof *mine->sums);
  cuv_ldp_find_span (frame->height, self->height, y, span);
  for (int i = span[0]; i < span[1]; i++) {
    const int64_t weight = cuv_ldp_weight (frame->height, self->height, y, i);

    if (weight <= 0)
      continue;
    cuv_grey_row (frame, i, mine->grey);
    add_row (self, mine->grey, (uint64_t) weight, mine->sums);
  }
  for (int x = 0; x < self->width; x++)
    row[x] = (uint8_t) ((mine->sums[x] + total / 2) / total);
}
