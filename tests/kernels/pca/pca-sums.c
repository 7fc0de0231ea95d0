/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums and moments against literal implementations of their definitions. */
#include "pca-inputs.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 6 };
static const int sizes[SIZES][2] = { { 1, 1 }, { 3, 3 }, { 129, 1 }, { 1, 70 },
  { 17, 33 }, { 131, 67 } };

/* Returns a sample; band n is the constant 1. */
static double
sample (const PcaInput *input, int x, int y, int k)
{
  return k == input->bands.n
      ? 1.0
      : pca_input_get (input, x, y, input->bands.index[k]);
}

/* Returns the value that is subtracted from a band. */
static double
pivot_of (const PcaInput *input, const CuvPcaSum *sums, int k)
{
  const int n = input->bands.n;

  return input->cube.format != CUV_CUBE_F32 || k == n
      ? 0.0
      : sums[n * CUV_PCA_STRIDE (n) + k].d;
}

static void
check_sum (const PcaInput *input, const CuvPcaSum *sums, int i, int j)
{
  const CuvPcaSum *sum = &sums[i * CUV_PCA_STRIDE (input->bands.n) + j];
  const double pivots[] = { pivot_of (input, sums, i),
    pivot_of (input, sums, j) };
  long double exact = 0.0L, size = 0.0L;
  int64_t whole = 0;

  for (int y = 0; y < input->cube.height; y++) {
    for (int x = 0; x < input->cube.width; x++) {
      const double a = sample (input, x, y, i) - pivots[0];
      const double b = sample (input, x, y, j) - pivots[1];

      if (!pca_input_is_counted (input, x, y))
        continue;
      exact += (long double) a * (long double) b;
      size += fabsl ((long double) a * (long double) b);
      if (input->cube.format != CUV_CUBE_F32)
        whole += (int64_t) a * (int64_t) b;
    }
  }
  if (input->cube.format != CUV_CUBE_F32)
    CUV_CHECK (sum->i == whole, ": %d %d", i, j);
  else
    CUV_CHECK (fabsl ((long double) sum->d - exact) <= 1e-13L * size,
        ": %d %d: %.17g", i, j, sum->d);
}

static CuvPcaSum *
sums_of (const PcaInput *input)
{
  CuvPcaSum *sums =
      malloc ((size_t) CUV_PCA_SUMS (input->bands.n) * sizeof *sums);

  CUV_CHECK (cuv_pca_sums (&input->cube, &input->bands, sums));
  return sums;
}

static void
check_definition (const PcaInput *input, const CuvPcaSum *sums)
{
  const int n = input->bands.n;

  for (int i = 0; i <= n; i += 1 + n / 12) {
    for (int j = i; j <= n; j += 1 + n / 12)
      check_sum (input, sums, i, j);
    check_sum (input, sums, i, n);
  }
}

/* Checks that all layouts give the same bits. */
static void
check_layouts (const PcaInput *input, const CuvPcaSum *sums)
{
  const int n = input->bands.n;

  for (int layout = 0; layout < PCA_N_LAYOUTS; layout++) {
    PcaInput other;
    CuvPcaSum *others;
    bool same = true;

    pca_input_copy (&other, input, (PcaLayout) layout);
    others = sums_of (&other);
    for (int i = 0; i <= n; i++)
      same = same
          && memcmp (sums + i * CUV_PCA_STRIDE (n) + i,
                 others + i * CUV_PCA_STRIDE (n) + i,
                 (size_t) (n + 1 - i) * sizeof *sums)
              == 0;
    CUV_CHECK (same, ": layout %d", layout);
    free (others);
    pca_input_clear (&other);
  }
}

