/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Debug views: edges and votes as grey frames. */
#include "hough.h"

void
cuv_hough_draw_edges (const CuvFrame *frame, const uint8_t *edges)
{
  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++)
      cuv_frame_set_grey (frame, x, y, *edges++);
  }
}

/* Returns the first of n cells that maps to pixel v of size. */
static int
hough_first_cell (int v, int n, int size)
{
  return (int) ((int64_t) v * n / size);
}

static uint32_t
most_votes (const CuvFrame *frame, const CuvHoughLayout *layout,
    const uint32_t *accumulator, int x, int y)
{
  int k = hough_first_cell (x, layout->n_rows, frame->width);
  int k_end = hough_first_cell (x + 1, layout->n_rows, frame->width);
  int r = hough_first_cell (y, layout->n_cells, frame->height);
  int r_end = hough_first_cell (y + 1, layout->n_cells, frame->height);
  uint32_t maximum = 0;

  do {
    const uint32_t *row = accumulator + (size_t) k * (size_t) layout->n_cells;
    int at = r;

    do
      maximum = row[at] > maximum ? row[at] : maximum;
    while (++at < r_end);
  } while (++k < k_end);
  return maximum;
}

void
cuv_hough_draw_votes (const CuvFrame *frame, const CuvHoughLayout *layout,
    const uint32_t *accumulator, uint32_t threshold)
{
  for (int y = 0; y < frame->height; y++) {
    for (int x = 0; x < frame->width; x++) {
      uint32_t votes = most_votes (frame, layout, accumulator, x, y);

      cuv_frame_set_grey (frame, x, y,
          votes > threshold ? 255
                            : (uint8_t) (votes * (uint64_t) 191
                                / (threshold > 0 ? threshold : 1)));
    }
  }
}
