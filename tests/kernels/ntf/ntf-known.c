/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors with known factorisations. */
#include "cuvcheck.h"
#include "ntf-runs.h"
#if HAVE_CUDA
#include "ntf/ntf.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

/* Compares with Random123's known answer for a counter and a key of zeros. */
CUV_CHECKS_CPU (check_ntf_random)
{
  static const uint32_t known[] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
    0x9b00dbd8 };

  cuv_check_case ("philox");
  for (uint32_t i = 0; i < 4; i++)
    CUV_CHECK (cuv_ntf_random (0, 0, 0, i)
        == 0.1f + (float) ((known[i] >> 8) + 1) * 0x1p-24f);
  CUV_CHECK (cuv_ntf_random (0, 0, 0, 4) != cuv_ntf_random (0, 0, 0, 0)
      && cuv_ntf_random (0, 0, 1, 0) != cuv_ntf_random (0, 0, 0, 0)
      && cuv_ntf_random (0, 1, 0, 0) != cuv_ntf_random (0, 0, 0, 0)
      && cuv_ntf_random (1, 0, 0, 0) != cuv_ntf_random (0, 0, 0, 0));
}

/* ---- planted terms ---- */

/* Returns how well the found terms match the planted ones: two terms match by
 * their minimum cosine over the modes, each planted term counts with its best
 * match, and the worst of these is returned. */
static double
worst_match (const CuvNtfFactors *planted, const CuvNtfFactors *found)
{
  double worst = 1;

  for (int k = 0; k < planted->rank; k++) {
    double best = 0;

    for (int l = 0; l < found->rank; l++) {
      double cosine = 1;

      for (int mode = 0; mode < CUV_NTF_MODES; mode++)
        cosine = fmin (cosine, ntf_cosine (planted, k, found, l, mode));
      best = fmax (best, cosine);
    }
    worst = fmin (worst, best);
  }
  return worst;
}

static void
check_planted (
    CuvNtfAlgorithm algorithm, CuvNtfInit init, bool sparse, int iterations)
{
  CuvNtfTensor tensor = ntf_tensor_new (40, 36, 31);
  CuvNtfFactors planted, found;
  CuvNtfParams params = ntf_params (iterations);
  CuvNtfResult result;

  cuv_ntf_factors_init (&planted, 40, 36, 31, 4);
  cuv_ntf_factors_init (&found, 40, 36, 31, 4);
  ntf_fill_factors (&planted, sparse);
  ntf_fill_planted (&tensor, &planted);
  params.algorithm = algorithm;
  params.init = init;
  params.tolerance = 1e-7;
  result = ntf_run_once (&tensor, &params, 2, &found);
  cuv_check_case ("planted, algorithm %d, init %d: %d iterations", algorithm,
      init, result.iterations);
  CUV_CHECK (result.errors[result.n_errors - 1] < 1e-3, ": error %g",
      result.errors[result.n_errors - 1]);
  CUV_CHECK (worst_match (&planted, &found) > 0.99, ": cosine %g",
      worst_match (&planted, &found));
  CUV_CHECK (result.effective_rank == 4);
  CUV_CHECK (result.converged && result.iterations < iterations);
  cuv_ntf_factors_clear (&planted);
  cuv_ntf_factors_clear (&found);
  ntf_tensor_clear (&tensor);
}

/* Checks that with a single term every update is exact, whatever the other
 * modes are. */
