/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configurations, windows, matrices and distances with known values. */
#include "rcd-inputs.h"
#include "cuvcheck.h"
#include "rcd/rcd-distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- configurations ---- */

CUV_CHECKS_CPU (check_bad_configs)
{
  const CuvRcdConfig good = { CUV_RCD_RGB_GRAD, CUV_RCD_JBLD, 1, 16384,
    CUV_RCD_MAX_CELL, 16, 0, 0.0 };
  CuvRcdConfig bad[9];

  cuv_check_case ("bad configs");
  CUV_CHECK (cuv_rcd_config_problem (&good) == NULL);
  for (int i = 0; i < 9; i++)
    bad[i] = good;
  bad[0].width = 0;
  bad[1].height = 16385;
  bad[2].cell = 0;
  bad[3].cell = CUV_RCD_MAX_CELL + 1;
  bad[4].max_targets = 0;
  bad[5].max_targets = 17;
  bad[6].max_windows = -1;
  bad[7].lambda = -1e-9;
  bad[8].lambda = (double) NAN;
  for (int i = 0; i < 9; i++)
    CUV_CHECK (cuv_rcd_config_problem (&bad[i]) != NULL, ": %d", i);
}

/* ---- windows ---- */

/* Compares the boxes of a level with an enumeration of all positions. */
static void
check_level (const CuvRcdArea *part, const CuvRcdArea *area, int columns,
    int rows, int step)
{
  const CuvRcdLevel level = cuv_rcd_level (part, columns, rows, step, 5);
  const int cell = 3;
  int i = 0;

  for (int y = 0; y + rows <= part->n_rows; y += step) {
    for (int x = 0; x + columns <= part->n_columns; x += step, i++) {
      CuvRcdBox box = cuv_rcd_level_box (area, &level, cell, i);

      CUV_CHECK (box.x == (area->column + part->column + x) * cell
          && box.y == (area->row + part->row + y) * cell);
      CUV_CHECK (box.width == columns * cell && box.height == rows * cell);
    }
  }
  CUV_CHECK (cuv_rcd_level_windows (&level) == i);
  CUV_CHECK (level.first == 5);
}

/* Returns the number of windows of the thesis's search, whose stride is 50, or
 * of the same search with another stride. */
static int
count_windows (int step)
{
  const int cell = step % 16 == 0 ? 16 : 10;
  const CuvRcdArea all = { 0, 0, 2048 / cell, 1152 / cell };
  int n = 0;

  for (int i = 1; i <= 8; i++) {
    int side = (int) (i * 100.0 / cell + 0.5);
    CuvRcdLevel level = cuv_rcd_level (&all, side, side, step / cell, n);

    n += cuv_rcd_level_windows (&level);
  }
  return n;
}

CUV_CHECKS_CPU (check_levels)
{
  cuv_check_case ("levels");
  for (int i = 0; i < 60; i++) {
    CuvRcdArea area = { i % 3, i % 7, 20, 11 };
    CuvRcdArea part = { i % 4, i % 2, (int) cuv_check_below (17),
      (int) cuv_check_below (10) };

    check_level (&part, &area, 1 + (int) cuv_check_below (12),
        1 + (int) cuv_check_below (8), 1 + i % 5);
  }
  CUV_CHECK (count_windows (50) == 4008, ": %d", count_windows (50));
  CUV_CHECK (count_windows (16) == 37716, ": %d", count_windows (16));
}

static bool
is_inside (const CuvRcdBox *box, int width, int height)
{
  return box->width > 0 && box->height > 0 && box->x >= 0 && box->y >= 0
      && box->x + box->width <= width && box->y + box->height <= height;
}

/* Checks that resized boxes keep their centre up to half a pixel. */
CUV_CHECKS_CPU (check_rounds)
{
  static const CuvRcdBox boxes[] = { { 0, 0, 1, 1 }, { 30, 20, 64, 33 },
    { 99, 0, 2, 50 } };
  const int least = CUV_RCD_FINE_STEPS / 2;
  CuvRcdFineWindows fine;

  for (int b = 0; b < 3; b++) {
    cuv_check_case ("refinement windows, box %d", b);
    cuv_rcd_fine_windows_init (&fine, &boxes[b], 3, 4, 101, 60);
    for (int i = 0; i < CUV_RCD_FINE_WINDOWS; i++) {
      const int size = i / 81, x = i % 9 - least, y = i % 81 / 9 - least;
      const CuvRcdBox *box = &fine.boxes[i], *first = &fine.boxes[size * 81];

      CUV_CHECK (fine.valid[i] == is_inside (box, 101, 60));
      CUV_CHECK (box->x == first->x + 3 * (x + least)
          && box->y == first->y + 3 * (y + least));
      CUV_CHECK (
          abs (2 * (box->x - boxes[b].x - 3 * x) + box->width - boxes[b].width)
          <= 1);
    }
    CUV_CHECK (memcmp (&fine.boxes[40], &boxes[b], sizeof boxes[b]) == 0);
  }
  CUV_CHECK (fine.boxes[81].height == 47 && fine.boxes[4 * 81].width == 2
      && fine.boxes[4 * 81].height == 56);
}

