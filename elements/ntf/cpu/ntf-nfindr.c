/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* N-FINDR (Winter 1999): the pixels that span the largest simplex among the
 * scores of the first rank - 1 principal components. The first simplex is found
 * as by VCA (Nascimento, Bioucas-Dias 2005): each new point is the pixel that
 * is farthest along a direction orthogonal to the points found before; but
 * directions follow the components' axes instead of random numbers. */
#include "cpu/ntf-cpu-private.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 10 };

/* The scores of a pixel, with a 1 before them. */
typedef double Point[CUV_NTF_MAX_RANK];

typedef struct {
  int n, size; /* number of points; values of each: the rank */
  int pixels[CUV_NTF_MAX_RANK];
  Point points[CUV_NTF_MAX_RANK];
} Simplex;

/* ---- scores ---- */

static void
nfindr_add_row (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const CuvNtfTensor *g = &self->tensor;
  const float *value = cuv_ntf_row (self, y);

  for (int z = 0; z < g->depth; z++) {
    double sum = 0;

    for (int x = 0; x < g->width; x++)
      sum += *value++;
    task->sums[CUV_NTF_W][z * self->factors.stride] += (float) sum;
  }
}

static bool
find_mean (CuvNtfCpu *self)
{
  const CuvNtfFactors *f = &self->factors;

  if (!cuv_ntf_cpu_sum_rows (self, CUV_NTF_W, nfindr_add_row))
    return false;
  for (int z = 0; z < f->size[CUV_NTF_W]; z++)
    self->mean[z] =
        *cuv_ntf_at (f, CUV_NTF_W, z, 0) / (float) f->size[CUV_NTF_V];
  return true;
}

static void
keep_scores (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  cuv_ntf_cpu_map_row (self, y, cuv_ntf_pixels (self, y));
}

/* Replaces the pixels' values by scores. */
static bool
find_scores (CuvNtfCpu *self)
{
  float offset[CUV_NTF_MAX_RANK];
  bool completed;

  cuv_ntf_cpu_randomise_w (self);
  completed = cuv_ntf_cpu_find_vectors (self, self->mean, offset)
      && cuv_ntf_cpu_rows (self, self->tensor.height, keep_scores);
  self->offset = NULL;
  return completed;
}

/* ---- search ---- */

static void
search_row (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int width = self->tensor.width, rank = self->factors.rank;
  const float *scores = cuv_ntf_pixels (self, y);

  for (int x = 0; x < width; x++, scores += self->factors.stride) {
    double value = self->probe[0];

    for (int k = 1; k < rank; k++)
      value += self->probe[k] * scores[k - 1];
    if (fabs (value) > task->best) {
      task->best = fabs (value);
      task->best_pixel = y * width + x;
    }
  }
}

/* Finds the first pixel with the largest absolute product with the probe, if
 * that is more than `least`; otherwise *pixel is -1. Returns false if
 * cancelled. */
static bool
nfindr_search (CuvNtfCpu *self, const Point probe, double least, int *pixel)
{
  *pixel = -1;
  self->probe = probe;
  for (int i = 0; i < CUV_NTF_TASKS; i++)
    self->tasks[i].best = least;
  if (!cuv_ntf_cpu_rows (self, self->tensor.height, search_row))
    return false;
  for (int i = 0; i < CUV_NTF_TASKS; i++) {
    if (self->tasks[i].best > least) {
      least = self->tasks[i].best;
      *pixel = self->tasks[i].best_pixel;
    }
  }
  return true;
}

static void
set_point (const CuvNtfCpu *self, Simplex *simplex, int i, int pixel)
{
  simplex->pixels[i] = pixel;
  simplex->points[i][0] = 1;
  for (int k = 1; k < simplex->size; k++)
    simplex->points[i][k] =
        *cuv_ntf_at (&self->factors, CUV_NTF_V, pixel, k - 1);
}

/* ---- the simplex ---- */

