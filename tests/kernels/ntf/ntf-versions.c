/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C, SIMD and CUDA within a tolerance of the reference, the cubes that they
 * load and scan, and the times of iterations. */
#include "ntf-runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks the second iteration of a run: the reference computes it from the
 * factors that the run has after the first one. */
static void
check_two_iterations (NtfCase *self, NtfRun *run, CuvNtfParams params)
{
  CuvNtfResult result;
  double difference;

  ntf_copy_factors (&self->found, &self->wanted);
  ntf_copy_factors (&self->again, &self->wanted);
  params.init = CUV_NTF_PREVIOUS;
  ntf_run_to_end (run, &params, &self->again);
  cuv_ntf_run (&self->tensor, &params, &self->again, &result);
  params.iterations = 2;
  ntf_run_to_end (run, &params, &self->found);
  difference = ntf_sum_difference (&self->again, &self->found);
  CUV_CHECK (difference < NTF_HALS_DIFFERENCE,
      ": two iterations: the sums differ by %g", difference);
}

static void
check_hals (NtfCase *self, double sparsity)
{
  CuvNtfParams params = ntf_params (1);

  params.algorithm = CUV_NTF_HALS;
  params.sparsity = sparsity;
  params.normalise = false;
  cuv_check_case ("%dx%dx%d, rank %d, hals, sparsity %g", self->tensor.height,
      self->tensor.width, self->tensor.depth, self->wanted.rank, sparsity);
  ntf_check_iterations (self, params, cuv_check_is_emulated () ? 2 : 10);
  for (int i = 0; i < self->n_runs; i++)
    check_two_iterations (self, &self->runs[i], params);
}

static void
check_size (int height, int width, int depth, int rank)
{
  static const struct {
    CuvNtfSchedule schedule;
    double sparsity;
    int iterations;
  } kinds[] = { { CUV_NTF_GS, 0, 1 }, { CUV_NTF_GS, 0, 2 },
    { CUV_NTF_GS, 0.2, CUV_NTF_TEST_EVERY },
    { CUV_NTF_JACOBI, 0, CUV_NTF_TEST_EVERY }, { CUV_NTF_JACOBI, 0.1, 1 } };
  NtfCase self;

  ntf_case_init (&self, height, width, depth, rank, CUV_NTF_TENSOR);
  ntf_fill_scene (&self.tensor, rank);
  if (ntf_case_open (&self)) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      CuvNtfParams params = ntf_params (kinds[i].iterations);

      params.schedule = kinds[i].schedule;
      params.sparsity = kinds[i].sparsity;
      params.normalise = cuv_check_below (2);
      cuv_check_case ("%dx%dx%d, rank %d, schedule %d, sparsity %g, %d", height,
          width, depth, rank, kinds[i].schedule, kinds[i].sparsity,
          kinds[i].iterations);
      ntf_check_mu (&self, &params);
    }
    check_hals (&self, 0);
    check_hals (&self, 0.2);
  }
  ntf_case_clear (&self);
}

enum { ALL, NOT_FEW, GPU, LARGE }; /* LARGE: on the GPU, but not emulated */

/* Ranks are at most the product of two sizes: with higher ones HALS divides by
 * matrices that may be singular. */
CUV_CHECKS (check_ntf_versions)
{
  static const struct {
    int height, width, depth, rank, where;
  } sizes[] = {
    { 1, 1, 1, 1, ALL },
    { 3, 3, 1, 2, ALL },
    { 1, 40, 7, 3, ALL },
    { 40, 1, 3, 5, ALL },
    { 17, 33, 5, 8, ALL },
    { 9, 13, 31, 9, ALL },
    { 64, 71, 13, 16, NOT_FEW },
    { 40, 36, 31, 25, NOT_FEW },
    { 5, 6, 4, 20, GPU },
    { 13, 12, 11, CUV_NTF_MAX_RANK, GPU },
    { 2, 140, 3, 40, GPU },
    { 2, 2070, 3, 2, GPU }, /* rows longer than the part of a block */
    { 385, 3, 2, 9, GPU },  /* more rows than blocks of four cover */
    { 140, 71, 13, 16, LARGE },
    { 40, 136, 67, 25, LARGE },
    { 20, 530, 41, 40, LARGE },
    { 65, 16384, 1, 1, LARGE },
    { 199, 5, 9, 9, LARGE },
    { 1030, 3, 1, 1, LARGE },
    { 131, 9, 201, 33, LARGE }, /* many bands and rows per slot */
    { 2051, 11, 2, 12, LARGE },
    { 388, 1027, 3, 16, LARGE },
  };
  const bool few = cuv_check_options.few, cuda = cuv_check_options.cuda;

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int where = sizes[i].where;

    if (where == ALL || (where == GPU && (cuda || !few))
        || (where == NOT_FEW && !few) || (where == LARGE && cuda && !few))
      check_size (
          sizes[i].height, sizes[i].width, sizes[i].depth, sizes[i].rank);
  }
}

