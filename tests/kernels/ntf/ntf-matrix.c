/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factorisation of matrices, pixels x depth: rows that sum to 1 against a
 * search of all supports, runs against known mixtures, fast versions and the
 * GPU against the reference. */
#include "ntf-runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a row that sums to 1 ---- */

enum { MAX = 5 }; /* maximum number of terms */

typedef struct {
  int rank;
  CuvNtfUpdate update;
  float numerators[CUV_NTF_MAX_RANK];
} Problem;

static void
problem_init (Problem *self, int rank)
{
  enum { DEPTH = 12 };
  double w[MAX][DEPTH], g[DEPTH];

  *self = (Problem){ .rank = rank };
  self->update.rank = rank;
  self->update.sums_to_one = true;
  for (int z = 0; z < DEPTH; z++) {
    g[z] = 1.5 * ntf_random ();
    for (int k = 0; k < rank; k++)
      w[k][z] = ntf_random () + (k > 0 ? w[0][z] : 0);
  }
  for (int k = 0; k < rank; k++) {
    for (int z = 0; z < DEPTH; z++)
      self->numerators[k] += (float) (g[z] * w[k][z]);
    for (int l = 0; l < rank; l++) {
      for (int z = 0; z < DEPTH; z++)
        self->update.product[k * rank + l] += w[k][z] * w[l][z];
    }
  }
}

/* Solves n equations in place by Gauss-Jordan elimination. */
static void
solve_equations (double a[MAX + 1][MAX + 2], int n)
{
  for (int k = 0; k < n; k++) {
    int largest = k;

    for (int i = k + 1; i < n; i++)
      largest = fabs (a[i][k]) > fabs (a[largest][k]) ? i : largest;
    for (int j = 0; j <= n; j++) {
      const double saved = a[k][j];

      a[k][j] = a[largest][j];
      a[largest][j] = saved;
    }
    for (int i = 0; i < n; i++) {
      const double factor = a[i][k] / a[k][k];

      for (int j = 0; j <= n && i != k; j++)
        a[i][j] -= factor * a[k][j];
    }
  }
  for (int k = 0; k < n; k++)
    a[k][n] /= a[k][k];
}

/* Finds the least squares solution that sums to 1 and has only the terms of a
 * support. Returns whether it has no negative value. */
static bool
solve_support (const Problem *self, unsigned support, double *x)
{
  double a[MAX + 1][MAX + 2] = { { 0 } };
  int terms[MAX], n = 0;
  bool is_positive = true;

  for (int k = 0; k < self->rank; k++) {
    x[k] = 0;
    if (support >> k & 1)
      terms[n++] = k;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      a[i][j] = self->update.product[terms[i] * self->rank + terms[j]];
    a[i][n] = a[n][i] = 1;
    a[i][n + 1] = self->numerators[terms[i]];
  }
  a[n][n + 1] = 1;
  solve_equations (a, n + 1);
  for (int i = 0; i < n; i++) {
    x[terms[i]] = a[i][n + 1];
    is_positive &= x[terms[i]] >= 0;
  }
  return is_positive;
}

static double
cost_of (const Problem *self, const double *x)
{
  double cost = 0;

  for (int k = 0; k < self->rank; k++) {
    cost -= 2 * x[k] * self->numerators[k];
    for (int l = 0; l < self->rank; l++)
      cost += x[k] * x[l] * self->update.product[k * self->rank + l];
  }
  return cost;
}

static void
check_share (int rank)
{
  double x[MAX], best[MAX] = { 0 }, least = INFINITY, difference = 0;
  float row[CUV_NTF_MAX_RANK];
  Problem problem;

  problem_init (&problem, rank);
  for (unsigned support = 1; support < 1u << rank; support++) {
    if (solve_support (&problem, support, x) && cost_of (&problem, x) < least) {
      least = cost_of (&problem, x);
      memcpy (best, x, sizeof best);
    }
  }
  for (int k = 0; k < rank; k++)
    row[k] = cuv_check_below (3) == 0 ? 1e-12f : (float) ntf_random ();
  row[cuv_check_below ((uint32_t) rank)] = 0.5f;
  cuv_check_case ("a row of %d that sums to 1", rank);
  cuv_ntf_update_row (&problem.update, problem.numerators, row);
  for (int k = 0; k < rank; k++)
    difference = fmax (difference, fabs (row[k] - best[k]));
  CUV_CHECK (difference < 2e-6, ": %g", difference);
}

