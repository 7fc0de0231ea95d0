/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layouts, votes and peaks against their definitions. */
#include "hough-inputs.h"
#include "hough-oracle.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- layouts ---- */

CUV_CHECKS_CPU (check_bad_configs)
{
  static const CuvHoughConfig good = { CUV_LINES_RHO_THETA, 10, 10, 18, 0, -90,
    90, 1, 90, 0 };
  CuvHoughConfig bad[20];
  int n = 0;

#define BAD(member, value)                                                     \
  bad[n] = good;                                                               \
  bad[n++].member = value
  BAD (width, 0);
  BAD (width, -1);
  BAD (width, CUV_HOUGH_MAX_SIZE + 1);
  BAD (height, 0);
  BAD (height, CUV_HOUGH_MAX_SIZE + 1);
  BAD (period, 0);
  BAD (period, CUV_HOUGH_MAX_PERIOD + 1);
  BAD (rho_step, 0.5);
  BAD (rho_step, NAN);
  BAD (rho_step, INFINITY);
  BAD (theta_min, -91);
  BAD (theta_min, 90);
  BAD (theta_min, NAN);
  BAD (theta_max, 91);
  BAD (theta_max, -90);
  BAD (theta_max, NAN);
  BAD (window, 0);
  BAD (window, NAN);
  BAD (period, 17);
  bad[n - 1].kind = CUV_LINES_PCLINES;
  for (int i = 0; i < n; i++) {
    CuvHoughLayout layout;
    const char *problem = cuv_hough_layout_init (&layout, &bad[i]);

    cuv_check_case ("bad config %d", i);
    CUV_CHECK (problem != NULL && strlen (problem) > 10);
    cuv_hough_layout_clear (&layout);
  }
}

static void
check_bin (const CuvHoughLayout *layout, int gx, int gy)
{
  double angle = atan2 (gy, gx) + pi / 2;
  double at, fraction;

  while (angle < 0)
    angle += pi;
  at = fmod (angle, pi) * layout->n_bins / pi;
  fraction = at - floor (at);
  if (fraction * 180 / layout->n_bins < .01
      || (1 - fraction) * 180 / layout->n_bins < .01)
    return; /* rounding may choose the next bin */
  CUV_CHECK (cuv_hough_orientation_bin (layout, gx, gy) == (int) floor (at),
      ": %d, %d of %d", gx, gy, layout->n_bins);
}

CUV_CHECKS_CPU (check_bins)
{
  static const int periods[] = { 1, 2, 3, 180, 256, CUV_HOUGH_MAX_PERIOD };

  for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
    CuvHoughConfig config = { CUV_LINES_RHO_THETA, 10, 10, periods[i], 0, -90,
      90, 1, 10, 0 };
    CuvHoughLayout layout;

    cuv_check_case ("bins, %d", periods[i]);
    CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
    for (int n = 0; n < 2000; n++) {
      int gx = (int) cuv_check_below (2041) - 1020;
      int gy = (int) cuv_check_below (2041) - 1020;

      if (gx == 0 && gy == 0)
        continue;
      check_bin (&layout, gx, gy);
      CUV_CHECK (cuv_hough_orientation_bin (&layout, gx, gy)
          == cuv_hough_orientation_bin (&layout, -gx, -gy));
    }
    for (int n = 1; n < 21 * 21; n++) {
      if (n != 220)
        check_bin (&layout, n % 21 - 10, n / 21 - 10);
    }
    CUV_CHECK (cuv_hough_orientation_bin (&layout, 0, 5) == 0);
    CUV_CHECK (cuv_hough_orientation_bin (&layout, 0, -5) == 0);
    cuv_hough_layout_clear (&layout);
  }
}

static void
check_window (const CuvHoughLayout *layout)
{
  for (int k = 0; k < layout->n_rows; k++) {
    for (int g = 0; g < layout->n_bins; g++)
      CUV_CHECK (cuv_hough_votes_for (layout, g, &layout->rows[k])
              == oracle_votes_in_row (&layout->config, k, g),
          ": bin %d in row %d", g, k);
  }
}

CUV_CHECKS_CPU (check_orientation_windows)
{
  static const double windows[] = { 1e-9, .5, 1, 5, 10, 44.7, 89, 89.9999, 90,
    1e9, INFINITY };

  for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
    for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
      CuvHoughConfig config = hough_config (i, 20, 10);
      CuvHoughLayout layout;

      config.window = windows[w];
      cuv_check_case ("config %d, window %g", i, windows[w]);
      CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
      check_window (&layout);
      cuv_hough_layout_clear (&layout);
    }
  }
}

/* ---- peaks ---- */

/* Checks the peaks of the accumulator and of the ring buffer. */
static void
check_lists (const HoughInput *input, const CuvPeakParams *params,
    const uint32_t *accumulator, size_t max, const CuvHoughPeak *expected,
    size_t n)
{
  CuvHoughPeak *peaks = malloc ((max + 1) * sizeof *peaks);
  CuvPeakList list = { peaks, max, 0 };
  size_t bytes = (max < n ? max : n) * sizeof *peaks;
  uint64_t n_votes = 0, sum = 0;

  cuv_hough_peaks (&input->layout, accumulator, params, &list);
  CUV_CHECK (list.n == n, ": %zu of %zu", list.n, n);
  CUV_CHECK (memcmp (peaks, expected, bytes) == 0, ": %zu of %zu", max, n);
  memset (peaks, 0, (max + 1) * sizeof *peaks);
  CUV_CHECK (
      cuv_hough_ring (&input->layout, &input->list, params, &list, &n_votes));
  CUV_CHECK (list.n == n, ": ring, %zu of %zu", list.n, n);
  CUV_CHECK (
      memcmp (peaks, expected, bytes) == 0, ": ring, %zu of %zu", max, n);
  for (size_t i = 0; i < cuv_hough_n_cells (&input->layout); i++)
    sum += accumulator[i];
  CUV_CHECK (n_votes == sum);
  free (peaks);
}

