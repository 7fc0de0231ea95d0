/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of comparing queries with an index, on the CPU or on the GPU. */
#include "ldp-inputs.h"
#include "cuvcheck.h"
#if HAVE_CUDA
#include "ldp/match.h"
#endif

#include <stdlib.h>
#include <string.h>

enum { PLENTY = 1 << 30, MAX_QUERIES = 16 };

typedef struct {
  CuvLdpLayout layout;
  CuvLdpMatcher *matcher;
  uint8_t *entries; /* `size` bytes each; the first entries are the queries */
  double *similarities;
  size_t size;
  int n, n_queries, n_threads;
  struct _CuvLdpMatchCuda *cuda; /* with --cuda */
  void *counts;
} Bench;

/* Makes n entries by repeating a few. With --cuda they are in device memory:
 * all of them if max_bytes is 0, else as many as fit in max_bytes. */
static void
bench_init (Bench *self, const CuvLdpParams *params, int width, int height,
    int n, size_t max_bytes)
{
  enum { N_MADE = 100 };

  *self = (Bench){ .n = n };
  CUV_CHECK (
      cuv_ldp_layout_init (&self->layout, params, width, height) == NULL);
  self->matcher = cuv_ldp_matcher_new (&self->layout);
  self->size = cuv_ldp_n_counts (&self->layout)
      * (size_t) cuv_ldp_index_count_size (&self->layout);
  self->entries = malloc (self->size * (size_t) n);
  self->similarities = malloc (MAX_QUERIES * (size_t) n * sizeof (double));
  if (max_bytes == 0)
    max_bytes = self->size * (size_t) n + PLENTY;
  for (size_t i = 0; i < self->size * N_MADE; i++)
    self->entries[i] = (uint8_t) (i * 2654435761u >> 29);
  for (int i = N_MADE; i < n; i++)
    memcpy (self->entries + (size_t) i * self->size,
        self->entries + (size_t) (i % N_MADE) * self->size, self->size);
  CUV_CHECK_RUN ((self->cuda = cuv_ldp_match_cuda_new (
                      cuv_ldp_matcher_packed (self->matcher), self->size,
                      max_bytes, cuv_ldp_copy_entries, &self->n_threads))
              == NULL
          || cuv_ldp_match_cuda_set_entries (
              self->cuda, self->entries, n, 0, cuv_check_stream),
      0);
}

static void
bench_clear (Bench *self)
{
  CUV_CHECK_ON (cuv_ldp_match_cuda_free (self->cuda), (void) 0);
  cuv_ldp_matcher_free (self->matcher);
  free (self->entries);
  free (self->similarities);
}

/* ---- CPU ---- */

static void
match (void *data)
{
  Bench *self = data;
  CuvLdpPackedQuery queries[MAX_QUERIES];

  for (int i = 0; i < self->n_queries; i++)
    queries[i] = (CuvLdpPackedQuery){ self->entries + (size_t) i * self->size,
      self->similarities + (size_t) i * (size_t) self->n, false };
  cuv_ldp_matcher_run (self->matcher, queries, self->n_queries, self->entries,
      self->size, 0, (size_t) self->n, self->n_threads);
}

CUV_BENCH_CPU (bench_ldp_match)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  Bench self;

  bench_init (&self, &params, 256, 256, 1000, PLENTY);
  for (self.n_threads = 0; self.n_threads < 2; self.n_threads++) {
    for (self.n_queries = 1; self.n_queries <= MAX_QUERIES;
         self.n_queries += MAX_QUERIES - 1)
      cuv_check_bench (match, &self, 65536.0 * self.n * self.n_queries,
          (double) self.size * self.n,
          "ldp match %d with %d of 256x256, %d threads", self.n_queries, self.n,
          self.n_threads);
  }
  bench_clear (&self);
}

/* ---- GPU ---- */

#if HAVE_CUDA
static void
submit_counts (void *data)
{
  Bench *self = data;

  cuv_ldp_match_cuda_submit_counts (self->cuda, self->counts,
      cuv_ldp_count_size (&self->layout), self->n, cuv_check_stream);
}

static void
bench_counts (
    const CuvLdpParams *params, int width, int height, size_t max_bytes)
{
  double pixels, bytes;
  char name[80];
  Bench self;

  bench_init (&self, params, width, height, 1000, max_bytes);
  self.counts = cuv_check_upload (self.entries,
      cuv_ldp_n_counts (&self.layout)
          * (size_t) cuv_ldp_count_size (&self.layout));
  pixels = (double) width * height * self.n;
  bytes = (double) self.size * self.n;
  snprintf (name, sizeof name, "ldp match cuda, %d of %dx%d, %zu MB", self.n,
      width, height, max_bytes >> 20);
  cuv_check_report (
      cuv_check_time_stream (submit_counts, &self, cuv_check_stream), pixels,
      bytes, "%s, in a row", name);
  cuv_check_bench (submit_counts, &self, pixels, bytes, "%s, alone", name);
  cuv_check_stream_wait (cuv_check_stream);
  cuv_check_device_free (self.counts);
  bench_clear (&self);
}

/* Does what cuvision-search does with its part of an index: the query comes
 * from the host, and the best five entries are returned. */
static void
search (void *data)
{
  Bench *self = data;
  CuvLdpMatch best[5];

  for (int i = 0; i < self->n_queries; i++)
    CUV_CHECK (cuv_ldp_match_cuda_set_packed (
                   self->cuda, i, self->entries, cuv_check_stream)
        == 0);
  CUV_CHECK (cuv_ldp_match_cuda_submit (
                 self->cuda, self->n_queries, self->n, cuv_check_stream)
          == 0
      && cuv_ldp_match_cuda_collect (self->cuda, self->similarities) == 0);
  cuv_ldp_best (self->similarities, (size_t) self->n, 0.0, 5, best);
}

/* Times the comparison of n_queries orientations with an index that is entirely
 * in device memory. */
static void
bench_search (const CuvLdpParams *params, int side, int n_queries, int n)
{
  Bench self;

  bench_init (&self, params, side, side, n, 0);
  self.n_queries = n_queries;
  cuv_check_report (cuv_check_time (search, &self), n, (double) self.size * n,
      "ldp search cuda, %d of %dx%d, grid %d, %d queries", n, side, side,
      params->grid, n_queries);
  bench_clear (&self);
}

CUV_BENCH_CUDA (bench_ldp_match_cuda)
{
  const CuvLdpParams blocks = { .order = 3, .block = 16, .directions = 15 };
  const CuvLdpParams grid = { .order = 3, .grid = 8, .directions = 15 };
  const CuvLdpParams one = { .order = 3, .grid = 1, .directions = 15 };
  const CuvLdpParams usual = { /* the defaults of cuvision-index */
    .order = 3,
    .block = 16,
    .directions = 15,
    .scales = 3
  };

  bench_counts (&blocks, 256, 256, PLENTY);
  bench_counts (&grid, 1920, 1080, PLENTY);
  bench_counts (&blocks, 256, 256, 64 << 20);
  bench_search (&grid, 128, 1, 100000);
  for (int n = 1; n <= 8; n *= 2)
    bench_search (&usual, 64, n, 100000);
  for (int n = 100000; n <= 1000000; n *= 10)
    bench_search (&one, 128, 1, n);
}

#endif
