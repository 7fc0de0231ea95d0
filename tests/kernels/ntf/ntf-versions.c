/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fast versions: within a tolerance of the reference, equal to each other to
 * the bit. */
#include "cuvcheck.h"
#include "cuvcpu.h"
#include "ntf-inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_fast (const CuvNtfTensor *tensor, const CuvNtfParams *params,
    const CuvNtfFactors *wanted, const CuvNtfResult *wanted_result)
{
  static const struct {
    unsigned mask;
    int n_threads;
  } versions[] = { { 0, 1 }, { 0, 3 }, { ~0u, 1 }, { ~0u, 2 }, { ~0u, 5 } };
  CuvNtfFactors first, factors;
  CuvNtfResult result, first_result = { 0 };

  cuv_ntf_factors_init (
      &first, tensor->height, tensor->width, tensor->depth, wanted->rank);
  cuv_ntf_factors_init (
      &factors, tensor->height, tensor->width, tensor->depth, wanted->rank);
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    cuv_cpu_set_mask (versions[i].mask);
    result = ntf_run_cpu (
        tensor, params, versions[i].n_threads, i == 0 ? &first : &factors);
    if (i == 0)
      first_result = result;
    else
      CUV_CHECK (ntf_are_equal (&first, &factors)
              && result.errors[0] == first_result.errors[0],
          ": mask %x, %d threads", versions[i].mask, versions[i].n_threads);
  }
  CUV_CHECK (ntf_difference (wanted, &first) < 1e-5, ": difference %g",
      ntf_difference (wanted, &first));
  CUV_CHECK (fabs (wanted_result->errors[0] - first_result.errors[0]) < 1e-6);
  CUV_CHECK (wanted_result->effective_rank == first_result.effective_rank);
  CUV_CHECK (ntf_is_sound (&first, &first_result));
  cuv_ntf_factors_clear (&first);
  cuv_ntf_factors_clear (&factors);
}

/* HALS subtracts large numbers, and rounding errors grow with each iteration:
 * each iteration starts from the reference's factors, and the sums of terms are
 * compared. */
static void
check_hals (const CuvNtfTensor *tensor, double sparsity, int rank)
{
  CuvNtfParams params = ntf_params (1);
  CuvNtfFactors wanted, factors;
  CuvNtfResult result;

  cuv_ntf_factors_init (
      &wanted, tensor->height, tensor->width, tensor->depth, rank);
  cuv_ntf_factors_init (
      &factors, tensor->height, tensor->width, tensor->depth, rank);
  params.algorithm = CUV_NTF_HALS;
  params.sparsity = sparsity;
  params.normalise = false;
  cuv_check_case ("hals, %dx%dx%d, rank %d, sparsity %g", tensor->height,
      tensor->width, tensor->depth, rank, sparsity);
  for (int i = 0; i < 10; i++) {
    ntf_copy_factors (&factors, &wanted);
    cuv_ntf_run (tensor, &params, &wanted, &result);
    result = ntf_run_cpu (tensor, &params, 2, &factors);
    ntf_check_hals (tensor, &wanted, &factors, &result);
    params.init = CUV_NTF_PREVIOUS;
  }
  cuv_ntf_factors_clear (&wanted);
  cuv_ntf_factors_clear (&factors);
}

