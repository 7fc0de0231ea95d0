/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Canny edges against a literal implementation of the definition, and on
 * pictures whose edges are known. */
#include "hough-inputs.h"
#include "hough-oracle.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_canny (const char *format, int width, int height, CuvCheckFill fill)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, width, height, fill);
  CuvCannyParams params = hough_random_canny ();
  CuvCanny *canny = cuv_canny_new (width + 5, height + 3);
  uint8_t *expected = oracle_canny (&frame.frame, &params);

  cuv_check_case ("Canny, %s %dx%d, fill %d, blur %d, norm %d, %d %d", format,
      width, height, fill, params.blur, params.norm, params.low, params.high);
  for (int run = 0; run < 2; run++) { /* no state carries over */
    cuv_canny_run (canny, &frame.frame, &params);
    CUV_CHECK (
        memcmp (canny->edges, expected, (size_t) width * (size_t) height) == 0);
  }
  free (expected);
  cuv_canny_free (canny);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS_CPU (check_edges)
{
  for (int f = 0; cuv_check_formats[f] != NULL; f++)
    check_canny (cuv_check_formats[f], 97, 63, CUV_CHECK_TEXTURE);
  for (size_t i = 0; i < HOUGH_N_SIZES; i++) {
    for (int fill = 0; fill < CUV_CHECK_N_FILLS; fill++)
      check_canny ("GRAY8", hough_sizes[i].width, hough_sizes[i].height, fill);
  }
  for (int i = 0; i < 20; i++)
    check_canny ("GRAY8", 80, 60, CUV_CHECK_TEXTURE);
}

/* Returns the edges of the picture with pixels value(x, y). */
static CuvCanny *
edges_of_picture (int width, int height, uint8_t (*value) (int x, int y),
    const CuvCannyParams *params)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &frame.frame.component[0];
  CuvCanny *canny = cuv_canny_new (width, height);

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      grey->data[y * grey->stride + x] = value (x, y);
  }
  cuv_canny_run (canny, &frame.frame, params);
  cuv_check_frame_free (&frame);
  return canny;
}

static int
count_edges (const CuvCanny *canny)
{
  int n = 0;

  for (int at = 0; at < canny->width * canny->height; at++)
    n += canny->edges[at] != 0;
  return n;
}

static uint8_t
step (int x, int y)
{
  return x < 20 ? 50 : 150;
}

static uint8_t
ramp (int x, int y)
{
  return (uint8_t) (4 * x);
}

static uint8_t
disc (int x, int y)
{
  return (x - 32) * (x - 32) + (y - 32) * (y - 32) < 400 ? 200 : 20;
}

/* A pixel of a long weak edge. */
static uint8_t
wave (int x, int y)
{
  return y > 32 + 24 * sin (x / 20.) ? 30 : 0;
}

/* A pixel of the same edge, strong at the left and fading to the right. */
static uint8_t
fading_wave (int x, int y)
{
  return wave (x, y) != 0 && x < 85 ? (uint8_t) (200 - 2 * x) : wave (x, y);
}

CUV_CHECKS_CPU (check_known_edges)
{
  const CuvCannyParams l1 = { .norm = CUV_CANNY_L1, .low = 50, .high = 100 };
  const CuvCannyParams weak = { .norm = CUV_CANNY_L1, .low = 20, .high = 400 };
  const CuvCannyParams all_strong = {
    .norm = CUV_CANNY_L1, .low = 20, .high = 20
  };
  CuvCanny *canny = edges_of_picture (64, 64, step, &l1), *all;

  cuv_check_case ("a step");
  CUV_CHECK (count_edges (canny) == 62, ": %d", count_edges (canny));
  for (int y = 1; y < 63; y++)
    CUV_CHECK (canny->edges[y * 64 + 19] == 255, ": row %d", y);
  cuv_canny_free (canny);

  cuv_check_case ("a ramp");
  canny = edges_of_picture (60, 20, ramp, &l1);
  CUV_CHECK (count_edges (canny) == 0, ": %d", count_edges (canny));
  cuv_canny_free (canny);

  cuv_check_case ("a disc");
  canny = edges_of_picture (64, 64, disc, &l1);
  CUV_CHECK (count_edges (canny) > 100 && count_edges (canny) < 140, ": %d",
      count_edges (canny));
  cuv_canny_free (canny);

  cuv_check_case ("a weak wave");
  canny = edges_of_picture (512, 64, wave, &weak);
  CUV_CHECK (count_edges (canny) == 0, ": %d", count_edges (canny));
  cuv_canny_free (canny);
  canny = edges_of_picture (512, 64, fading_wave, &weak);
  all = edges_of_picture (512, 64, fading_wave, &all_strong);
  CUV_CHECK (count_edges (canny) > 510, ": %d", count_edges (canny));
  CUV_CHECK (memcmp (canny->edges, all->edges, 512 * 64) == 0);
  cuv_canny_free (canny);
  cuv_canny_free (all);
}
