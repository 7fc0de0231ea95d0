/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntf.h"

#include <stdlib.h>
#include <string.h>

float *
cuv_ntf_alloc (size_t n)
{
  const size_t line = 64, size = (n * sizeof (float) + line - 1) / line * line;
  float *memory = n > SIZE_MAX / 8 ? NULL : aligned_alloc (line, size);

  if (memory != NULL)
    memset (memory, 0, size);
  return memory;
}

bool
cuv_ntf_factors_init (
    CuvNtfFactors *self, int height, int width, int depth, int rank)
{
  *self = (CuvNtfFactors){ { height, width, depth }, rank, cuv_ntf_pad (rank),
    { 0 } };
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    self->mode[mode] =
        cuv_ntf_alloc ((size_t) self->size[mode] * (size_t) self->stride);
    if (self->mode[mode] == NULL)
      return false;
  }
  return true;
}

void
cuv_ntf_factors_clear (CuvNtfFactors *self)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    free (self->mode[mode]);
  *self = (CuvNtfFactors){ 0 };
}