static void
check_peaks (const HoughInput *input, const uint32_t *accumulator)
{
  size_t room = cuv_hough_n_cells (&input->layout);
  CuvHoughPeak *expected = malloc (room * sizeof *expected);

  for (int i = 0; i < HOUGH_N_RULES; i++) {
    CuvPeakParams params = hough_peak_params (i, 8);
    size_t n = oracle_peaks (&input->layout, accumulator, &params, expected);

    check_lists (input, &params, accumulator, n, expected, n);
    check_lists (input, &params, accumulator,
        cuv_check_below ((uint32_t) n + 2), expected, n);
  }
  free (expected);
}

/* ---- votes ---- */

/* Checks that votes go to the nearest cell, except for the rounding of tables.
 */
static void
check_cells (const HoughInput *input)
{
  const CuvHoughLayout *layout = &input->layout;
  const double near = .5 + (layout->width + layout->height) / 65536.;

  for (int k = 0; k < layout->n_rows; k++) {
    for (size_t i = 0; i < input->list.n; i++) {
      int x = (int) (input->pixels[i] & 0xffff);
      int y = (int) (input->pixels[i] >> 16);
      double off = oracle_pclines_value (layout, k, x, y)
          - cuv_hough_cell (&layout->rows[k], x, y);

      CUV_CHECK (fabs (off) <= near, ": row %d, %d %d: %g", k, x, y, off);
    }
  }
}

static void
check_accumulator (const HoughInput *input, const uint32_t *votes)
{
  const CuvHoughLayout *layout = &input->layout;
  size_t bytes = cuv_hough_n_cells (layout) * sizeof *votes;
  uint32_t *expected, *gathered;

  CUV_CHECK (layout->n_rows == oracle_n_rows (&layout->config));
  if (layout->config.kind == CUV_LINES_RHO_THETA) {
    expected = oracle_votes (layout, &input->list);
    CUV_CHECK (memcmp (votes, expected, bytes) == 0);
    free (expected);
  } else {
    check_cells (input);
  }
  if (input->list.bins == NULL) {
    gathered = malloc (bytes);
    cuv_hough_gather (layout, input->map, gathered);
    CUV_CHECK (memcmp (votes, gathered, bytes) == 0, ": gathered");
    free (gathered);
  }
}

/* Checks that an orientation window of 90 degrees or more includes all edges.
 */
static void
check_no_window (const HoughInput *input, const uint32_t *votes)
{
  CuvHoughLayout layout;
  CuvEdgeList list = input->list;
  CuvHoughConfig config = input->layout.config;
  size_t bytes = cuv_hough_n_cells (&input->layout) * sizeof *votes;
  uint32_t *same = malloc (bytes);

  config.window = 90 + cuv_check_below (90);
  list.bins = input->bins;
  CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
  cuv_hough_vote (&layout, &list, same);
  CUV_CHECK (memcmp (votes, same, bytes) == 0, ": a window of 90");
  free (same);
  cuv_hough_layout_clear (&layout);
}

static void
check_layout (const CuvHoughConfig *config)
{
  HoughInput input;
  uint32_t *votes;

  if (!hough_input_init (&input, config, 4))
    return;
  votes = hough_input_vote (&input);
  check_accumulator (&input, votes);
  if (config->window >= 90)
    check_no_window (&input, votes);
  check_peaks (&input, votes);
  free (votes);
  hough_input_clear (&input);
}

CUV_CHECKS_CPU (check_votes)
{
  for (int s = 0; s < HOUGH_N_SIZES; s++) {
    for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
      const CuvHoughConfig config =
          hough_config (i, hough_sizes[s].width, hough_sizes[s].height);

      if (config.width > (cuv_check_options.few ? 40 : 100)
          && config.period > 64)
        continue;
      cuv_check_case ("%dx%d, config %d", config.width, config.height, i);
      check_layout (&config);
    }
  }
}

/* Checks that a line of 50 pixels has a cell with 50 votes, and that no cell
 * has more. */
static void
check_line (const char *name, int dx, int dy, int k, int r)
{
  const CuvHoughConfig config = { CUV_LINES_RHO_THETA, 100, 100, 180, 0, -90,
    90, 1, 90, 0 };
  CuvHoughLayout layout;
  CuvPeakParams params = { 30, CUV_PEAKS_SQUARE, 3 };
  uint32_t list[50], *votes;
  CuvHoughPeak peak = { 0 };
  CuvPeakList peaks = { &peak, 1, 0 };

  cuv_check_case ("a line, %s", name);
  for (int i = 0; i < 50; i++)
    list[i] = (uint32_t) (20 + i * dy) << 16 | (uint32_t) (30 + i * dx);
  CUV_CHECK (cuv_hough_layout_init (&layout, &config) == NULL);
  votes = malloc (cuv_hough_n_cells (&layout) * sizeof *votes);
  cuv_hough_vote (&layout, &(CuvEdgeList){ list, NULL, 50 }, votes);
  CUV_CHECK (votes[k * layout.n_cells + layout.radius + r] == 50);
  cuv_hough_peaks (&layout, votes, &params, &peaks);
  CUV_CHECK (peaks.n >= 1);
  CUV_CHECK (peak.votes == 50, ": %u", peak.votes);
  free (votes);
  cuv_hough_layout_clear (&layout);
}

CUV_CHECKS_CPU (check_known_lines)
{
  check_line ("vertical", 0, 1, 90, 30);
  check_line ("horizontal", 1, 0, 0, -20);
  check_line ("down to the right", 1, 1, 45, 7);
}