CUV_CHECKS_CPU (check_pca_sums)
{
  static const int bands[] = { 1, 2, 3, 16, 31, 50 };

  for (int i = 0; i < 3 * SIZES * 6; i++) {
    const CuvCubeFormat format = (CuvCubeFormat) (i % 3);
    const int *size = sizes[i / 3 % SIZES], n = bands[i / 3 / SIZES];
    const PcaFill fill = (PcaFill) cuv_check_below (PCA_N_FILLS);
    PcaInput input;
    CuvPcaSum *sums;

    pca_input_init (&input, format, PCA_BIP, size[0], size[1], n, fill);
    pca_input_exclude_some (&input);
    pca_input_name (&input, PCA_BIP, fill);
    sums = sums_of (&input);
    check_definition (&input, sums);
    check_layouts (&input, sums);
    free (sums);
    pca_input_clear (&input);
  }
}

/* ---- moments ---- */

/* Compares moments with those of two passes: first the mean, then products of
 * differences from it. */
static void
check_moments_of (const PcaInput *input, const CuvPcaMoments *moments)
{
  const int n = input->bands.n;
  const int width = input->cube.width, height = input->cube.height;
  long double mean[CUV_CUBE_MAX_BANDS] = { 0 };
  int64_t pixels = 0;

  for (int p = 0; p < width * height; p++) {
    if (!pca_input_is_counted (input, p % width, p / width))
      continue;
    pixels++;
    for (int i = 0; i < n; i++)
      mean[i] += (long double) sample (input, p % width, p / width, i);
  }
  CUV_CHECK (moments->pixels == pixels);
  for (int i = 0; i < n && pixels > 0; i++) {
    const int j = (int) cuv_check_below ((uint32_t) n);
    long double c = 0.0L, size = 0.0L;

    for (int p = 0; p < width * height; p++) {
      const int x = p % width, y = p / width;
      const long double a = (long double) sample (input, x, y, i);
      const long double b = (long double) sample (input, x, y, j);

      if (!pca_input_is_counted (input, x, y))
        continue;
      c += (a - mean[i] / (long double) pixels)
          * (b - mean[j] / (long double) pixels);
      size += fabsl (a * b);
    }
    /* c may be large although all products a b are small */
    size += fabsl (mean[i] / (long double) pixels * mean[j]);
    CUV_CHECK (fabsl ((long double) moments->mean[i] - mean[i] / pixels)
            <= 1e-14L * fabsl (mean[i] / pixels),
        ": %d", i);
    /* a covariance is the difference of two such numbers */
    size = size / pixels + fabsl (mean[i] / pixels * mean[j] / pixels);
    CUV_CHECK (fabsl ((long double) moments->covariance[i * n + j] - c / pixels)
            <= (input->cube.format == CUV_CUBE_F32 ? 1e-13L : 1e-14L) * size,
        ": %d %d: %.17g", i, j, moments->covariance[i * n + j]);
    CUV_CHECK (
        moments->covariance[i * n + j] == moments->covariance[j * n + i]);
  }
}

CUV_CHECKS_CPU (check_pca_moments)
{
  for (int i = 0; i < 36; i++) {
    const CuvCubeFormat format = (CuvCubeFormat) (i % 3);
    const int *size = sizes[i / 3 % SIZES];
    const int n = 1 + (int) cuv_check_below (12);
    const PcaFill fill = (PcaFill) cuv_check_below (PCA_N_FILLS);
    CuvPcaMoments moments;
    PcaInput input;
    CuvPcaSum *sums;

    pca_input_init (&input, format, PCA_BSQ, size[0], size[1], n, fill);
    pca_input_exclude_some (&input);
    pca_input_name (&input, PCA_BSQ, fill);
    sums = sums_of (&input);
    cuv_pca_moments_init (&moments, input.bands.n);
    cuv_pca_moments_from_sums (&moments, sums, format != CUV_CUBE_F32);
    check_moments_of (&input, &moments);
    cuv_pca_moments_clear (&moments);
    free (sums);
    pca_input_clear (&input);
  }
}

/* ---- frames ---- */