static double
nfindr_dot (const double *a, const double *b, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Makes a point orthogonal to n others, which are orthonormal, and of length 1.
 */
static void
make_orthonormal (double *point, Point *others, int n, int size)
{
  double norm;

  for (int i = 0; i < n; i++) {
    const double factor = nfindr_dot (point, others[i], size);

    for (int k = 0; k < size; k++)
      point[k] -= factor * others[i][k];
  }
  norm = sqrt (nfindr_dot (point, point, size));
  for (int k = 0; k < size; k++)
    point[k] /= norm > 0 ? norm : 1;
}

/* Adds points until there are as many as terms, or no pixel would add a
 * dimension to the simplex. */
static bool
find_first (CuvNtfCpu *self, Simplex *simplex)
{
  Point span[CUV_NTF_MAX_RANK];
  const int size = simplex->size;

  for (simplex->n = 0; simplex->n < size; simplex->n++) {
    const int n = simplex->n;
    Point probe = { 0 };
    int pixel;

    probe[n > 0 ? n : 1] = 1;
    make_orthonormal (probe, span, n, size);
    if (!nfindr_search (self, probe, 1e-6, &pixel))
      return false;
    if (pixel < 0)
      return true;
    set_point (self, simplex, n, pixel);
    memcpy (span[n], simplex->points[n], sizeof span[n]);
    make_orthonormal (span[n], span, n, size);
  }
  return true;
}

/* Subtracts a multiple of row `from`, so that column k becomes 0. */
static void
eliminate (Point *a, Point *b, int from, int to, int k, int n)
{
  const double factor = a[to][k] / a[from][k];

  for (int l = 0; l < n; l++) {
    a[to][l] -= factor * a[from][l];
    b[to][l] -= factor * b[from][l];
  }
}

static void
swap_rows (Point *a, int i, int j)
{
  Point saved;

  memcpy (saved, a[i], sizeof saved);
  memcpy (a[i], a[j], sizeof saved);
  memcpy (a[j], saved, sizeof saved);
}

/* Sets probe to row i of the inverse of the points as columns: its product with
 * a pixel is the factor by which the volume changes if that pixel becomes point
 * i. */
static void
find_probe (const Simplex *simplex, int i, Point probe)
{
  const int n = simplex->size;
  Point a[CUV_NTF_MAX_RANK], b[CUV_NTF_MAX_RANK] = { { 0 } };

  memcpy (a, simplex->points, sizeof a);
  for (int k = 0; k < n; k++)
    b[k][k] = 1;
  for (int k = 0; k < n; k++) {
    int largest = k;

    for (int l = k + 1; l < n; l++)
      largest = fabs (a[l][k]) > fabs (a[largest][k]) ? l : largest;
    swap_rows (a, k, largest);
    swap_rows (b, k, largest);
    for (int l = 0; l < n; l++) {
      if (l != k)
        eliminate (a, b, k, l, k, n);
    }
  }
  for (int k = 0; k < n; k++)
    probe[k] = b[k][i] / a[k][k];
}

/* Replaces points, one at a time, while that makes the simplex larger. */
static bool
enlarge (CuvNtfCpu *self, Simplex *simplex)
{
  bool changed = true;

  for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
    changed = false;
    for (int i = 0; i < simplex->n; i++) {
      Point probe;
      int pixel;

      find_probe (simplex, i, probe);
      if (!nfindr_search (self, probe, 1 + 1e-6, &pixel))
        return false;
      if (pixel >= 0)
        set_point (self, simplex, i, pixel);
      changed |= pixel >= 0;
    }
  }
  return true;
}

/* ---- factors ---- */

/* Sets a term's spectrum to that of a pixel or, if there is no pixel, to faint
 * random values. */
static void
set_spectrum (CuvNtfCpu *self, int k, int pixel)
{
  const CuvNtfTensor *g = &self->tensor;
  const int x = pixel % g->width;
  const float *row = pixel >= 0 ? cuv_ntf_row (self, pixel / g->width) : NULL;

  for (int z = 0; z < g->depth; z++)
    *cuv_ntf_at (&self->factors, CUV_NTF_W, z, k) = cuv_ntf_in_range (
        row != NULL ? row[(size_t) z * (size_t) g->width + (size_t) x]
                    : 0.1f
                * cuv_ntf_random (self->params.seed, 0, CUV_NTF_W,
                    (uint32_t) (z * self->factors.rank + k)));
}

static void
share_pixels (CuvNtfCpu *self, CuvNtfTask *task, int y)
{
  const int stride = self->factors.stride, rank = self->factors.rank;
  float *v = cuv_ntf_pixels (self, y);

  for (int x = 0; x < self->tensor.width; x++, v += stride) {
    memset (v, 0, (size_t) stride * sizeof *v);
    for (int k = 0; k < rank; k++)
      v[k] = 1 / (float) rank;
  }
}

bool
cuv_ntf_cpu_nfindr (CuvNtfCpu *self)
{
  const int rank = self->factors.rank;
  Simplex simplex = { .size = rank };

  if (!find_mean (self) || !find_scores (self))
    return false;
  if (rank > 1 && !find_first (self, &simplex))
    return false;
  if (simplex.n == rank && !enlarge (self, &simplex))
    return false;
  for (int k = 0; k < rank; k++)
    set_spectrum (self, k, k < simplex.n ? simplex.pixels[k] : -1);
  return cuv_ntf_cpu_rows (self, self->tensor.height, share_pixels);
}