static void
check_one_term (CuvNtfAlgorithm algorithm)
{
  CuvNtfTensor tensor = ntf_tensor_new (19, 23, 7);
  CuvNtfFactors planted, found;
  CuvNtfParams params = ntf_params (1);
  CuvNtfResult result;

  cuv_ntf_factors_init (&planted, 19, 23, 7, 1);
  cuv_ntf_factors_init (&found, 19, 23, 7, 1);
  ntf_fill_factors (&planted, true);
  planted.mode[CUV_NTF_U][0] = planted.mode[CUV_NTF_V][0] =
      planted.mode[CUV_NTF_W][0] = 1;
  ntf_fill_planted (&tensor, &planted);
  params.algorithm = algorithm;
  result = ntf_run_once (&tensor, &params, 1, &found);
  cuv_check_case ("one term, algorithm %d", algorithm);
  CUV_CHECK (result.errors[0] < 1e-6, ": error %g", result.errors[0]);
  CUV_CHECK (worst_match (&planted, &found) > 1 - 1e-6);
  cuv_ntf_factors_clear (&planted);
  cuv_ntf_factors_clear (&found);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_planted)
{
  check_one_term (CUV_NTF_MU);
  check_one_term (CUV_NTF_HALS);
  check_planted (CUV_NTF_HALS, CUV_NTF_RANDOM, false, 2000);
  check_planted (CUV_NTF_MU, CUV_NTF_RANDOM, true, CUV_NTF_MAX_ITERATIONS);
  check_planted (CUV_NTF_HALS, CUV_NTF_NNDSVD, false, 2000);
}

/* ---- invariants ---- */

/* Checks that the error never increases. Runs one iteration at a time, each
 * from the factors of the previous one. */
static void
check_monotone (CuvNtfAlgorithm algorithm, CuvNtfSchedule schedule)
{
  CuvNtfTensor tensor = ntf_tensor_new (40, 36, 31);
  CuvNtfParams params = ntf_params (1);
  CuvNtfFactors factors;
  double before = INFINITY;

  ntf_fill_noise (&tensor);
  cuv_ntf_factors_init (&factors, 40, 36, 31, 6);
  params.algorithm = algorithm;
  params.schedule = schedule;
  params.normalise = schedule == CUV_NTF_GS; /* Jacobi depends on scale */
  cuv_check_case ("monotone, algorithm %d, schedule %d", algorithm, schedule);
  for (int i = 0; i < 60; i++) {
    CuvNtfResult result = ntf_run_once (&tensor, &params, 2, &factors);

    CUV_CHECK (result.errors[0] < before + 1e-6, ": %d: %.9g after %.9g", i,
        result.errors[0], before);
    before = result.errors[0];
    params.init = CUV_NTF_PREVIOUS;
  }
  cuv_ntf_factors_clear (&factors);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_monotone)
{
  check_monotone (CUV_NTF_MU, CUV_NTF_GS);
  check_monotone (CUV_NTF_HALS, CUV_NTF_GS);
  check_monotone (CUV_NTF_MU, CUV_NTF_JACOBI);
}

/* Permuting the axes of the tensor permutes the factors: mode m becomes mode m
 * + 1. */
CUV_CHECKS_CPU (check_ntf_axes)
{
  enum { A = 13, B = 17, C = 9 };
  CuvNtfTensor tensor = ntf_tensor_new (A, B, C);
  CuvNtfTensor turned = ntf_tensor_new (C, A, B);
  CuvNtfParams params = ntf_params (10);
  CuvNtfFactors factors, turned_factors, back;

  ntf_fill_noise (&tensor);
  for (int a = 0; a < A; a++) {
    for (int b = 0; b < B; b++) {
      for (int c = 0; c < C; c++)
        turned.values[(c * B + b) * A + a] = tensor.values[(a * C + c) * B + b];
    }
  }
  cuv_ntf_factors_init (&factors, A, B, C, 5);
  cuv_ntf_factors_init (&turned_factors, C, A, B, 5);
  cuv_ntf_randomise (&factors, params.seed);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    memcpy (turned_factors.mode[(mode + 1) % CUV_NTF_MODES], factors.mode[mode],
        (size_t) (factors.size[mode] * factors.stride) * sizeof (float));
  params.init = CUV_NTF_PREVIOUS;
  params.schedule = CUV_NTF_JACOBI;
  params.normalise = false;
  ntf_run_once (&tensor, &params, 1, &factors);
  ntf_run_once (&turned, &params, 1, &turned_factors);
  back = turned_factors;
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    back.size[mode] = turned_factors.size[(mode + 1) % CUV_NTF_MODES];
    back.mode[mode] = turned_factors.mode[(mode + 1) % CUV_NTF_MODES];
  }
  cuv_check_case ("axes");
  CUV_CHECK (ntf_difference (&factors, &back) < 1e-5, ": %g",
      ntf_difference (&factors, &back));
  cuv_ntf_factors_clear (&factors);
  cuv_ntf_factors_clear (&turned_factors);
  ntf_tensor_clear (&tensor);
  ntf_tensor_clear (&turned);
}

