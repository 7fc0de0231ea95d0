/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading, residuals and memory of the factorisation on the GPU, and times of
 * iterations. */
#include "config.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuvcheck.h"
#include "ntf-cuda.h"

void
ntf_cuda_init (NtfCuda *self, int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation)
{
  self->cancel = 0;
  self->stream = cuv_check_stream_new ();
  self->cuda = cuv_ntf_cuda_new (
      height, width, depth, rank, factorisation, &self->cancel, self->stream);
  CUV_CHECK (self->cuda != NULL, ": %s", cuv_cuda_error ());
}

void
ntf_cuda_clear (NtfCuda *self)
{
  cuv_ntf_cuda_free (self->cuda);
  cuv_check_stream_free (self->stream);
}

/* ---- cubes ---- */

/* Copies the samples, size bytes, to device memory. */
static CuvCube
cube_to_device (const CuvCube *cube, size_t size, void **memory)
{
  const CuvCheckFrame bytes = { .memory = (uint8_t *) cube->data,
    .size = size };
  CuvCube device = *cube;

  cuv_check_to_device (&bytes, memory);
  device.data = *memory;
  return device;
}

bool
ntf_cuda_load_cube (NtfCuda *self, const CuvCube *cube, size_t size,
    const double *ignore, int z, double scale)
{
  void *memory;
  const CuvCube device = cube_to_device (cube, size, &memory);
  const bool loaded = self->cuda != NULL
      && CUV_CHECK (
          cuv_ntf_cuda_load (self->cuda, &device, ignore, z, scale) == 0,
          ": %s", cuv_cuda_error ());

  cuv_check_device_free (memory);
  return loaded;
}

static size_t
n_values (const CuvNtfTensor *tensor)
{
  return (size_t) tensor->height * (size_t) tensor->width
      * (size_t) tensor->depth;
}

bool
ntf_cuda_load (NtfCuda *self, const CuvNtfTensor *tensor)
{
  const CuvCube cube = ntf_cube (tensor);

  return ntf_cuda_load_cube (
      self, &cube, n_values (tensor) * sizeof (float), NULL, 0, tensor->scale);
}

static bool
scan (NtfCuda *self, const CuvCube *cube, size_t size, const double *ignore,
    CuvNtfScan *scan)
{
  void *memory;
  const CuvCube device = cube_to_device (cube, size, &memory);
  const bool scanned =
      CUV_CHECK (cuv_ntf_cuda_scan (self->cuda, &device, ignore, scan) == 0,
          ": %s", cuv_cuda_error ());

  cuv_check_device_free (memory);
  return scanned;
}

/* ---- factors ---- */

CuvNtfResult
ntf_cuda_run (NtfCuda *self, const CuvNtfParams *params, CuvNtfFactors *factors)
{
  CuvNtfStatus status = CUV_NTF_RUNNING;
  bool ok;

  if (params->init != CUV_NTF_RANDOM)
    cuv_ntf_cuda_set_factors (self->cuda, factors);
  ok = CUV_CHECK (
      cuv_ntf_cuda_start (self->cuda, params) == 0, ": %s", cuv_cuda_error ());
  while (ok && status == CUV_NTF_RUNNING)
    ok = CUV_CHECK (cuv_ntf_cuda_step (self->cuda, &status) == 0, ": %s",
        cuv_cuda_error ());
  CUV_CHECK (status == CUV_NTF_DONE);
  ntf_copy_factors (factors, cuv_ntf_cuda_factors (self->cuda));
  return *cuv_ntf_cuda_result (self->cuda);
}

/* ---- loading ---- */

enum { WIDTH = 37, HEIGHT = 5, DEPTH = 40, BANDS = 35, FIRST = 3 };

typedef enum { BIP, BIL, BSQ } Interleave;

/* Sets the steps of a cube with rows padded by some bytes; returns its size. */
static size_t
lay_out (CuvCube *cube, Interleave interleave, int padding)
{
  const int size = cuv_cube_sample_size (cube->format);

  cube->pixel_step = interleave == BIP ? size * BANDS : size;
  cube->band_step = size;
  cube->row_step = size * BANDS * WIDTH + padding;
  if (interleave == BIL)
    cube->band_step = size * WIDTH;
  if (interleave == BSQ) {
    cube->row_step = size * WIDTH + padding;
    cube->band_step = cube->row_step * HEIGHT;
  }
  return (size_t) (size * BANDS * WIDTH * HEIGHT
      + padding * HEIGHT * (interleave == BSQ ? BANDS : 1));
}

