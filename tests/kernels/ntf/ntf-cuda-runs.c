/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs on the GPU: within a tolerance of the reference, and repeatable to the
 * bit. */
#include "config.h"

#if HAVE_CUDA
#include <math.h>
#include <string.h>
#include "cuvcheck.h"
#include "ntf-cuda.h"

/* ---- iterations ---- */

typedef struct {
  CuvNtfTensor tensor;
  NtfCuda cuda;
  CuvNtfFactors wanted, found, again;
} Case;

static void
case_init (Case *self, int height, int width, int depth, int rank)
{
  self->tensor = ntf_tensor_new (height, width, depth);
  ntf_fill_scene (&self->tensor, rank);
  ntf_cuda_init (&self->cuda, height, width, depth, rank, CUV_NTF_TENSOR);
  cuv_ntf_factors_init (&self->wanted, height, width, depth, rank);
  cuv_ntf_factors_init (&self->found, height, width, depth, rank);
  cuv_ntf_factors_init (&self->again, height, width, depth, rank);
}

static void
case_clear (Case *self)
{
  ntf_tensor_clear (&self->tensor);
  ntf_cuda_clear (&self->cuda);
  cuv_ntf_factors_clear (&self->wanted);
  cuv_ntf_factors_clear (&self->found);
  cuv_ntf_factors_clear (&self->again);
}

static void
check_counts (const CuvNtfResult *wanted, const CuvNtfResult *found)
{
  CUV_CHECK (found->iterations == wanted->iterations
          && found->n_errors == wanted->n_errors
          && found->converged == wanted->converged,
      ": %d iterations, %d errors", found->iterations, found->n_errors);
  CUV_CHECK (found->effective_rank == wanted->effective_rank);
}

/* Rounding errors grow with each iteration. */
static void
check_errors (
    const CuvNtfResult *wanted, const CuvNtfResult *found, double first)
{
  check_counts (wanted, found);
  for (int i = 0; i < wanted->n_errors; i++)
    CUV_CHECK (
        fabs (wanted->errors[i] - found->errors[i]) < (i == 0 ? first : 1e-4),
        ": %d: %g, not %g", i, found->errors[i], wanted->errors[i]);
}

/* Multiplicative updates: factors are compared column by column. */
static void
check_mu (Case *self, const CuvNtfParams *params)
{
  CuvNtfResult wanted, found, again;

  cuv_ntf_run (&self->tensor, params, &self->wanted, &wanted);
  found = ntf_cuda_run (&self->cuda, params, &self->found);
  again = ntf_cuda_run (&self->cuda, params, &self->again);
  CUV_CHECK (ntf_difference (&self->wanted, &self->found) < 1e-5,
      ": difference %g", ntf_difference (&self->wanted, &self->found));
  check_errors (&wanted, &found, 1e-6);
  CUV_CHECK (ntf_is_sound (&self->found, &found));
  CUV_CHECK (ntf_are_equal (&self->found, &self->again)
      && memcmp (found.errors, again.errors, sizeof found.errors) == 0);
}

/* Each iteration starts from the reference's factors, and the sums of terms are
 * compared: see ntf-versions.c. So are those of a run of two iterations, whose
 * second iteration the reference computes from the factors after the first. */
static void
check_hals (Case *self, double sparsity, int iterations)
{
  CuvNtfParams params = ntf_params (1);
  CuvNtfResult wanted, found;
  double difference;

  params.algorithm = CUV_NTF_HALS;
  params.sparsity = sparsity;
  params.normalise = false;
  cuv_check_case ("%dx%dx%d, rank %d, hals, sparsity %g", self->tensor.height,
      self->tensor.width, self->tensor.depth, self->wanted.rank, sparsity);
  for (int i = 0; i < iterations; i++) {
    ntf_copy_factors (&self->found, &self->wanted);
    cuv_ntf_run (&self->tensor, &params, &self->wanted, &wanted);
    found = ntf_cuda_run (&self->cuda, &params, &self->found);
    check_counts (&wanted, &found);
    ntf_check_hals (&self->tensor, &self->wanted, &self->found, &found);
    params.init = CUV_NTF_PREVIOUS;
  }
  ntf_copy_factors (&self->found, &self->wanted);
  ntf_cuda_run (&self->cuda, &params, &self->wanted);
  cuv_ntf_run (&self->tensor, &params, &self->wanted, &wanted);
  params.iterations = 2;
  ntf_cuda_run (&self->cuda, &params, &self->found);
  difference = ntf_sum_difference (&self->wanted, &self->found);
  CUV_CHECK (difference < NTF_HALS_DIFFERENCE,
      ": two iterations: the sums differ by %g", difference);
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
  Case self;

  case_init (&self, height, width, depth, rank);
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      CuvNtfParams params = ntf_params (kinds[i].iterations);

      params.schedule = kinds[i].schedule;
      params.sparsity = kinds[i].sparsity;
      params.normalise = i % 2;
      cuv_check_case ("%dx%dx%d, rank %d, schedule %d, sparsity %g, %d", height,
          width, depth, rank, kinds[i].schedule, kinds[i].sparsity,
          kinds[i].iterations);
      check_mu (&self, &params);
    }
    check_hals (&self, 0, cuv_check_options.few ? 2 : 10);
    check_hals (&self, 0.2, cuv_check_options.few ? 2 : 10);
  }
  case_clear (&self);
}

