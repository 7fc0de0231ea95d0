/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Correlation filters on the GPU against those on the CPU: crops, models,
 * filters and maxima are equal bit for bit, except for the signs of zeros. */
#include "config.h"

#if HAVE_CUDA
#include <stdlib.h>
#include <string.h>
#include "backend.h"
#include "correlation/correlation.h"
#include "cpu/crop.h"
#include "cuvcheck.h"
#include "rcd/filter.h"

enum { MAX_TARGETS = 3 };

/* Filters on the CPU, and the same ones on the GPU. */
typedef struct {
  CuvRcdFilterCuda *cuda;
  CuvCorrelationWork *work;
  CuvCorrelation *filters[MAX_TARGETS];
  int n;
} Case;

static CuvRcdSample
sample_of (const Case *self, int i)
{
  CuvRcdSample sample = { .crop = i, .slot = MAX_TARGETS - 1 - i };

  sample.part[0] =
      cuv_correlation_sample (self->filters[i], CUV_RCD_FILTER_SCALES / 2);
  return sample;
}

/* ---- comparisons ---- */

static void
compare (const char *name, int i, const float *found, const float *expected)
{
  size_t wrong = 0;

  for (int k = 0; k < CUV_RCD_SPECTRUM_BINS * CUV_RCD_CHANNELS; k++)
    wrong += !(found[k] == expected[k]);
  CUV_CHECK (wrong == 0, ": %zu values of %s %d", wrong, name, i);
}

static void
check_learned (const Case *self, int i)
{
  const CuvCorrelation *filter = self->filters[i];
  const int slot = MAX_TARGETS - 1 - i;
  CuvSpectrum *found = malloc (sizeof *found);

  CUV_CHECK (
      cuv_rcd_filter_cuda_get (self->cuda, slot, found->re, found->im) == 0);
  compare ("model, re", i, found->re, filter->model.re);
  compare ("model, im", i, found->im, filter->model.im);
  CUV_CHECK (
      cuv_rcd_filter_cuda_get_filter (self->cuda, slot, found->re, found->im)
      == 0);
  compare ("filter, re", i, found->re, filter->filter.re);
  compare ("filter, im", i, found->im, filter->filter.im);
  free (found);
}