/* ---- known mixtures ---- */

/* Mixes spectra at random with a sum of 1; each of the first pixels has one
 * spectrum only. */
static void
fill_mixtures (CuvNtfTensor *tensor, const CuvNtfFactors *spectra)
{
  const int rank = spectra->rank, width = tensor->width;

  for (int i = 0; i < tensor->height * width; i++) {
    float *g = &tensor->values[(i / width * tensor->depth) * width + i % width];
    double shares[CUV_NTF_MAX_RANK], sum = 0;

    for (int k = 0; k < rank; k++)
      sum += shares[k] = i < rank ? i == k : ntf_random ();
    for (int z = 0; z < tensor->depth; z++) {
      double value = 0;

      for (int k = 0; k < rank; k++)
        value += shares[k] / sum * *cuv_ntf_at (spectra, CUV_NTF_W, z, k);
      g[z * width] = (float) value;
    }
  }
}

/* Returns the cosine between a spectrum and the most similar term. */
static double
best_cosine (const CuvNtfFactors *spectra, int k, const CuvNtfFactors *found)
{
  double best = 0;

  for (int l = 0; l < found->rank; l++)
    best = fmax (best, ntf_cosine (spectra, k, found, l, CUV_NTF_W));
  return best;
}

static double
largest_sum_error (const CuvNtfFactors *factors)
{
  double most = 0;

  for (int i = 0; i < factors->size[CUV_NTF_V]; i++) {
    double sum = 0;

    for (int k = 0; k < factors->rank; k++)
      sum += *cuv_ntf_at (factors, CUV_NTF_V, i, k);
    most = fmax (most, fabs (sum - 1));
  }
  return most;
}

static CuvNtfParams
matrix_params (int iterations)
{
  CuvNtfParams params = ntf_params (iterations);

  params.factorisation = CUV_NTF_MATRIX;
  return params;
}

static void
check_mixtures (int height, int width, int depth, int rank)
{
  CuvNtfTensor tensor = ntf_tensor_new (height, width, depth);
  CuvNtfParams params = matrix_params (10);
  CuvNtfFactors spectra, found;
  CuvNtfResult result;

  cuv_ntf_factors_init (&spectra, 1, height * width, depth, rank);
  cuv_ntf_factors_init (&found, 1, height * width, depth, rank);
  ntf_fill_factors (&spectra, false);
  fill_mixtures (&tensor, &spectra);
  params.init = CUV_NTF_NFINDR;
  params.sum_to_one = true;
  result = ntf_run_once (&tensor, &params, 2, &found);
  cuv_check_case ("mixtures, %dx%dx%d, rank %d", height, width, depth, rank);
  CUV_CHECK (ntf_is_sound (&found, &result));
  CUV_CHECK (result.errors[0] < 1e-5, ": %g", result.errors[0]);
  CUV_CHECK (largest_sum_error (&found) < 1e-5);
  for (int k = 0; k < rank; k++)
    CUV_CHECK (best_cosine (&spectra, k, &found) > 1 - 1e-6, ": %d: %g", k,
        best_cosine (&spectra, k, &found));
  cuv_ntf_factors_clear (&spectra);
  cuv_ntf_factors_clear (&found);
  ntf_tensor_clear (&tensor);
}

/* Checks that all results are finite with more terms than bands and with equal
 * pixels, which may be zero. */
static void
check_degenerate (CuvNtfInit init, bool sum_to_one, float value)
{
  enum { HEIGHT = 4, WIDTH = 5, DEPTH = 3, RANK = 6 };
  CuvNtfTensor tensor = ntf_tensor_new (HEIGHT, WIDTH, DEPTH);
  CuvNtfParams params = matrix_params (20);
  CuvNtfFactors found;
  CuvNtfResult result;

  cuv_ntf_factors_init (&found, 1, HEIGHT * WIDTH, DEPTH, RANK);
  for (int i = 0; i < HEIGHT * WIDTH * DEPTH; i++)
    tensor.values[i] = value;
  params.init = init;
  params.sum_to_one = sum_to_one;
  params.algorithm = CUV_NTF_HALS;
  result = ntf_run_once (&tensor, &params, 1, &found);
  cuv_check_case ("init %d, sum to one %d, all %g", init, sum_to_one, value);
  CUV_CHECK (ntf_is_sound (&found, &result));
  CUV_CHECK (result.errors[1] < 1e-3, ": %g", result.errors[1]);
  CUV_CHECK (!sum_to_one || largest_sum_error (&found) < 1e-5);
  cuv_ntf_factors_clear (&found);
  ntf_tensor_clear (&tensor);
}

