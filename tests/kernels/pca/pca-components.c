/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eigenvectors, bases and pictures against their definitions. */
#include "pca-inputs.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- eigenvectors ---- */

static double
dot (const double *a, const double *b, int n)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void
check_orthonormal (const double *v, int n)
{
  double worst = 0.0;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      worst = fmax (worst, fabs (dot (&v[i * n], &v[j * n], n) - (i == j)));
  }
  CUV_CHECK (worst < 1e-12, ": %g", worst);
}

/* Checks that a v = lambda v. */
static void
check_pairs (const double *a, const double *values, int step, const double *v,
    int n, double norm)
{
  double worst = 0.0;

  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++)
      worst = fmax (worst,
          fabs (
              dot (&a[i * n], &v[k * n], n) - values[k * step] * v[k * n + i]));
  }
  CUV_CHECK (worst <= 2e-12 * norm, ": %g of %g", worst, norm);
}

/* Checks the eigenvectors of a sum of `rank` outer products of random vectors.
 */
static void
check_matrix (int n, int rank)
{
  double *a = calloc ((size_t) (n * n), sizeof *a);
  double *x = malloc ((size_t) n * sizeof *x);
  CuvPcaScratch scratch;
  float turned;
  int sweeps;

  cuv_check_case ("Jacobi, %d x %d of rank %d", n, n, rank);
  CUV_CHECK (cuv_pca_scratch_init (&scratch, n));
  for (int r = 0; r < rank; r++) {
    for (int i = 0; i < n; i++)
      x[i] = pca_random ();
    for (int i = 0; i < n * n; i++)
      a[i] += x[i / n] * x[i % n];
  }
  cuv_pca_copy_rows (
      cuv_pca_group_single (), scratch.a, scratch.pitch, a, n, n, n);
  cuv_pca_set_unit (cuv_pca_group_single (), scratch.vectors, n, scratch.pitch);
  sweeps = cuv_pca_find_vectors (cuv_pca_group_single (), &scratch, n, &turned);
  CUV_CHECK (sweeps < CUV_PCA_SWEEPS, ": %d sweeps", sweeps);
  for (int i = 0; i < n; i++)
    memmove (&scratch.vectors[i * n], &scratch.vectors[i * scratch.pitch],
        (size_t) n * sizeof (double));
  check_orthonormal (scratch.vectors, n);
  check_pairs (
      a, scratch.values, 1, scratch.vectors, n, sqrt (dot (a, a, n * n)));
  cuv_pca_scratch_clear (&scratch);
  free (a);
  free (x);
}

/* Finds the largest corrections in each of the first two steps for a nearly
 * diagonal n x n matrix. */
static void
run_two_steps (const double *a, int n, bool refined, float largest[2])
{
  const CuvPcaGroup group = cuv_pca_group_single ();
  CuvPcaScratch scratch;

  CUV_CHECK (cuv_pca_scratch_init (&scratch, n));
  cuv_pca_copy_rows (group, scratch.a, scratch.pitch, a, n, n, n);
  cuv_pca_set_unit (group, scratch.vectors, n, scratch.pitch);
  for (int step = 0; step < 2; step++) {
    cuv_pca_find_products (group, &scratch, n);
    largest[step] = cuv_pca_find_corrections (group, &scratch, n, 0.0).largest;
    if (refined)
      cuv_pca_refine (group, &scratch, n, 0.0, largest[step]);
    cuv_pca_correct (group, &scratch, n);
  }
  cuv_pca_scratch_clear (&scratch);
}

/* Checks that the error after a step is quadratic in its corrections, or cubic
 * if they are refined. */
static void
check_refined (int n)
{
  double *a = calloc ((size_t) (n * n), sizeof *a);
  float plain[2], refined[2];

  cuv_check_case ("refined corrections, %d x %d", n, n);
  for (int i = 0; i < n; i++) {
    a[i * n + i] = n - i;
    for (int j = 0; j < i; j++)
      a[i * n + j] = a[j * n + i] = 2e-3 * pca_random ();
  }
  run_two_steps (a, n, false, plain);
  run_two_steps (a, n, true, refined);
  CUV_CHECK (plain[0] > 0.0f && plain[0] < 1e-2f, ": %g", (double) plain[0]);
  CUV_CHECK (plain[1] < 4.0f * powf (plain[0], 2.0f), ": %g of %g",
      (double) plain[1], (double) plain[0]);
  CUV_CHECK (refined[1] < 8.0f * powf (plain[0], 3.0f), ": %g of %g",
      (double) refined[1], (double) plain[0]);
  free (a);
}

