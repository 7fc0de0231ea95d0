/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gathered votes, 16 pixels at a time. If adjacent pixels are half a cell to
 * one cell apart, 16 pixels fall into at most 16 cells of one or two pixels
 * each. Which ones depends only on the position of the first pixel in its cell:
 * each other pixel is in one of two cells, so there are at most as many cases
 * as pixels. The bytes of a block are shuffled into their cells by one of 16
 * patterns and added. */
#include "cpu/x86/hough-avx2.h"
#include "cpu/hough-dsp-c.h"

#include <string.h>

enum {
  BLOCK = 16,
  FLUSH_LINES = 127 /* maximum per lane: 8-bit cells get up to two votes per
                     * line */
};

typedef struct {
  /* fractions of the pixels' positions relative to the first, biased */
  __m256i fractions;
  _Alignas(
      16) int8_t patterns[BLOCK][2][BLOCK]; /* indexed by number of carries */
  int n_blocks;
  int32_t d;       /* >= 0: pixels in order of rising cells */
  bool backwards;  /* rising cells begin with the last pixel */
  ptrdiff_t pitch; /* lane pitch */
} Plan;

/* Returns how many pixels of a block have a fraction that carries into the next
 * cell if the first pixel is at `at`, in 2^-16 cells. */
static int
carries (int32_t d, int32_t at)
{
  int n = 0;

  for (int i = 0; i < BLOCK; i++)
    n += ((i * d) & 0xffff) + at > 0xffff;
  return n;
}

/* Makes the pattern of blocks whose first pixel is at `at`. */
static void
make_pattern (Plan *plan, int32_t at)
{
  int8_t (*pattern)[BLOCK] = plan->patterns[carries (plan->d, at)];

  memset (pattern, -1, 2 * BLOCK); /* -1: none */
  for (int i = 0; i < BLOCK; i++) {
    int cell = (at + i * plan->d) >> 16;

    pattern[pattern[0][cell] < 0 ? 0 : 1][cell] =
        (int8_t) (plan->backwards ? BLOCK - 1 - i : i);
  }
}

static void
make_plan (Plan *plan, const CuvGather *work)
{
  _Alignas(32) uint16_t fractions[BLOCK];

  plan->backwards = work->d < 0;
  plan->d = plan->backwards ? -work->d : work->d;
  plan->n_blocks = work->n / BLOCK;
  plan->pitch = 2 * work->radius + 1 + CUV_HOUGH_ROW_PADDING;
  make_pattern (plan, 0);
  for (int i = 0; i < BLOCK; i++) {
    int32_t fraction = (i * plan->d) & 0xffff;

    fractions[i] = (uint16_t) (fraction ^ 0x8000);
    if (fraction > 0)
      make_pattern (plan, 0x10000 - fraction);
  }
  plan->fractions = load (fractions);
}

/* Adds a block whose first pixel is at `at`. */
static inline void
gather_add_block (
    const Plan *plan, const uint8_t *pixels, int32_t at, uint8_t *middle)
{
  __m256i carried = _mm256_cmpgt_epi16 (
      plan->fractions, _mm256_set1_epi16 ((int16_t) (~at ^ 0x8000)));
  int n = __builtin_popcount ((unsigned) _mm256_movemask_epi8 (carried)) / 2;
  __m128i block = _mm_loadu_si128 ((const __m128i *) pixels);
  const __m128i *pattern = (const __m128i *) plan->patterns[n];
  __m128i *cells = (__m128i *) (middle + (at >> 16));
  __m128i votes = _mm_add_epi8 (_mm_shuffle_epi8 (block, pattern[0]),
      _mm_shuffle_epi8 (block, pattern[1]));

  /* pixels are 255, i.e. -1 */
  _mm_storeu_si128 (cells, _mm_sub_epi8 (_mm_loadu_si128 (cells), votes));
}

/* Interleaves lines, each in its own lane: a block's cells overlap with the
 * previous block's, which would stall store forwarding. */
CUV_INLINE void
add_n_lines (const Plan *plan, const CuvGather *work, int first, int n_lines,
    uint8_t *lanes)
{
  const int32_t begin = plan->backwards ? (work->n - 1) * work->d : 0;
  const ptrdiff_t on = plan->backwards ? -BLOCK : BLOCK;
  const uint8_t *pixels = work->map + (ptrdiff_t) first * work->n
      + (plan->backwards ? work->n - BLOCK : 0);
  int32_t at = first * work->step + work->offset + begin;

  for (int b = 0; b < plan->n_blocks; b++) {
    for (int i = 0; i < n_lines; i++)
      gather_add_block (plan, pixels + (ptrdiff_t) i * work->n,
          at + i * work->step, lanes + i * plan->pitch);
    at += BLOCK * plan->d;
    pixels += on;
  }
}

static void
add_lines (const Plan *plan, const CuvGather *work, int first, uint8_t *lanes)
{
  uint8_t *middle = lanes + work->radius;

  if (work->n_lines - first >= CUV_HOUGH_N_LANES)
    add_n_lines (plan, work, first, CUV_HOUGH_N_LANES, middle);
  else
    add_n_lines (plan, work, first, work->n_lines - first, middle);
}

static void
flush_lanes (
    const Plan *plan, const CuvGather *work, uint8_t *lanes, uint32_t *middle)
{
  uint32_t *cells = middle - work->radius;

  for (int i = 0; i < CUV_HOUGH_N_LANES; i++) {
    uint8_t *lane = lanes + i * plan->pitch;

    for (int c = 0; c < 2 * work->radius + 1; c++)
      cells[c] += lane[c];
    memset (lane, 0, (size_t) plan->pitch);
  }
}

void
cuv_gather_avx2 (const CuvGather *work, uint8_t *lanes, uint32_t *middle)
{
  const int flush_lines = CUV_HOUGH_N_LANES * FLUSH_LINES;
  int rest;
  Plan plan;

  if (abs (work->d) < 0x8000 || abs (work->d) > 0x10000) {
    cuv_gather (work, lanes, middle);
    return;
  }
  make_plan (&plan, work);
  for (int line = 0; line < work->n_lines; line += CUV_HOUGH_N_LANES) {
    add_lines (&plan, work, line, lanes);
    if ((line + CUV_HOUGH_N_LANES) % flush_lines == 0)
      flush_lanes (&plan, work, lanes, middle);
  }
  flush_lanes (&plan, work, lanes, middle);
  rest = work->n % BLOCK;
  for (int line = 0; line < work->n_lines && rest > 0; line++)
    cuv_gather_pixels (work, line, plan.backwards ? 0 : work->n - rest,
        plan.backwards ? rest : work->n, middle);
}
