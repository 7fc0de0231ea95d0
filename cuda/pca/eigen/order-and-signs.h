/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Assigns eigenvectors to components: their order and signs, see
 * CuvPcaStabilise. */
#ifndef CUV_PCA_EIGEN_ORDER_AND_SIGNS_H
#define CUV_PCA_EIGEN_ORDER_AND_SIGNS_H

#include "pca/eigen/jacobi.h"
#include "pca/pca-types.h"

/* Sorts the indices of values so that the values descend; the order is
 * stable. */
CUV_PCA_GROUP_FUNC void
cuv_pca_sort (CuvPcaGroup group, const double *values, int n, int32_t *order)
{
  CUV_PCA_GROUP_EACH (group, i, n)
  {
    int at = 0;

    for (int j = 0; j < n; j++)
      at += values[j] > values[i] || (values[j] == values[i] && j < i);
    order[at] = i;
  }
  cuv_pca_group_sync (group);
}

/* Returns 1, or -1 if the element of largest magnitude is negative; if several
 * differ only by rounding, the first decides. */
CUV_HOST_DEVICE double
cuv_pca_sign (const double *v, int n)
{
  double largest = 0.0;
  int at = 0;

  for (int i = 0; i < n; i++)
    largest = fmax (largest, fabs (v[i]));
  while (fabs (v[at]) < largest * (1.0 - 1e-9))
    at++;
  return v[at] < 0.0 ? -1.0 : 1.0;
}

/* Returns the index of the largest |dot| that is not taken, -1 if all are. */
CUV_HOST_DEVICE int
cuv_pca_best_of (const double *dots, int n, const int32_t *taken)
{
  int best = -1;

  for (int j = 0; j < n; j++) {
    if (!taken[j] && (best < 0 || fabs (dots[j]) > fabs (dots[best])))
      best = j;
  }
  return best;
}

/* Matches greedily: order[k] becomes the new vector matched to old vector k,
 * pairs of largest |dot| first. best[k] is the best match of k among all.
 * Called by one thread. */
CUV_HOST_DEVICE void
cuv_pca_match_greedily (const CuvPcaScratch *self, int n)
{
  const double *dots = self->b;
  const int pitch = self->pitch;
  int32_t *order = self->order, *best = self->best, *taken = self->taken;

  for (int k = 0; k < n; k++) {
    order[k] = -1;
    taken[k] = 0;
  }
  for (int done = 0; done < n; done++) {
    int at = -1;

    for (int k = 0; k < n; k++) {
      if (order[k] < 0 && taken[best[k]])
        best[k] = cuv_pca_best_of (&dots[k * pitch], n, taken);
      if (order[k] < 0
          && (at < 0
              || fabs (dots[k * pitch + best[k]])
                  > fabs (dots[at * pitch + best[at]])))
        at = k;
    }
    order[at] = best[at];
    taken[best[at]] = 1;
  }
}

/* Returns the index of the largest |dot|, found by a row of the group. */
CUV_PCA_GROUP_FUNC int
cuv_pca_best_of_all (CuvPcaGroup group, const double *dots, int n)
{
  double largest = 0.0;
  int best = 0;

  CUV_PCA_GROUP_COLUMNS (group, j, 0, n)
  {
    if (fabs (dots[j]) > largest) {
      largest = fabs (dots[j]);
      best = j;
    }
  }
  return (int) cuv_pca_group_row_max (
      group, largest == cuv_pca_group_row_max (group, largest) ? best : 0.0);
}

/* Matches new vectors to old ones; dot products are in scratch->b. The greedy
 * search is needed only if two have the same best match. */
CUV_PCA_GROUP_FUNC void
cuv_pca_match (CuvPcaGroup group, const CuvPcaScratch *self, int n)
{
  int32_t *owner = self->taken;
  double clash = 0.0;

  CUV_PCA_GROUP_ROWS (group, k, n)
  {
    const int best = cuv_pca_best_of_all (group, &self->b[k * self->pitch], n);

    if (group.column == 0) {
      self->order[k] = self->best[k] = best;
#ifdef __CUDACC__
      atomicExch (&owner[best], k); /* any one wins */
#else
      owner[best] = k;
#endif
    }
  }
  cuv_pca_group_sync (group);
  CUV_PCA_GROUP_EACH (group, k, n)
  clash = owner[self->best[k]] != k ? 1.0 : clash;
  if (cuv_pca_group_max (group, clash, self->slots) > 0.0
      && cuv_pca_group_is_first (group))
    cuv_pca_match_greedily (self, n);
  cuv_pca_group_sync (group);
}

/* Copies vector order[k] times sign[k] to component k; if order is NULL, vector
 * k to component k. */
CUV_PCA_GROUP_FUNC void
cuv_pca_arrange (CuvPcaGroup group, CuvPcaBasis *self,
    const CuvPcaScratch *scratch, const int32_t *order)
{
  const int n = self->n;

  CUV_PCA_GROUP_ROWS (group, k, n)
  {
    const int from = order != 0 ? order[k] : k;
    const double sign = order != 0 ? scratch->sign[k] : 1.0;

    if (group.column == 0)
      self->values[k] = fmax (scratch->values[from], 0.0);
    CUV_PCA_GROUP_COLUMNS (group, i, 0, n)
    self->vectors[k * n + i] =
        sign * scratch->vectors[from * scratch->pitch + i];
  }
  cuv_pca_group_sync (group);
}