CUV_CHECKS_CPU (check_pca_jacobi)
{
  static const int sizes[] = { 1, 2, 3, 4, 7, 16, 31, 81 };

  for (int i = 0; i < 8; i++) {
    check_matrix (sizes[i], sizes[i] + 5);
    check_matrix (sizes[i], sizes[i] / 3);
  }
  check_refined (3);
  check_refined (31);
  check_refined (81);
  if (!cuv_check_options.few)
    check_matrix (600, 40); /* more than 256 pairs */
}

/* ---- bases ---- */

typedef struct {
  CuvPcaMoments moments;
  CuvPcaBasis basis;
  CuvPcaScratch scratch;
} Fixture;

static void
fixture_init (Fixture *self, const PcaInput *input)
{
  const int n = input->bands.n;
  CuvPcaSum *sums = malloc ((size_t) CUV_PCA_SUMS (n) * sizeof *sums);

  CUV_CHECK (cuv_pca_moments_init (&self->moments, n));
  CUV_CHECK (cuv_pca_basis_init (&self->basis, n));
  CUV_CHECK (cuv_pca_scratch_init (&self->scratch, n));
  CUV_CHECK (cuv_pca_sums (&input->cube, &input->bands, sums));
  cuv_pca_moments_from_sums (
      &self->moments, sums, input->cube.format != CUV_CUBE_F32);
  free (sums);
}

static void
fixture_clear (Fixture *self)
{
  cuv_pca_moments_clear (&self->moments);
  cuv_pca_basis_clear (&self->basis);
  cuv_pca_scratch_clear (&self->scratch);
}

static int
update (Fixture *self, CuvPcaMode mode, CuvPcaStabilise stabilise)
{
  const CuvPcaLearning learning = { mode, stabilise, 1.0 };

  return cuv_pca_basis_update (
      &self->basis, &self->moments, &learning, &self->scratch);
}

/* Computes the matrix whose eigenvectors are wanted, as it is defined. */
static void
matrix_of (const CuvPcaMoments *moments, CuvPcaMode mode, double *a)
{
  const int n = moments->n;
  const double *c = moments->covariance;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const double scale = sqrt (c[i * n + i]) * sqrt (c[j * n + j]);

      a[i * n + j] = c[i * n + j];
      if (mode == CUV_PCA_SECOND_MOMENTS)
        a[i * n + j] += moments->mean[i] * moments->mean[j];
      else if (mode == CUV_PCA_PEARSON)
        a[i * n + j] = scale > 0.0 ? a[i * n + j] / scale : 0.0;
    }
  }
}

static void
check_order_and_signs (const CuvPcaBasis *basis)
{
  const int n = basis->n;

  for (int k = 0; k < n; k++) {
    const double *v = &basis->vectors[k * n];
    double largest = 0.0;
    int first = 0;

    CUV_CHECK (k == 0 || basis->values[k] <= basis->values[k - 1], ": %d", k);
    for (int i = 0; i < n; i++)
      largest = fmax (largest, fabs (v[i]));
    while (fabs (v[first]) < largest * (1.0 - 1e-9))
      first++;
    CUV_CHECK (v[first] > 0.0, ": %d", k);
  }
}

static void
check_basis (const PcaInput *input, CuvPcaMode mode)
{
  const int n = input->bands.n;
  double *a = malloc ((size_t) (n * n) * sizeof *a), trace = 0.0;
  Fixture self;
  int cold;

  fixture_init (&self, input);
  if (self.moments.pixels > 0) {
    cold = update (&self, mode, CUV_PCA_SIGN);
    matrix_of (&self.moments, mode, a);
    for (int i = 0; i < n; i++)
      trace += a[i * n + i];
    check_orthonormal (self.basis.vectors, n);
    check_pairs (a, self.basis.values, 1, self.basis.vectors, n, trace);
    check_order_and_signs (&self.basis);
    CUV_CHECK (
        fabs (cuv_pca_basis_total (&self.basis) - trace) <= 1e-11 * trace);
    /* a second update with the same moments converges at once */
    CUV_CHECK (
        update (&self, mode, CUV_PCA_SIGN) <= 1, " after %d sweeps", cold);
    check_orthonormal (self.basis.vectors, n);
    check_pairs (a, self.basis.values, 1, self.basis.vectors, n, trace);
  }
  fixture_clear (&self);
  free (a);
}

