/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Crops: the C reference against a literal bilinear mean, and the CPU version
 * against the reference. */
#include "cpu/crop.h"
#include "cuvcheck.h"
#include "rcd-crops.h"
#include "rcd/rcd-pixel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

CuvRcdCrop
random_crop (int width, int height)
{
  const int64_t longer = width > height ? width : height;
  const int64_t step = 1 + cuv_check_below (1 << 18);

  return (CuvRcdCrop){ (int64_t) cuv_check_below ((uint32_t) longer * 3) * 65536
        - longer * 65536 + cuv_check_below (65536),
    (int64_t) cuv_check_below ((uint32_t) longer * 3) * 65536 - longer * 65536
        + cuv_check_below (65536),
    step, 1 + (int) cuv_check_below (2) };
}

void
check_crop (const CuvFrame *frame, const CuvRcdCrop *crop, int side,
    const uint8_t *pixels)
{
  uint8_t expected[CUV_RCD_CROP_PIXELS];
  size_t wrong = 0;

  cuv_rcd_crop (frame, crop, side, expected);
  for (int i = 0; i < side * side; i++)
    wrong += pixels[i] != expected[i];
  CUV_CHECK (wrong == 0,
      ": %zu pixels, crop at %lld, %lld, step %lld, %d samples", wrong,
      (long long) crop->x, (long long) crop->y, (long long) crop->step,
      crop->samples);
}

/* ---- the reference ---- */

static double
grey_between (const CuvFrame *frame, double x, double y)
{
  const double left = floor (x), top = floor (y);
  double sum = 0.0;

  for (int j = 0; j < 2; j++) {
    for (int i = 0; i < 2; i++)
      sum += cuv_rcd_grey (frame, (int) left + i, (int) top + j)
          * (1.0 - fabs (x - left - i)) * (1.0 - fabs (y - top - j));
  }
  return sum;
}

static double
mean_at (const CuvFrame *frame, const CuvRcdCrop *crop, int x, int y)
{
  const int n = crop->samples;
  double sum = 0.0;

  for (int i = 0; i < n * n; i++)
    sum += grey_between (frame,
        (double) (crop->x + crop->step * (x * n + i % n)) / 65536.0,
        (double) (crop->y + crop->step * (y * n + i / n)) / 65536.0);
  return sum / (n * n);
}

/* Compares with the definition: places are rounded to 1/256 pixel, values to
 * integers. */
static void
check_reference (const CuvFrame *frame)
{
  static uint8_t pixels[CUV_RCD_CROP_PIXELS];
  const CuvRcdCrop crop = random_crop (frame->width, frame->height);
  enum { SIDE = 24 };

  cuv_rcd_crop (frame, &crop, SIDE, pixels);
  for (int i = 0; i < SIDE * SIDE; i++) {
    const double expected = mean_at (frame, &crop, i % SIDE, i / SIDE);

    CUV_CHECK (
        fabs (pixels[i] - expected) < 3.0, ": %d, not %g", pixels[i], expected);
  }
}

/* ---- entry ---- */

CUV_CHECKS_CPU (check_crops)
{
  static const int sides[] = { 1, 128, CUV_RCD_CROP };
  static uint8_t pixels[CUV_RCD_CROP_PIXELS];

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int i = 0; i < 6; i++) {
      const int width = 1 + (int) cuv_check_below (i < 3 ? 400 : 7);
      const int height = 1 + (int) cuv_check_below (i % 2 == 0 ? 300 : 5);
      CuvCheckFrame frame = cuv_check_frame_new (
          cuv_check_formats[f], width, height, CUV_CHECK_NOISE);
      const CuvRcdCrop crop = random_crop (width, height);

      cuv_check_case ("crops, %s %dx%d", cuv_check_formats[f], width, height);
      check_reference (&frame.frame);
      cuv_rcd_cpu_crop (&frame.frame, &crop, sides[i % 3], pixels);
      check_crop (&frame.frame, &crop, sides[i % 3], pixels);
      cuv_check_frame_free (&frame);
    }
  }
}
