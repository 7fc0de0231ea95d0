/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ldp-inputs.h"

#include <stdlib.h>
#include <string.h>

static CuvLdpParams
random_params (int width, int height)
{
  const uint32_t side = (uint32_t) (width < height ? width : height);
  CuvLdpParams params = { .order = 2 + (int) cuv_check_below (8),
    .grid = 1 + (int) cuv_check_below (side < 9 ? side : 9),
    .directions = 1 + (int) cuv_check_below (15),
    .is_merged = cuv_check_below (3) == 0,
    .border = cuv_check_below (2) ? CUV_LDP_VALID : CUV_LDP_REPLICATE,
    .bins = (CuvLdpBins) cuv_check_below (3),
    .levels = 2 + (int) cuv_check_below (255) };

  if (cuv_check_below (2))
    params.block = 1 + (int) cuv_check_below (40);
  if (cuv_check_below (2))
    params.scales = 1 + (int) cuv_check_below (4);
  while (params.block == 0 && params.scales > 1
      && (int) side >> (params.scales - 1) < params.grid)
    params.scales--;
  if (cuv_check_below (2))
    params.order = 2 + (int) cuv_check_below (3);
  return params;
}

void
ldp_input_init (LdpInput *self, const char *format, CuvCheckFill fill,
    int width, int height)
{
  CuvLdpRect *rect = &self->rect;
  CuvLdpParams params;
  uint8_t *picture;
  int to[2];

  self->frame = cuv_check_frame_new (format, width, height, fill);
  *rect = (CuvLdpRect){ 0, 0, width, height };
  if (cuv_check_below (2)) {
    rect->x = (int) cuv_check_below ((uint32_t) width);
    rect->y = (int) cuv_check_below ((uint32_t) height);
    rect->width = 1 + (int) cuv_check_below ((uint32_t) (width - rect->x));
    rect->height = 1 + (int) cuv_check_below ((uint32_t) (height - rect->y));
  }
  to[0] = cuv_check_below (2) ? rect->width : 1 + (int) cuv_check_below (70);
  to[1] = cuv_check_below (2) ? rect->height : 1 + (int) cuv_check_below (70);
  params = random_params (to[0], to[1]);
  cuv_check_case ("%s %dx%d, %dx%d+%d+%d as %dx%d, order %d, block %d, grid "
                  "%d, scales %d",
      format, width, height, rect->width, rect->height, rect->x, rect->y, to[0],
      to[1], params.order, params.block, params.grid, params.scales);
  CUV_CHECK (
      cuv_ldp_layout_init (&self->layout, &params, to[0], to[1]) == NULL);
  picture = malloc ((size_t) to[0] * (size_t) to[1]);
  self->wanted =
      malloc (cuv_ldp_n_counts (&self->layout) * sizeof *self->wanted);
  cuv_ldp_resize (&self->frame.frame, rect, to[0], to[1], picture);
  cuv_ldp_describe (&self->layout, picture, self->wanted);
  free (picture);
}

void
ldp_input_clear (LdpInput *self)
{
  free (self->wanted);
  cuv_check_frame_free (&self->frame);
}

void
ldp_each_input (void (*check) (const LdpInput *input))
{
  static const int sizes[][2] = { { 1, 1 }, { 2, 1 }, { 1, 7 }, { 3, 3 },
    { 17, 33 }, { 31, 9 }, { 64, 48 }, { 97, 61 }, { 301, 150 } };
  const int n = cuv_check_options.few ? 8 : 9;

  for (int i = 0; cuv_check_formats[i] != NULL; i++) {
    for (int s = 0; s < n; s++) {
      LdpInput input;

      ldp_input_init (&input, cuv_check_formats[i],
          (CuvCheckFill) cuv_check_below (CUV_CHECK_N_FILLS), sizes[s][0],
          sizes[s][1]);
      check (&input);
      CUV_CHECK (cuv_check_guards_intact (&input.frame));
      ldp_input_clear (&input);
    }
  }
}

/* Returns pixel (x, y) of the picture in an orientation. */
static uint8_t
turned_pixel (const uint8_t *picture, int width, int height, int orientation,
    int x, int y)
{
  const int u = orientation & 4 ? y : x, v = orientation & 4 ? x : y;

  return picture[(orientation & 2 ? height - 1 - v : v) * width
      + (orientation & 1 ? width - 1 - u : u)];
}

