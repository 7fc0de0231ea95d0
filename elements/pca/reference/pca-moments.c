/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca.h"

#include <stdlib.h>

bool
cuv_pca_moments_init (CuvPcaMoments *self, int n)
{
  const size_t size = (size_t) n;

  *self = (CuvPcaMoments){ .n = n,
    .mean = calloc (size, sizeof (double)),
    .covariance = calloc (size * size, sizeof (double)) };
  return self->mean != NULL && self->covariance != NULL;
}

void
cuv_pca_moments_clear (CuvPcaMoments *self)
{
  free (self->mean);
  free (self->covariance);
  *self = (CuvPcaMoments){ 0 };
}

void
cuv_pca_moments_from_sums (
    CuvPcaMoments *self, const CuvPcaSum *sums, bool is_exact)
{
  cuv_pca_find_moments (cuv_group_single (), self, sums, is_exact);
}

bool
cuv_pca_moments_add (
    CuvPcaMoments *self, const CuvPcaMoments *frame, double smoothing)
{
  return cuv_pca_add_moments (
      cuv_group_single (), self, frame, smoothing, NULL);
}
