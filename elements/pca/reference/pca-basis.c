/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments and basis: their memory, and the solver on one thread. */
#include "pca.h"

#include <stdlib.h>
#include <string.h>

bool
cuv_pca_moments_init (CuvPcaMoments *self, int n)
{
  double *memory =
      calloc ((size_t) CUV_PCA_MOMENTS_DOUBLES (n), sizeof *memory);

  *self = (CuvPcaMoments){ 0 };
  if (memory != NULL)
    cuv_pca_place_moments (self, n, memory);
  return memory != NULL;
}

void
cuv_pca_moments_clear (CuvPcaMoments *self)
{
  free (self->mean);
  *self = (CuvPcaMoments){ 0 };
}

void
cuv_pca_moments_from_sums (
    CuvPcaMoments *self, const CuvPcaSum *sums, bool is_exact)
{
  cuv_pca_find_moments (cuv_pca_group_single (), self, sums, is_exact);
}

bool
cuv_pca_moments_add (
    CuvPcaMoments *self, const CuvPcaMoments *frame, double smoothing)
{
  return cuv_pca_add_moments (
      cuv_pca_group_single (), self, frame, smoothing, NULL);
}

bool
cuv_pca_basis_init (CuvPcaBasis *self, int n)
{
  double *memory = calloc ((size_t) CUV_PCA_BASIS_DOUBLES (n), sizeof *memory);

  *self = (CuvPcaBasis){ 0 };
  if (memory != NULL)
    cuv_pca_place_basis (self, n, memory);
  return memory != NULL;
}

void
cuv_pca_basis_clear (CuvPcaBasis *self)
{
  free (self->mean);
  *self = (CuvPcaBasis){ 0 };
}

void
cuv_pca_basis_copy (CuvPcaBasis *self, const CuvPcaBasis *from)
{
  self->mode = from->mode;
  self->is_known = from->is_known;
  memcpy (self->mean, from->mean,
      (size_t) CUV_PCA_BASIS_DOUBLES (from->n) * sizeof (double));
}

bool
cuv_pca_scratch_init (CuvPcaScratch *self, int n)
{
  double *memory = calloc (1, CUV_PCA_SCRATCH_BYTES ((size_t) n));

  *self = (CuvPcaScratch){ 0 };
  if (memory != NULL)
    *self = cuv_pca_scratch_in (memory, n);
  return memory != NULL;
}

void
cuv_pca_scratch_clear (CuvPcaScratch *self)
{
  free (self->a);
  *self = (CuvPcaScratch){ 0 };
}

int
cuv_pca_basis_update (CuvPcaBasis *self, const CuvPcaMoments *moments,
    const CuvPcaLearning *learning, CuvPcaScratch *scratch)
{
  return cuv_pca_update_basis (
      cuv_pca_group_single (), self, moments, learning, scratch);
}

double
cuv_pca_basis_total (const CuvPcaBasis *self)
{
  double total = 0.0;

  for (int k = 0; k < self->n; k++)
    total += self->values[k];
  return total;
}
