/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of comparing on the GPU. */
#include "config.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ldp/match.h"

enum { PLENTY = 1 << 30 };

static int n_threads; /* 0: one per processor */
typedef struct {
  CuvLdpMatchCuda *cuda;
  void *counts;
  int count_size, n;
  /* of a search */
  const uint8_t *packed;
  int n_queries;
  double *similarities;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_ldp_match_cuda_submit_counts (
      self->cuda, self->counts, self->count_size, self->n, cuv_check_stream);
}

static void
bench (const CuvLdpParams *params, int width, int height, size_t max_bytes)
{
  CuvLdpLayout layout;
  CuvLdpMatcher *matcher;
  Bench self = { .n = 1000 };
  uint8_t *entries;
  size_t size;

  CUV_CHECK (cuv_ldp_layout_init (&layout, params, width, height) == NULL);
  matcher = cuv_ldp_matcher_new (&layout);
  size =
      cuv_ldp_n_counts (&layout) * (size_t) cuv_ldp_index_count_size (&layout);
  entries = malloc (size * (size_t) self.n);
  for (size_t i = 0; i < size * (size_t) self.n; i++)
    entries[i] = (uint8_t) (i * 2654435761u >> 29);
  self.count_size = cuv_ldp_count_size (&layout);
  self.counts = cuv_check_upload (
      entries, cuv_ldp_n_counts (&layout) * (size_t) self.count_size);
  self.cuda = cuv_ldp_match_cuda_new (cuv_ldp_matcher_packed (matcher), size,
      max_bytes, cuv_ldp_copy_entries, &n_threads);
  CUV_CHECK (cuv_ldp_match_cuda_set_entries (
                 self.cuda, entries, self.n, 0, cuv_check_stream)
      == 0);
  for (int alone = 0; alone < 2; alone++) {
    cuv_check_report (alone
            ? cuv_check_time_device (run, &self, cuv_check_stream)
            : cuv_check_time_stream (run, &self, cuv_check_stream),
        (double) width * height * self.n, (double) size * self.n,
        "ldp match cuda, %d of %dx%d, %zu MB, %s", self.n, width, height,
        max_bytes >> 20, alone ? "alone" : "in a row");
  }
  cuv_check_stream_wait (cuv_check_stream);
  cuv_ldp_match_cuda_free (self.cuda);
  cuv_ldp_matcher_free (matcher);
  cuv_check_device_free (self.counts);
  free (entries);
}

/* What cuvision-search does with its part of an index: the query comes from
 * the host, and the best five entries are returned. */
static void
search (void *data)
{
  Bench *self = data;
  CuvLdpMatch best[5];

  for (int i = 0; i < self->n_queries; i++)
    CUV_CHECK (cuv_ldp_match_cuda_set_packed (
                   self->cuda, i, self->packed, cuv_check_stream)
        == 0);
  CUV_CHECK (cuv_ldp_match_cuda_submit (
                 self->cuda, self->n_queries, self->n, cuv_check_stream)
          == 0
      && cuv_ldp_match_cuda_collect (self->cuda, self->similarities) == 0);
  cuv_ldp_best (self->similarities, (size_t) self->n, 0.0, 5, best);
}

/* Few entries, repeated. */
static uint8_t *
make_entries (size_t size, int n)
{
  enum { N_MADE = 100 };
  uint8_t *entries = malloc (size * (size_t) n);

  for (size_t i = 0; i < size * N_MADE; i++)
    entries[i] = (uint8_t) (i * 2654435761u >> 29);
  for (int i = N_MADE; i < n; i++)
    memcpy (entries + (size_t) i * size, entries + (size_t) (i % N_MADE) * size,
        size);
  return entries;
}

/* Compares n_queries orientations with an index that is entirely in device
 * memory. */
static void
bench_search (const CuvLdpParams *params, int side, int n_queries, int n)
{
  CuvLdpLayout layout;
  CuvLdpMatcher *matcher;
  Bench self = { .n = n, .n_queries = n_queries };
  uint8_t *entries;
  size_t size;

  CUV_CHECK (cuv_ldp_layout_init (&layout, params, side, side) == NULL);
  matcher = cuv_ldp_matcher_new (&layout);
  size =
      cuv_ldp_n_counts (&layout) * (size_t) cuv_ldp_index_count_size (&layout);
  entries = make_entries (size, n);
  self.packed = entries;
  self.similarities = malloc ((size_t) n * sizeof *self.similarities);
  self.cuda = cuv_ldp_match_cuda_new (cuv_ldp_matcher_packed (matcher), size,
      size * (size_t) n + PLENTY, cuv_ldp_copy_entries, &n_threads);
  CUV_CHECK (cuv_ldp_match_cuda_set_entries (
                 self.cuda, entries, n, 0, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  cuv_check_report (cuv_check_time (search, &self), n, (double) size * n,
      "ldp search cuda, %d of %dx%d, grid %d, %d queries", n, side, side,
      params->grid, n_queries);
  cuv_ldp_match_cuda_free (self.cuda);
  cuv_ldp_matcher_free (matcher);
  free (self.similarities);
  free (entries);
}

CUV_BENCH_CUDA (bench_ldp_match_cuda)
{
  const CuvLdpParams blocks = { .order = 3, .block = 16, .directions = 15 };
  const CuvLdpParams grid = { .order = 3, .grid = 8, .directions = 15 };
  const CuvLdpParams one = { .order = 3, .grid = 1, .directions = 15 };
  const CuvLdpParams usual = { /* as cuvision-index's */
    .order = 3,
    .block = 16,
    .directions = 15,
    .scales = 3
  };

  bench (&blocks, 256, 256, PLENTY);
  bench (&grid, 1920, 1080, PLENTY);
  bench (&blocks, 256, 256, 64 << 20);
  bench_search (&grid, 128, 1, 100000);
  for (int n = 1; n <= 8; n *= 2)
    bench_search (&usual, 64, n, 100000);
  for (int n = 100000; n <= 1000000; n *= 10)
    bench_search (&one, 128, 1, n);
}

#endif
