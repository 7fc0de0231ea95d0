/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cpu/ldp-match.h"

#include <stdlib.h>
#include <string.h>
#include "cuvcpu.h"
#include "cuvthreads.h"
#include "index/ldpindex-format.h"

/* ---- steps ---- */

static unsigned
sum_of (const uint8_t *bytes, int n)
{
  unsigned sum = 0;

  for (int i = 0; i < n; i++)
    sum += bytes[i];
  return sum;
}

/* Bytes of 256 codes add up to less only if one of them stands for 256. */
uint64_t
cuv_ldp_common_whole (const uint8_t *a, const uint8_t *b, int n_bins)
{
  return sum_of (a, n_bins) == 255 && sum_of (b, n_bins) == 255 ? 256 : 255;
}

static uint64_t
common_1 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool whole)
{
  uint64_t sum = 0;

  for (int h = 0; h < n_histograms; h++, a += n_bins, b += n_bins) {
    uint64_t part = 0;

    for (int i = 0; i < n_bins; i++)
      part += a[i] < b[i] ? a[i] : b[i];
    sum += whole && part == 255 ? cuv_ldp_common_whole (a, b, n_bins) : part;
  }
  return sum;
}

static uint64_t
common_2 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool whole)
{
  uint64_t sum = 0;

  for (int i = 0; i < n_histograms * n_bins; i++, a += 2, b += 2) {
    const unsigned x = cuv_ldp_get16 (a), y = cuv_ldp_get16 (b);

    sum += x < y ? x : y;
  }
  return sum;
}

static uint64_t
common_4 (const uint8_t *a, const uint8_t *b, int n_histograms, int n_bins,
    bool whole)
{
  uint64_t sum = 0;

  for (int i = 0; i < n_histograms * n_bins; i++, a += 4, b += 4) {
    const uint32_t x = cuv_ldp_get32 (a), y = cuv_ldp_get32 (b);

    sum += x < y ? x : y;
  }
  return sum;
}

void
cuv_ldp_match_c_init (CuvLdpMatchSteps *self)
{
  *self = (CuvLdpMatchSteps){ { NULL, common_1, common_2, NULL, common_4 } };
}

/* ---- a run ---- */

struct _CuvLdpMatcher {
  CuvLdpShape shape;
  CuvLdpMatchSteps steps;
  CuvLdpPacked packed;
  uint64_t *weights; /* of packed */
  uint32_t *totals;
  /* of a run */
  const uint8_t *query, *entries;
  size_t stride, n;
  double *similarities;
};

