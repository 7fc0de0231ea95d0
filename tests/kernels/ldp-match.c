/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much alike pictures are, packed as in an index and with AVX2, against the
 * C reference of their histograms. */
#include "cuvcpu.h"
#include "ldp-inputs.h"
#include "ldp-tests.h"
#include "ldpmatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 9 };

/* Pictures of a shape: two are the same, some are flat in parts. */
typedef struct {
  CuvLdpShape shape;
  uint32_t *counts[N];
  uint8_t *packed; /* `stride` bytes each */
  size_t stride;
} Pictures;

static void
fill (uint8_t *picture, int n, int i)
{
  const uint32_t flat = cuv_check_below (4) == 0 ? (uint32_t) n : 0;

  for (int p = 0; p < n; p++)
    picture[p] = (uint32_t) p < flat || p < n * (i % 3) / 3
        ? 7
        : (uint8_t) cuv_check_below (256);
}

static void
pictures_init (
    Pictures *self, const CuvLdpParams *params, int width, int height)
{
  const int n = width * height;
  uint8_t *picture = malloc ((size_t) n);
  size_t n_counts;

  cuv_check_case ("%dx%d, order %d, block %d, grid %d, bins %d, merged %d",
      width, height, params->order, params->block, params->grid, params->bins,
      params->is_merged);
  CUV_CHECK (cuv_ldp_shape_init (&self->shape, params, width, height) == NULL);
  n_counts = cuv_ldp_n_counts (&self->shape);
  self->stride =
      n_counts * (size_t) cuv_ldp_index_count_size (&self->shape) + 13;
  self->packed = calloc (N, self->stride);
  for (int i = 0; i < N; i++) {
    if (i != 5) /* the same as the one before */
      fill (picture, n, i);
    self->counts[i] = malloc (n_counts * sizeof *self->counts[i]);
    cuv_ldp_describe (&self->shape, picture, self->counts[i]);
    CUV_CHECK (cuv_ldp_index_pack (&self->shape, self->counts[i],
        self->packed + (size_t) i * self->stride));
  }
  free (picture);
}

static void
pictures_clear (Pictures *self)
{
  for (int i = 0; i < N; i++)
    free (self->counts[i]);
  free (self->packed);
}

static void
check_pictures (const Pictures *self, unsigned mask, int n_threads)
{
  CuvLdpMatcher *matcher;

  cuv_cpu_set_mask (mask);
  matcher = cuv_ldp_matcher_new (&self->shape);
  for (int query = 0; query < N; query += 4) {
    double similarities[N];

    cuv_ldp_matcher_run (matcher, self->packed + (size_t) query * self->stride,
        self->packed, self->stride, N, n_threads, similarities);
    for (int i = 0; i < N; i++) {
      const double wanted = cuv_ldp_similarity (
          &self->shape, self->counts[query], &self->shape, self->counts[i]);

      CUV_CHECK (fabs (similarities[i] - wanted) < 1e-12,
          ": %d, %d: %g, not %g", query, i, similarities[i], wanted);
    }
  }
  cuv_ldp_matcher_free (matcher);
  cuv_cpu_set_mask (~0u);
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

void
check_ldp_match (void)
{
  static const CuvLdpParams params[] = {
    { .order = 2, .block = 16, .directions = 15 },
    { .order = 3, .block = 16, .directions = 15, .border = CUV_LDP_REPLICATE },
    { .order = 3, .block = 8, .directions = 15, .is_merged = 1 },
    { .order = 3, .grid = 2, .directions = 7 },
    { .order = 4, .grid = 1, .directions = 2, .bins = CUV_LDP_BINS_UNIFORM },
    { .order = 2,
        .block = 9,
        .directions = 15,
        .bins = CUV_LDP_BINS_LEVELS,
        .levels = 33 },
    { .order = 9, .block = 99, .directions = 15 },
    { .order = 2, .grid = 1, .directions = 15, .is_merged = 1 },
  };

  for (int i = 0; i < 8; i++) {
    const bool large = i == 7; /* four bytes a count */
    Pictures pictures;

    pictures_init (&pictures, &params[i], large ? 140 : 50, large ? 131 : 37);
    check_pictures (&pictures, 0, 1);
    check_pictures (&pictures, ~0u, 1);
    check_pictures (&pictures, ~0u, 3);
    pictures_clear (&pictures);
  }
  check_best ();
}

/* ---- how fast ---- */

typedef struct {
  CuvLdpMatcher *matcher;
  uint8_t *packed;
  size_t stride;
  int n, n_threads;
  double *similarities;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_ldp_matcher_run (self->matcher, self->packed, self->packed, self->stride,
      (size_t) self->n, self->n_threads, self->similarities);
}

void
bench_ldp_match (void)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  CuvLdpShape shape;
  Bench self = { .n = 1000 };
  char name[80];

  CUV_CHECK (cuv_ldp_shape_init (&shape, &params, 256, 256) == NULL);
  self.matcher = cuv_ldp_matcher_new (&shape);
  self.stride = cuv_ldp_n_counts (&shape);
  self.packed = malloc (self.stride * (size_t) self.n);
  self.similarities = malloc ((size_t) self.n * sizeof *self.similarities);
  for (size_t i = 0; i < self.stride * (size_t) self.n; i++)
    self.packed[i] = (uint8_t) (i * 2654435761u >> 29);
  for (self.n_threads = 0; self.n_threads < 2; self.n_threads++) {
    snprintf (name, sizeof name, "ldp match 1000 of 256x256, %d threads",
        self.n_threads);
    cuv_check_report (name, cuv_check_time (run, &self), 65536e3,
        (double) self.stride * self.n);
  }
  cuv_ldp_matcher_free (self.matcher);
  free (self.packed);
  free (self.similarities);
}
