/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/bits.h"

#include <string.h>

/* Ors each pixel with the `n` that follow it; steps double their number. */
static void
or_following (uint64_t *row, int n_words, int n)
{
  for (int done = 1; done <= n; done *= 2) {
    const int step = cuv_motion_min (done, n + 1 - done);

    for (int i = 0; i < n_words; i++) {
      const uint64_t next = i + 1 < n_words ? row[i + 1] : 0;

      row[i] |= row[i] >> step | next << (64 - step);
    }
  }
}

/* Ors each pixel with the `n` before it. */
static void
or_preceding (uint64_t *row, int n_words, int n)
{
  for (int done = 1; done <= n; done *= 2) {
    const int step = cuv_motion_min (done, n + 1 - done);

    for (int i = n_words - 1; i >= 0; i--) {
      const uint64_t before = i > 0 ? row[i - 1] : 0;

      row[i] |= row[i] << step | before >> (64 - step);
    }
  }
}

static uint64_t
last_word (const CuvMotionBits *self)
{
  return ~UINT64_C (0) >> (self->stride * 64 - self->width);
}

/* Writes the row, each pixel ored with its neighbours on both sides. */
static void
dilate_row (const CuvMotionBits *self, int y, int side, uint64_t *out,
    uint64_t *scratch)
{
  const uint64_t *row = self->words + (size_t) y * (size_t) self->stride;
  const size_t size = (size_t) self->stride * sizeof *row;

  memcpy (out, row, size);
  memcpy (scratch, row, size);
  or_following (out, self->stride, side / 2);
  or_preceding (scratch, self->stride, side / 2);
  for (int i = 0; i < self->stride; i++)
    out[i] |= scratch[i];
  out[self->stride - 1] &= last_word (self);
}

static void
dilate (const CuvMotionBits *self, int side, uint64_t *scratch)
{
  const size_t stride = (size_t) self->stride;
  uint64_t *row = scratch + (size_t) self->height * stride;
  const int r = side / 2;

  for (int y = 0; y < self->height; y++)
    dilate_row (self, y, side, scratch + (size_t) y * stride, row);
  memset (self->words, 0, (size_t) self->height * stride * sizeof *scratch);
  for (int y = 0; y < self->height; y++) {
    uint64_t *out = self->words + (size_t) y * stride;

    for (int k = cuv_motion_max (y - r, 0);
         k <= cuv_motion_min (y + r, self->height - 1); k++) {
      for (size_t i = 0; i < stride; i++)
        out[i] |= scratch[(size_t) k * stride + i];
    }
  }
}

static void
complement (const CuvMotionBits *self)
{
  uint64_t *word = self->words;

  for (int y = 0; y < self->height; y++, word += self->stride) {
    for (int i = 0; i < self->stride; i++)
      word[i] = ~word[i];
    word[self->stride - 1] &= last_word (self);
  }
}

static void
erode (const CuvMotionBits *self, int side, uint64_t *scratch)
{
  complement (self);
  dilate (self, side, scratch);
  complement (self);
}

void
cuv_motion_bits_open (const CuvMotionBits *self, int side, uint64_t *scratch)
{
  if (side == 1)
    return;
  erode (self, side, scratch);
  dilate (self, side, scratch);
}

void
cuv_motion_bits_close (const CuvMotionBits *self, int side, uint64_t *scratch)
{
  if (side == 1)
    return;
  dilate (self, side, scratch);
  erode (self, side, scratch);
}

void
cuv_motion_bits_hide (const CuvMotionBits *self, const uint64_t *unmasked)
{
  const size_t n = (size_t) self->height * (size_t) self->stride;

  for (size_t i = 0; unmasked != NULL && i < n; i++)
    self->words[i] &= unmasked[i];
}
