/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/scan-work.h"

#include <string.h>

void
cuv_scan_work_start (CuvScanWork *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments)
{
  *self = (CuvScanWork){ .list = { .hits = hits,
                             .capacity = CUV_WALDBOOST_MAX_HITS,
                             .survivors = survivors } };
  memset (survivors, 0, (size_t) n_segments * sizeof *survivors);
}

void
cuv_scan_result_start (CuvWaldboostResult *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments)
{
  *self = (CuvWaldboostResult){ .hits = hits, .survivors = survivors };
  memset (survivors, 0, (size_t) n_segments * sizeof *survivors);
}

static void
add_lost (CuvWaldboostResult *self, uint64_t n)
{
  const uint64_t sum = (uint64_t) self->overflow + n;

  self->overflow = sum > INT32_MAX ? INT32_MAX : (int32_t) sum;
}

void
cuv_scan_result_add_work (
    CuvWaldboostResult *self, const CuvScanWork *work, int n_segments)
{
  uint64_t *survivors = (uint64_t *) self->survivors;

  for (int s = 0; s < n_segments; s++)
    survivors[s] += work->list.survivors[s];
  self->windows += work->list.windows;
  self->weak += work->list.weak;
  self->pyramid_us += (float) work->pyramid_ns / 1000;
  self->scan_us += (float) work->scan_ns / 1000;
  add_lost (self, work->list.lost);
}

void
cuv_scan_result_add_hits (
    CuvWaldboostResult *self, const CuvScanWork *work, const CuvScanHits *hits)
{
  CuvWaldboostHit *all = (CuvWaldboostHit *) self->hits;
  const int32_t left = CUV_WALDBOOST_MAX_HITS - self->n_hits;
  const int32_t n = hits->n_hits < left ? hits->n_hits : left;

  memcpy (all + self->n_hits, work->list.hits + hits->first_hit,
      (size_t) n * sizeof *all);
  self->n_hits += n;
  add_lost (self, (uint64_t) (hits->n_hits - n));
}
