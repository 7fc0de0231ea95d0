/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "countbright.h"

#include "cuvroi.h"
#include "cuvthreads.h"

#define N_BANDS 64

typedef struct {
  const CuvFrame *frame;
  int threshold;
  uint64_t counts[N_BANDS];
} Work;

static int
band_top (const CuvFrame *frame, int band)
{
  return (int) ((int64_t) frame->height * band / N_BANDS);
}

static void
count_band (void *data, int band)
{
  Work *work = data;
  const CuvRoi rows = { 0, band_top (work->frame, band), work->frame->width,
    band_top (work->frame, band + 1) };
  const CuvFrame part = cuv_frame_crop (work->frame, &rows);

  work->counts[band] = cuv_countbright (&part, work->threshold);
}

uint64_t
cuv_countbright_cpu (const CuvFrame *frame, int threshold, int n_threads)
{
  Work work = { frame, threshold, { 0 } };
  uint64_t count = 0;

  cuv_threads_run (n_threads, N_BANDS, count_band, &work);
  for (int band = 0; band < N_BANDS; band++)
    count += work.counts[band];
  return count;
}