uint32_t *
ldp_input_turn (const LdpInput *self, int orientation)
{
  const int width = self->layout.width, height = self->layout.height;
  const int across = orientation & 4 ? height : width;
  const int down = width * height / across;
  uint8_t *picture = malloc ((size_t) width * (size_t) height);
  uint8_t *turned = malloc ((size_t) width * (size_t) height);
  uint32_t *counts = malloc (cuv_ldp_n_counts (&self->layout) * sizeof *counts);
  const CuvFrame frame = { CUV_MODEL_GREY, across, down, 1,
    { { turned, across, 1, 0, 0 } } };

  cuv_ldp_resize (&self->frame.frame, &self->rect, width, height, picture);
  for (int i = 0; i < width * height; i++)
    turned[i] = turned_pixel (
        picture, width, height, orientation, i % across, i / across);
  cuv_ldp_resize (
      &frame, &(CuvLdpRect){ 0, 0, across, down }, width, height, picture);
  cuv_ldp_describe (&self->layout, picture, counts);
  free (picture);
  free (turned);
  return counts;
}

/* Compares counts of two or four bytes with those of the reference. */
bool
ldp_counts_equal (
    const CuvLdpLayout *layout, const void *counts, const uint32_t *wanted)
{
  const bool wide = cuv_ldp_count_size (layout) == 4;
  const size_t n = cuv_ldp_n_counts (layout);

  for (size_t i = 0; i < n; i++) {
    const uint32_t count =
        wide ? ((const uint32_t *) counts)[i] : ((const uint16_t *) counts)[i];

    if (count != wanted[i])
      return CUV_CHECK (
          count == wanted[i], ": %zu: %u, not %u", i, count, wanted[i]);
  }
  return true;
}

CuvCheckFrame
ldp_input_draw (const LdpInput *self, int direction)
{
  const int width = self->layout.width, height = self->layout.height;
  CuvCheckFrame drawn = cuv_check_frame_copy (&self->frame);
  uint8_t *picture = malloc ((size_t) width * (size_t) height);

  cuv_ldp_resize (&self->frame.frame, &self->rect, width, height, picture);
  cuv_ldp_draw (&drawn.frame, &self->rect, &self->layout, picture, direction);
  free (picture);
  return drawn;
}

bool
ldp_frames_equal (const CuvCheckFrame *a, const CuvCheckFrame *b)
{
  return a->size == b->size && memcmp (a->memory, b->memory, a->size) == 0;
}

/* ---- pictures for matching ---- */

static void
fill (uint8_t *picture, int n, int i)
{
  const uint32_t flat = cuv_check_below (4) == 0 ? (uint32_t) n : 0;

  for (int p = 0; p < n; p++)
    picture[p] = (uint32_t) p < flat || p < n * (i % 3) / 3
        ? 7
        : (uint8_t) cuv_check_below (256);
}

void
ldp_pictures_init (LdpPictures *self, int kind)
{
  static const CuvLdpParams kinds[LDP_N_KINDS] = {
    { .order = 2, .block = 16, .directions = 15, .scales = 2 },
    { .order = 3, .block = 16, .directions = 15, .border = CUV_LDP_REPLICATE },
    { .order = 3, .block = 8, .directions = 15, .is_merged = 1 },
    { .order = 3, .grid = 2, .directions = 7 },
    { .order = 4, .grid = 1, .directions = 2, .bins = CUV_LDP_BINS_UNIFORM },
    { .order = 2,
        .block = 9,
        .directions = 15,
        .bins = CUV_LDP_BINS_LEVELS,
        .levels = 33 },
    { .order = 9, .block = 99, .directions = 15 },
    { .order = 2, .grid = 1, .directions = 15, .is_merged = 1 },
  };
  const CuvLdpParams *params = &kinds[kind];
  const bool large = kind == 7; /* four bytes per count */
  const int width = large ? 140 : 50, height = large ? 131 : 37;
  const int n = width * height;
  uint8_t *picture = malloc ((size_t) n);
  size_t n_counts;

  cuv_check_case ("%dx%d, order %d, block %d, grid %d, bins %d, merged %d",
      width, height, params->order, params->block, params->grid, params->bins,
      params->is_merged);
  CUV_CHECK (
      cuv_ldp_layout_init (&self->layout, params, width, height) == NULL);
  n_counts = cuv_ldp_n_counts (&self->layout);
  self->stride =
      (n_counts * (size_t) cuv_ldp_index_count_size (&self->layout) + 31)
      & ~15ul;
  self->packed = calloc (LDP_PICTURES, self->stride);
  for (int i = 0; i < LDP_PICTURES; i++) {
    if (i != 5) /* equal to the previous one */
      fill (picture, n, i);
    self->counts[i] = malloc (n_counts * sizeof *self->counts[i]);
    cuv_ldp_describe (&self->layout, picture, self->counts[i]);
    CUV_CHECK (cuv_ldp_index_pack (&self->layout, self->counts[i],
        self->packed + (size_t) i * self->stride));
  }
  free (picture);
}

void
ldp_pictures_clear (LdpPictures *self)
{
  for (int i = 0; i < LDP_PICTURES; i++)
    free (self->counts[i]);
  free (self->packed);
}
