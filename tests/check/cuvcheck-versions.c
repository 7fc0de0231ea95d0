/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvcheck.h"
#include "cuvhooks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#if HAVE_CUDA
#include <cuda_runtime_api.h>
#include "cuv-cuda.h"
#endif

void *cuv_check_stream;

bool
cuv_check_next (CuvCheckVersion *self)
{
  static const char *const names[] = { "C", "SIMD" };
  const bool is_first = self->name == NULL;

  if (!is_first && self->name != names[0])
    return false;
  if (cuv_check_options.cuda) {
    self->name = "CUDA";
    return true;
  }
  cuv_cpu_set_mask (is_first ? 0 : ~0u);
  self->name = names[!is_first];
  self->n_threads = (int) cuv_check_below (4);
  return true;
}

bool
cuv_check_is_emulated (void)
{
  return cuv_check_options.cuda && cuv_check_options.few;
}

const char *
cuv_check_error (void)
{
  return CUV_CHECK_ON (cuv_cuda_error (), "out of memory");
}

/* ---- device ---- */

#if HAVE_CUDA

static void
exit_on_error (cudaError_t status)
{
  if (status == cudaSuccess)
    return;
  fprintf (stderr, "%s\n", cudaGetErrorString (status));
  exit (1);
}

void *
cuv_check_upload (const void *data, size_t size)
{
  void *memory = NULL;

  exit_on_error (cudaMalloc (&memory, size));
  exit_on_error (cudaMemcpyAsync (
      memory, data, size, cudaMemcpyHostToDevice, cuv_check_stream));
  return memory;
}

void
cuv_check_download (void *data, const void *memory, size_t size)
{
  exit_on_error (cudaMemcpy (data, memory, size, cudaMemcpyDeviceToHost));
}

CuvFrame
cuv_check_to_device (const CuvCheckFrame *self, void **memory)
{
  CuvFrame frame = self->frame;

  if (!cuv_check_options.bench)
    cuv_gpu_set_busy (cuv_check_below (2) == 0);
  *memory = cuv_check_upload (self->memory, self->size);
  for (int c = 0; c < frame.n_components; c++)
    frame.component[c].data =
        (uint8_t *) *memory + (frame.component[c].data - self->memory);
  return frame;
}

void *
cuv_check_pinned_new (size_t size)
{
  void *memory = NULL;

  exit_on_error (cudaMallocHost (&memory, size));
  return memory;
}

void
cuv_check_pinned_free (void *memory)
{
  exit_on_error (cudaFreeHost (memory));
}

void *
cuv_check_stream_new (void)
{
  cudaStream_t stream;

  exit_on_error (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  return stream;
}

void
cuv_check_stream_free (void *stream)
{
  exit_on_error (cudaStreamDestroy (stream));
}

void
cuv_check_stream_wait (void *stream)
{
  exit_on_error (cudaStreamSynchronize (stream));
}

#endif

CuvFrame
cuv_check_lend (const CuvCheckFrame *self, void **memory)
{
  *memory = NULL;
  return CUV_CHECK_ON (cuv_check_to_device (self, memory), self->frame);
}

void
cuv_check_take_back (CuvCheckFrame *self, void *memory)
{
#if HAVE_CUDA
  if (memory != NULL)
    cuv_check_download (self->memory, memory, self->size);
#endif
  cuv_check_device_free (memory);
}

void *
cuv_check_lend_data (const void *data, size_t size, void **memory)
{
  *memory = CUV_CHECK_ON (cuv_check_upload (data, size), NULL);
  return *memory != NULL ? *memory : (void *) data;
}

/* Without a GPU cudaFree() fails even for NULL. */
void
cuv_check_device_free (void *memory)
{
#if HAVE_CUDA
  if (memory != NULL)
    exit_on_error (cudaFree (memory));
#endif
}

/* ---- time ---- */

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *times, int n)
{
  qsort (times, n, sizeof *times, compare_doubles);
  return times[n / 2];
}

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Repeats func for one second, at least 5 and at most 1000 times; runs it only
 * once under an emulator, where instructions are counted. */