/* ---- edge cases ---- */

typedef void (*Fill) (CuvNtfTensor *self);

static void
fill_zeros (CuvNtfTensor *self)
{
}

static void
fill_one (CuvNtfTensor *self)
{
  self->values[0] = 1;
}

static void
fill_constant (CuvNtfTensor *self)
{
  for (int i = 0; i < self->height * self->width * self->depth; i++)
    self->values[i] = 0.75f;
}

static void
check_edge_case (const char *name, Fill fill, int height, int width, int depth,
    int rank, double most_error)
{
  CuvNtfTensor tensor = ntf_tensor_new (height, width, depth);

  fill (&tensor);
  for (int kind = 0; kind < (cuv_check_options.cuda ? 6 : 7); kind++) {
    CuvNtfParams params = ntf_params (cuv_check_is_emulated () ? 25 : 50);
    CuvNtfFactors factors;
    CuvNtfResult result;

    cuv_ntf_factors_init (&factors, height, width, depth, rank);
    params.algorithm = kind == 1 || kind == 3 ? CUV_NTF_HALS : CUV_NTF_MU;
    params.schedule = kind == 2 ? CUV_NTF_JACOBI : CUV_NTF_GS;
    params.sparsity = kind == 4 || kind == 5 ? 1 : 0;
    params.init = kind == 3 ? CUV_NTF_PREVIOUS /* zeros */
        : kind == 6         ? CUV_NTF_NNDSVD   /* not on the GPU */
                            : CUV_NTF_RANDOM;
    params.reinit_dead = kind % 2;
    result = ntf_run_once (&tensor, &params, 2, &factors);
    cuv_check_case ("%s, %dx%dx%d, rank %d, kind %d", name, height, width,
        depth, rank, kind);
    CUV_CHECK (ntf_is_sound (&factors, &result));
    CUV_CHECK (kind > 2 || cuv_check_is_emulated ()
            || result.errors[result.n_errors - 1] <= most_error,
        ": error %g", result.errors[result.n_errors - 1]);
    if (fill == fill_zeros)
      CUV_CHECK (result.effective_rank == 0 && result.errors[0] == 0);
    cuv_ntf_factors_clear (&factors);
  }
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS (check_ntf_edge_cases)
{
  check_edge_case ("zeros", fill_zeros, 7, 9, 4, 5, 0);
  check_edge_case ("one value", fill_one, 7, 9, 4, 5, 0.2);
  check_edge_case ("rank above all sizes", ntf_fill_noise, 3, 2, 2, 64, 0.1);
  if (cuv_check_is_emulated ())
    return;
  check_edge_case ("constant", fill_constant, 7, 9, 4, 3, 0.05);
  check_edge_case ("one frame", ntf_fill_noise, 12, 11, 1, 11, 0.3);
  check_edge_case ("one value in all", fill_one, 1, 1, 1, 1, 1e-6);
}

/* ---- parameters ---- */

static void
kill_term (CuvNtfFactors *self, int k)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++)
      self->mode[mode][i * self->stride + k] = 0;
  }
}