/* Copies scratch.vectors to self: sorted by eigenvalue, largest elements
 * positive. */
CUV_PCA_GROUP_NOINLINE void
cuv_pca_place_freely (
    CuvPcaGroup group, CuvPcaBasis self, CuvPcaScratch scratch)
{
  cuv_pca_sort (group, scratch.values, self.n, scratch.order);
  CUV_PCA_GROUP_EACH (group, k, self.n)
  scratch.sign[k] =
      cuv_pca_sign (&scratch.vectors[scratch.order[k] * scratch.pitch], self.n);
  cuv_pca_group_sync (group);
  cuv_pca_arrange (group, &self, &scratch, scratch.order);
}

/* Matches scratch.vectors to the previous components, which remain in
 * scratch.a. */
CUV_PCA_GROUP_NOINLINE void
cuv_pca_place_as_before (
    CuvPcaGroup group, CuvPcaBasis self, CuvPcaScratch scratch)
{
  const int n = self.n, pitch = scratch.pitch;

  cuv_pca_copy_rows (group, scratch.a, pitch, self.vectors, n, n, n);
  cuv_pca_multiply (
      group, scratch.a, n, scratch.vectors, n, n, pitch, scratch.b);
  cuv_pca_match (group, &scratch, n);
  CUV_PCA_GROUP_EACH (group, k, n)
  scratch.sign[k] = scratch.b[k * pitch + scratch.order[k]] < 0.0 ? -1.0 : 1.0;
  cuv_pca_group_sync (group);
  cuv_pca_arrange (group, &self, &scratch, scratch.order);
}

/* Returns element k of the combination of members weighted by row i of
 * scratch->b. */
CUV_HOST_DEVICE double
cuv_pca_turned (const CuvPcaBasis *self, const CuvPcaScratch *scratch,
    const int32_t *members, int g, int i, int k)
{
  double sum = 0.0;

  for (int j = 0; j < g; j++)
    sum += scratch->b[i * scratch->pitch + j]
        * self->vectors[members[j] * self->n + k];
  return sum;
}

/* Rotates components members[0 .. g - 1] towards the previous ones
 * (Procrustes). */
CUV_PCA_GROUP_FUNC void
cuv_pca_align_members (CuvPcaGroup group, CuvPcaBasis *self,
    const CuvPcaScratch *scratch, const int32_t *members, int g)
{
  const int n = self->n, pitch = scratch->pitch;

  CUV_PCA_GROUP_ROWS (group, i, g)
  {
    CUV_PCA_GROUP_COLUMNS (group, j, 0, g)
    scratch->b[i * pitch + j] = cuv_pca_dot (
        &scratch->a[members[i] * pitch], &self->vectors[members[j] * n], n);
  }
  cuv_pca_pad (group, scratch->b, g, pitch);
  cuv_pca_pad (group, scratch->c, g, pitch);
  cuv_pca_group_sync (group);
  if (!cuv_pca_orthonormalise (group, scratch->b, g, g, pitch, scratch->c,
          scratch->vectors, scratch->slots))
    return;
  CUV_PCA_GROUP_ROWS (group, i, g)
  {
    CUV_PCA_GROUP_COLUMNS (group, k, 0, n)
    scratch->vectors[i * pitch + k] =
        cuv_pca_turned (self, scratch, members, g, i, k);
  }
  CUV_PCA_GROUP_EACH (group, i, g)
  {
    double value = 0.0;

    for (int j = 0; j < g; j++)
      value += scratch->b[i * pitch + j] * scratch->b[i * pitch + j]
          * self->values[members[j]];
    scratch->values[i] = value;
  }
  cuv_pca_group_sync (group);
  CUV_PCA_GROUP_ROWS (group, i, g)
  {
    if (group.column == 0)
      self->values[members[i]] = scratch->values[i];
    CUV_PCA_GROUP_COLUMNS (group, k, 0, n)
    self->vectors[members[i] * n + k] = scratch->vectors[i * pitch + k];
  }
  cuv_pca_group_sync (group);
}

/* After cuv_pca_place_as_before(): rotates components whose eigenvalues differ
 * by less than 1 % of the largest, within their span, towards the previous
 * ones. */
CUV_PCA_GROUP_NOINLINE void
cuv_pca_align (CuvPcaGroup group, CuvPcaBasis self, CuvPcaScratch scratch)
{
  const int n = self.n;
  const int32_t *order = scratch.order;
  double near;
  int first = 0;

  cuv_pca_sort (group, self.values, n, scratch.order);
  near = 0.01 * self.values[order[0]];
  for (int k = 1; k <= n; k++) {
    const int ends =
        k == n || self.values[order[k - 1]] - self.values[order[k]] >= near;

    cuv_pca_group_sync (group); /* all threads have read the values */
    if (!ends)
      continue;
    if (k - first > 1)
      cuv_pca_align_members (group, &self, &scratch, &order[first], k - first);
    first = k;
  }
}

#endif