/* Takes crops on both processors and compares them. */
static void
take_crops (const Case *self, const CuvCheckFrame *frame, CuvFrame device)
{
  static uint8_t pixels[MAX_TARGETS][CUV_RCD_CROP_PIXELS];
  CuvRcdCrop crops[MAX_TARGETS];

  for (int i = 0; i < self->n; i++) {
    crops[i] = cuv_correlation_crop (self->filters[i]);
    cuv_rcd_cpu_crop (
        &frame->frame, &crops[i], CUV_RCD_CROP, self->work->crops[i]);
  }
  CUV_CHECK (cuv_rcd_filter_cuda_crop (
                 self->cuda, &device, crops, self->n, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (
      cuv_rcd_filter_cuda_get_crops (self->cuda, self->n, pixels[0]) == 0);
  for (int i = 0; i < self->n; i++)
    CUV_CHECK (memcmp (pixels[i], self->work->crops[i], sizeof pixels[i]) == 0,
        ": crop %d", i);
}

/* ---- steps ---- */

static void
start (const Case *self)
{
  for (int i = 0; i < self->n; i++) {
    const CuvRcdSample sample = sample_of (self, i);
    double peak = 0.0;

    cuv_correlation_start (self->filters[i], self->work, self->work->crops[i]);
    CUV_CHECK (cuv_rcd_filter_cuda_start (self->cuda, &sample,
                   &self->filters[i]->goal, cuv_check_stream, &peak)
            == 0,
        ": %s", cuv_cuda_error ());
    CUV_CHECK (peak == self->filters[i]->peak, ": %g, not %g", peak,
        self->filters[i]->peak);
    check_learned (self, i);
  }
}

static void
find (const Case *self)
{
  CuvRcdSample samples[MAX_TARGETS];
  CuvRcdFilterPeak peaks[MAX_TARGETS][CUV_RCD_FILTER_SCALES];

  for (int i = 0; i < self->n; i++) {
    samples[i] = sample_of (self, i);
    for (int k = 0; k < CUV_RCD_FILTER_SCALES; k++)
      samples[i].part[k] = cuv_correlation_sample (self->filters[i], k);
  }
  CUV_CHECK (
      cuv_rcd_filter_cuda_find (self->cuda, samples, self->n, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (cuv_rcd_filter_cuda_collect (self->cuda, peaks[0]) == 0, ": %s",
      cuv_cuda_error ());
  for (int i = 0; i < self->n; i++) {
    CuvCorrelation found = *self->filters[i];
    const CuvCorrelation *expected = self->filters[i];

    cuv_correlation_choose (&found, peaks[i]);
    cuv_correlation_find (self->filters[i], self->work, self->work->crops[i]);
    CUV_CHECK (found.peak == expected->peak
            && found.place.x == expected->place.x
            && found.place.y == expected->place.y
            && found.place.scale == expected->place.scale,
        ": filter %d: %.17g at %.17g, %.17g, not %.17g at %.17g, %.17g", i,
        found.peak, found.place.x, found.place.y, expected->peak,
        expected->place.x, expected->place.y);
  }
}

static void
learn (const Case *self, float rate)
{
  for (int i = 0; i < self->n; i++) {
    const CuvRcdSample sample = sample_of (self, i);

    CUV_CHECK (
        cuv_rcd_filter_cuda_learn (self->cuda, &sample, rate, cuv_check_stream)
            == 0,
        ": %s", cuv_cuda_error ());
    cuv_correlation_learn (
        self->filters[i], self->work, self->work->crops[i], rate);
    check_learned (self, i);
  }
}

/* Gives a slot the model of filters[0], and compares both. */
static void
set (const Case *self)
{
  const CuvCorrelation *filter = self->filters[0];

  CUV_CHECK (
      cuv_rcd_filter_cuda_set (self->cuda, MAX_TARGETS - 1, &filter->goal,
          filter->model.re, filter->model.im, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  check_learned (self, 0);
}

/* ---- from one processor to the other ---- */

/* Runs a task with filters[0], on the GPU or on the CPU. */
static void
run_task (CuvBackend *backend, const Case *self, const CuvCheckFrame *frame,
    CuvRcdFilterTask task)
{
  const CuvProcessor processor = { backend->on_device,
    backend->on_device ? cuv_check_stream : NULL, 1 };
  const CuvRcdFilterJob filters = { task, self->filters, 1, 0, 0.1f,
    self->work };
  void *appearance = NULL;
  CuvFrame place = frame->frame;
  CuvRcdJob job = { .frame = &place, .filters = &filters };
  const char *problem;

  if (backend->on_device)
    place = cuv_check_to_device (frame, &appearance);
  problem = cuv_backend_run (backend, &job, &processor);
  CUV_CHECK (problem == NULL, ": %s", problem);
  cuv_check_device_free (appearance);
}

static void
open_backend (CuvBackend *backend, const Case *self, const CuvCheckFrame *frame,
    bool on_device)
{
  const CuvProcessor processor = { on_device,
    on_device ? cuv_check_stream : NULL, 1 };
  const CuvRcdConfig config = { CUV_RCD_GREY_GRAD, CUV_RCD_JBLD,
    frame->frame.width, frame->frame.height, 16, 1, 1, 1.0 / 12.0 };
  void *appearance = NULL;
  const CuvFrame place =
      on_device ? cuv_check_to_device (frame, &appearance) : frame->frame;
  const char *problem;

  cuv_backend_close (backend);
  problem = cuv_backend_open (
      backend, &cuv_rcd_backend_classes, &config, &place, &processor);
  CUV_CHECK (problem == NULL, ": %s", problem);
  cuv_check_device_free (appearance);
}

/* Checks that a filter that changes the processor with each frame gives the
 * same results as one that does not. */
static void
check_switches (const Case *self)
{
  const CuvRcdBox box = { 60, 50, 70, 60 };
  CuvCorrelation *switching = self->filters[0], *staying = self->filters[1];
  CuvBackend backend = { 0 };

  cuv_check_case ("filters that change the processor");
  cuv_correlation_init (switching, &box);
  cuv_correlation_init (staying, &box);
  for (int i = 0; i < 4; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new ("NV12", 200, 160, CUV_CHECK_TEXTURE);
    const CuvRcdCrop crop = cuv_correlation_crop (staying);
    uint8_t *pixels = self->work->crops[1];

    open_backend (&backend, self, &frame, i % 2 != 0);
    run_task (&backend, self, &frame, i == 0 ? CUV_RCD_START : CUV_RCD_FIND);
    run_task (&backend, self, &frame, CUV_RCD_LEARN);
    cuv_rcd_cpu_crop (&frame.frame, &crop, CUV_RCD_CROP, pixels);
    if (i == 0)
      cuv_correlation_start (staying, self->work, pixels);
    else
      cuv_correlation_find (staying, self->work, pixels);
    cuv_correlation_learn (staying, self->work, pixels, 0.1f);
    CUV_CHECK (switching->place.x == staying->place.x
            && switching->place.y == staying->place.y
            && switching->place.scale == staying->place.scale
            && switching->peak == staying->peak,
        ": frame %d", i);
    cuv_check_frame_free (&frame);
  }
  cuv_backend_close (&backend);
  compare ("model, re", 0, switching->model.re, staying->model.re);
  compare ("model, im", 0, switching->model.im, staying->model.im);
}

/* ---- entry ---- */

static void
check_frames (Case *self, const char *format, int content)
{
  enum { WIDTH = 300, HEIGHT = 200 };
  const int n_frames = cuv_check_options.few ? 2 : 6;

  cuv_check_case ("filters, %s, content %d", format, content);
  self->n = 1 + (int) cuv_check_below (MAX_TARGETS);
  for (int i = 0; i < self->n; i++)
    cuv_correlation_init (self->filters[i],
        &(CuvRcdBox){ (int) cuv_check_below (WIDTH) - 10,
            (int) cuv_check_below (HEIGHT) - 10,
            10 + (int) cuv_check_below (90), 10 + (int) cuv_check_below (90) });
  for (int i = 0; i < n_frames; i++) {
    CuvCheckFrame frame = cuv_check_frame_new (format, WIDTH, HEIGHT, content);
    void *appearance;
    const CuvFrame device = cuv_check_to_device (&frame, &appearance);

    take_crops (self, &frame, device);
    if (i == 0)
      start (self);
    else
      find (self);
    if (i > 0)
      learn (self, 0.1f);
    set (self);
    cuv_check_device_free (appearance);
    cuv_check_frame_free (&frame);
  }
}

CUV_CHECKS_CUDA (check_filters)
{
  Case self = { .cuda = cuv_rcd_filter_cuda_new (MAX_TARGETS),
    .work = calloc (1, sizeof *self.work) };

  cuv_correlation_work_init (self.work);
  for (int i = 0; i < MAX_TARGETS; i++)
    self.filters[i] = calloc (1, sizeof *self.filters[i]);
  if (CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ())) {
    check_frames (&self, "NV12", CUV_CHECK_TEXTURE);
    check_frames (&self, "RGB", CUV_CHECK_NOISE);
    if (!cuv_check_options.few)
      check_frames (&self, "I420", CUV_CHECK_TEXTURE);
    check_switches (&self);
  }
  cuv_rcd_filter_cuda_free (self.cuda);
  for (int i = 0; i < MAX_TARGETS; i++)
    free (self.filters[i]);
  free (self.work);
}

/* ---- times ---- */

static void
submit_find (void *data)
{
  const Case *self = data;
  CuvRcdSample samples[MAX_TARGETS];

  for (int i = 0; i < self->n; i++) {
    samples[i] = sample_of (self, i);
    for (int k = 0; k < CUV_RCD_FILTER_SCALES; k++)
      samples[i].part[k] = cuv_correlation_sample (self->filters[i], k);
  }
  cuv_rcd_filter_cuda_find (self->cuda, samples, self->n, cuv_check_stream);
}

static void
submit_learn (void *data)
{
  const Case *self = data;

  for (int i = 0; i < self->n; i++) {
    const CuvRcdSample sample = sample_of (self, i);

    cuv_rcd_filter_cuda_learn (self->cuda, &sample, 0.015f, cuv_check_stream);
  }
}

CUV_BENCH_CUDA (bench_filters)
{
  Case self = { .cuda = cuv_rcd_filter_cuda_new (MAX_TARGETS) };
  CuvCorrelation *filter = calloc (1, sizeof *filter);

  cuv_correlation_init (filter, &(CuvRcdBox){ 100, 60, 96, 72 });
  for (int i = 0; i < MAX_TARGETS; i++)
    self.filters[i] = filter;
  for (self.n = 1; self.n <= MAX_TARGETS && self.cuda != NULL; self.n += 2) {
    cuv_check_report (
        cuv_check_time_device (submit_find, &self, cuv_check_stream),
        CUV_RCD_CROP_PIXELS, 0, "rcd cuda, %d filters find", self.n);
    cuv_check_report (
        cuv_check_time_device (submit_learn, &self, cuv_check_stream),
        CUV_RCD_CROP_PIXELS, 0, "rcd cuda, %d filters learn", self.n);
  }
  cuv_rcd_filter_cuda_free (self.cuda);
  free (filter);
}

#endif
