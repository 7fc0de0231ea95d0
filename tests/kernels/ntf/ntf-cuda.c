/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only the GPU has: separate kernels for long rows and for little work,
 * loading on the device, running out of memory. Also how its runs end. */
#include "config.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ntf-runs.h"
#include "ntf/ntf.h"

/* ---- loading ---- */

enum { WIDTH = 37, HEIGHT = 5, DEPTH = 40, BANDS = 35, FIRST = 3 };

typedef enum { BIP, BIL, BSQ } Interleave;

/* Sets the steps of a cube, whose rows are padded by this number of bytes.
 * Returns its size in bytes. */
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

/* Compares a loaded cube with the reference's. Random bytes make floats of all
 * kinds, including NaN and infinity. */
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
  NtfRun self;

  for (size_t i = 0; i < size; i++)
    memory[i] = (uint8_t) cuv_check_random ();
  cube.data = memory;
  wanted.scale = cuv_ntf_scale (format, 1000);
  cuv_ntf_load_rows (&wanted, &cube, ignore, FIRST, 0, HEIGHT);
  cuv_check_case (
      "format %d, interleave %d, padding %d", format, interleave, padding);
  if (ntf_run_init (&self, HEIGHT, WIDTH, DEPTH, 1, CUV_NTF_TENSOR,
          &(CuvCheckVersion){ 0 })
      && ntf_run_load_cube (&self, &cube, size, ignore, FIRST, wanted.scale)) {
    CUV_CHECK (cuv_ntf_cuda_get_tensor (self.state, found.values) == 0);
    CUV_CHECK (memcmp (wanted.values, found.values,
                   (size_t) (HEIGHT * WIDTH * DEPTH) * sizeof (float))
        == 0);
  }
  ntf_run_clear (&self);
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
  NtfRun self;

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
  cuv_check_case ("scan, interleave %d, padding %d", interleave, padding);
  if (ntf_run_init (&self, HEIGHT, WIDTH, DEPTH, 1, CUV_NTF_TENSOR,
          &(CuvCheckVersion){ 0 })
      && ntf_run_scan (&self, &cube, size, ignore, &found)) {
    CUV_CHECK (found.largest == wanted.largest
        && found.n_negative == wanted.n_negative
        && found.n_not_finite == wanted.n_not_finite);
    CUV_CHECK (
        found.x == wanted.x && found.y == wanted.y && found.band == wanted.band,
        ": %d %d %d", found.x, found.y, found.band);
  }
  ntf_run_clear (&self);
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

/* ---- memory ---- */

/* Lets each allocation fail in turn. */
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

/* ---- runs ---- */

static bool
open_scene (NtfCase *self, int height, int width, int depth, int rank)
{
  ntf_case_init (self, height, width, depth, rank, CUV_NTF_TENSOR);
  ntf_fill_scene (&self->tensor, rank);
  return ntf_case_open (self);
}

/* With the smallest work per launch, kernels are launched for a few rows at a
 * time. */
static void
check_split_launches (CuvNtfSchedule schedule)
{
  CuvNtfParams params = ntf_params (2);
  NtfCase self;

  cuv_check_case ("split launches, schedule %d", schedule);
  params.schedule = schedule;
  if (open_scene (&self, 70, 3, CUV_CUBE_MAX_BANDS, 2)) {
    cuv_ntf_cuda_set_max_work (self.runs[0].state, 1);
    ntf_check_mu (&self, &params);
  }
  ntf_case_clear (&self);
}

/* Returns a tolerance that rounding cannot affect: it lies between the change
 * of the error at a test and the smallest change before, where these differ
 * much. If there is no such test, returns 1, which stops at the second test. */
static double
tolerance_of (const CuvNtfResult *result)
{
  double least = INFINITY;

  for (int i = 1; i < result->n_errors - 1; i++) {
    const double step = fabs (result->errors[i] - result->errors[i - 1]);

    if (step < 0.7 * least && isfinite (least))
      return sqrt (step * least);
    least = fmin (least, step);
  }
  return 1;
}

static void
check_tolerance (void)
{
  CuvNtfParams params = ntf_params (63);
  CuvNtfResult plain, wanted, found;
  NtfCase self;

  cuv_check_case ("tolerance");
  if (open_scene (&self, 19, 23, 9, 4)) {
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &plain);
    found = ntf_run_to_end (&self.runs[0], &params, &self.found);
    ntf_check_errors (&plain, &found);
    CUV_CHECK (found.n_errors == 7 && !found.converged);
    params.tolerance = tolerance_of (&plain);
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    found = ntf_run_to_end (&self.runs[0], &params, &self.found);
    CUV_CHECK (wanted.converged && wanted.iterations < 63);
    ntf_check_errors (&wanted, &found);
    CUV_CHECK (ntf_sum_difference (&self.wanted, &self.found) < 1e-3);
  }
  ntf_case_clear (&self);
}

