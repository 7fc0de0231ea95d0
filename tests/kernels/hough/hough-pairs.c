/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairs of rows in the largest frames, against 64-bit arithmetic. */
#include "cuvcpu.h"
#include "cpu/hough-cpu-private.h"
#include "hough-inputs.h"
#include "cuvcheck.h"

#include <stdlib.h>

enum { N_PIXELS = 75 };

static void
make_pixels (const CuvHoughLayout *layout, uint32_t pixels[N_PIXELS])
{
  for (int i = 0; i < N_PIXELS; i++) {
    /* the corners first */
    uint32_t x = i & 1 ? (uint32_t) layout->width - 1 : 0;
    uint32_t y = i & 2 ? (uint32_t) layout->height - 1 : 0;

    if (i >= 4) {
      x = cuv_check_below ((uint32_t) layout->width);
      y = cuv_check_below ((uint32_t) layout->height);
    }
    pixels[i] = y << 16 | x;
  }
}

static int64_t
cell_of (const CuvHoughRow *row, uint32_t pixel)
{
  return ((int64_t) (pixel & 0xffff) * row->dx
             + (int64_t) (pixel >> 16) * row->dy + row->offset)
      >> 16;
}

/* Votes, and checks that subtracting the expected votes leaves 0. */
static void
check_pair (const CuvHoughDsp *dsp, const CuvHoughPair *pair,
    const CuvHoughRow rows[2], const uint32_t pixels[N_PIXELS], uint32_t *table,
    size_t n_cells)
{
  bool same = true;

  dsp->vote_pair (pair, pixels, N_PIXELS, table);
  for (int i = 0; i < N_PIXELS; i++) {
    int64_t a = cell_of (&rows[0], pixels[i]) - pair->base[0];
    int64_t b = cell_of (&rows[1], pixels[i]) - pair->base[1];

    if (CUV_CHECK (
            a >= 0 && a < pair->stride && b >= a && b - a < pair->n_differences,
            ": cells %d %d", (int) a, (int) b))
      table[a + (b - a) * pair->stride]--;
  }
  for (size_t i = 0; i < n_cells; i++) {
    same = same && table[i] == 0;
    table[i] = 0;
  }
  CUV_CHECK (same);
}

static void
check_layout (const CuvHoughConfig *config, const CuvHoughDsp dsps[2])
{
  CuvHoughLayout layout;
  uint32_t pixels[N_PIXELS], *table;
  size_t n, most;

  CUV_CHECK (cuv_hough_layout_init (&layout, config) == NULL);
  most = cuv_hough_max_pair_cells (&layout);
  CUV_CHECK ((most > 0) == (config->period > 1000), ": %zu", most);
  table = calloc (most + 1, sizeof *table);
  make_pixels (&layout, pixels);
  for (int k = 1; k < layout.n_rows; k += 101) {
    CuvHoughPair pair;

    cuv_check_case ("%dx%d, kind %d, row %d of %d", config->width,
        config->height, config->kind, k, layout.n_rows);
    n = cuv_hough_pair_init (
        &pair, &layout, &layout.rows[k - 1], &layout.rows[k]);
    CUV_CHECK (n <= most);
    for (int i = 0; n > 0 && i < 2; i++)
      check_pair (&dsps[i], &pair, &layout.rows[k - 1], pixels, table, n);
  }
  free (table);
  cuv_hough_layout_clear (&layout);
}

CUV_CHECKS_CPU (check_pairs)
{
  static const CuvHoughConfig configs[] = {
    { CUV_LINES_RHO_THETA, 16384, 16384, 4096, 1, -90, 90, 1, 90, 0 },
    { CUV_LINES_PCLINES, 11000, 16384, 3600, 1, -90, 90, 1, 90, 0 },
    /* no pairs */
    { CUV_LINES_RHO_THETA, 16384, 16384, 180, 1, -90, 90, 1, 90, 0 },
  };
  CuvHoughDsp dsps[2];

  for (int i = 0; i < 2; i++) {
    cuv_cpu_set_mask (i == 0 ? 0 : ~0u);
    cuv_hough_dsp_init (&dsps[i]);
  }
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    check_layout (&configs[i], dsps);
}