CUV_CHECKS_CPU (check_ntf_params)
{
  CuvNtfTensor tensor = ntf_tensor_new (40, 36, 31);
  CuvNtfParams params = ntf_params (60);
  CuvNtfFactors factors;
  CuvNtfResult plain, result;

  ntf_fill_noise (&tensor);
  cuv_ntf_factors_init (&factors, 40, 36, 31, 4);
  plain = ntf_run_once (&tensor, &params, 2, &factors);

  cuv_check_case ("reinit-dead");
  kill_term (&factors, 2);
  params.init = CUV_NTF_PREVIOUS;
  result = ntf_run_once (&tensor, &params, 2, &factors);
  CUV_CHECK (result.effective_rank == 3, ": %d", result.effective_rank);
  kill_term (&factors, 2);
  params.reinit_dead = true;
  result = ntf_run_once (&tensor, &params, 2, &factors);
  CUV_CHECK (result.effective_rank == 4, ": %d", result.effective_rank);

  cuv_check_case ("tolerance");
  params.init = CUV_NTF_RANDOM;
  params.reinit_dead = false;
  params.tolerance = 1;
  result = ntf_run_once (&tensor, &params, 2, &factors);
  CUV_CHECK (result.converged && result.iterations == 20 && result.n_errors == 2
      && result.errors[1] == plain.errors[1]);
  params.tolerance = 0;
  params.iterations = 23;
  result = ntf_run_once (&tensor, &params, 2, &factors);
  CUV_CHECK (
      !result.converged && result.iterations == 23 && result.n_errors == 3);
  cuv_ntf_factors_clear (&factors);
  ntf_tensor_clear (&tensor);
}

/* Checks that with one constant term the penalty scales the sum by 1 / (1 +
 * sparsity). */
static void
check_sparsity (CuvNtfAlgorithm algorithm, double sparsity)
{
  CuvNtfTensor tensor = ntf_tensor_new (5, 6, 4);
  CuvNtfParams params = ntf_params (200);
  CuvNtfFactors factors;
  CuvNtfResult result;

  fill_constant (&tensor);
  cuv_ntf_factors_init (&factors, 5, 6, 4, 1);
  params.algorithm = algorithm;
  params.sparsity = sparsity;
  result = ntf_run_once (&tensor, &params, 1, &factors);
  cuv_check_case ("sparsity %g, algorithm %d", sparsity, algorithm);
  CUV_CHECK (
      fabs (result.errors[result.n_errors - 1] - sparsity / (1 + sparsity))
          < 1e-5,
      ": error %g", result.errors[result.n_errors - 1]);
  cuv_ntf_factors_clear (&factors);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_sparsity)
{
  check_sparsity (CUV_NTF_MU, 0.5);
  check_sparsity (CUV_NTF_HALS, 0.5);
  check_sparsity (CUV_NTF_MU, 0.1);
  check_sparsity (CUV_NTF_HALS, 0.1);
}

/* The columns of U and V have unit length, terms are sorted, and W has the
 * scale of the samples. */
CUV_CHECKS_CPU (check_ntf_normalised)
{
  CuvNtfTensor tensor = ntf_tensor_new (20, 16, 11);
  CuvNtfParams params = ntf_params (50);
  CuvNtfFactors factors, plain;
  double weights[5], plain_weights[5], sum = 0, plain_sum = 0;

  for (int i = 0; i < 20 * 16 * 11; i++)
    tensor.values[i] = (float) (1000 * ntf_random ());
  tensor.scale = 1024;
  cuv_ntf_factors_init (&factors, 20, 16, 11, 5);
  cuv_ntf_factors_init (&plain, 20, 16, 11, 5);
  ntf_run_once (&tensor, &params, 2, &factors);
  params.normalise = false;
  ntf_run_once (&tensor, &params, 2, &plain);
  cuv_check_case ("normalised");
  cuv_ntf_weights (&factors, weights);
  cuv_ntf_weights (&plain, plain_weights);
  for (int k = 0; k < 5; k++) {
    double u = 0, v = 0;

    for (int i = 0; i < 20; i++)
      u += pow (factors.mode[CUV_NTF_U][i * factors.stride + k], 2);
    for (int i = 0; i < 16; i++)
      v += pow (factors.mode[CUV_NTF_V][i * factors.stride + k], 2);
    CUV_CHECK (fabs (u - 1) < 1e-6 && fabs (v - 1) < 1e-6);
    CUV_CHECK (k == 0 || weights[k] <= weights[k - 1]);
    sum += weights[k];
    plain_sum += plain_weights[k];
  }
  CUV_CHECK (fabs (sum / plain_sum - 1) < 1e-6);
  tensor.scale = 1;
  CUV_CHECK (cuv_ntf_error (&tensor, &factors) < 0.6, ": %g",
      cuv_ntf_error (&tensor, &factors));
  cuv_ntf_factors_clear (&factors);
  cuv_ntf_factors_clear (&plain);
  ntf_tensor_clear (&tensor);
}