/* Checks that a term of zeros stays zero unless reinit-dead is set. */
static void
check_dead (CuvNtfAlgorithm algorithm, bool reinit_dead)
{
  CuvNtfParams params = ntf_params (CUV_NTF_TEST_EVERY + 2);
  CuvNtfResult wanted, found;
  NtfCase self;

  cuv_check_case ("dead, algorithm %d, reinit %d", algorithm, reinit_dead);
  params.init = CUV_NTF_PREVIOUS;
  params.algorithm = algorithm;
  params.reinit_dead = reinit_dead;
  if (open_scene (&self, 13, 10, 7, 3)) {
    ntf_fill_factors (&self.wanted, false);
    for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
      for (int i = 0; i < self.wanted.size[mode]; i++)
        *cuv_ntf_at (&self.wanted, mode, i, 1) = 0;
    }
    ntf_copy_factors (&self.found, &self.wanted);
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    found = ntf_run_to_end (&self.runs[0], &params, &self.found);
    CUV_CHECK (wanted.effective_rank == (reinit_dead ? 3 : 2));
    ntf_check_errors (&wanted, &found);
    CUV_CHECK (ntf_sum_difference (&self.wanted, &self.found) < 1e-3, ": %g",
        ntf_sum_difference (&self.wanted, &self.found));
  }
  ntf_case_clear (&self);
}

/* Checks that the terms of given factors are sorted if init is not PREVIOUS. */
static void
check_given_factors (void)
{
  CuvNtfParams params = ntf_params (1);
  CuvNtfResult wanted;
  double weights[3];
  NtfCase self;

  cuv_check_case ("given factors, hals");
  if (open_scene (&self, 11, 14, 6, 3)) {
    ntf_fill_factors (&self.wanted, false);
    ntf_copy_factors (&self.found, &self.wanted);
    params.algorithm = CUV_NTF_HALS;
    params.init = CUV_NTF_PREVIOUS;
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    params.init = CUV_NTF_NNDSVD;
    ntf_run_to_end (&self.runs[0], &params, &self.found);
    CUV_CHECK (
        ntf_sum_difference (&self.wanted, &self.found) < NTF_HALS_DIFFERENCE,
        ": %g", ntf_sum_difference (&self.wanted, &self.found));
    cuv_ntf_weights (&self.found, weights);
    CUV_CHECK (weights[0] >= weights[1] && weights[1] >= weights[2]);
  }
  ntf_case_clear (&self);
}

static void
check_cancelled (void)
{
  CuvNtfParams params = ntf_params (CUV_NTF_MAX_ITERATIONS);
  CuvNtfStatus status;
  NtfCase self;

  cuv_check_case ("cancelled");
  if (open_scene (&self, 17, 12, 5, 2)) {
    CUV_CHECK (cuv_ntf_cuda_start (self.runs[0].state, &params) == 0
        && cuv_ntf_cuda_step (self.runs[0].state, &status) == 0
        && status == CUV_NTF_RUNNING);
    self.runs[0].cancel = 1;
    CUV_CHECK (cuv_ntf_cuda_step (self.runs[0].state, &status) == 0
        && status == CUV_NTF_CANCELLED);
    /* also during the launches of a start */
    cuv_ntf_cuda_set_max_work (self.runs[0].state, 1);
    CUV_CHECK (cuv_ntf_cuda_start (self.runs[0].state, &params) == 0
        && cuv_ntf_cuda_step (self.runs[0].state, &status) == 0
        && status == CUV_NTF_CANCELLED);
    self.runs[0].cancel = 0;
    params.iterations = CUV_NTF_TEST_EVERY;
    ntf_check_mu (&self, &params);
  }
  ntf_case_clear (&self);
}

CUV_CHECKS_CUDA (check_ntf_cuda)
{
  check_loading ();
  check_memory ();
  check_split_launches (CUV_NTF_GS);
  check_split_launches (CUV_NTF_JACOBI);
  check_tolerance ();
  check_dead (CUV_NTF_HALS, false);
  check_dead (CUV_NTF_HALS, true);
  check_dead (CUV_NTF_MU, true);
  check_given_factors ();
  check_cancelled ();
}

#endif
