/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blur, gradients, non-maximum suppression and hysteresis. */
#include "reference/canny.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WEAK 1 /* an edge if connected to one */
#define EDGE 255

CuvCanny *
cuv_canny_new (int width, int height)
{
  CuvCanny *self = calloc (1, sizeof *self);
  size_t n = (size_t) width * (size_t) height;

  if (self == NULL)
    return NULL;
  self->norms = malloc (n * (2 * sizeof (int32_t) + 2 * sizeof (int16_t) + 2));
  if (self->norms == NULL) {
    cuv_canny_free (self);
    return NULL;
  }
  self->stack = self->norms + n;
  self->gx = (int16_t *) (self->stack + n);
  self->gy = self->gx + n;
  self->grey = (uint8_t *) (self->gy + n);
  self->edges = self->grey + n;
  return self;
}

void
cuv_canny_free (CuvCanny *self)
{
  if (self == NULL)
    return;
  free (self->norms);
  free (self);
}

static int
clamp_index (int v, int end)
{
  return v < 0 ? 0 : v < end ? v : end - 1;
}

static const int binomial[] = { 1, 4, 6, 4, 1 };

/* Returns a pixel blurred along its row, in 8.4 fixed point. */
static int
blur_across (const CuvFrame *frame, int x, int y)
{
  int sum = 0;

  for (int i = -2; i <= 2; i++)
    sum += binomial[i + 2]
        * cuv_frame_grey (frame, clamp_index (x + i, frame->width), y);
  return sum;
}

static uint8_t
canny_blurred (const CuvFrame *frame, int x, int y)
{
  int sum = 0;

  for (int j = -2; j <= 2; j++)
    sum += binomial[j + 2]
        * blur_across (frame, x, clamp_index (y + j, frame->height));
  return (uint8_t) ((sum + 128) >> 8);
}

static void
find_grey (CuvCanny *self, const CuvFrame *frame, bool blur)
{
  uint8_t *to = self->grey;

  for (int y = 0; y < self->height; y++) {
    for (int x = 0; x < self->width; x++)
      *to++ = blur ? canny_blurred (frame, x, y) : cuv_frame_grey (frame, x, y);
  }
}

static int
grey_at (const CuvCanny *self, int x, int y)
{
  return self
      ->grey[(size_t) clamp_index (y, self->height) * (size_t) self->width
          + (size_t) clamp_index (x, self->width)];
}

static void
canny_find_gradients (CuvCanny *self, CuvCannyNorm norm)
{
  size_t at = 0;

  for (int y = 0; y < self->height; y++) {
    for (int x = 0; x < self->width; x++, at++) {
      int a = grey_at (self, x - 1, y - 1), b = grey_at (self, x, y - 1);
      int c = grey_at (self, x + 1, y - 1), d = grey_at (self, x - 1, y);
      int e = grey_at (self, x + 1, y), f = grey_at (self, x - 1, y + 1);
      int g = grey_at (self, x, y + 1), h = grey_at (self, x + 1, y + 1);
      int gx = (c + 2 * e + h) - (a + 2 * d + f);
      int gy = (f + 2 * g + h) - (a + 2 * b + c);

      self->gx[at] = (int16_t) gx;
      self->gy[at] = (int16_t) gy;
      self->norms[at] =
          norm == CUV_CANNY_L1 ? abs (gx) + abs (gy) : gx * gx + gy * gy;
    }
  }
}

/* Returns whether a pixel has the greatest norm across the edge; of equal norms
 * the first wins. Must not be called for border pixels. */
static bool
canny_is_ridge (const CuvCanny *self, int x, int y)
{
  const int width = self->width;
  const int32_t *m = self->norms + (size_t) y * (size_t) width + x;
  const int gx = self->gx[m - self->norms], gy = self->gy[m - self->norms];
  /* tan 22.5 degrees in 2^-15, and tan 67.5 = tan 22.5 + 2 */
  const int a = abs (gx), b = abs (gy) << 15;
  const int tan22 = a * 13573, tan67 = tan22 + (a << 16);
  const int side = (gx ^ gy) < 0 ? -1 : 1;

  if (b < tan22)
    return *m > m[-1] && *m >= m[1];
  if (b > tan67)
    return *m > m[-width] && *m >= m[width];
  return *m > m[-width - side] && *m >= m[width + side];
}

/* Suppresses non-maxima and applies both thresholds. Returns the number of
 * strong pixels on the stack. */
static int
suppress (CuvCanny *self, int64_t low, int64_t high)
{
  int n = 0;

  memset (self->edges, 0, (size_t) self->width * (size_t) self->height);
  for (int y = 1; y < self->height - 1; y++) {
    for (int x = 1; x < self->width - 1; x++) {
      int32_t at = y * self->width + x;

      if (self->norms[at] <= low || !canny_is_ridge (self, x, y))
        continue;
      self->edges[at] = self->norms[at] > high ? EDGE : WEAK;
      if (self->edges[at] == EDGE)
        self->stack[n++] = at;
    }
  }
  return n;
}

/* Hysteresis: floods from strong pixels to the weak ones connected to them. No
 * pixel is on the stack twice. */
static void
connect (CuvCanny *self, int n)
{
  const int width = self->width;
  const int around[] = { -width - 1, -width, -width + 1, -1, 1, width - 1,
    width, width + 1 };

  while (n > 0) {
    int32_t at = self->stack[--n];

    for (int i = 0; i < 8; i++) {
      if (self->edges[at + around[i]] == WEAK) {
        self->edges[at + around[i]] = EDGE;
        self->stack[n++] = at + around[i];
      }
    }
  }
  for (int32_t at = 0; at < width * self->height; at++)
    self->edges[at] = self->edges[at] == EDGE ? EDGE : 0;
}

void
cuv_canny_run (
    CuvCanny *self, const CuvFrame *frame, const CuvCannyParams *params)
{
  bool squared = params->norm == CUV_CANNY_L2;
  int64_t low = params->low, high = params->high;

  self->width = frame->width;
  self->height = frame->height;
  find_grey (self, frame, params->blur);
  canny_find_gradients (self, params->norm);
  connect (self,
      suppress (self, squared ? low * low : low, squared ? high * high : high));
}
