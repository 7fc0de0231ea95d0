/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca.h"

#include <stdlib.h>
#include <string.h>

bool
cuv_pca_basis_init (CuvPcaBasis *self, int n)
{
  const size_t size = (size_t) n;

  *self = (CuvPcaBasis){ .n = n,
    .mean = calloc (size, sizeof (double)),
    .deviation = calloc (size, sizeof (double)),
    .values = calloc (size, sizeof (double)),
    .vectors = calloc (size * size, sizeof (double)) };
  return self->mean && self->deviation && self->values && self->vectors;
}

void
cuv_pca_basis_clear (CuvPcaBasis *self)
{
  free (self->mean);
  free (self->deviation);
  free (self->values);
  free (self->vectors);
  *self = (CuvPcaBasis){ 0 };
}

void
cuv_pca_basis_copy (CuvPcaBasis *self, const CuvPcaBasis *from)
{
  const size_t size = (size_t) from->n * sizeof (double);

  self->mode = from->mode;
  self->is_known = from->is_known;
  memcpy (self->mean, from->mean, size);
  memcpy (self->deviation, from->deviation, size);
  memcpy (self->values, from->values, size);
  memcpy (self->vectors, from->vectors, (size_t) from->n * size);
}

bool
cuv_pca_scratch_init (CuvPcaScratch *self, int n)
{
  const size_t size = (size_t) n, even = (size_t) CUV_PCA_EVEN (n);

  *self =
      (CuvPcaScratch){ CUV_PCA_EVEN (n), calloc (even * even, sizeof (double)),
        calloc (even * even, sizeof (double)),
        calloc (even * even, sizeof (double)),
        calloc (even * even, sizeof (double)), calloc (size, sizeof (double)),
        calloc (size, sizeof (double)), NULL,
        calloc ((size_t) CUV_PCA_PAIRS (n), sizeof (CuvPcaRotation)),
        calloc ((size_t) CUV_PCA_BLOCKS (n), sizeof (uint16_t)),
        calloc (size, sizeof (int32_t)), calloc (size, sizeof (int32_t)),
        calloc (size, sizeof (int32_t)) };
  return self->a && self->b && self->c && self->vectors && self->values
      && self->sign && self->rotations && self->blocks && self->order
      && self->best && self->taken;
}

void
cuv_pca_scratch_clear (CuvPcaScratch *self)
{
  free (self->a);
  free (self->b);
  free (self->c);
  free (self->vectors);
  free (self->values);
  free (self->sign);
  free (self->rotations);
  free (self->blocks);
  free (self->order);
  free (self->best);
  free (self->taken);
  *self = (CuvPcaScratch){ 0 };
}

int
cuv_pca_basis_update (CuvPcaBasis *self, const CuvPcaMoments *moments,
    const CuvPcaLearning *learning, CuvPcaScratch *scratch)
{
  return cuv_pca_update_basis (
      cuv_group_single (), self, moments, learning, scratch);
}

double
cuv_pca_basis_total (const CuvPcaBasis *self)
{
  double total = 0.0;

  for (int k = 0; k < self->n; k++)
    total += self->values[k];
  return total;
}

void
cuv_pca_basis_spread (
    const CuvPcaBasis *self, int k, double *mean, double *deviation)
{
  cuv_pca_spread (cuv_group_single (), self, k, mean, deviation);
}