/* ---- loading ---- */

static uint64_t
sample_of (const CuvCube *cube, int x, int y, int band)
{
  uint64_t value = 0;

  memcpy (&value,
      cube->data + y * cube->row_step + x * cube->pixel_step
          + band * cube->band_step,
      (size_t) cuv_cube_sample_size (cube->format));
  return value;
}

/* Checks that two bands are loaded to depths 1 and 2 of a tensor, and that the
 * other depths stay 0. */
static void
check_load (CuvCubeFormat format, int64_t pixel_step, int64_t row_step,
    int64_t band_step)
{
  enum { WIDTH = 7, HEIGHT = 5, DEPTH = 4, BANDS = 2 };
  uint8_t memory[1024];
  CuvCube cube = { memory, format, WIDTH, HEIGHT, BANDS, pixel_step, row_step,
    band_step };
  CuvNtfTensor tensor = ntf_tensor_new (HEIGHT, WIDTH, DEPTH);
  int wrong = 0;

  tensor.scale = cuv_ntf_scale (format, 1);
  for (size_t i = 0; i < sizeof memory; i++)
    memory[i] = (uint8_t) cuv_check_random ();
  cuv_ntf_load_rows (&tensor, &cube, NULL, 1, 0, HEIGHT);
  for (int y = 0; y < HEIGHT; y++) {
    for (int z = 0; z < DEPTH; z++) {
      for (int x = 0; x < WIDTH; x++) {
        double value = tensor.values[(y * DEPTH + z) * WIDTH + x];
        bool ours = z >= 1 && z < 1 + BANDS;

        wrong += value * tensor.scale
            != (ours ? (double) sample_of (&cube, x, y, z - 1) : 0);
      }
    }
  }
  cuv_check_case ("format %d, steps %d %d %d", format, (int) pixel_step,
      (int) row_step, (int) band_step);
  CUV_CHECK (wrong == 0, ": %d wrong", wrong);
  ntf_tensor_clear (&tensor);
}

static void
check_invalid_samples (void)
{
  CuvNtfTensor tensor = ntf_tensor_new (6, 5, 4);
  const CuvCube cube = ntf_cube (&tensor);
  const size_t size = 6 * 5 * 4 * sizeof (float);
  const double ignore = -1e-3f;
  CuvNtfScan scan;

  ntf_fill_noise (&tensor);
  tensor.values[(3 * 4 + 2) * 5 + 1] = -1e-3f;
  tensor.values[(3 * 4 + 3) * 5 + 0] = NAN;
  tensor.values[(5 * 4 + 0) * 5 + 4] = INFINITY;
  tensor.values[(1 * 4 + 1) * 5 + 4] = 700;
  cuv_check_case ("invalid samples");
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    NtfRun run;

    ntf_run_init (&run, 6, 5, 4, 1, CUV_NTF_TENSOR, &v);
    for (run.version.n_threads = 1; run.version.n_threads < 4;
         run.version.n_threads++) {
      ntf_run_scan (&run, &cube, size, NULL, &scan);
      CUV_CHECK (scan.largest == 700 && scan.n_negative == 1
              && scan.n_not_finite == 2 && scan.x == 1 && scan.y == 3
              && scan.band == 2,
          ": %g, %d and %d from %d %d %d", scan.largest, (int) scan.n_negative,
          (int) scan.n_not_finite, scan.x, scan.y, scan.band);
    }
    ntf_run_scan (&run, &cube, size, &ignore, &scan);
    CUV_CHECK (scan.n_negative == 0 && scan.n_not_finite == 2 && scan.x == 0);
    ntf_run_clear (&run);
  }
  CUV_CHECK (cuv_ntf_scale (CUV_CUBE_F32, scan.largest) == 1024);
  CUV_CHECK (cuv_ntf_scale (CUV_CUBE_F32, 0) == 1);
  tensor.scale = 1;
  cuv_ntf_load_rows (&tensor, &cube, NULL, 0, 0, 6);
  CUV_CHECK (tensor.values[(3 * 4 + 2) * 5 + 1] == 0
      && tensor.values[(3 * 4 + 3) * 5 + 0] == 0
      && tensor.values[(5 * 4 + 0) * 5 + 4] == 0
      && tensor.values[(1 * 4 + 1) * 5 + 4] == 700);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS (check_ntf_loading)
{
  check_load (CUV_CUBE_U8, 2, 16, 1);   /* bip, padded rows */
  check_load (CUV_CUBE_U8, 1, 14, 7);   /* bil */
  check_load (CUV_CUBE_U16, 2, 14, 70); /* bsq */
  check_load (CUV_CUBE_U16, 6, 45, 3);  /* odd addresses */
  check_invalid_samples ();
}

