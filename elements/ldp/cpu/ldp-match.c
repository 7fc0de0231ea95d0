/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cpu/ldp-match.h"

#include <stdlib.h>
#include <string.h>
#include "cpu/ldp-dsp.h"
#include "cuvthreads.h"

/* ---- weights ---- */

struct _CuvLdpMatcher {
  CuvLdpDsp dsp;
  CuvLdpPacked packed;
  uint64_t
      *weights;     /* weights of blocks; packed points to weights and totals */
  uint32_t *totals; /* codes in each histogram of a block, after weights */
  /* the current run */
  const CuvLdpPackedQuery *queries;
  int n_queries;
  const uint8_t *entries;
  size_t stride, first, end;
  size_t per_task; /* number of entries */
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

/* Returns the distance of two pictures without a common code: n times the least
 * common multiple of the totals, so that all weights are integers. It is
 * limited to 2^62; weights are then rounded, to about 1 part in 10^9. */
static uint64_t
find_max_distance (const uint32_t *totals, int n_blocks, uint64_t n)
{
  const uint64_t limit = (uint64_t) 1 << 62;
  uint64_t multiple = 1;

  for (int i = 0; i < n_blocks; i++) {
    const uint64_t factor =
        totals[i] > 0 ? totals[i] / gcd (multiple, totals[i]) : 1;

    if (n > 0 && factor > limit / n / multiple)
      return limit;
    multiple *= factor;
  }
  return n * multiple;
}

static void
set_totals (CuvLdpMatcher *self, const CuvLdpLayout *layout)
{
  uint32_t *totals = self->totals;

  for (int s = 0; s < layout->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (layout, s);

    for (int i = 0; i < part.n_blocks; i++)
      *totals++ = cuv_ldp_total (&part, i % part.columns, i / part.columns);
  }
}

static void
set_weights (CuvLdpMatcher *self, const CuvLdpLayout *layout)
{
  const int n_blocks = layout->n_blocks;
  uint64_t n = 0, max_distance;

  set_totals (self, layout);
  for (int i = 0; i < n_blocks; i++) {
    n += self->totals[i] > 0 ? (uint64_t) layout->n_histograms : 0;
  }
  max_distance = find_max_distance (self->totals, n_blocks, n);
  for (int i = 0; i < n_blocks; i++) {
    if (self->totals[i] > 0)
      self->weights[i] = max_distance / (self->totals[i] * n);
  }
  self->packed = (CuvLdpPacked){ n_blocks, layout->n_histograms, layout->n_bins,
    cuv_ldp_index_count_size (layout), self->weights, max_distance,
    self->totals };
}

CuvLdpMatcher *
cuv_ldp_matcher_new (const CuvLdpLayout *layout)
{
  CuvLdpMatcher *self = calloc (1, sizeof *self);
  const size_t n = (size_t) layout->n_blocks;

  if (self == NULL)
    return NULL;
  self->weights = calloc (n, sizeof *self->weights + sizeof *self->totals);
  if (self->weights == NULL) {
    free (self);
    return NULL;
  }
  self->totals = (uint32_t *) (self->weights + n);
  set_weights (self, layout);
  cuv_ldp_dsp_init (&self->dsp);
  return self;
}

void
cuv_ldp_matcher_free (CuvLdpMatcher *self)
{
  if (self == NULL)
    return;
  free (self->weights);
  free (self);
}

const CuvLdpPacked *
cuv_ldp_matcher_packed (const CuvLdpMatcher *self)
{
  return &self->packed;
}

/* ---- comparing ---- */

static double
ldp_compare (
    const CuvLdpMatcher *self, const uint8_t *query, const uint8_t *entry)
{
  const CuvLdpPacked *packed = &self->packed;
  const size_t step =
      (size_t) (packed->n_histograms * packed->n_bins * packed->count_size);
  uint64_t distance = 0;

  for (int i = 0; i < packed->n_blocks; i++) {
    const uint64_t codes = (uint64_t) packed->n_histograms * packed->totals[i];

    distance += packed->weights[i]
        * (codes
            - self->dsp.intersect[packed->count_size](query, entry,
                packed->n_histograms, packed->n_bins,
                packed->totals[i] == 256));
    query += step;
    entry += step;
  }
  return cuv_ldp_similarity_of_distance (packed->max_distance, distance);
}

/* Bytes of entries per task: enough for hardware prefetching, and few enough to
 * stay in a core's cache for all queries. */
enum { TASK_BYTES = 1 << 18 };

static void
compare_task (void *data, int task)
{
  const CuvLdpMatcher *self = data;
  const size_t first = self->first + (size_t) task * self->per_task;
  const size_t left = self->end - first;
  const size_t end = first + (left < self->per_task ? left : self->per_task);

  for (const CuvLdpPackedQuery *query = self->queries;
       query < self->queries + self->n_queries; query++) {
    for (size_t i = first; i < end; i++) {
      const double similarity =
          ldp_compare (self, query->packed, self->entries + i * self->stride);

      if (!query->is_variant || similarity > query->similarities[i])
        query->similarities[i] = similarity;
    }
  }
}

void
cuv_ldp_matcher_run (CuvLdpMatcher *self, const CuvLdpPackedQuery *queries,
    int n_queries, const uint8_t *entries, size_t stride, size_t first,
    size_t end, int n_threads)
{
  self->queries = queries;
  self->n_queries = n_queries;
  self->entries = entries;
  self->stride = stride;
  self->first = first;
  self->end = end;
  self->per_task = stride < TASK_BYTES ? TASK_BYTES / stride : 1;
  cuv_threads_run (n_threads,
      (int) ((end - first + self->per_task - 1) / self->per_task), compare_task,
      self);
}

/* ---- copying ---- */

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  size_t pitch, stride, size;
} Copy;