/* Checks that the mean square error of reconstructing pixels from the first
 * components is the sum of the other eigenvalues. */
static void
check_reconstruction (void)
{
  enum { N = 12, KEPT = 4, WIDTH = 60, HEIGHT = 40 };
  double error = 0.0, rest = 0.0;
  PcaInput input;
  Fixture self;

  cuv_check_case ("reconstruction");
  pca_input_init (&input, CUV_CUBE_U16, PCA_BIL, WIDTH, HEIGHT, N, PCA_MIXTURE);
  fixture_init (&self, &input);
  update (&self, CUV_PCA_COVARIANCE, CUV_PCA_SIGN);
  for (int p = 0; p < WIDTH * HEIGHT; p++) {
    double s[N];

    for (int b = 0; b < N; b++)
      s[b] =
          pca_input_get (&input, p % WIDTH, p / WIDTH, b) - self.basis.mean[b];
    for (int k = 0; k < KEPT; k++) {
      const double *v = &self.basis.vectors[k * N];
      const double y = dot (v, s, N);

      for (int b = 0; b < N; b++)
        s[b] -= y * v[b];
    }
    error += dot (s, s, N) / (WIDTH * HEIGHT);
  }
  for (int k = KEPT; k < N; k++)
    rest += self.basis.values[k];
  CUV_CHECK (fabs (error - rest) < 1e-6 * rest, ": %g, %g", error, rest);
  fixture_clear (&self);
  pca_input_clear (&input);
}

CUV_CHECKS_CPU (check_pca_basis)
{
  static const int bands[] = { 1, 2, 3, 5, 31, 60 };

  for (int i = 0; i < 6 * 3 * 3 * 2; i++) {
    const CuvCubeFormat format = (CuvCubeFormat) (i % 3);
    const CuvPcaMode mode = (CuvPcaMode) (i / 3 % 3);
    const PcaFill fill = (PcaFill) cuv_check_below (PCA_N_FILLS);
    const bool few_pixels = i / 9 % 2;
    PcaInput input;

    pca_input_init (&input, format, PCA_BSQ, few_pixels ? 4 : 37,
        few_pixels ? 5 : 23, bands[i / 18], fill);
    pca_input_exclude_some (&input);
    pca_input_name (&input, PCA_BSQ, fill);
    check_basis (&input, mode);
    pca_input_clear (&input);
  }
  check_reconstruction ();
}

/* ---- pictures ---- */

static const CuvPcaDisplay sigma = { { 1, 2, 3 }, CUV_PCA_SIGMA, 3.0,
  { 0.0, 255.0 }, 1.0 };

typedef struct {
  PcaInput input;
  Fixture fixture;
  CuvPcaTile tile;
  int32_t values[CUV_PCA_SHOWN * CUV_PCA_TILE];
} Picture;

/* Makes a picture of CUV_PCA_TILE pixels. */
static void
picture_init (Picture *self, int n, PcaFill fill, CuvPcaMode mode)
{
  pca_input_init (&self->input, CUV_CUBE_U8, PCA_BIP, 16, 8, n, fill);
  fixture_init (&self->fixture, &self->input);
  update (&self->fixture, mode, CUV_PCA_SIGN);
  CUV_CHECK (cuv_pca_tile_init (&self->tile, n));
  cuv_pca_load (&self->input.cube, &self->input.bands, 0, &self->tile);
}

static void
picture_clear (Picture *self)
{
  cuv_pca_tile_clear (&self->tile);
  fixture_clear (&self->fixture);
  pca_input_clear (&self->input);
}

static void
make (Picture *self, const CuvPcaDisplay *display, const CuvPcaLimits *limits)
{
  CuvPcaGains gains;

  cuv_pca_gains_init (&gains, &self->fixture.basis, display, limits);
  cuv_pca_project (&self->tile, &gains, self->values);
}