/* Random bytes make floats of all kinds, NaN and infinities included. */
static void
check_load (CuvCubeFormat format, Interleave interleave, int padding)
{
  CuvCube cube = { NULL, format, WIDTH, HEIGHT, BANDS, 0, 0, 0 };
  const size_t size = lay_out (&cube, interleave, padding);
  const double seven = 7;
  const double *ignore = cuv_check_below (2) ? &seven : NULL;
  CuvNtfTensor wanted = ntf_tensor_new (HEIGHT, WIDTH, DEPTH);
  CuvNtfTensor found = ntf_tensor_new (HEIGHT, WIDTH, DEPTH);
  uint8_t *memory = malloc (size);
  NtfCuda self;

  for (size_t i = 0; i < size; i++)
    memory[i] = (uint8_t) cuv_check_random ();
  cube.data = memory;
  wanted.scale = cuv_ntf_scale (format, 1000);
  cuv_ntf_load_rows (&wanted, &cube, ignore, FIRST, 0, HEIGHT);
  ntf_cuda_init (&self, HEIGHT, WIDTH, DEPTH, 1, CUV_NTF_TENSOR);
  cuv_check_case (
      "format %d, interleave %d, padding %d", format, interleave, padding);
  if (ntf_cuda_load_cube (&self, &cube, size, ignore, FIRST, wanted.scale)) {
    CUV_CHECK (cuv_ntf_cuda_get_tensor (self.cuda, found.values) == 0);
    CUV_CHECK (memcmp (wanted.values, found.values,
                   n_values (&wanted) * sizeof (float))
        == 0);
  }
  ntf_cuda_clear (&self);
  ntf_tensor_clear (&wanted);
  ntf_tensor_clear (&found);
  free (memory);
}

static void
check_scan (Interleave interleave, int padding, const double *ignore)
{
  CuvCube cube = { NULL, CUV_CUBE_F32, WIDTH, HEIGHT, BANDS, 0, 0, 0 };
  const size_t size = lay_out (&cube, interleave, padding);
  const int n_bad = (int) cuv_check_below (4);
  CuvNtfScan wanted = { 0 }, found;
  uint8_t *memory = calloc (size, 1);
  NtfCuda self;

  cube.data = memory;
  for (int i = 0; i < 300; i++) {
    static const float bad[] = { NAN, -1, INFINITY, -INFINITY };
    float value =
        i < n_bad ? bad[cuv_check_below (4)] : (float) (100 * ntf_random ());

    memcpy (memory + cuv_check_below (WIDTH) * cube.pixel_step
            + cuv_check_below (HEIGHT) * cube.row_step
            + cuv_check_below (BANDS) * cube.band_step,
        &value, sizeof value);
  }
  cuv_ntf_scan_rows (&cube, ignore, 0, HEIGHT, &wanted);
  ntf_cuda_init (&self, HEIGHT, WIDTH, DEPTH, 1, CUV_NTF_TENSOR);
  cuv_check_case ("scan, interleave %d, padding %d", interleave, padding);
  if (self.cuda != NULL && scan (&self, &cube, size, ignore, &found)) {
    CUV_CHECK (found.largest == wanted.largest
        && found.n_negative == wanted.n_negative
        && found.n_not_finite == wanted.n_not_finite);
    CUV_CHECK (
        found.x == wanted.x && found.y == wanted.y && found.band == wanted.band,
        ": %d %d %d", found.x, found.y, found.band);
  }
  ntf_cuda_clear (&self);
  free (memory);
}

static void
check_loading (void)
{
  static const CuvCubeFormat formats[] = { CUV_CUBE_U8, CUV_CUBE_U16,
    CUV_CUBE_F32 };
  const double minus_one = -1;

  for (Interleave i = BIP; i <= BSQ; i++) {
    for (int f = 0; f < 3; f++) {
      check_load (formats[f], i, 0);
      check_load (formats[f], i, 3);
    }
    check_scan (i, 0, NULL);
    check_scan (i, 5, NULL);
    check_scan (i, 4, &minus_one);
  }
}

/* ---- residuals ---- */

static void
check_residual (int height, int width, int depth, double max_work)
{
  CuvNtfTensor tensor = ntf_tensor_new (height, width, depth);
  const CuvNtfParams params = ntf_params (12);
  const size_t n = (size_t) height * (size_t) width;
  float *map = malloc (n * sizeof *map);
  double rest = 0, all = 0;
  CuvNtfFactors factors;
  NtfCuda self;

  ntf_fill_noise (&tensor);
  for (size_t i = 0; i < n_values (&tensor); i++)
    tensor.values[i] *= 200;
  tensor.scale = 256;
  cuv_ntf_factors_init (&factors, height, width, depth, 3);
  ntf_cuda_init (&self, height, width, depth, 3, CUV_NTF_TENSOR);
  cuv_check_case ("residual, %dx%dx%d", height, width, depth);
  if (ntf_cuda_load (&self, &tensor)) {
    CuvNtfResult result;

    cuv_ntf_cuda_set_max_work (self.cuda, max_work);
    result = ntf_cuda_run (&self, &params, &factors);
    CUV_CHECK (
        cuv_ntf_cuda_residual (self.cuda, map) == 0, ": %s", cuv_cuda_error ());
    for (size_t i = 0; i < n; i++)
      rest += depth * pow (map[i], 2);
    for (size_t i = 0; i < n_values (&tensor); i++)
      all += pow (tensor.values[i], 2);
    CUV_CHECK (fabs (sqrt (rest / all) - result.errors[1]) < 1e-6);
    CUV_CHECK (fabs (cuv_ntf_error (&tensor, &factors) - result.errors[1])
        < 1e-6); /* the factors are in the scale of the samples */
    for (int i = 0; i < 20; i++) {
      const size_t at = cuv_check_below ((uint32_t) n);
      const int y = (int) at / width, x = (int) at % width;
      double sum = 0;

      for (int z = 0; z < depth; z++) {
        double left = tensor.values[(y * depth + z) * width + x];

        for (int k = 0; k < 3; k++)
          left -= (double) *cuv_ntf_at (&factors, CUV_NTF_U, y, k)
              * *cuv_ntf_at (&factors, CUV_NTF_V, x, k)
              * *cuv_ntf_at (&factors, CUV_NTF_W, z, k);
        sum += left * left;
      }
      CUV_CHECK (fabs (sqrt (sum / depth) - map[at]) < 1e-3, ": %d %d", x, y);
    }
  }
  ntf_cuda_clear (&self);
  cuv_ntf_factors_clear (&factors);
  ntf_tensor_clear (&tensor);
  free (map);
}

