/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of RGB to NV12 on the GPU, against its definition. */
#include "config.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuv-nv12.h"

enum { MARGIN = 3 }; /* bytes after each row that must not change */

typedef struct {
  int width, height, stride;
  CuvYuvColours colours;
  uint8_t *rgbx;
  uint8_t *y, *uv;
  int y_stride, uv_stride;
} Picture;

static double
smooth (const Picture *self, int x, int y, int c)
{
  const int at = x < 0 ? 0 : x < self->width ? x : self->width - 1;
  const int row = y < self->height ? y : self->height - 1;

  return self->rgbx[row * self->stride + 4 * at + c];
}

/* Checks component c of a pixel with the given R, G and B. */
static void
check_value (const Picture *self, int c, const double *rgb, uint8_t found)
{
  double wanted = (double) self->colours.offset[c];

  for (int i = 0; i < 3; i++)
    wanted += (double) self->colours.factor[c][i] * rgb[i];
  wanted = fmin (fmax (wanted, 0.0), 255.0);
  CUV_CHECK (fabs (found - wanted) <= 0.5 + 1e-3, ": component %d: %d, not %g",
      c, found, wanted);
}

static void
check_luma (const Picture *self, int x, int y)
{
  double rgb[3];

  for (int c = 0; c < 3; c++)
    rgb[c] = smooth (self, x, y, c);
  check_value (self, 0, rgb, self->y[y * self->y_stride + x]);
}

static void
check_chroma (const Picture *self, int x, int y)
{
  const uint8_t *found = &self->uv[y / 2 * self->uv_stride + x];
  double rgb[3] = { 0 };

  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < 2; i++) {
      const double middle = smooth (self, x, y + i, c);
      const double right = smooth (self, x + 1, y + i, c);
      const double left = smooth (self, x - 1, y + i, c);

      rgb[c] += self->colours.is_cosited ? (left + 2 * middle + right) / 8
                                         : (middle + right) / 4;
    }
  }
  check_value (self, 1, rgb, found[0]);
  check_value (self, 2, rgb, found[1]);
}

static void
check_margin (const uint8_t *plane, int stride, int rows)
{
  for (int y = 0; y < rows; y++) {
    for (int i = 1; i <= MARGIN; i++)
      CUV_CHECK (plane[(y + 1) * stride - i] == 77);
  }
}

static void
submit (Picture *self)
{
  const int rows = (self->height + 1) / 2;
  const size_t y_size = (size_t) (self->y_stride * self->height);
  const size_t uv_size = (size_t) (self->uv_stride * rows);
  uint8_t *rgbx, *y, *uv;

  memset (self->y, 77, y_size);
  memset (self->uv, 77, uv_size);
  rgbx = cuv_check_upload (self->rgbx, (size_t) (self->stride * self->height));
  y = cuv_check_upload (self->y, y_size);
  uv = cuv_check_upload (self->uv, uv_size);
  CUV_CHECK (cuv_nv12_submit (rgbx, self->stride, self->width, self->height,
                 &self->colours, y, self->y_stride, uv, self->uv_stride,
                 cuv_check_stream)
      == 0);
  cuv_check_stream_wait (cuv_check_stream);
  cuv_check_download (self->y, y, y_size);
  cuv_check_download (self->uv, uv, uv_size);
  check_margin (self->y, self->y_stride, self->height);
  check_margin (self->uv, self->uv_stride, rows);
  cuv_check_device_free (rgbx);
  cuv_check_device_free (y);
  cuv_check_device_free (uv);
}

static void
check_picture (int width, int height, bool is_cosited)
{
  Picture self = { .width = width,
    .height = height,
    .stride = 4 * width + 8,
    /* BT.601, limited range */
    .colours = { { { 0.25679f, 0.50413f, 0.09791f },
                     { -0.14822f, -0.29099f, 0.43922f },
                     { 0.43922f, -0.36779f, -0.07143f } },
        { 16, 128, 128 }, is_cosited },
    .y_stride = width + MARGIN,
    .uv_stride = (width + 1) / 2 * 2 + MARGIN };

  cuv_check_case ("NV12 of %dx%d, cosited %d", width, height, is_cosited);
  self.rgbx = malloc ((size_t) (self.stride * height));
  self.y = malloc ((size_t) (self.y_stride * height));
  self.uv = malloc ((size_t) (self.uv_stride * ((height + 1) / 2)));
  for (int i = 0; i < self.stride * height; i++)
    self.rgbx[i] = (uint8_t) cuv_check_below (256);
  submit (&self);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      check_luma (&self, x, y);
      if (x % 2 == 0 && y % 2 == 0)
        check_chroma (&self, x, y);
    }
  }
  free (self.rgbx);
  free (self.y);
  free (self.uv);
}

CUV_CHECKS_CUDA (check_nv12_cuda)
{
  static const int sizes[][2] = { { 1, 1 }, { 2, 2 }, { 3, 5 }, { 64, 48 },
    { 131, 33 } };

  for (int i = 0; i < 10; i++)
    check_picture (sizes[i / 2][0], sizes[i / 2][1], i % 2);
}

#endif