static void
copy_task (void *data, int task)
{
  const Copy *self = data;

  memcpy (self->to + (size_t) task * self->pitch,
      self->from + (size_t) task * self->stride, self->size);
}

void
cuv_ldp_copy_entries (void *n_threads, uint8_t *to, size_t pitch,
    const uint8_t *from, size_t stride, size_t size, int64_t n)
{
  Copy copy = { to, from, pitch, stride, size };

  cuv_threads_run (*(const int *) n_threads, (int) n, copy_task, &copy);
}

/* ---- top k ---- */

/* For qsort(): highest similarity first, ties by entry number. */
static int
compare_matches (const void *a, const void *b)
{
  const CuvLdpMatch *x = a, *y = b;

  if (x->similarity != y->similarity)
    return x->similarity > y->similarity ? -1 : 1;
  return x->entry < y->entry ? -1 : x->entry > y->entry;
}

void
cuv_ldp_sort_matches (CuvLdpMatch *matches, size_t n)
{
  if (n > 0) /* matches may be NULL */
    qsort (matches, n, sizeof *matches, compare_matches);
}

/* Restores the heap, whose root is the worst match, after heap[at] changed. */
static void
sift_down (CuvLdpMatch *heap, size_t at, size_t n)
{
  const CuvLdpMatch match = heap[at];

  for (size_t next; (next = 2 * at + 1) < n; at = next) {
    if (next + 1 < n && compare_matches (&heap[next + 1], &heap[next]) > 0)
      next++;
    if (compare_matches (&heap[next], &match) <= 0)
      break;
    heap[at] = heap[next];
  }
  heap[at] = match;
}

/* Appends the first entries that reach the threshold until there are k.
 * Returns how many entries were looked at. */
static size_t
fill_matches (const double *similarities, size_t n, double threshold, size_t k,
    CuvLdpMatch *matches, size_t *found)
{
  size_t i;

  *found = 0;
  for (i = 0; i < n && *found < k; i++) {
    if (similarities[i] >= threshold)
      matches[(*found)++] = (CuvLdpMatch){ i, similarities[i] };
  }
  return i;
}

size_t
cuv_ldp_best (const double *similarities, size_t n, double threshold, size_t k,
    CuvLdpMatch *matches)
{
  size_t found,
      i = fill_matches (similarities, n, threshold, k, matches, &found);

  for (size_t at = found / 2; found == k && at-- > 0;)
    sift_down (matches, at, k);
  for (; i < n && k > 0; i++) {
    if (similarities[i] > matches[0].similarity) {
      matches[0] = (CuvLdpMatch){ i, similarities[i] };
      sift_down (matches, 0, k);
    }
  }
  cuv_ldp_sort_matches (matches, found);
  return found;
}