static double
component (const Picture *self, int k, int p)
{
  const CuvPcaBasis *basis = &self->fixture.basis;
  double y = 0.0;

  for (int b = 0; b < basis->n; b++) {
    const double s = pca_input_get (&self->input, p % 16, p / 16, b);

    if (basis->mode == CUV_PCA_SECOND_MOMENTS)
      y += basis->vectors[k * basis->n + b] * s;
    else if (basis->deviation[b] > 0.0)
      y += basis->vectors[k * basis->n + b] * (s - basis->mean[b])
          / basis->deviation[b];
  }
  return y;
}

static void
spread (const Picture *self, int k, double *mean, double *deviation)
{
  double sum = 0.0, squares = 0.0;

  for (int p = 0; p < CUV_PCA_TILE; p++)
    sum += component (self, k, p);
  *mean = sum / CUV_PCA_TILE;
  for (int p = 0; p < CUV_PCA_TILE; p++)
    squares += pow (component (self, k, p) - *mean, 2);
  *deviation = sqrt (squares / CUV_PCA_TILE);
}

/* Checks a value. Values are rounded up from 2^-12 below a half; the tolerance
 * allows for rounding errors of the sums. */
static void
check_value (const Picture *self, int c, int p, double wanted)
{
  const double clamped = fmin (fmax (wanted + 0x1p-12, 0.0), 255.0);

  CUV_CHECK (fabs (self->values[c * CUV_PCA_TILE + p] - clamped) <= 0.5 + 1e-6,
      ": channel %d, pixel %d: %d, not %g", c, p,
      self->values[c * CUV_PCA_TILE + p], wanted);
}

static void
check_sigma (CuvPcaMode mode)
{
  Picture self;
  double mean, deviation;

  cuv_check_case ("mapping=sigma, mode %d", mode);
  picture_init (&self, 7, PCA_MIXTURE, mode);
  make (&self, &sigma, NULL);
  for (int c = 0; c < 3; c++) {
    spread (&self, c, &mean, &deviation);
    for (int p = 0; p < CUV_PCA_TILE; p++) {
      const double y = component (&self, c, p);

      check_value (&self, c, p,
          mode == CUV_PCA_SECOND_MOMENTS && c == 0
              ? 255.0 * y / (mean + 3.0 * deviation)
              : 128.0 + 127.0 * (y - mean) / (3.0 * deviation));
    }
  }
  picture_clear (&self);
}

