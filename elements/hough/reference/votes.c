/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes of edges for the lines through them. */
#include "hough.h"

#include <string.h>

size_t
cuv_hough_list_edges (
    const uint8_t *edges, int width, int height, int stride, uint32_t *pixels)
{
  size_t n = 0;

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      if (edges[(ptrdiff_t) y * stride + x] == 0)
        continue;
      if (pixels != NULL)
        pixels[n] = (uint32_t) y << 16 | (uint32_t) x;
      n++;
    }
  }
  return n;
}

void
cuv_hough_list_bins (const CuvHoughLayout *self, const CuvCanny *canny,
    const uint32_t *pixels, size_t n, uint16_t *bins)
{
  for (size_t i = 0; i < n; i++) {
    size_t at = (size_t) (pixels[i] >> 16) * (size_t) canny->width
        + (pixels[i] & 0xffff);

    bins[i] = (uint16_t) cuv_hough_orientation_bin (
        self, canny->gx[at], canny->gy[at]);
  }
}

void
cuv_hough_list_directions (const CuvHoughLayout *self, const CuvCanny *canny,
    const uint32_t *pixels, size_t n, uint16_t *directions)
{
  cuv_hough_list_bins (self, canny, pixels, n, directions);
  for (size_t i = 0; i < n; i++) {
    size_t at = (size_t) (pixels[i] >> 16) * (size_t) canny->width
        + (pixels[i] & 0xffff);

    if (cuv_hough_is_turned (canny->gx[at], canny->gy[at]))
      directions[i] = (uint16_t) (directions[i] + self->n_bins);
  }
}

uint64_t
cuv_hough_vote_row (const CuvHoughLayout *self, const CuvHoughRow *row,
    const CuvEdgeList *list, uint32_t *middle, int sign)
{
  uint64_t n = 0;

  for (size_t i = 0; i < list->n; i++) {
    int x = (int) (list->pixels[i] & 0xffff), y = (int) (list->pixels[i] >> 16);

    if (list->bins != NULL && !cuv_hough_votes_for (self, list->bins[i], row))
      continue;
    middle[sign * cuv_hough_cell (row, x, y)]++;
    n++;
  }
  return n;
}

uint64_t
cuv_hough_vote (
    const CuvHoughLayout *self, const CuvEdgeList *list, uint32_t *accumulator)
{
  uint64_t n = 0;

  memset (accumulator, 0, cuv_hough_n_cells (self) * sizeof *accumulator);
  for (int k = 0; k < self->n_rows; k++)
    n += cuv_hough_vote_row (self, &self->rows[k], list,
        accumulator + (size_t) k * (size_t) self->n_cells + self->radius, 1);
  return n;
}
