/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much alike a picture is with many others, whose histograms are packed as
 * in an index: cuv_ldp_similarity() of each, but in integers, which the GPU
 * sums to the same. */
#ifndef CUV_LDP_MATCH_H
#define CUV_LDP_MATCH_H

#include "index/ldpindex.h"

typedef struct {
  uint64_t entry;
  double similarity; /* 0 .. 1 */
} CuvLdpMatch;

/* By one thread at a time. */
typedef struct _CuvLdpMatcher CuvLdpMatcher;

/* For pictures of a shape; NULL if there is no memory. */
CuvLdpMatcher *cuv_ldp_matcher_new (const CuvLdpShape *shape);
void cuv_ldp_matcher_free (CuvLdpMatcher *self); /* NULL is allowed */

/* Of a query with n entries, which are `stride` bytes apart; n_threads 0 = all.
 */
void cuv_ldp_matcher_run (CuvLdpMatcher *self, const uint8_t *query,
    const uint8_t *entries, size_t stride, size_t n, int n_threads,
    double *similarities);

/* What it knows of packed pictures, until it is freed. */
const CuvLdpPacked *cuv_ldp_matcher_packed (const CuvLdpMatcher *self);

/* A CuvLdpCopy of ldp/match.h, by *n_threads. */
void cuv_ldp_copy_entries (void *n_threads, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n);

/* The k most alike of those that are so at least, the most alike first, of
 * equals the first. Returns how many there are, up to k. */
size_t cuv_ldp_best (const double *similarities, size_t n, double threshold,
    size_t k, CuvLdpMatch *matches);

/* ---- steps ---- */

/* What so many histograms of two packed pictures have in common: the sum of the
 * smaller counts. whole: of 256 codes each, so that a byte of 255 may stand for
 * 256. By the bytes of a count: 1, 2, 4. */
typedef struct {
  uint64_t (*common[5]) (const uint8_t *a, const uint8_t *b, int n_histograms,
      int n_bins, bool whole);
} CuvLdpMatchSteps;

void cuv_ldp_match_c_init (CuvLdpMatchSteps *self);
void cuv_ldp_match_avx2_init (CuvLdpMatchSteps *self);

/* What the smaller bytes of a histogram of 256 codes add up to, if that is 255:
 * 256 if all codes of both are the same one. */
uint64_t cuv_ldp_common_whole (const uint8_t *a, const uint8_t *b, int n_bins);

#endif
