/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Similarity of pictures: histogram intersection. */
#include "ldp.h"

/* Computes the histogram intersection exactly: counts are cross-multiplied by
 * the totals. */
static double
intersect (const uint32_t *a, uint32_t total_a, const uint32_t *b,
    uint32_t total_b, int n)
{
  uint64_t sum = 0; /* fits: totals are at most 2^30 */

  for (int i = 0; i < n; i++) {
    const uint64_t part_a = (uint64_t) a[i] * total_b;
    const uint64_t part_b = (uint64_t) b[i] * total_a;

    sum += part_a < part_b ? part_a : part_b;
  }
  return (double) sum / ((double) total_a * (double) total_b);
}

/* Adds the intersections of a scale to *sum. Returns how many there are. */
static int
compare_scale (const CuvLdpLayout *a, const uint32_t *counts_a,
    const CuvLdpLayout *b, const uint32_t *counts_b, double *sum)
{
  int n = 0;

  for (int block = 0; block < a->n_blocks; block++) {
    const int column = block % a->columns, row = block / a->columns;
    const uint32_t total_a = cuv_ldp_total (a, column, row);
    const uint32_t total_b = cuv_ldp_total (b, column, row);

    for (int h = 0; h < a->n_histograms; h++) {
      if (total_a > 0 && total_b > 0) {
        *sum += intersect (counts_a, total_a, counts_b, total_b, a->n_bins);
        n++;
      }
      counts_a += a->n_bins;
      counts_b += b->n_bins;
    }
  }
  return n;
}

double
cuv_ldp_similarity (const CuvLdpLayout *a, const uint32_t *counts_a,
    const CuvLdpLayout *b, const uint32_t *counts_b)
{
  double sum = 0.0;
  int n = 0;

  for (int s = 0; s < a->params.scales; s++) {
    const CuvLdpLayout scale_a = cuv_ldp_scale (a, s);
    const CuvLdpLayout scale_b = cuv_ldp_scale (b, s);

    n += compare_scale (&scale_a, counts_a, &scale_b, counts_b, &sum);
    counts_a += cuv_ldp_n_counts (&scale_a);
    counts_b += cuv_ldp_n_counts (&scale_b);
  }
  return n > 0 ? sum / n : 0.0;
}
