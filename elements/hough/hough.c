/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
cuv_hough_space_init (CuvHoughSpace *self, int width, int height, int n_theta,
    bool inclusive, double rho_step)
{
  const double pi = 3.14159265358979323846;

  self->width = width;
  self->height = height;
  self->n_theta = n_theta;
  self->period = inclusive ? n_theta - 1 : n_theta;
  self->rho_step = rho_step;
  self->diagonal =
      (int32_t) ceil (hypot (width - 1, height - 1) / rho_step) + 1;
  self->n_rho = 2 * self->diagonal + 1;
  self->cosines = malloc ((size_t) n_theta * sizeof *self->cosines);
  self->sines = malloc ((size_t) n_theta * sizeof *self->sines);
  for (int k = 0; k < n_theta; k++) {
    double theta = k * pi / self->period - pi / 2;

    self->cosines[k] = (int32_t) lrint (cos (theta) * 65536 / rho_step);
    self->sines[k] = (int32_t) lrint (sin (theta) * 65536 / rho_step);
  }
}

void
cuv_hough_space_clear (CuvHoughSpace *self)
{
  free (self->cosines);
  free (self->sines);
  *self = (CuvHoughSpace){ 0 };
}

size_t
cuv_hough_list_edges (
    const uint8_t *edges, int width, int height, int stride, uint32_t *list)
{
  size_t n = 0;

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      if (edges[(ptrdiff_t) y * stride + x] == 0)
        continue;
      if (list != NULL)
        list[n] = (uint32_t) y << 16 | (uint32_t) x;
      n++;
    }
  }
  return n;
}

void
cuv_hough_vote (const CuvHoughSpace *self, const uint32_t *list, size_t n,
    uint32_t *accumulator)
{
  memset (accumulator, 0,
      (size_t) self->n_theta * (size_t) self->n_rho * sizeof *accumulator);
  for (int k = 0; k < self->n_theta; k++) {
    uint32_t *row = accumulator + (size_t) k * (size_t) self->n_rho;

    for (size_t i = 0; i < n; i++) {
      int x = (int) (list[i] & 0xffff), y = (int) (list[i] >> 16);

      row[cuv_hough_rho (self, k, x, y) + self->diagonal]++;
    }
  }
}