/* The smallest work per launch: kernels are launched for some rows at a time.
 */
static void
check_split_launches (CuvNtfSchedule schedule)
{
  CuvNtfParams params = ntf_params (2);
  Case self;

  cuv_check_case ("split launches, schedule %d", schedule);
  case_init (&self, 70, 3, CUV_CUBE_MAX_BANDS, 2);
  params.schedule = schedule;
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    cuv_ntf_cuda_set_max_work (self.cuda.cuda, 1);
    check_mu (&self, &params);
  }
  case_clear (&self);
}

/* ---- end of a run ---- */

/* A tolerance that rounding cannot affect: between the change of error at a
 * test and the least change before it, where these differ much. Without such a
 * test it is 1, which stops at the second test. */
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
  Case self;

  cuv_check_case ("tolerance");
  case_init (&self, 19, 23, 9, 4);
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &plain);
    found = ntf_cuda_run (&self.cuda, &params, &self.found);
    check_errors (&plain, &found, 1e-6);
    CUV_CHECK (found.n_errors == 7 && !found.converged);
    params.tolerance = tolerance_of (&plain);
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    found = ntf_cuda_run (&self.cuda, &params, &self.found);
    CUV_CHECK (wanted.converged && wanted.iterations < 63);
    check_errors (&wanted, &found, 1e-6);
    CUV_CHECK (ntf_sum_difference (&self.wanted, &self.found) < 1e-3);
  }
  case_clear (&self);
}

/* A term of zeros stays zero unless reinit-dead is set. */
static void
check_dead (CuvNtfAlgorithm algorithm, bool reinit_dead)
{
  CuvNtfParams params = ntf_params (CUV_NTF_TEST_EVERY + 2);
  CuvNtfResult wanted, found;
  Case self;

  cuv_check_case ("dead, algorithm %d, reinit %d", algorithm, reinit_dead);
  case_init (&self, 13, 10, 7, 3);
  params.init = CUV_NTF_PREVIOUS;
  params.algorithm = algorithm;
  params.reinit_dead = reinit_dead;
  ntf_fill_factors (&self.wanted, false);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self.wanted.size[mode]; i++)
      *cuv_ntf_at (&self.wanted, mode, i, 1) = 0;
  }
  ntf_copy_factors (&self.found, &self.wanted);
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    found = ntf_cuda_run (&self.cuda, &params, &self.found);
    CUV_CHECK (wanted.effective_rank == (reinit_dead ? 3 : 2));
    check_errors (&wanted, &found, 1e-4);
    CUV_CHECK (ntf_sum_difference (&self.wanted, &self.found) < 1e-3, ": %g",
        ntf_sum_difference (&self.wanted, &self.found));
  }
  case_clear (&self);
}

/* With an init other than PREVIOUS the terms of given factors are sorted. */
static void
check_given_factors (void)
{
  CuvNtfParams params = ntf_params (1);
  CuvNtfResult wanted;
  double weights[3];
  Case self;

  cuv_check_case ("given factors, hals");
  case_init (&self, 11, 14, 6, 3);
  ntf_fill_factors (&self.wanted, false);
  ntf_copy_factors (&self.found, &self.wanted);
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    params.algorithm = CUV_NTF_HALS;
    params.init = CUV_NTF_PREVIOUS;
    cuv_ntf_run (&self.tensor, &params, &self.wanted, &wanted);
    params.init = CUV_NTF_NNDSVD;
    ntf_cuda_run (&self.cuda, &params, &self.found);
    CUV_CHECK (
        ntf_sum_difference (&self.wanted, &self.found) < NTF_HALS_DIFFERENCE,
        ": %g", ntf_sum_difference (&self.wanted, &self.found));
    cuv_ntf_weights (&self.found, weights);
    CUV_CHECK (weights[0] >= weights[1] && weights[1] >= weights[2]);
  }
  case_clear (&self);
}