static void
check_range (void)
{
  const CuvPcaDisplay display = { { 2, 0, 9 }, CUV_PCA_RANGE, 3.0,
    { 40.0, -30.0 }, 1.0 };
  Picture self;

  cuv_check_case ("mapping=fixed, reversed range; component 0; no component 9");
  picture_init (&self, 7, PCA_MIXTURE, CUV_PCA_COVARIANCE);
  make (&self, &display, NULL);
  for (int p = 0; p < CUV_PCA_TILE; p++) {
    check_value (
        &self, 0, p, 255.0 * (component (&self, 1, p) - 40.0) / (-30.0 - 40.0));
    CUV_CHECK (self.values[CUV_PCA_TILE + p] == 0);
    CUV_CHECK (self.values[2 * CUV_PCA_TILE + p] == 128);
  }
  picture_clear (&self);
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Checks that limits are boundaries of bins, at most one bin from the exact
 * percentiles. */
static void
check_percentile (double percentile)
{
  const CuvPcaDisplay display = { { 1, 2, 3 }, CUV_PCA_PERCENTILE, 3.0,
    { 0.0, 1.0 }, percentile };
  const double bin = 2.0 * CUV_PCA_REACH / CUV_PCA_BINS;
  const int rank = (int) (CUV_PCA_TILE * percentile / 100.0);
  int64_t *bins = calloc (CUV_PCA_SHOWN * CUV_PCA_BINS, sizeof *bins);
  CuvPcaLimits limits;
  CuvPcaGains gains;
  Picture self;

  cuv_check_case ("mapping=percentile, %g %%", percentile);
  picture_init (&self, 7, PCA_MIXTURE, CUV_PCA_COVARIANCE);
  cuv_pca_gains_init_bins (&gains, &self.fixture.basis, &display);
  cuv_pca_project (&self.tile, &gains, self.values);
  for (int i = 0; i < CUV_PCA_SHOWN * CUV_PCA_TILE; i++)
    bins[i / CUV_PCA_TILE * CUV_PCA_BINS + self.values[i]]++;
  cuv_pca_limits_init (&limits, bins, &display);
  make (&self, &display, &limits);
  for (int c = 0; c < 3; c++) {
    double mean, deviation, y[CUV_PCA_TILE], low, high;

    spread (&self, c, &mean, &deviation);
    for (int p = 0; p < CUV_PCA_TILE; p++)
      y[p] = component (&self, c, p);
    qsort (y, CUV_PCA_TILE, sizeof *y, compare);
    low = (y[rank] - mean) / deviation;
    high = (y[CUV_PCA_TILE - 1 - rank] - mean) / deviation;
    CUV_CHECK (
        fabs (limits.low[c] - low) <= bin, ": %g, %g", limits.low[c], low);
    CUV_CHECK (
        fabs (limits.high[c] - high) <= bin, ": %g, %g", limits.high[c], high);
    for (int p = 0; p < CUV_PCA_TILE; p++)
      check_value (&self, c, p,
          255.0 * ((component (&self, c, p) - mean) / deviation - limits.low[c])
              / (limits.high[c] - limits.low[c]));
  }
  picture_clear (&self);
  free (bins);
}

/* Checks that components of constant bands are grey, except for the first
 * component of second moments. */
static void
check_flat (CuvPcaMode mode, int n)
{
  Picture self;

  cuv_check_case ("constant bands, mode %d, %d bands", mode, n);
  picture_init (&self, n, PCA_CONSTANT, mode);
  make (&self, &sigma, NULL);
  for (int c = 0; c < 3; c++)
    CUV_CHECK (self.values[c * CUV_PCA_TILE + 77]
        == (mode == CUV_PCA_SECOND_MOMENTS && c == 0 && n > 1 ? 255 : 128));
  picture_clear (&self);
}

/* Checks that frames of different sizes with the same constant bands have no
 * covariance. */
static void
check_constant_frames (CuvCubeFormat format)
{
  enum { N = 7, FRAMES = 30 };
  CuvPcaMoments all;
  double largest = 0.0;

  cuv_check_case ("constant frames, format %d", format);
  CUV_CHECK (cuv_pca_moments_init (&all, N));
  for (int i = 0; i < FRAMES; i++) {
    PcaInput input;
    Fixture frame;

    pca_input_init (&input, format, PCA_BSQ, 13 + i, 11, N, PCA_CONSTANT);
    fixture_init (&frame, &input);
    cuv_pca_moments_add (&all, &frame.moments, 0.3);
    fixture_clear (&frame);
    pca_input_clear (&input);
  }
  for (int j = 0; j < N * N; j++)
    largest = fmax (largest, fabs (all.covariance[j]));
  CUV_CHECK (largest == 0.0, ": %g", largest);
  cuv_pca_moments_clear (&all);
}

static void
check_excluded_pixels (void)
{
  CuvPcaTile tile;
  uint8_t out[4 * CUV_PCA_TILE];
  int32_t values[CUV_PCA_SHOWN * CUV_PCA_TILE];

  cuv_check_case ("excluded pixels are black");
  CUV_CHECK (cuv_pca_tile_init (&tile, 1));
  tile.count = 100;
  tile.left_out[7] = true;
  memset (out, 77, sizeof out);
  for (int i = 0; i < CUV_PCA_SHOWN * CUV_PCA_TILE; i++)
    values[i] = i / CUV_PCA_TILE + i % CUV_PCA_TILE;
  cuv_pca_paint (&tile, values, out);
  CUV_CHECK (
      memcmp (&out[4 * 6], "\6\7\10\377\0\0\0\377\10\11\12\377", 12) == 0);
  CUV_CHECK (out[4 * 99 + 3] == 255 && out[4 * 100] == 77);
  cuv_pca_tile_clear (&tile);
}

CUV_CHECKS_CPU (check_pca_pictures)
{
  for (int mode = 0; mode < 3; mode++) {
    check_sigma ((CuvPcaMode) mode);
    check_flat ((CuvPcaMode) mode, 1);
    check_flat ((CuvPcaMode) mode, 5);
  }
  for (int format = 0; format < 3; format++)
    check_constant_frames ((CuvCubeFormat) format);
  check_range ();
  check_percentile (0.0);
  check_percentile (5.0);
  check_percentile (40.0);
  check_excluded_pixels ();
}
