/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-inputs.h"

#include <stdlib.h>

const HoughSize hough_sizes[HOUGH_N_SIZES] = { { 1, 1 }, { 2, 1 }, { 1, 9 },
  { 40, 1 }, { 3, 3 }, { 4, 3 }, { 17, 33 }, { 64, 48 }, { 161, 91 } };

/* kind, width, height, period, inclusive, theta from and to, step of rho,
 * window, lines only */
static const CuvHoughConfig configs[HOUGH_N_CONFIGS] = {
  { CUV_LINES_RHO_THETA, 0, 0, 180, 0, -90, 90, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 180, 1, -90, 90, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 1, 0, -90, 90, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 2, 1, -90, 90, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 30, 0, -90, 90, 2.5, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 45, 0, -20, 35.5, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 180, 0, 80, 100, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 60, 1, 30, 210, 1.7, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 180, 0, -90, 90, 1, 10, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 90, 1, -90, 90, 1, 0.1, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 36, 0, 70, 115, 3, 33.3, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 7, 0, -90, 90, 400, 60, 0 },
  /* a gap of 10 degrees */
  { CUV_LINES_RHO_THETA, 0, 0, 36, 0, -90, 80, 1, 90, 0 },
  { CUV_LINES_RHO_THETA, 0, 0, 90, 0, -90, 85, 1, 20, 0 },
  { CUV_LINES_PCLINES, 0, 0, 32, 0, -88, 88, 1, 90, 0 },
  { CUV_LINES_PCLINES, 0, 0, 64, 0, -90, 90, 1, 90, 0 },
  { CUV_LINES_PCLINES, 0, 0, 2, 1, -90, 90, 1, 90, 0 },
  { CUV_LINES_PCLINES, 0, 0, 40, 1, -90, 90, 2, 90, 0 },
  { CUV_LINES_PCLINES, 0, 0, 64, 0, 45, 120, 1, 20, 0 },
  { CUV_LINES_PCLINES, 0, 0, 256, 0, -90, 90, 1, 5, 0 },
  /* pixels half way between two cells */
  { CUV_LINES_RHO_THETA, 0, 0, 30, 0, -90, 90, 2, 90, 0 },
};

CuvHoughConfig
hough_config (int i, int width, int height)
{
  CuvHoughConfig config = configs[i];

  config.width = width;
  config.height = height;
  return config;
}

CuvCannyParams
hough_random_canny (void)
{
  CuvCannyParams params = { .blur = cuv_check_below (2),
    .norm = cuv_check_below (2) ? CUV_CANNY_L1 : CUV_CANNY_L2,
    .low = (int) cuv_check_below (150) };

  params.high = params.low + (int) cuv_check_below (200);
  if (cuv_check_below (20) == 0) /* above all gradients */
    params.high = cuv_check_below (2) ? 2040 : 70000;
  return params;
}

CuvPeakParams
hough_peak_params (int i, uint32_t most)
{
  static const int neighborhoods[HOUGH_N_RULES] = { 1, 1, 3, 5, 7, 3, 9 };
  int rule = i % HOUGH_N_RULES;

  return (CuvPeakParams){ cuv_check_below (most),
    rule == 0       ? CUV_PEAKS_ALL
        : rule == 1 ? CUV_PEAKS_CROSS
        : rule < 5  ? CUV_PEAKS_SQUARE
                    : CUV_PEAKS_DOMINANT,
    neighborhoods[rule] };
}

uint8_t *
hough_random_map (int width, int height, int one_in)
{
  uint8_t *map = calloc ((size_t) width * (size_t) height, 1);

  for (int at = 0; at < width * height; at++)
    map[at] = cuv_check_below ((uint32_t) one_in) == 0 ? 255 : 0;
  return map;
}

static void
random_bins (HoughInput *self)
{
  for (size_t i = 0; i < self->list.n; i++) {
    int gx = (int) cuv_check_below (2041) - 1020;
    int gy = (int) cuv_check_below (2041) - 1020;

    gx += gx == 0 && gy == 0;
    self->bins[i] =
        (uint16_t) cuv_hough_orientation_bin (&self->layout, gx, gy);
  }
}

bool
hough_input_init (HoughInput *self, const CuvHoughConfig *config, int one_in)
{
  const int width = config->width, height = config->height;
  const char *problem = cuv_hough_layout_init (&self->layout, config);
  size_t n;

  if (!CUV_CHECK (problem == NULL, ": %s", problem))
    return false;
  self->map = hough_random_map (width, height, one_in);
  n = cuv_hough_list_edges (self->map, width, height, width, NULL);
  self->pixels = malloc ((n + 1) * sizeof *self->pixels);
  self->bins = malloc ((n + 1) * sizeof *self->bins);
  cuv_hough_list_edges (self->map, width, height, width, self->pixels);
  self->list = (CuvEdgeList){ self->pixels, NULL, n };
  random_bins (self);
  if (config->window < 90)
    self->list.bins = self->bins;
  return true;
}

void
hough_input_clear (HoughInput *self)
{
  cuv_hough_layout_clear (&self->layout);
  free (self->map);
  free (self->pixels);
  free (self->bins);
}

uint32_t *
hough_input_vote (const HoughInput *self)
{
  uint32_t *votes = malloc (cuv_hough_n_cells (&self->layout) * sizeof *votes);

  cuv_hough_vote (&self->layout, &self->list, votes);
  return votes;
}