/* Checks that the residuals of all pixels add up to the error, in the scale of
 * the samples. */
static void
check_residual (int height, int width, int depth, double max_work)
{
  const CuvNtfParams params = ntf_params (12);
  NtfCase self;

  cuv_check_case ("residual, %dx%dx%d", height, width, depth);
  ntf_case_init (&self, height, width, depth, 3, CUV_NTF_TENSOR);
  ntf_fill_noise (&self.tensor);
  for (int i = 0; i < height * width * depth; i++)
    self.tensor.values[i] *= 200;
  self.tensor.scale = 256;
  CUV_CHECK (ntf_case_open (&self));
  for (int i = 0; i < self.n_runs; i++) {
    NtfRun *run = &self.runs[i];
    CuvNtfResult result;

    CUV_CHECK_ON (cuv_ntf_cuda_set_max_work (run->state, max_work), (void) 0);
    result = ntf_run_to_end (run, &params, &self.found);
    ntf_check_residual (run, &self.tensor, &self.found, result.errors[1]);
    CUV_CHECK (
        fabs (cuv_ntf_error (&self.tensor, &self.found) - result.errors[1])
        < 1e-6);
  }
  ntf_case_clear (&self);
}

CUV_CHECKS (check_ntf_residual)
{
  check_residual (5, 7, 3, 1);
  check_residual (3, 21, 37, 1e9);
  if (!cuv_check_is_emulated ())
    check_residual (21, 30, 6, 1e9);
}

/* Checks that cancelling before a step leaves all factors unchanged, and that
 * all functions then fail. */
static void
check_cancelled (CuvNtfAlgorithm algorithm)
{
  CuvNtfTensor tensor = ntf_tensor_new (21, 30, 6);
  CuvNtfParams params = ntf_params (CUV_NTF_MAX_ITERATIONS);
  const CuvCube cube = ntf_cube (&tensor);
  int32_t cancel = 0;
  CuvNtfCpu *cpu = cuv_ntf_cpu_new (21, 30, 6, 3, CUV_NTF_TENSOR, &cancel);
  float map[21 * 30];
  CuvNtfFactors before;

  ntf_fill_noise (&tensor);
  cuv_ntf_factors_init (&before, 21, 30, 6, 3);
  params.algorithm = algorithm;
  CUV_CHECK (cuv_ntf_cpu_load (cpu, &cube, NULL, 0, 1, 2)
      && cuv_ntf_cpu_start (cpu, &params, 2)
      && cuv_ntf_cpu_step (cpu, 2) == CUV_NTF_RUNNING);
  ntf_copy_factors (&before, cuv_ntf_cpu_factors (cpu));
  cancel = 1;
  cuv_check_case ("cancelled, algorithm %d", algorithm);
  CUV_CHECK (cuv_ntf_cpu_step (cpu, 2) == CUV_NTF_CANCELLED);
  CUV_CHECK (ntf_are_equal (&before, cuv_ntf_cpu_factors (cpu)));
  CUV_CHECK (!cuv_ntf_cpu_start (cpu, &params, 2)
      && !cuv_ntf_cpu_load (cpu, &cube, NULL, 0, 256, 2)
      && !cuv_ntf_cpu_residual (cpu, 2, map));
  cuv_ntf_factors_clear (&before);
  cuv_ntf_cpu_free (cpu);
  ntf_tensor_clear (&tensor);
}

CUV_CHECKS_CPU (check_ntf_cancelled)
{
  check_cancelled (CUV_NTF_MU);
  check_cancelled (CUV_NTF_HALS);
}