/* ---- matrices ---- */

typedef double Matrix[CUV_RCD_MAX_FEATURES * CUV_RCD_MAX_FEATURES];

static double
random_unit (void)
{
  return (double) cuv_check_random () / 2147483648.0 - 1.0;
}

/* Computes a b^T. */
static void
multiply (const double *a, const double *b, int n, double *out)
{
  for (int i = 0; i < n * n; i++) {
    out[i] = 0.0;
    for (int k = 0; k < n; k++)
      out[i] += a[i / n * n + k] * b[i % n * n + k];
  }
}

/* Computes m d m^T for a diagonal d, packed. */
static void
congruent (const double *m, const double *d, int n, double *c)
{
  Matrix scaled, out;

  for (int i = 0; i < n * n; i++)
    scaled[i] = m[i] * d[i % n];
  multiply (scaled, m, n, out);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      *c++ = out[i * n + j];
  }
}

/* Fills a matrix that is well conditioned. */
static void
random_matrix (int n, double *m)
{
  for (int i = 0; i < n * n; i++)
    m[i] = random_unit () + (i % (n + 1) == 0 ? 3.0 : 0.0);
}

/* Returns the determinant by the Leibniz formula. */
static double
leibniz (const double *c, int n, int row, unsigned taken)
{
  double sum = 0.0;
  int sign = 1;

  if (row == n)
    return 1.0;
  for (int j = 0; j < n; j++) {
    if ((taken >> j & 1) != 0)
      continue;
    sum += sign
        * c[row < j ? cuv_rcd_packed_index (n, row, j)
                    : cuv_rcd_packed_index (n, j, row)]
        * leibniz (c, n, row + 1, taken | 1u << j);
    sign = -sign;
  }
  return sum;
}

static void
check_not_positive (int n)
{
  double c[CUV_RCD_MAX_PACKED] = { 0 };
  CuvRcdModel model;

  CUV_CHECK (!cuv_rcd_model_init (&model, c, n, 1, 1));
  for (int i = 0; i < n; i++)
    c[cuv_rcd_packed_index (n, i, i)] = i == n - 1 ? -1.0 : 1.0;
  CUV_CHECK (!cuv_rcd_model_init (&model, c, n, 1, 1));
  c[cuv_rcd_packed_index (n, n - 1, n - 1)] = 1.0;
  c[cuv_rcd_packed_index (n, 0, n - 1)] = 1.5;
  CUV_CHECK (!cuv_rcd_model_init (&model, c, n, 1, 1));
  /* with two negative eigenvalues the determinant is positive */
  c[cuv_rcd_packed_index (n, 0, n - 1)] = 0.0;
  c[0] = c[cuv_rcd_packed_index (n, 1, 1)] = -1.0;
  CUV_CHECK (!cuv_rcd_model_init (&model, c, n, 1, 1));
  c[0] = (double) NAN;
  CUV_CHECK (!cuv_rcd_model_init (&model, c, n, 1, 1));
}

static const int sizes[] = { 3, 5, 9 };

CUV_CHECKS_CPU (check_determinants)
{
  for (int i = 0; i < 12; i++) {
    const int n = i == 0 ? 9 : sizes[i % 2];
    double d[CUV_RCD_MAX_FEATURES], c[CUV_RCD_MAX_PACKED], det;
    Matrix m;

    cuv_check_case ("determinant, n %d", n);
    random_matrix (n, m);
    for (int k = 0; k < n; k++)
      d[k] = 0.1 + fabs (random_unit ());
    congruent (m, d, n, c);
    det = leibniz (c, n, 0, 0);
    CUV_CHECK (fabs (cuv_rcd_det (c, n) / det - 1.0) < 1e-10);
    check_not_positive (n);
  }
}

static double
distance (const double *a, const double *b, int n, CuvRcdMetric metric)
{
  double c[CUV_RCD_MAX_PACKED];
  CuvRcdModel model;

  CUV_CHECK (cuv_rcd_model_init (&model, a, n, 1, 1));
  memcpy (c, b, sizeof c);
  return cuv_rcd_distance (metric == CUV_RCD_JBLD
          ? cuv_rcd_jbld (c, n, &model)
          : cuv_rcd_forstner (c, n, &model),
      metric);
}

/* ---- distances ---- */

/* Two matrices whose generalised eigenvalues are known. */
typedef struct {
  double da[CUV_RCD_MAX_FEATURES], db[CUV_RCD_MAX_FEATURES];
  double a[CUV_RCD_MAX_PACKED], b[CUV_RCD_MAX_PACKED];
  double diagonal_a[CUV_RCD_MAX_PACKED], diagonal_b[CUV_RCD_MAX_PACKED];
} Pair;

