/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares a picture with many others on the CPU. Histograms are packed as in
 * an index. The result is cuv_ldp_similarity(), computed in integers so that
 * the GPU gets the same value in any order of summation. */
#ifndef CUV_LDP_MATCH_H
#define CUV_LDP_MATCH_H

#include "index/ldpindex.h"

typedef struct {
  uint64_t entry;
  double similarity; /* 0 .. 1 */
} CuvLdpMatch;

/* Not thread-safe: one call at a time. */
typedef struct _CuvLdpMatcher CuvLdpMatcher;

/* Returns NULL if out of memory. */
CuvLdpMatcher *cuv_ldp_matcher_new (const CuvLdpLayout *layout);
void cuv_ldp_matcher_free (CuvLdpMatcher *self); /* NULL is allowed */

/* A packed picture, and the array for its similarities to the entries. */
typedef struct {
  const uint8_t *packed;
  double *similarities; /* similarities to entries 0, 1, .. */
  bool is_variant;      /* a variant of the previous query: each entry keeps the
                         * larger of its similarities to the two */
} CuvLdpPackedQuery;

/* Compares each query with the packed entries first .. end - 1; entry 0 is at
 * `entries`, the others follow `stride` bytes apart. Memory is read once for
 * all queries. n_threads 0 = one per processor. */
void cuv_ldp_matcher_run (CuvLdpMatcher *self, const CuvLdpPackedQuery *queries,
    int n_queries, const uint8_t *entries, size_t stride, size_t first,
    size_t end, int n_threads);

/* Returns the layout and weights of packed pictures, owned by the matcher. */
const CuvLdpPacked *cuv_ldp_matcher_packed (const CuvLdpMatcher *self);

/* Copies entries on *n_threads threads; a CuvLdpCopy (ldp/match.h). */
void cuv_ldp_copy_entries (void *n_threads, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n);

/* Finds the k most similar entries that reach the threshold: best first, ties
 * by entry number. Returns how many there are, at most k. */
size_t cuv_ldp_best (const double *similarities, size_t n, double threshold,
    size_t k, CuvLdpMatch *matches);

/* Sorts matches in the order of cuv_ldp_best(). */
void cuv_ldp_sort_matches (CuvLdpMatch *matches, size_t n);

#endif