/* ---- times ---- */

static CuvNtfParams bench_params;
static CuvNtfStatus bench_status;

/* Iterates up to the next test of the error; on the CPU always from the start.
 */
static void
iterate (void *data)
{
  NtfRun *run = data;

  if (bench_status != CUV_NTF_RUNNING || !cuv_check_options.cuda)
    ntf_run_start (run, &bench_params);
  bench_status = ntf_run_step (run);
}

/* Reports the time per iteration. */
static void
bench_size (const char *name, int height, int width, int depth, int rank,
    CuvNtfParams params)
{
  const double pixels = (double) height * width;
  NtfCase self;
  NtfRun *run = &self.runs[0];

  ntf_case_init (&self, height, width, depth, rank, params.factorisation);
  ntf_fill_noise (&self.tensor);
  bench_params = params;
  bench_params.seed = 1;
  bench_params.iterations = CUV_NTF_MAX_ITERATIONS;
  bench_params.normalise = true;
  self.n_runs = 1;
  if (ntf_run_init (run, height, width, depth, rank, params.factorisation,
          &(CuvCheckVersion){ 0 })
      && ntf_run_load (run, &self.tensor)) {
    double us;
    int n;

    bench_status = CUV_NTF_DONE;
    iterate (run);
    n = ntf_run_result (run)->iterations;
    us = CUV_CHECK_ON (cuv_check_time_device (iterate, run, cuv_check_stream),
        cuv_check_time (iterate, run));
    cuv_check_report (us / n, pixels, pixels * depth * 8,
        "ntf %s, %dx%dx%d, K=%d, %s, an iteration",
        CUV_CHECK_ON ("cuda", "cpu"), height, width, depth, rank, name);
  }
  ntf_case_clear (&self);
}

CUV_BENCH (bench_ntf)
{
  const CuvNtfParams mu = { .algorithm = CUV_NTF_MU };
  const CuvNtfParams jacobi = { .schedule = CUV_NTF_JACOBI };
  const CuvNtfParams hals = { .algorithm = CUV_NTF_HALS };
  const CuvNtfParams matrix = { .algorithm = CUV_NTF_HALS,
    .factorisation = CUV_NTF_MATRIX };
  const CuvNtfParams shares = { .sum_to_one = true,
    .factorisation = CUV_NTF_MATRIX };

  bench_size ("mu", 512, 512, 31, 16, mu);
  bench_size ("hals", 512, 512, 31, 16, hals);
  bench_size ("jacobi", 512, 512, 31, 16, jacobi);
  bench_size ("mu", 256, 256, 64, 16, mu);
  bench_size ("mu", 256, 256, 64, 64, mu);
  bench_size ("hals", 256, 256, 64, 16, hals);
  bench_size ("hals", 256, 256, 64, 64, hals);
  bench_size ("matrix, hals", 256, 256, 64, 8, matrix);
  bench_size ("matrix, sum to one", 256, 256, 64, 8, shares);
  if (!cuv_check_options.cuda)
    return;
  bench_size ("hals", 1024, 1024, 81, 16, hals);
  bench_size ("matrix, hals", 512, 512, 31, 16, matrix);
  bench_size ("matrix, sum to one", 512, 512, 31, 16, shares);
  bench_size ("matrix, sum to one", 145, 145, 200, 8, shares);
}
