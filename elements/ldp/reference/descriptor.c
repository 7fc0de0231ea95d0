/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and their histograms; cuv_ldp_code() itself is in ldp/ldp-code.h. */
#include "ldp.h"
#include "ldp/ldp-resize.h"

#include <stdlib.h>
#include <string.h>

void
cuv_ldp_resize (const CuvFrame *frame, const CuvLdpRect *rect, int width,
    int height, uint8_t *picture)
{
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      *picture++ = cuv_ldp_resized_pixel (frame, rect, width, height, x, y);
  }
}

/* Counts the codes of a block in one direction. */
static void
count_block (const CuvLdpLayout *self, const uint8_t *picture, int direction,
    int column, int row, uint32_t *histogram)
{
  int x[2], y[2];

  cuv_ldp_block (self, column, row, x, y);
  for (int v = y[0]; v < y[1]; v++) {
    for (int u = x[0]; u < x[1]; u++)
      histogram[self->bin_of_code[cuv_ldp_code (picture, self->width,
          self->height, self->params.order, direction, u, v)]]++;
  }
}

void
cuv_ldp_draw (const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvLdpLayout *layout, const uint8_t *picture, int direction)
{
  for (int y = 0; y < rect->height; y++) {
    for (int x = 0; x < rect->width; x++)
      cuv_frame_set_grey (frame, rect->x + x, rect->y + y,
          cuv_ldp_drawn_pixel (layout, picture, direction,
              (int) ((int64_t) x * layout->width / rect->width),
              (int) ((int64_t) y * layout->height / rect->height)));
  }
}

static void
describe_scale (
    const CuvLdpLayout *self, const uint8_t *picture, uint32_t *counts)
{
  const size_t stride = self->params.is_merged ? 0 : (size_t) self->n_bins;

  memset (counts, 0, cuv_ldp_n_counts (self) * sizeof *counts);
  for (int row = 0; row < self->rows; row++) {
    for (int column = 0; column < self->columns; column++) {
      uint32_t *histogram = counts;

      for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
        if ((self->params.directions >> d & 1) == 0)
          continue;
        count_block (self, picture, d, column, row, histogram);
        histogram += stride;
      }
      counts += self->n_histograms * self->n_bins;
    }
  }
}

/* Makes the picture of a scale from the one before, which it follows in memory.
 */
static uint8_t *
halve (uint8_t *picture, const CuvLdpLayout *self, int scale)
{
  const int width = cuv_ldp_scaled_size (self->width, scale - 1);
  const int height = cuv_ldp_scaled_size (self->height, scale - 1);
  const CuvFrame frame = { CUV_MODEL_GREY, width, height, 1,
    { { picture, width, 1, 0, 0 } } };
  const CuvLdpRect whole = { 0, 0, width, height };
  uint8_t *next = picture + (size_t) width * (size_t) height;

  cuv_ldp_resize (&frame, &whole, cuv_ldp_scaled_size (self->width, scale),
      cuv_ldp_scaled_size (self->height, scale), next);
  return next;
}

bool
cuv_ldp_describe (
    const CuvLdpLayout *self, const uint8_t *picture, uint32_t *counts)
{
  const size_t size = (size_t) self->width * (size_t) self->height;
  /* each scale has at most half the pixels of the one before, or one */
  uint8_t *pictures = malloc (2 * size + CUV_LDP_MAX_SCALES);
  uint8_t *at = pictures;

  if (pictures == NULL)
    return false;
  memcpy (pictures, picture, size);
  for (int s = 0; s < self->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (self, s);

    if (s > 0)
      at = halve (at, self, s);
    describe_scale (&part, at, counts);
    counts += cuv_ldp_n_counts (&part);
  }
  free (pictures);
  return true;
}