static uint64_t
gcd (uint64_t a, uint64_t b)
{
  while (b != 0) {
    const uint64_t rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

/* The least common multiple of the totals, times n; if that does not fit, so
 * large that weights are exact to a part in 10^9 or so. */
static uint64_t
find_whole (const uint32_t *totals, int n_blocks, uint64_t n)
{
  const uint64_t most = (uint64_t) 1 << 62;
  uint64_t multiple = 1;

  for (int i = 0; i < n_blocks; i++) {
    const uint64_t factor =
        totals[i] > 0 ? totals[i] / gcd (multiple, totals[i]) : 1;

    if (n > 0 && factor > most / n / multiple)
      return most;
    multiple *= factor;
  }
  return n * multiple;
}

static void
set_weights (CuvLdpMatcher *self)
{
  const CuvLdpShape *shape = &self->shape;
  const int n_blocks = shape->columns * shape->rows;
  uint64_t n = 0, whole;

  for (int i = 0; i < n_blocks; i++) {
    self->totals[i] =
        cuv_ldp_total (shape, i % shape->columns, i / shape->columns);
    n += self->totals[i] > 0 ? (uint64_t) shape->n_histograms : 0;
  }
  whole = find_whole (self->totals, n_blocks, n);
  for (int i = 0; i < n_blocks; i++) {
    if (self->totals[i] > 0)
      self->weights[i] = whole / (self->totals[i] * n);
  }
  self->packed = (CuvLdpPacked){ n_blocks, shape->n_histograms, shape->n_bins,
    cuv_ldp_index_count_size (shape), self->weights, whole, self->totals };
}

CuvLdpMatcher *
cuv_ldp_matcher_new (const CuvLdpShape *shape)
{
  CuvLdpMatcher *self = calloc (1, sizeof *self);
  const size_t n = (size_t) shape->columns * (size_t) shape->rows;

  if (self == NULL)
    return NULL;
  self->shape = *shape;
  self->weights = calloc (n, sizeof *self->weights);
  self->totals = calloc (n, sizeof *self->totals);
  if (self->weights == NULL || self->totals == NULL) {
    cuv_ldp_matcher_free (self);
    return NULL;
  }
  set_weights (self);
  cuv_ldp_match_c_init (&self->steps);
#if HAVE_AVX2
  if (cuv_cpu_flags () & CUV_CPU_AVX2)
    cuv_ldp_match_avx2_init (&self->steps);
#endif
  return self;
}

void
cuv_ldp_matcher_free (CuvLdpMatcher *self)
{
  if (self == NULL)
    return;
  free (self->weights);
  free (self->totals);
  free (self);
}

const CuvLdpPacked *
cuv_ldp_matcher_packed (const CuvLdpMatcher *self)
{
  return &self->packed;
}

static double
compare (const CuvLdpMatcher *self, const uint8_t *entry)
{
  const CuvLdpPacked *packed = &self->packed;
  const size_t step =
      (size_t) (packed->n_histograms * packed->n_bins * packed->count_size);
  const uint8_t *query = self->query;
  uint64_t lack = 0;

  for (int i = 0; i < packed->n_blocks; i++) {
    const uint64_t codes = (uint64_t) packed->n_histograms * packed->totals[i];

    lack += packed->weights[i]
        * (codes
            - self->steps.common[packed->count_size](query, entry,
                packed->n_histograms, packed->n_bins,
                packed->totals[i] == 256));
    query += step;
    entry += step;
  }
  return cuv_ldp_similarity_of (packed->whole, lack);
}

enum { ENTRIES = 8 }; /* of a piece */

static void
compare_some (void *data, int piece)
{
  const CuvLdpMatcher *self = data;
  const size_t first = (size_t) piece * ENTRIES, end = first + ENTRIES;

  for (size_t i = first; i < end && i < self->n; i++)
    self->similarities[i] = compare (self, self->entries + i * self->stride);
}

void
cuv_ldp_matcher_run (CuvLdpMatcher *self, const uint8_t *query,
    const uint8_t *entries, size_t stride, size_t n, int n_threads,
    double *similarities)
{
  self->query = query;
  self->entries = entries;
  self->stride = stride;
  self->n = n;
  self->similarities = similarities;
  cuv_threads_run (
      n_threads, (int) ((n + ENTRIES - 1) / ENTRIES), compare_some, self);
}

/* ---- copies ---- */

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  size_t pitch, stride, size;
} Copy;

static void
copy_entry (void *data, int i)
{
  const Copy *self = data;

  memcpy (self->to + (size_t) i * self->pitch,
      self->from + (size_t) i * self->stride, self->size);
}

void
cuv_ldp_copy_entries (void *n_threads, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n)
{
  Copy copy = { to, from, pitch, stride, size };

  cuv_threads_run (*(const int *) n_threads, (int) n, copy_entry, &copy);
}

/* ---- the best ---- */

/* As qsort() wants it: the better one first. */
static int
compare_matches (const void *a, const void *b)
{
  const CuvLdpMatch *x = a, *y = b;

  if (x->similarity != y->similarity)
    return x->similarity > y->similarity ? -1 : 1;
  return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Of a heap none is worse than the ones below it: the first is the worst. */
static void
sink (CuvLdpMatch *heap, size_t n)
{
  const CuvLdpMatch match = heap[0];
  size_t at = 0;

  for (size_t next; (next = 2 * at + 1) < n; at = next) {
    if (next + 1 < n && compare_matches (&heap[next + 1], &heap[next]) > 0)
      next++;
    if (compare_matches (&heap[next], &match) <= 0)
      break;
    heap[at] = heap[next];
  }
  heap[at] = match;
}

static void
rise (CuvLdpMatch *heap, size_t at)
{
  const CuvLdpMatch match = heap[at];

  for (; at > 0 && compare_matches (&match, &heap[(at - 1) / 2]) > 0;
       at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = match;
}

size_t
cuv_ldp_best (const double *similarities, size_t n, double threshold, size_t k,
    CuvLdpMatch *matches)
{
  size_t found = 0;

  for (size_t i = 0; i < n && k > 0; i++) {
    const CuvLdpMatch match = { i, similarities[i] };

    if (!(match.similarity >= threshold))
      continue;
    if (found < k) {
      matches[found] = match;
      rise (matches, found++);
    } else if (match.similarity > matches[0].similarity) {
      matches[0] = match;
      sink (matches, k);
    }
  }
  qsort (matches, found, sizeof *matches, compare_matches);
  return found;
}