static void
pair_init (Pair *self, int n)
{
  Matrix m, one = { 0 };

  memset (self, 0, sizeof *self);
  random_matrix (n, m);
  for (int i = 0; i < n; i++) {
    self->da[i] = exp (3.0 * random_unit ());
    self->db[i] = exp (3.0 * random_unit ());
    one[i * n + i] = 1.0;
  }
  congruent (m, self->da, n, self->a);
  congruent (m, self->db, n, self->b);
  congruent (one, self->da, n, self->diagonal_a);
  congruent (one, self->db, n, self->diagonal_b);
}

static double
known_distance (const Pair *self, int n, CuvRcdMetric metric)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) {
    const double a = self->da[i], b = self->db[i];

    sum += metric == CUV_RCD_JBLD ? log ((a + b) / 2) - 0.5 * log (a * b)
                                  : log (a / b) * log (a / b);
  }
  return metric == CUV_RCD_JBLD ? sum : sqrt (sum);
}

static void
check_pair (int n, CuvRcdMetric metric)
{
  Pair pair;
  double known;

  cuv_check_case ("metric %d, n %d", metric, n);
  pair_init (&pair, n);
  known = known_distance (&pair, n, metric);
  CUV_CHECK (
      fabs (distance (pair.diagonal_a, pair.diagonal_b, n, metric) - known)
      < 1e-12);
  CUV_CHECK (fabs (distance (pair.a, pair.b, n, metric) - known) < 1e-9);
  CUV_CHECK (fabs (distance (pair.b, pair.a, n, metric) - known) < 1e-9);
  CUV_CHECK (distance (pair.a, pair.a, n, metric) < 1e-9);
}

CUV_CHECKS_CPU (check_jbld)
{
  for (int i = 0; i < 30; i++)
    check_pair (sizes[i % 3], CUV_RCD_JBLD);
}

CUV_CHECKS_CPU (check_forstner)
{
  for (int i = 0; i < 30; i++)
    check_pair (sizes[i % 3], CUV_RCD_FORSTNER);
}

/* Computes m c m^T, packed. */
static void
transform (const double *m, const double *c, int n, double *out)
{
  Matrix full, half, whole;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      full[i * n + j] = c[i < j ? cuv_rcd_packed_index (n, i, j)
                                : cuv_rcd_packed_index (n, j, i)];
  }
  multiply (m, full, n, half);
  multiply (half, m, n, whole);
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++)
      *out++ = whole[i * n + j];
  }
}

/* Distances of covariances are invariant to affine maps of the features. */
CUV_CHECKS_CPU (check_affine)
{
  for (int i = 0; i < 18; i++) {
    const CuvRcdMetric metric = (CuvRcdMetric) (i % 2);
    CuvRcdConfig config = { (CuvRcdFeatures) (i % 3), metric, 60, 40, 1, 2, 0,
      0.0 };
    const int n = config.features == CUV_RCD_TUZEL9 ? 9
        : config.features == CUV_RCD_RGB_GRAD       ? 5
                                                    : 3;
    double a[CUV_RCD_MAX_PACKED], b[CUV_RCD_MAX_PACKED];
    RcdInput input;
    Matrix m;

    cuv_check_case ("affine, metric %d, n %d", metric, n);
    rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
    CUV_CHECK (rcd_input_add (&input, &(CuvRcdBox){ 3, 2, 30, 20 }));
    CUV_CHECK (rcd_input_add (&input, &(CuvRcdBox){ 25, 11, 30, 20 }));
    random_matrix (n, m);
    transform (m, input.targets[0].model.c, n, a);
    transform (m, input.targets[1].model.c, n, b);
    CUV_CHECK (fabs (distance (a, b, n, metric)
                   - distance (input.targets[0].model.c,
                       input.targets[1].model.c, n, metric))
        < 1e-9);
    rcd_input_clear (&input);
  }
}

/* A covariance is singular unless a box has more pixels than there are
 * features. */
CUV_CHECKS_CPU (check_few_pixels)
{
  for (int i = 0; i < 6; i++) {
    const CuvRcdConfig config = { (CuvRcdFeatures) (i % 3), CUV_RCD_JBLD, 20,
      20, 1, 1, 0, 1.0 };
    const int sizes_of[] = { 5, 9, 3 }, n = sizes_of[i % 3];
    const bool enough = i < 3;
    const CuvRcdBox box = { 2, 3, enough ? n + 1 : n, 1 };
    const CuvRcdModel one = { .c = { 1.0 }, .det = 1.0, .width = 1 };
    int64_t sums[CUV_RCD_MAX_SUMS];
    RcdInput input;
    double score;

    cuv_check_case ("%d pixels, n %d", box.width, n);
    rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
    CUV_CHECK (rcd_input_add (&input, &box) == enough);
    cuv_rcd_box_sums (&input.frame.frame, config.features, &box, sums);
    if (n == 9) /* as in a search */
      cuv_rcd_move_origin (sums, n, box.width, -box.x, -box.y);
    score = cuv_rcd_score (sums, n, &box, &one, CUV_RCD_JBLD, 1.0);
    CUV_CHECK (isfinite (score) == enough, ": %g", score);
    rcd_input_clear (&input);
  }
}
