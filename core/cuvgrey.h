/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts rows of a frame of any format to grey values. */
#ifndef CUV_GREY_H
#define CUV_GREY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "cuv-frame.h"

static inline void
cuv_copy_row (const uint8_t *from, int step, int width, uint8_t *out)
{
  for (int x = 0; x < width; x++)
    out[x] = from[x * step];
}

static inline void
cuv_mix_row (const uint8_t *r, const uint8_t *g, const uint8_t *b, int step,
    int width, uint8_t *out)
{
  for (int x = 0; x < width; x++)
    out[x] = cuv_grey_of_rgb (r[x * step], g[x * step], b[x * step]);
}

static inline bool
cuv_has_steps (const CuvFrame *frame, int step)
{
  const CuvComponent *c = frame->component;

  return c[0].step == step
      && (frame->model != CUV_MODEL_RGB
          || (c[1].step == step && c[2].step == step));
}

/* Writes the grey values of row y, frame->width bytes. Constant steps let the
 * compiler vectorise. */
static inline void
cuv_grey_row (const CuvFrame *frame, int y, uint8_t *out)
{
  const bool mixed = frame->model == CUV_MODEL_RGB;
  const uint8_t *row[3];

  for (int i = 0; i < (mixed ? 3 : 1); i++)
    row[i] =
        frame->component[i].data + (ptrdiff_t) y * frame->component[i].stride;
  if (mixed && cuv_has_steps (frame, 4))
    cuv_mix_row (row[0], row[1], row[2], 4, frame->width, out);
  else if (mixed && cuv_has_steps (frame, 3))
    cuv_mix_row (row[0], row[1], row[2], 3, frame->width, out);
  else if (!mixed && cuv_has_steps (frame, 1))
    memcpy (out, row[0], (size_t) frame->width);
  else if (!mixed && cuv_has_steps (frame, 2))
    cuv_copy_row (row[0], 2, frame->width, out);
  else
    for (int x = 0; x < frame->width; x++)
      out[x] = cuv_frame_grey (frame, x, y);
}

#endif
