// SPDX-License-Identifier: LGPL-2.1-or-later
// Updates a row that sums to 1, as elements/ntf/reference/ntf-sum-to-one.c
// does. A warp has a row, as in ntf-update.cuh.
#ifndef CUV_NTF_SUM_TO_ONE_CUH
#define CUV_NTF_SUM_TO_ONE_CUH

#include "ntf/ntf-update.cuh"

template <int STRIDE> struct CuvNtfAbundances {
  static constexpr int n = CuvNtfRow<STRIDE>::n;
  static constexpr int lanes = STRIDE < 32 ? STRIDE : 32; // lanes with columns
  double x[n], residuals[n], direction[n];
  bool is_free[n];
  double square;
};

// Returns the sum over the lanes with columns.
template <int LANES>
static __device__ __forceinline__ double
cuv_ntf_add_lanes (double value)
{
#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2)
    value += __shfl_xor_sync (~0u, value, d);
  return value;
}

template <int LANES>
static __device__ __forceinline__ double
cuv_ntf_max_lanes (double value)
{
#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2)
    value = fmax (value, __shfl_xor_sync (~0u, value, d));
  return value;
}

// Returns the first column whose value is `wanted`.
template <int STRIDE>
static __device__ __forceinline__ int
cuv_ntf_find_column (const double *values, double wanted)
{
  int found = -1;

#pragma unroll
  for (int i = CuvNtfAbundances<STRIDE>::n - 1; i >= 0; i--) {
    const unsigned lanes = __ballot_sync (~0u, values[i] == wanted);

    found = lanes != 0 ? __ffs (lanes) - 1 + 32 * i : found;
  }
  return found;
}

// Computes product += vector x M.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_times_m (
    const CuvNtfRule<STRIDE> &rule, const double *vector, double *product)
{
#pragma unroll
  for (int l = 0; l < STRIDE; l++) {
    const double value = __shfl_sync (~0u, vector[l / 32], l % 32);

#pragma unroll
    for (int i = 0; i < CuvNtfAbundances<STRIDE>::n; i++)
      product[i] = fma (value,
          rule.product[l * STRIDE + cuv_ntf_column<STRIDE> (i)], product[i]);
  }
}

template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_begin_abundances (const CuvNtfRule<STRIDE> &rule, int rank,
    const CuvNtfRow<STRIDE> &row, CuvNtfAbundances<STRIDE> *s)
{
  using S = CuvNtfAbundances<STRIDE>;
  double sum = 0, product[S::n] = {};

#pragma unroll
  for (int i = 0; i < S::n; i++)
    sum += cuv_ntf_column<STRIDE> (i) < rank ? row.x[i] : 0;
  sum = cuv_ntf_add_lanes<S::lanes> (sum);
  s->square = 0;
#pragma unroll
  for (int i = 0; i < S::n; i++) {
    s->x[i] = cuv_ntf_column<STRIDE> (i) < rank ? row.x[i] / sum : 0;
    s->is_free[i] = s->x[i] > CUV_NTF_LEAST_ABUNDANCE;
    s->direction[i] = 0;
  }
  cuv_ntf_times_m<STRIDE> (rule, s->x, product);
#pragma unroll
  for (int i = 0; i < S::n; i++)
    s->residuals[i] = row.numerators[i] - product[i];
}

template <int STRIDE>
static __device__ __forceinline__ double
cuv_ntf_free_mean (const CuvNtfAbundances<STRIDE> &s)
{
  using S = CuvNtfAbundances<STRIDE>;
  double sum = 0, n = 0;

#pragma unroll
  for (int i = 0; i < S::n; i++) {
    sum += s.is_free[i] ? s.residuals[i] : 0;
    n += s.is_free[i];
  }
  return cuv_ntf_add_lanes<S::lanes> (sum) / cuv_ntf_add_lanes<S::lanes> (n);
}

// Sets the direction; returns its slope.
template <int STRIDE>
static __device__ __forceinline__ double
cuv_ntf_turn (CuvNtfAbundances<STRIDE> *s)
{
  using S = CuvNtfAbundances<STRIDE>;
  const double mean = cuv_ntf_free_mean<STRIDE> (*s), before = s->square;
  double gradient[S::n], square = 0, slope = 0;

#pragma unroll
  for (int i = 0; i < S::n; i++) {
    gradient[i] = s->is_free[i] ? s->residuals[i] - mean : 0;
    square = fma (gradient[i], gradient[i], square);
  }
  s->square = cuv_ntf_add_lanes<S::lanes> (square);
#pragma unroll
  for (int i = 0; i < S::n; i++) {
    s->direction[i] = before > 0
        ? fma (s->square / before, s->direction[i], gradient[i])
        : gradient[i];
    slope = fma (gradient[i], s->direction[i], slope);
  }
  return cuv_ntf_add_lanes<S::lanes> (slope);
}

