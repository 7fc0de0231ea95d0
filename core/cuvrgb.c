/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvrgb.h"

#include <math.h>

/* Inverts the definition of Y, Cb and Cr of ITU-R BT.601 and BT.709. */
CuvRgbMatrix
cuv_rgb_matrix (double kr, double kb, bool limited)
{
  const double kg = 1 - kr - kb;
  const double luma = limited ? 255.0 / 219 : 1;
  const double chroma = limited ? 255.0 / 224 : 1;
  const double rows[3][3] = { { luma, 0, chroma * 2 * (1 - kr) },
    { luma, -chroma * 2 * (1 - kb) * kb / kg,
        -chroma * 2 * (1 - kr) * kr / kg },
    { luma, chroma * 2 * (1 - kb), 0 } };
  CuvRgbMatrix matrix;

  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++)
      matrix.m[i][k] = (int32_t) lround (rows[i][k] * 65536);
    matrix.m[i][3] = 32768 - (limited ? 16 : 0) * matrix.m[i][0]
        - 128 * (matrix.m[i][1] + matrix.m[i][2]);
  }
  return matrix;
}