double
cuv_check_time (void (*func) (void *data), void *data)
{
  double times[1000], start, begin = now ();
  int n = 0;

  if (!cuv_check_options.few)
    func (data); /* warm up */
  do {
    start = now ();
    func (data);
    times[n++] = now () - start;
  } while (
      !cuv_check_options.few && n < 1000 && (n < 5 || now () - begin < 1e6));
  return median (times, n);
}

#if HAVE_CUDA
static double
time_device (void (*func) (void *data), void *data, int n, void *stream,
    cudaEvent_t *events)
{
  float milliseconds;

  exit_on_error (cudaEventRecord (events[0], stream));
  for (int i = 0; i < n; i++)
    func (data);
  exit_on_error (cudaEventRecord (events[1], stream));
  exit_on_error (cudaEventSynchronize (events[1]));
  exit_on_error (cudaEventElapsedTime (&milliseconds, events[0], events[1]));
  return milliseconds * 1000 / n;
}
#endif

/* Returns the median time of a run: measures n runs in a row, for two seconds,
 * at least 5 and at most 200 times. */
static double
time_runs (void (*func) (void *data), void *data, int n, void *stream)
{
#if HAVE_CUDA
  double times[200];
  cudaEvent_t events[2];
  double begin = now ();
  int n_times = 0;

  exit_on_error (cudaEventCreate (&events[0]));
  exit_on_error (cudaEventCreate (&events[1]));
  for (int i = 0; i < 10; i++)
    func (data);
  while (n_times < 200 && (n_times < 5 || now () - begin < 2e6))
    times[n_times++] = time_device (func, data, n, stream, events);
  exit_on_error (cudaEventDestroy (events[0]));
  exit_on_error (cudaEventDestroy (events[1]));
  return median (times, n_times);
#else
  return 0;
#endif
}

double
cuv_check_time_device (void (*func) (void *data), void *data, void *stream)
{
  return time_runs (func, data, 1, stream);
}

double
cuv_check_time_stream (void (*func) (void *data), void *data, void *stream)
{
  return time_runs (func, data, 20, stream);
}

static void
report (double microseconds, double pixels, double bytes, double cpu_ms,
    const char *name, va_list args)
{
  printf ("{\"name\": \"");
  vprintf (name, args);
  printf ("\", \"us\": %.2f, \"ns_per_pixel\": %.4f", microseconds,
      microseconds * 1000 / pixels);
  if (bytes > 0)
    printf (", \"GB_per_s\": %.1f", bytes / microseconds / 1000);
  if (cpu_ms > 0 && !cuv_check_options.cuda)
    printf (", \"cpu_ms\": %.2f", cpu_ms);
  printf ("}\n");
}

void
cuv_check_report (
    double microseconds, double pixels, double bytes, const char *name, ...)
{
  va_list args;

  va_start (args, name);
  report (microseconds, pixels, bytes, 0, name, args);
  va_end (args);
}

typedef struct {
  void (*func) (void *data);
  void *data;
  int n;
} Calls;

static void
call (void *data)
{
  Calls *calls = data;

  calls->func (calls->data);
  calls->n++;
}

void
cuv_check_bench (void (*func) (void *data), void *data, double pixels,
    double bytes, const char *name, ...)
{
  Calls calls = { func, data, 0 };
  const clock_t start = clock ();
  const double us =
      CUV_CHECK_ON (cuv_check_time_device (call, &calls, cuv_check_stream),
          cuv_check_time (call, &calls));
  const double seconds = (double) (clock () - start) / CLOCKS_PER_SEC;
  va_list args;

  va_start (args, name);
  report (us, pixels, bytes, seconds * 1000 / calls.n, name, args);
  va_end (args);
}
