/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "correlation/correlation.h"
#include "cpu/crop.h"

#include <string.h>

void
cuv_correlation_work_init (CuvCorrelationWork *self)
{
  cuv_filter_dsp_init (&self->dsp);
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++)
    self->window[i] = cuv_filter_window (i / CUV_RCD_GRID)
        * cuv_filter_window (i % CUV_RCD_GRID);
}

/* Computes the spectrum of the region around the place at one of the sizes. */
static void
take_sample (const CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *pixels, int scale)
{
  const CuvRcdCrop part = cuv_correlation_sample (self, scale);
  const CuvFrame crop = { CUV_MODEL_GREY, CUV_RCD_CROP, CUV_RCD_CROP, 1,
    { { (uint8_t *) pixels, CUV_RCD_CROP, 1, 0, 0 } } };

  cuv_rcd_cpu_crop (&crop, &part, CUV_RCD_HOG_SIDE, work->picture);
  work->dsp.features (work->picture, &work->grid);
  work->dsp.forward (&work->fourier, &work->grid, work->window, &work->sample);
}

void
cuv_correlation_set_goal (CuvCorrelation *self, CuvCorrelationWork *work)
{
  float ones[CUV_RCD_GRID_CELLS];

  cuv_correlation_set_mask (self);
  memset (&work->grid, 0, sizeof work->grid);
  for (int i = 0; i < CUV_RCD_GRID_CELLS; i++) {
    ones[i] = 1.0f;
    work->grid.value[i * CUV_RCD_CHANNELS] =
        cuv_correlation_label (self, i % CUV_RCD_GRID, i / CUV_RCD_GRID);
  }
  work->dsp.forward (&work->fourier, &work->grid, ones, &work->sample);
  for (int i = 0; i < CUV_RCD_SPECTRUM_BINS; i++)
    self->goal.label[i] = work->sample.re[i * CUV_RCD_CHANNELS];
}

static void
solve (CuvCorrelation *self, CuvCorrelationWork *work)
{
  work->dsp.solve (&work->fourier, &self->goal, &self->model, &self->filter);
  self->unsolved = false;
}

void
cuv_correlation_learn (CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *crop, float rate)
{
  take_sample (self, work, crop, CUV_RCD_FILTER_SCALES / 2);
  work->dsp.blend (&self->model, &work->sample, rate);
  solve (self, work);
}

void
cuv_correlation_start (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop)
{
  cuv_correlation_set_goal (self, work);
  cuv_correlation_learn (self, work, crop, 1.0f);
  memset (&work->response, 0, sizeof work->response);
  work->dsp.respond (&self->filter, &work->sample, &work->response, 0);
  work->dsp.inverse (&work->response);
  self->peak = work->response.value[0];
}

static int
greatest_cell (const CuvResponse *response, int lane)
{
  int best = 0;

  for (int i = 1; i < CUV_RCD_GRID_CELLS; i++) {
    if (response->value[i * CUV_RCD_FILTER_LANES + lane]
        > response->value[best * CUV_RCD_FILTER_LANES + lane])
      best = i;
  }
  return best;
}

void
cuv_correlation_find (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop)
{
  CuvRcdFilterPeak peaks[CUV_RCD_FILTER_SCALES];

  if (self->unsolved)
    solve (self, work);
  memset (&work->response, 0, sizeof work->response);
  for (int i = 0; i < CUV_RCD_FILTER_SCALES; i++) {
    take_sample (self, work, crop, i);
    work->dsp.respond (&self->filter, &work->sample, &work->response, i);
  }
  work->dsp.inverse (&work->response);
  for (int i = 0; i < CUV_RCD_FILTER_SCALES; i++) {
    const int cell = greatest_cell (&work->response, i);

    peaks[i] =
        (CuvRcdFilterPeak){ 0.0, cuv_filter_from_zero (cell % CUV_RCD_GRID),
          cuv_filter_from_zero (cell / CUV_RCD_GRID) };
    work->dsp.peak (&work->response, i, &peaks[i]);
  }
  cuv_correlation_choose (self, peaks);
}
