/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Similarities of packed pictures, in C and AVX2, against cuv_ldp_similarity().
 */
#include "cuvcpu.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"
#include "cpu/ldp-match.h"

#include <math.h>
#include <stdlib.h>

static void
check_similarities (
    const LdpPictures *self, int picture, int first, const double *similarities)
{
  for (int i = first; i < LDP_PICTURES; i++) {
    const double wanted = cuv_ldp_similarity (
        &self->layout, self->counts[picture], &self->layout, self->counts[i]);

    CUV_CHECK (i != picture || similarities[i] == 1.0);
    CUV_CHECK (fabs (similarities[i] - wanted) < 1e-12, ": %d, %d: %g, not %g",
        picture, i, similarities[i], wanted);
  }
}

/* Compares all pictures from `first` on with every fourth one as a query. */
static void
check_pictures (
    const LdpPictures *self, int first, unsigned mask, int n_threads)
{
  enum { QUERIES = (LDP_PICTURES + 3) / 4 };
  CuvLdpMatcher *matcher;
  CuvLdpPackedQuery queries[QUERIES];
  double similarities[QUERIES][LDP_PICTURES] = { { 0.0 } };

  cuv_cpu_set_mask (mask);
  matcher = cuv_ldp_matcher_new (&self->layout);
  for (int i = 0; i < QUERIES; i++)
    queries[i] =
        (CuvLdpPackedQuery){ self->packed + 4 * (size_t) i * self->stride,
          similarities[i], false };
  cuv_ldp_matcher_run (matcher, queries, QUERIES, self->packed, self->stride,
      (size_t) first, LDP_PICTURES, n_threads);
  for (int i = 0; i < QUERIES; i++) {
    check_similarities (self, 4 * i, first, similarities[i]);
    CUV_CHECK (first == 0 || similarities[i][first - 1] == 0.0);
  }
  cuv_ldp_matcher_free (matcher);
  cuv_cpu_set_mask (~0u);
}

/* Checks that of a query and its variants the largest similarity of each entry
 * is returned. */
static void
check_variants (const LdpPictures *self)
{
  CuvLdpMatcher *matcher = cuv_ldp_matcher_new (&self->layout);
  double alone[3][LDP_PICTURES], together[2][LDP_PICTURES];
  CuvLdpPackedQuery queries[3];

  for (int i = 0; i < 3; i++) {
    queries[i] =
        (CuvLdpPackedQuery){ self->packed + 2 * (size_t) i * self->stride,
          alone[i], false };
  }
  cuv_ldp_matcher_run (
      matcher, queries, 3, self->packed, self->stride, 0, LDP_PICTURES, 2);
  for (int i = 0; i < 3; i++) { /* the last two are variants of one query */
    queries[i].similarities = together[(i + 1) / 2];
    queries[i].is_variant = i == 2;
  }
  cuv_ldp_matcher_run (
      matcher, queries, 3, self->packed, self->stride, 0, LDP_PICTURES, 2);
  for (int i = 0; i < LDP_PICTURES; i++) {
    CUV_CHECK (together[0][i] == alone[0][i]);
    CUV_CHECK (together[1][i] == fmax (alone[1][i], alone[2][i]));
  }
  cuv_ldp_matcher_free (matcher);
}

enum { TIED = 24, UNITS = 2000 };

/* Spreads the same distance over different blocks: 10 of the 900 codes of an
 * inner block weigh as much as 9 of the 810 of a block at the border. Corner
 * blocks stay equal. */
static void
fill_tied (const CuvLdpLayout *layout, int n_units, uint32_t *counts)
{
  for (int block = 0; block < 64; block++)
    counts[block * 256] = cuv_ldp_total (layout, block % 8, block / 8);
  for (int n = 0; n < n_units;) {
    const int block = (int) cuv_check_below (64);
    const uint32_t total = cuv_ldp_total (layout, block % 8, block / 8);
    uint32_t *bins = counts + block * 256;

    if (total < 810 || bins[0] == 0)
      continue;
    bins[0] -= total / 90;
    bins[1] += total / 90;
    n++;
  }
}