static void
check_size (int height, int width, int depth, int rank)
{
  static const struct {
    CuvNtfAlgorithm algorithm;
    CuvNtfSchedule schedule;
    double sparsity;
  } kinds[] = { { CUV_NTF_MU, CUV_NTF_GS, 0 },
    { CUV_NTF_MU, CUV_NTF_JACOBI, 0 }, { CUV_NTF_MU, CUV_NTF_GS, 0.2 } };
  CuvNtfTensor tensor = ntf_tensor_new (height, width, depth);
  CuvNtfFactors factors;
  CuvNtfResult result;

  ntf_fill_scene (&tensor, rank);
  cuv_ntf_factors_init (&factors, height, width, depth, rank);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    CuvNtfParams params = ntf_params (CUV_NTF_TEST_EVERY);

    params.algorithm = kinds[i].algorithm;
    params.schedule = kinds[i].schedule;
    params.sparsity = kinds[i].sparsity;
    params.normalise = i != 1;
    cuv_check_case (
        "%dx%dx%d, rank %d, kind %zu", height, width, depth, rank, i);
    cuv_ntf_run (&tensor, &params, &factors, &result);
    check_fast (&tensor, &params, &factors, &result);
  }
  check_hals (&tensor, 0, rank);
  check_hals (&tensor, 0.2, rank);
  cuv_ntf_factors_clear (&factors);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_versions)
{
  check_size (1, 1, 1, 1);
  check_size (3, 3, 1, 2);
  check_size (1, 40, 7, 3);
  check_size (40, 1, 3, 5);
  check_size (17, 33, 5, 8);
  check_size (33, 17, 31, 9);
  if (cuv_check_options.few)
    return;
  check_size (64, 71, 13, 16);
  check_size (40, 36, 31, 25);
  /* HALS divides by what may be singular if the rank is above the product of
   * two sizes */
  check_size (5, 6, 4, 20);
  check_size (13, 12, 11, CUV_NTF_MAX_RANK);
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

/* Two bands go to depths 1 and 2 of a tensor; the others stay 0. */
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
check_scan (void)
{
  CuvNtfTensor tensor = ntf_tensor_new (6, 5, 4);
  const CuvCube cube = ntf_cube (&tensor);
  CuvNtfScan scan;
  double ignore;
  int32_t cancel = 0;
  CuvNtfCpu *cpu = cuv_ntf_cpu_new (6, 5, 4, 1, CUV_NTF_TENSOR, &cancel);

  ntf_fill_noise (&tensor);
  tensor.values[(3 * 4 + 2) * 5 + 1] = -1e-3f;
  tensor.values[(3 * 4 + 3) * 5 + 0] = NAN;
  tensor.values[(5 * 4 + 0) * 5 + 4] = INFINITY;
  tensor.values[(1 * 4 + 1) * 5 + 4] = 700;
  cuv_check_case ("invalid samples");
  for (int n_threads = 1; n_threads < 4; n_threads++) {
    CUV_CHECK (cuv_ntf_cpu_scan (cpu, &cube, NULL, n_threads, &scan));
    CUV_CHECK (scan.largest == 700 && scan.n_negative == 1
            && scan.n_not_finite == 2 && scan.x == 1 && scan.y == 3
            && scan.band == 2,
        ": %g, %d and %d from %d %d %d", scan.largest, (int) scan.n_negative,
        (int) scan.n_not_finite, scan.x, scan.y, scan.band);
  }
  CUV_CHECK (cuv_ntf_scale (CUV_CUBE_F32, scan.largest) == 1024);
  CUV_CHECK (cuv_ntf_scale (CUV_CUBE_F32, 0) == 1);
  ignore = -1e-3f;
  CUV_CHECK (cuv_ntf_cpu_scan (cpu, &cube, &ignore, 1, &scan)
      && scan.n_negative == 0 && scan.n_not_finite == 2 && scan.x == 0);
  tensor.scale = 1;
  cuv_ntf_load_rows (&tensor, &cube, NULL, 0, 0, 6);
  CUV_CHECK (tensor.values[(3 * 4 + 2) * 5 + 1] == 0
      && tensor.values[(3 * 4 + 3) * 5 + 0] == 0
      && tensor.values[(5 * 4 + 0) * 5 + 4] == 0
      && tensor.values[(1 * 4 + 1) * 5 + 4] == 700);
  cuv_ntf_cpu_free (cpu);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_loading)
{
  check_load (CUV_CUBE_U8, 2, 16, 1);   /* bip, padded rows */
  check_load (CUV_CUBE_U8, 1, 14, 7);   /* bil */
  check_load (CUV_CUBE_U16, 2, 14, 70); /* bsq */
  check_load (CUV_CUBE_U16, 6, 45, 3);  /* odd addresses */
  check_scan ();
}