// Limits a step; returns the column that reaches the minimum, or -1.
template <int STRIDE>
static __device__ __forceinline__ int
cuv_ntf_limit_step (const CuvNtfAbundances<STRIDE> &s, double *step)
{
  using S = CuvNtfAbundances<STRIDE>;
  double limits[S::n], least = *step;

#pragma unroll
  for (int i = 0; i < S::n; i++) {
    limits[i] = s.direction[i] < 0
        ? (s.x[i] - CUV_NTF_MIN_VALUE) / -s.direction[i]
        : DBL_MAX;
    least = fmin (least, limits[i]);
  }
  least = -cuv_ntf_max_lanes<S::lanes> (-least);
  if (!(least < *step))
    return -1;
  *step = least;
  return cuv_ntf_find_column<STRIDE> (limits, least);
}

template <int STRIDE>
static __device__ __forceinline__ bool
cuv_ntf_move (const CuvNtfRule<STRIDE> &rule, CuvNtfAbundances<STRIDE> *s)
{
  using S = CuvNtfAbundances<STRIDE>;
  const double slope = cuv_ntf_turn<STRIDE> (s);
  double product[S::n] = {}, curvature = 0, change = 0, step;
  int reached;

  cuv_ntf_times_m<STRIDE> (rule, s->direction, product);
#pragma unroll
  for (int i = 0; i < S::n; i++)
    curvature = fma (s->direction[i], product[i], curvature);
  curvature = cuv_ntf_add_lanes<S::lanes> (curvature);
  step = slope / curvature;
  if (!(curvature > 0) || !(step > 0))
    return false;
  reached = cuv_ntf_limit_step<STRIDE> (*s, &step);
#pragma unroll
  for (int i = 0; i < S::n; i++) {
    s->x[i] = fma (step, s->direction[i], s->x[i]);
    s->residuals[i] = fma (-step, product[i], s->residuals[i]);
    change = fmax (change, fabs (step * s->direction[i]));
    if (cuv_ntf_column<STRIDE> (i) == reached) {
      s->x[i] = CUV_NTF_MIN_VALUE;
      s->is_free[i] = false;
    }
  }
  if (reached >= 0)
    s->square = 0;
  return reached >= 0
      || cuv_ntf_max_lanes<S::lanes> (change) > CUV_NTF_LEAST_CHANGE;
}

template <int STRIDE>
static __device__ __forceinline__ bool
cuv_ntf_release (
    const CuvNtfRule<STRIDE> &rule, int rank, CuvNtfAbundances<STRIDE> *s)
{
  using S = CuvNtfAbundances<STRIDE>;
  const double mean = cuv_ntf_free_mean<STRIDE> (*s);
  double gains[S::n], most = mean;
  int found;

#pragma unroll
  for (int i = 0; i < S::n; i++) {
    const int k = cuv_ntf_column<STRIDE> (i);

    gains[i] = k < rank && !s->is_free[i]
        ? s->residuals[i] - CUV_NTF_LEAST_CHANGE * rule.product[k * STRIDE + k]
        : -DBL_MAX;
    most = fmax (most, gains[i]);
  }
  most = cuv_ntf_max_lanes<S::lanes> (most);
  s->square = 0;
  if (!(most > mean))
    return false;
  found = cuv_ntf_find_column<STRIDE> (gains, most);
#pragma unroll
  for (int i = 0; i < S::n; i++)
    s->is_free[i] |= cuv_ntf_column<STRIDE> (i) == found;
  return true;
}

// Sets a row to the least-squares solution that sums to 1.
template <int STRIDE>
static __device__ __forceinline__ void
cuv_ntf_sum_to_one (
    const CuvNtfRule<STRIDE> &rule, int rank, CuvNtfRow<STRIDE> *row)
{
  CuvNtfAbundances<STRIDE> s;

  cuv_ntf_begin_abundances<STRIDE> (rule, rank, *row, &s);
#pragma unroll 1
  for (int i = 0; i < CUV_NTF_SUM_TO_ONE_STEPS * rank; i++) {
    if (!cuv_ntf_move<STRIDE> (rule, &s)
        && !cuv_ntf_release<STRIDE> (rule, rank, &s))
      break;
  }
#pragma unroll
  for (int i = 0; i < CuvNtfAbundances<STRIDE>::n; i++)
    row->x[i] =
        cuv_ntf_in_range (s.x[i] < CUV_NTF_LEAST_ABUNDANCE ? 0 : s.x[i]);
}

#endif
