/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for the GPU: waits end when all work is done, and use little CPU
 * time. */
#include "config.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include "cuv-nv12.h"
#include "cuv-wait.h"

enum { N_PICTURES = 100, N_WAITS = 20 };

typedef struct {
  int side;
  uint8_t *rgbx, *y, *uv;
  void *stream;
} Work;

/* Queues some milliseconds of work. */
static void
submit (const Work *self)
{
  const CuvYuvColours colours = { .offset = { 16, 128, 128 } };
  const int side = self->side;

  for (int i = 0; i < N_PICTURES; i++)
    CUV_CHECK (cuv_nv12_submit (self->rgbx, 4 * side, side, side, &colours,
                   self->y, side, self->uv, side, self->stream)
        == 0);
}

static double
seconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* Only the emulator defines this. */
void cuv_emulate_busy (double seconds) __attribute__ ((weak));

static void
wait_emulated (CuvWait *wait, double duration)
{
  const int64_t usual = wait->usual;
  const double start = seconds (CLOCK_MONOTONIC);

  cuv_emulate_busy (duration);
  CUV_CHECK (cuv_wait_stream (wait, NULL) == 0);
  CUV_CHECK (seconds (CLOCK_MONOTONIC) - start >= duration);
  CUV_CHECK (wait->usual <= usual + usual / 4 + 10000,
      ": %" PRId64 " ns usual, then %" PRId64, usual, wait->usual);
}

/* Checks that a wait ends when the work does and adapts wait.usual, and that
 * the waits after a single long one do not oversleep. */
static void
check_emulated (bool busy)
{
  CuvWait wait = { 0 };

  cuv_check_case ("emulated waits, busy %d", busy);
  cuv_gpu_set_busy (busy);
  for (int i = 0; i < 40; i++)
    wait_emulated (&wait, 1e-3);
  CUV_CHECK (wait.usual >= 50000, ": %" PRId64 " ns", wait.usual);
  wait_emulated (&wait, 0.2);
  for (int i = 0; i < 40; i++)
    CUV_CHECK (cuv_wait_stream (&wait, NULL) == 0);
  CUV_CHECK (wait.usual <= 20000, ": %" PRId64 " ns", wait.usual);
  cuv_gpu_set_busy (false);
}

/* Returns the CPU time of waits per wall time; the driver's spinning waits take
 * 1. */
static double
cpu_load (const Work *work)
{
  double wall = 0, cpu = 0;
  CuvWait wait = { 0 };

  for (int i = 0; i < N_WAITS; i++) {
    submit (work);
    wall -= seconds (CLOCK_MONOTONIC);
    cpu -= seconds (CLOCK_THREAD_CPUTIME_ID);
    CUV_CHECK (cuv_wait_stream (&wait, work->stream) == 0);
    wall += seconds (CLOCK_MONOTONIC);
    cpu += seconds (CLOCK_THREAD_CPUTIME_ID);
  }
  CUV_CHECK (cuv_check_options.few || wait.usual > 0);
  return cpu / wall;
}

CUV_CHECKS_CUDA (check_wait_cuda)
{
  const bool is_slow =
      cuv_check_options.few; /* on the emulator there is nothing to wait for */
  const size_t side = is_slow ? 64 : 4096;
  Work work = { .side = (int) side, .stream = cuv_check_stream_new () };
  uint8_t *zeros = calloc (side, 4 * side), last = 1;
  double load;

  if (cuv_emulate_busy != NULL) {
    check_emulated (false);
    check_emulated (true);
  }
  cuv_check_case ("waiting for %d x %d NV12 pictures", N_WAITS, N_PICTURES);
  work.rgbx = cuv_check_upload (zeros, 4 * side * side);
  work.y = cuv_check_upload (zeros, side * side);
  work.uv = cuv_check_upload (zeros, side * side / 2);
  cuv_check_stream_wait (cuv_check_stream);
  load = cpu_load (&work);
  CUV_CHECK (is_slow || load < 0.25, ": %g of the time on the CPU", load);
  cuv_check_download (&last, work.y + side * side - 1, 1);
  CUV_CHECK (last == 16);
  cuv_check_device_free (work.rgbx);
  cuv_check_device_free (work.y);
  cuv_check_device_free (work.uv);
  cuv_check_stream_free (work.stream);
  free (zeros);
}

#endif