static void
moments_of (const PcaInput *input, CuvPcaMoments *moments)
{
  CuvPcaSum *sums = sums_of (input);

  cuv_pca_moments_init (moments, input->bands.n);
  cuv_pca_moments_from_sums (moments, sums, input->cube.format != CUV_CUBE_F32);
  free (sums);
}

/* Checks that one third of a frame's moments and two thirds of another frame's
 * equal the moments of a frame that has the pixels of the first once and those
 * of the second twice. */
static void
check_mixing (void)
{
  enum { N = 5, WIDTH = 40, HEIGHT = 9 };
  PcaInput one, other, all;
  CuvPcaMoments a, b, c;

  cuv_check_case ("moments of two frames");
  pca_input_init (&one, CUV_CUBE_U8, PCA_BIP, WIDTH, HEIGHT, N, PCA_MIXTURE);
  pca_input_init (&other, CUV_CUBE_U8, PCA_BIP, WIDTH, HEIGHT, N, PCA_MIXTURE);
  pca_input_init (&all, CUV_CUBE_U8, PCA_BIP, WIDTH, 3 * HEIGHT, N, PCA_NOISE);
  for (int i = 0; i < WIDTH * 3 * HEIGHT * N; i++) {
    const int x = i / N % WIDTH, y = i / N / WIDTH, band = i % N;

    if (y < HEIGHT)
      pca_input_set (&other, x, y, band,
          0.75 * pca_input_get (&one, x, y, band)
              + 0.25
                  * pca_input_get (&one, x, (y + 1) % HEIGHT, (band + 1) % N));
    pca_input_set (&all, x, y, band,
        pca_input_get (y < HEIGHT ? &one : &other, x, y % HEIGHT, band));
  }
  moments_of (&one, &a);
  moments_of (&other, &b);
  moments_of (&all, &c);
  CUV_CHECK (!cuv_pca_moments_add (&a, &b, 2.0 / 3.0));
  for (int i = 0; i < N * N; i++) {
    CUV_CHECK (fabs (a.mean[i / N] - c.mean[i / N]) < 1e-11);
    CUV_CHECK (fabs (a.covariance[i] - c.covariance[i]) < 1e-10);
  }
  cuv_pca_moments_clear (&a);
  cuv_pca_moments_clear (&b);
  cuv_pca_moments_clear (&c);
  pca_input_clear (&one);
  pca_input_clear (&other);
  pca_input_clear (&all);
}

/* Checks that a frame is a cut if second moments change by more than half. */
static void
check_cuts (void)
{
  static const struct {
    double before, now;
    bool is_cut;
  } cases[] = { { 100, 100, false }, { 100, 90, false }, { 100, 80, true },
    { 100, 130, false }, { 100, 145, true }, { 100, 0, true }, { 0, 0, false },
    { 0, 9, true } };

  for (int i = 0; i < 8; i++) {
    CuvPcaMoments known, frame;

    cuv_check_case ("cut from %g to %g", cases[i].before, cases[i].now);
    cuv_pca_moments_init (&known, 2);
    cuv_pca_moments_init (&frame, 2);
    known.pixels = frame.pixels = 10;
    known.mean[0] = known.mean[1] = cases[i].before;
    frame.mean[0] = frame.mean[1] = cases[i].now;
    CUV_CHECK (cuv_pca_moments_add (&known, &frame, 0.25) == cases[i].is_cut);
    CUV_CHECK (known.mean[1]
        == (cases[i].is_cut
                ? cases[i].now
                : cases[i].before + 0.25 * (cases[i].now - cases[i].before)));
    frame.pixels = 0;
    frame.mean[0] = 1e6;
    CUV_CHECK (!cuv_pca_moments_add (&known, &frame, 0.25));
    CUV_CHECK (known.mean[0] == known.mean[1]);
    cuv_pca_moments_clear (&known);
    cuv_pca_moments_clear (&frame);
  }
}

CUV_CHECKS_CPU (check_pca_frames)
{
  check_mixing ();
  check_cuts ();
}