/* ---- versions ---- */

static const struct {
  CuvNtfAlgorithm algorithm;
  bool sum_to_one;
  double sparsity;
} kinds[] = { { CUV_NTF_MU, false, 0 }, { CUV_NTF_MU, false, 0.2 },
  { CUV_NTF_HALS, false, 0 }, { CUV_NTF_HALS, false, 0.2 },
  { CUV_NTF_HALS, true, 0 } };

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static CuvNtfParams
params_of_kind (int kind, int iterations)
{
  CuvNtfParams params = matrix_params (iterations);

  params.algorithm = kinds[kind].algorithm;
  params.sum_to_one = kinds[kind].sum_to_one;
  params.sparsity = kinds[kind].sparsity;
  params.normalise = false;
  return params;
}

static void
fill_noisy_mixtures (NtfCase *self)
{
  CuvNtfTensor *tensor = &self->tensor;

  ntf_fill_factors (&self->wanted, false);
  fill_mixtures (tensor, &self->wanted);
  for (int i = 0; i < tensor->height * tensor->width * tensor->depth; i++)
    tensor->values[i] += (float) (0.02 * ntf_random ());
}

/* The GPU starts from given factors unless init is RANDOM. */
static void
check_inits (NtfCase *self, CuvNtfParams params)
{
  static const CuvNtfInit inits[] = { CUV_NTF_NFINDR, CUV_NTF_NNDSVD,
    CUV_NTF_RANDOM };

  for (int i = cuv_check_options.cuda ? 2 : 0; i < 3; i++) {
    CuvNtfResult result;

    params.init = inits[i];
    result = ntf_check_equal (self, &params);
    for (int k = 0; k < self->n_runs; k++)
      ntf_check_residual (&self->runs[k], &self->tensor, &self->found,
          result.errors[result.n_errors - 1]);
  }
}

static void
check_kind (NtfCase *self, int kind, const CuvNtfFactors *spectra)
{
  CuvNtfParams params = params_of_kind (kind, 1);

  cuv_check_case ("%dx%dx%d, rank %d, kind %d", self->tensor.height,
      self->tensor.width, self->tensor.depth, self->wanted.rank, kind);
  /* random factors would have terms of very small weight, which amplify
   * rounding errors */
  if (params.algorithm == CUV_NTF_HALS) {
    ntf_copy_factors (&self->wanted, spectra);
    params.init = CUV_NTF_PREVIOUS;
  }
  ntf_check_iterations (self, params, 3);
  check_inits (self, params_of_kind (kind, cuv_check_options.cuda ? 3 : 10));
}

static void
check_size (int height, int width, int depth, int rank)
{
  CuvNtfFactors spectra;
  NtfCase self;

  ntf_case_init (&self, height, width, depth, rank, CUV_NTF_MATRIX);
  fill_noisy_mixtures (&self);
  cuv_ntf_factors_init (&spectra, 1, height * width, depth, rank);
  ntf_copy_factors (&spectra, &self.wanted);
  if (ntf_case_open (&self)) {
    for (int kind = 0; kind < N_KINDS; kind++)
      check_kind (&self, kind, &spectra);
  }
  cuv_ntf_factors_clear (&spectra);
  ntf_case_clear (&self);
}

CUV_CHECKS_CPU (check_ntf_matrix)
{
  for (int i = 0; i < 200; i++)
    check_share (1 + i % MAX);
  check_mixtures (9, 7, 12, 3);
  check_mixtures (20, 31, 40, 8);
  for (CuvNtfInit init = CUV_NTF_RANDOM; init <= CUV_NTF_NFINDR; init++) {
    check_degenerate (init, false, 0);
    check_degenerate (init, true, 0);
    check_degenerate (init, true, 0.5f);
  }
}

CUV_CHECKS (check_ntf_matrix_versions)
{
  check_size (1, 1, 1, 1);
  check_size (3, 9, 5, 2);
  check_size (5, 37, 11, 3);
  if (!cuv_check_is_emulated ())
    check_size (33, 17, 11, 9);
  if (!cuv_check_options.cuda)
    return;
  check_size (2, 33, 140, 12);
  check_size (2, 43, 66, 20);
  if (!cuv_check_options.few)
    check_size (4, 40, 70, 40);
}