/* Checks that equal similarities are ordered by entry, whichever blocks the
 * distance is in. */
static void
check_ties (void)
{
  const CuvLdpParams params = { .order = 3, .grid = 8, .directions = 1 };
  CuvLdpLayout layout;
  CuvLdpMatcher *matcher;
  CuvLdpPackedQuery query;
  CuvLdpMatch best[TIED];
  double similarities[TIED];
  uint32_t *counts;
  uint8_t *packed;
  size_t n;

  cuv_check_case ("ties");
  cuv_ldp_layout_init (&layout, &params, 240, 240);
  matcher = cuv_ldp_matcher_new (&layout);
  n = cuv_ldp_n_counts (&layout);
  packed = calloc (TIED + 1, 2 * n);
  for (int i = 0; i <= TIED; i++) {
    counts = calloc (n, sizeof *counts);
    fill_tied (&layout, i < TIED ? UNITS : 0, counts);
    CUV_CHECK (
        cuv_ldp_index_pack (&layout, counts, packed + (size_t) i * 2 * n));
    free (counts);
  }
  query = (CuvLdpPackedQuery){ packed + TIED * 2 * n, similarities, false };
  cuv_ldp_matcher_run (matcher, &query, 1, packed, 2 * n, 0, TIED, 1);
  cuv_ldp_best (similarities, TIED, 0.0, TIED, best);
  CUV_CHECK (fabs (similarities[0] - (1 - UNITS * 10.0 / 900 / 64)) < 1e-12);
  for (int i = 0; i < TIED; i++)
    CUV_CHECK (best[i].entry == (uint64_t) i
        && best[i].similarity == best[0].similarity);
  free (packed);
  cuv_ldp_matcher_free (matcher);
}

static void
check_best (void)
{
  static const double similarities[] = { 0.5, 0.9, 0.1, 0.9, 0.7, 0.95, 0.2 };
  static const uint64_t wanted[] = { 5, 1, 3, 4, 0 };
  CuvLdpMatch matches[9];

  cuv_check_case ("the best");
  for (size_t k = 0; k < 8; k++) {
    const size_t n = cuv_ldp_best (similarities, 7, 0.3, k, matches);

    CUV_CHECK (n == (k < 5 ? k : 5));
    for (size_t i = 0; i < n; i++)
      CUV_CHECK (matches[i].entry == wanted[i]
          && matches[i].similarity == similarities[wanted[i]]);
  }
  CUV_CHECK (cuv_ldp_best (similarities, 7, 0.96, 3, matches) == 0);
}

/* Compares the best entries with those of a selection sort. */
static void
check_many_best (void)
{
  enum { MANY = 300 };
  const size_t k = 1 + cuv_check_below (MANY + 20);
  double similarities[MANY];
  bool taken[MANY] = { false };
  CuvLdpMatch matches[MANY + 20];
  size_t n, best;

  cuv_check_case ("the best %zu of many", k);
  for (int i = 0; i < MANY; i++) /* with ties */
    similarities[i] = (double) cuv_check_below (100) / 100;
  n = cuv_ldp_best (similarities, MANY, 0.1, k, matches);
  for (size_t i = 0; i <= n && i < k; i++) {
    best = MANY;
    for (size_t j = MANY; j-- > 0;)
      if (!taken[j] && similarities[j] >= 0.1
          && (best == MANY || similarities[j] >= similarities[best]))
        best = j;
    CUV_CHECK (
        i == n ? best == MANY : matches[i].entry == best, ": %zu of %zu", i, n);
    if (best < MANY)
      taken[best] = true;
  }
}

CUV_CHECKS_CPU (check_ldp_match)
{
  for (int i = 0; i < LDP_N_KINDS; i++) {
    LdpPictures pictures;

    ldp_pictures_init (&pictures, i);
    check_pictures (&pictures, 0, 0, 1);
    check_pictures (&pictures, 0, ~0u, 1);
    check_pictures (&pictures, 2, ~0u, 3);
    check_variants (&pictures);
    ldp_pictures_clear (&pictures);
  }
  check_best ();
  check_ties ();
  for (int i = 0; i < 20; i++)
    check_many_best ();
}