/* Fails each allocation in turn. */
static void
check_memory (void)
{
  const size_t before = cuv_cuda_allocated ();
  CuvNtfCuda *cuda = NULL;
  int32_t cancel = 0;
  int n;

  cuv_check_case ("out of memory");
  for (n = 0; n < 40 && cuda == NULL; n++) {
    cuv_cuda_fail_allocation (n);
    cuda = cuv_ntf_cuda_new (5, 4, 3, 2, CUV_NTF_TENSOR, &cancel, NULL);
    CUV_CHECK (cuda != NULL || cuv_cuda_allocated () == before);
  }
  cuv_cuda_fail_allocation (-1);
  CUV_CHECK (n > 15 && cuda != NULL, ": %d", n);
  cuv_ntf_cuda_free (cuda);
  CUV_CHECK (cuv_cuda_allocated () == before);
}

CUV_CHECKS_CUDA (check_ntf_cuda)
{
  check_loading ();
  check_residual (5, 7, 3, 1);
  check_residual (3, 21, 37, 1e9);
  check_memory ();
}

/* ---- times ---- */

typedef struct {
  NtfCuda cuda;
  CuvNtfParams params;
} Run;

static void
step (void *data)
{
  Run *self = data;
  CuvNtfStatus status;

  cuv_ntf_cuda_step (self->cuda.cuda, &status);
  if (status != CUV_NTF_RUNNING)
    cuv_ntf_cuda_start (self->cuda.cuda, &self->params);
}

static void
bench (const char *name, int height, int width, int depth, int rank,
    CuvNtfParams params)
{
  const double pixels = (double) height * width;
  CuvNtfTensor tensor = ntf_tensor_new (height, width, depth);
  Run self = { .params = params };
  double us;
  int n;

  ntf_fill_noise (&tensor);
  self.params.seed = 1;
  self.params.normalise = true;
  self.params.iterations = CUV_NTF_MAX_ITERATIONS;
  ntf_cuda_init (&self.cuda, height, width, depth, rank, params.factorisation);
  if (ntf_cuda_load (&self.cuda, &tensor)
      && CUV_CHECK (cuv_ntf_cuda_start (self.cuda.cuda, &self.params) == 0)) {
    step (&self);
    n = cuv_ntf_cuda_result (self.cuda.cuda)->iterations;
    us = cuv_check_time_device (step, &self, self.cuda.stream);
    cuv_check_report (us / n, pixels, pixels * depth * 8,
        "ntf cuda, %dx%dx%d, K=%d, %s, an iteration", height, width, depth,
        rank, name);
  }
  ntf_cuda_clear (&self.cuda);
  ntf_tensor_clear (&tensor);
}

CUV_BENCH_CUDA (bench_ntf_cuda)
{
  const CuvNtfParams mu = { .algorithm = CUV_NTF_MU };
  const CuvNtfParams jacobi = { .schedule = CUV_NTF_JACOBI };
  const CuvNtfParams hals = { .algorithm = CUV_NTF_HALS };
  const CuvNtfParams matrix = { .algorithm = CUV_NTF_HALS,
    .factorisation = CUV_NTF_MATRIX };
  const CuvNtfParams shares = { .sum_to_one = true,
    .factorisation = CUV_NTF_MATRIX };

  bench ("mu", 512, 512, 31, 16, mu);
  bench ("hals", 512, 512, 31, 16, hals);
  bench ("jacobi", 512, 512, 31, 16, jacobi);
  bench ("mu", 256, 256, 64, 16, mu);
  bench ("hals", 256, 256, 64, 16, hals);
  bench ("hals", 256, 256, 64, 64, hals);
  bench ("hals", 1024, 1024, 81, 16, hals);
  bench ("matrix, hals", 512, 512, 31, 16, matrix);
  bench ("matrix, sum to one", 512, 512, 31, 16, shares);
  bench ("matrix, sum to one", 145, 145, 200, 8, shares);
}

#endif