static void
check_cancelled (void)
{
  CuvNtfParams params = ntf_params (CUV_NTF_MAX_ITERATIONS);
  CuvNtfStatus status;
  Case self;

  cuv_check_case ("cancelled");
  case_init (&self, 17, 12, 5, 2);
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    CUV_CHECK (cuv_ntf_cuda_start (self.cuda.cuda, &params) == 0
        && cuv_ntf_cuda_step (self.cuda.cuda, &status) == 0
        && status == CUV_NTF_RUNNING);
    self.cuda.cancel = 1;
    CUV_CHECK (cuv_ntf_cuda_step (self.cuda.cuda, &status) == 0
        && status == CUV_NTF_CANCELLED);
    /* during the launches of a start */
    cuv_ntf_cuda_set_max_work (self.cuda.cuda, 1);
    CUV_CHECK (cuv_ntf_cuda_start (self.cuda.cuda, &params) == 0
        && cuv_ntf_cuda_step (self.cuda.cuda, &status) == 0
        && status == CUV_NTF_CANCELLED);
    self.cuda.cancel = 0;
    params.iterations = CUV_NTF_TEST_EVERY;
    check_mu (&self, &params);
  }
  case_clear (&self);
}

/* ---- edge cases ---- */

enum { ZEROS, ONE, NOISE };

static void
check_edge_case (int fill, int height, int width, int depth, int rank)
{
  Case self;

  case_init (&self, height, width, depth, rank);
  for (int i = 0; i < height * width * depth; i++)
    self.tensor.values[i] = fill == ZEROS ? 0
        : fill == ONE                     ? (float) (i == 0)
                                          : (float) ntf_random ();
  if (ntf_cuda_load (&self.cuda, &self.tensor)) {
    for (int kind = 0; kind < 6; kind++) {
      CuvNtfParams params = ntf_params (25);
      CuvNtfResult result;

      cuv_check_case ("fill %d, %dx%dx%d, rank %d, kind %d", fill, height,
          width, depth, rank, kind);
      params.algorithm = kind % 2 ? CUV_NTF_HALS : CUV_NTF_MU;
      params.schedule = kind == 2 ? CUV_NTF_JACOBI : CUV_NTF_GS;
      params.sparsity = kind > 3;
      params.init = kind == 3 ? CUV_NTF_PREVIOUS : CUV_NTF_RANDOM;
      params.reinit_dead = kind % 2;
      memset (self.found.mode[CUV_NTF_W], 0,
          (size_t) (depth * self.found.stride) * sizeof (float));
      result = ntf_cuda_run (&self.cuda, &params, &self.found);
      CUV_CHECK (ntf_is_sound (&self.found, &result));
      if (fill == ZEROS)
        CUV_CHECK (result.effective_rank == 0 && result.errors[0] == 0);
    }
  }
  case_clear (&self);
}

CUV_CHECKS_CUDA (check_ntf_cuda_runs)
{
  check_size (1, 1, 1, 1);
  check_size (3, 3, 1, 2);
  check_size (1, 40, 7, 3);
  check_size (40, 1, 3, 5);
  check_size (17, 33, 5, 8);
  check_size (9, 13, 31, 9);
  check_size (5, 6, 4, 20); /* as in check_ntf_versions() */
  check_size (13, 12, 11, CUV_NTF_MAX_RANK);
  check_size (2, 140, 3, 40);
  check_size (2, 2070, 3, 2); /* rows longer than a block's part */
  check_size (385, 3, 2, 9);  /* more rows than blocks of four rows cover */
  check_split_launches (CUV_NTF_GS);
  check_split_launches (CUV_NTF_JACOBI);
  check_tolerance ();
  check_dead (CUV_NTF_HALS, false);
  check_dead (CUV_NTF_HALS, true);
  check_dead (CUV_NTF_MU, true);
  check_given_factors ();
  check_cancelled ();
  check_edge_case (ZEROS, 7, 9, 4, 5);
  check_edge_case (ONE, 7, 9, 4, 5);
  check_edge_case (NOISE, 3, 2, 2, CUV_NTF_MAX_RANK);
  if (cuv_check_options.few)
    return;
  check_size (140, 71, 13, 16);
  check_size (40, 136, 67, 25);
  check_size (20, 530, 41, 40);
  check_size (65, 16384, 1, 1);
  check_size (199, 5, 9, 9);
  check_size (1030, 3, 1, 1);
  check_size (131, 9, 201, 33); /* many bands and rows per slot */
  check_size (2051, 11, 2, 12);
  check_size (388, 1027, 3, 16);
}

#endif
