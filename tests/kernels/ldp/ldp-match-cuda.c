/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Similarities on the GPU, against the CPU and the C reference. */
#include "config.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ldp/ldp.h"
#include "ldp/match.h"

enum { N_ENTRIES = 33, PLENTY = 1 << 30 };

static int n_threads; /* 0 = one per processor */
/* ---- synthetic histograms ---- */

typedef struct {
  CuvLdpLayout layout;
  CuvLdpMatcher *matcher;
  size_t stride;
  uint32_t *counts[N_ENTRIES];
  uint8_t *entries;
} Index;

/* Fills one of the distributions in which a byte of 255 meets every special
 * case: all codes in one of three bins; one code in bin 0 and the rest in one
 * bin or in every second bin; random codes. */
static void
fill_histogram (uint32_t *counts, int n_bins, uint32_t total)
{
  const uint32_t kind = cuv_check_below (4), other = 1 + cuv_check_below (2);
  const uint32_t n = (uint32_t) n_bins;

  memset (counts, 0, n * sizeof *counts);
  if (total == 0)
    return;
  if (kind == 0)
    counts[cuv_check_below (3)] = total;
  else if (kind == 1)
    counts[other] = total - 1;
  if (kind == 1 || kind == 2)
    counts[0] = 1;
  for (uint32_t i = counts[0]; kind >= 2 && i < total; i++)
    counts[kind == 2 ? other + 2 * cuv_check_below ((n - other + 1) / 2)
                     : cuv_check_below (n)]++;
}

static void
fill_picture (
    const CuvLdpLayout *layout, const uint32_t *totals, uint32_t *counts)
{
  const bool flat = cuv_check_below (5) == 0;
  const uint32_t bin = cuv_check_below (2);

  for (int i = 0; i < layout->n_blocks; i++) {
    const uint32_t total = totals[i];

    for (int h = 0; h < layout->n_histograms; h++, counts += layout->n_bins) {
      fill_histogram (counts, layout->n_bins, total);
      if (flat) {
        memset (counts, 0, (size_t) layout->n_bins * sizeof *counts);
        counts[bin] = total;
      }
    }
  }
}

static void
index_init (Index *self, const CuvLdpParams *params, int width, int height)
{
  size_t n;

  cuv_check_case ("%dx%d, order %d, block %d, grid %d, directions %d, bins %d, "
                  "merged %d",
      width, height, params->order, params->block, params->grid,
      params->directions, params->bins, params->is_merged);
  CUV_CHECK (
      cuv_ldp_layout_init (&self->layout, params, width, height) == NULL);
  n = cuv_ldp_n_counts (&self->layout);
  self->matcher = cuv_ldp_matcher_new (&self->layout);
  self->stride = n * (size_t) cuv_ldp_index_count_size (&self->layout) + 37;
  self->entries = malloc (N_ENTRIES * self->stride);
  memset (self->entries, 0xa5, N_ENTRIES * self->stride);
  for (int i = 0; i < N_ENTRIES; i++) {
    const int same = cuv_check_below (4) == 0 ? i / 2 : i;

    self->counts[i] = malloc (n * sizeof *self->counts[i]);
    if (same < i)
      memcpy (self->counts[i], self->counts[same], n * sizeof **self->counts);
    else
      fill_picture (&self->layout,
          cuv_ldp_matcher_packed (self->matcher)->totals, self->counts[i]);
    CUV_CHECK (cuv_ldp_index_pack (&self->layout, self->counts[i],
        self->entries + (size_t) i * self->stride));
  }
}

static void
index_clear (Index *self)
{
  for (int i = 0; i < N_ENTRIES; i++)
    free (self->counts[i]);
  free (self->entries);
  cuv_ldp_matcher_free (self->matcher);
}

static CuvLdpMatchCuda *
match_new (const Index *self, size_t max_bytes)
{
  return cuv_ldp_match_cuda_new (cuv_ldp_matcher_packed (self->matcher),
      self->stride, max_bytes, cuv_ldp_copy_entries, &n_threads);
}

static int
set_entries (const Index *self, CuvLdpMatchCuda *cuda, int n, int first_new)
{
  return cuv_ldp_match_cuda_set_entries (
      cuda, self->entries, n, first_new, cuv_check_stream);
}

/* Compares picture `query` with the first n entries. Its counts are passed
 * unpacked, as cuv_ldp_cuda_counts() returns them, at an offset of `skip`
 * counts. */
static void
ask (const Index *self, CuvLdpMatchCuda *cuda, int query, int n, size_t skip,
    double *found)
{
  const size_t n_counts = cuv_ldp_n_counts (&self->layout);
  const size_t size = (size_t) cuv_ldp_count_size (&self->layout);
  uint8_t *counts = calloc (n_counts + skip, size);
  uint8_t *memory;

  for (size_t i = 0; i < n_counts; i++) {
    if (size == 2)
      ((uint16_t *) counts)[skip + i] = (uint16_t) self->counts[query][i];
    else
      ((uint32_t *) counts)[skip + i] = self->counts[query][i];
  }
  memory = cuv_check_upload (counts, (n_counts + skip) * size);
  CUV_CHECK (cuv_ldp_match_cuda_submit_counts (
                 cuda, memory + skip * size, (int) size, n, cuv_check_stream)
              == 0
          && cuv_ldp_match_cuda_collect (cuda, found) == 0,
      ": %s", cuv_cuda_error ());
  cuv_check_device_free (memory);
  free (counts);
}

/* Does the same with packed counts. */
static void
ask_packed (
    const Index *self, CuvLdpMatchCuda *cuda, int query, int n, double *found)
{
  CUV_CHECK (
      cuv_ldp_match_cuda_submit_packed (cuda,
          self->entries + (size_t) query * self->stride, n, cuv_check_stream)
              == 0
          && cuv_ldp_match_cuda_collect (cuda, found) == 0,
      ": %s", cuv_cuda_error ());
}

/* ---- against the reference ---- */

static void
check_query (
    const Index *self, CuvLdpMatchCuda *cuda, int query, int n, size_t skip)
{
  const CuvLdpLayout *layout = &self->layout;
  double found[N_ENTRIES + 1], cpu[N_ENTRIES];

  found[n] = -1.0;
  ask (self, cuda, query, n, skip, found);
  cuv_ldp_matcher_run (self->matcher,
      &(CuvLdpPackedQuery){
          self->entries + (size_t) query * self->stride, cpu, false },
      1, self->entries, self->stride, 0, (size_t) n, 1);
  CUV_CHECK (memcmp (found, cpu, (size_t) n * sizeof *cpu) == 0,
      ": CPU and GPU similarities differ");
  for (int i = 0; i < n; i++) {
    const double wanted = cuv_ldp_similarity (
        layout, self->counts[query], layout, self->counts[i]);

    CUV_CHECK (
        wanted == 1.0 ? found[i] == 1.0 : fabs (found[i] - wanted) < 1e-12,
        ": %d of %d, query %d: %.17g, not %.17g", i, n, query, found[i],
        wanted);
  }
  CUV_CHECK (found[n] == -1.0);
  ask_packed (self, cuda, query, n, found);
  CUV_CHECK (memcmp (found, cpu, (size_t) n * sizeof *cpu) == 0,
      ": similarities to packed counts differ");
}

/* Checks that with several queries the largest similarity of each entry is
 * returned. */
static void
check_queries (const Index *self, CuvLdpMatchCuda *cuda, int n)
{
  double found[N_ENTRIES], wanted[N_ENTRIES];
  CuvLdpPackedQuery queries[CUV_LDP_MATCH_QUERIES];

  for (int i = 0; i < n; i++) {
    queries[i] =
        (CuvLdpPackedQuery){ self->entries + (size_t) (2 * i) * self->stride,
          wanted, i > 0 };
    cuv_ldp_match_cuda_set_packed (
        cuda, i, queries[i].packed, cuv_check_stream);
  }
  cuv_ldp_matcher_run (
      self->matcher, queries, n, self->entries, self->stride, 0, N_ENTRIES, 1);
  CUV_CHECK (
      cuv_ldp_match_cuda_submit (cuda, n, N_ENTRIES, cuv_check_stream) == 0
          && cuv_ldp_match_cuda_collect (cuda, found) == 0
          && memcmp (found, wanted, sizeof found) == 0,
      ": %d queries", n);
}

static void
check_resident (const Index *self)
{
  static const int sizes[] = { 1, 3, 4, 5, 9, N_ENTRIES };
  CuvLdpMatchCuda *cuda = match_new (self, PLENTY);

  for (int i = 0; i < 6; i++) {
    const int n = sizes[i], first_new = i > 0 && i % 2 == 0 ? sizes[i - 1] : 0;

    CUV_CHECK (set_entries (self, cuda, n, first_new) == 0);
    check_query (self, cuda, (int) cuv_check_below (N_ENTRIES), n, 0);
    if (i == 1 || i == 4)
      check_query (self, cuda, 0, n - i / 2, (size_t) i % 2);
  }
  for (int n = 2; n <= CUV_LDP_MATCH_QUERIES; n++)
    check_queries (self, cuda, n);
  cuv_ldp_match_cuda_free (cuda);
}

/* ---- not all entries fit ---- */

static size_t
least_memory (const Index *self)
{
  const char *text;

  CUV_CHECK (match_new (self, 1) == NULL);
  text = strstr (cuv_cuda_error (), "at least ");
  return text != NULL ? strtoul (text + 9, NULL, 10) : 0;
}

/* Returns the size of an entry on the device, in bytes. */
static size_t
pitch_of (const Index *self)
{
  return (self->stride - 37 + 511) / 512 * 512;
}

static void
check_limit (const Index *self, size_t max_bytes, const double *wanted)
{
  const size_t before = cuv_cuda_allocated ();
  CuvLdpMatchCuda *cuda = match_new (self, max_bytes);
  double found[N_ENTRIES];

  for (int i = 0; i < 3; i++) {
    const int n = i < 2 ? 4 + 5 * i : N_ENTRIES;

    CUV_CHECK (set_entries (self, cuda, n, i > 0 ? n - 5 : 0) == 0, ": %s",
        cuv_cuda_error ());
    CUV_CHECK (cuv_cuda_allocated () - before <= max_bytes, ": %zu, not %zu",
        cuv_cuda_allocated () - before, max_bytes);
    ask (self, cuda, 2, n, 0, found);
    CUV_CHECK (memcmp (found, wanted, (size_t) n * sizeof *found) == 0,
        ": %d with %zu bytes", n, max_bytes);
  }
  ask (self, cuda, 2, 7, 0, found);
  CUV_CHECK (memcmp (found, wanted, 7 * sizeof *found) == 0);
  check_queries (self, cuda, 5);
  /* of these, the entries from the eleventh on are new */
  CUV_CHECK (
      cuv_ldp_match_cuda_set_entries (cuda, self->entries + 10 * self->stride,
          N_ENTRIES - 10, 0, cuv_check_stream)
      == 0);
  ask (self, cuda, 2, N_ENTRIES, 0, found);
  CUV_CHECK (
      memcmp (found, wanted + 10, (N_ENTRIES - 10) * sizeof *found) == 0);
  cuv_ldp_match_cuda_free (cuda);
  CUV_CHECK (cuv_cuda_allocated () == before);
}

static void
check_limits (const Index *self)
{
  static const size_t rooms[] = { 0, 1, 3, 17, N_ENTRIES - 3, N_ENTRIES - 2 };
  const size_t least = least_memory (self);
  CuvLdpMatchCuda *cuda = match_new (self, PLENTY);
  double wanted[N_ENTRIES];

  CUV_CHECK (match_new (self, least - 1) == NULL);
  CUV_CHECK (set_entries (self, cuda, N_ENTRIES, 0) == 0);
  ask (self, cuda, 2, N_ENTRIES, 0, wanted);
  cuv_ldp_match_cuda_free (cuda);
  check_limit (
      self, least + rooms[cuv_check_below (6)] * pitch_of (self), wanted);
}

/* Checks that after any failed allocation the matcher has no entries, and that
 * a retry succeeds. */
static void
check_out_of_memory (const Index *self)
{
  const size_t limits[] = { PLENTY,
    least_memory (self) + 10 * pitch_of (self) };
  const size_t before = cuv_cuda_allocated ();
  int n_failed = 0;

  for (int i = 0; i < 16; i++) {
    CuvLdpMatchCuda *cuda;
    double found[N_ENTRIES] = { -1.0 };
    int status;

    cuv_cuda_fail_allocation (i / 2);
    cuda = match_new (self, limits[i % 2]);
    n_failed += cuda == NULL;
    cuv_cuda_fail_allocation (-1);
    if (cuda == NULL)
      cuda = match_new (self, limits[i % 2]);
    CUV_CHECK (set_entries (self, cuda, 4, 0) == 0);
    cuv_cuda_fail_allocation (i / 2);
    status = set_entries (self, cuda, N_ENTRIES, 4);
    cuv_cuda_fail_allocation (-1);
    n_failed += status != 0;
    if (status != 0) {
      ask (self, cuda, 0, N_ENTRIES, 0, found);
      CUV_CHECK (found[0] == -1.0);
      CUV_CHECK (set_entries (self, cuda, 3, 0) == 0);
    }
    check_query (self, cuda, 0, status != 0 ? 3 : N_ENTRIES, 0);
    cuv_ldp_match_cuda_free (cuda);
  }
  CUV_CHECK (n_failed == 4 + 3 + 7);
  CUV_CHECK (cuv_cuda_allocated () == before);
}

/* ---- a descriptor in device memory ---- */

static void
check_device_descriptor (void)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  CuvCheckFrame host = cuv_check_frame_new ("GRAY8", 40, 37, CUV_CHECK_TEXTURE);
  const CuvLdpRect rect = { 0, 0, 40, 37 };
  uint8_t picture[40 * 37];
  double found[N_ENTRIES];
  CuvFrame frame;
  Index index;
  CuvLdpMatchCuda *match;
  CuvLdpCuda *cuda;
  void *memory;

  index_init (&index, &params, 40, 37);
  cuv_ldp_resize (&host.frame, &rect, 40, 37, picture);
  cuv_ldp_describe (&index.layout, picture, index.counts[6]);
  CUV_CHECK (cuv_ldp_index_pack (
      &index.layout, index.counts[6], index.entries + 6 * index.stride));
  frame = cuv_check_to_device (&host, &memory);
  cuda = cuv_ldp_cuda_new (&index.layout);
  match = match_new (&index, 0); /* uses half of the free memory */
  CUV_CHECK (set_entries (&index, match, N_ENTRIES, 0) == 0
      && cuv_ldp_cuda_submit (cuda, &frame, &rect, cuv_check_stream) == 0
      && cuv_ldp_match_cuda_submit_counts (match, cuv_ldp_cuda_counts (cuda),
             cuv_ldp_count_size (&index.layout), N_ENTRIES, cuv_check_stream)
          == 0
      && cuv_ldp_match_cuda_collect (match, found) == 0);
  for (int i = 0; i < N_ENTRIES; i++)
    CUV_CHECK ((found[i] == 1.0) == (i == 6));
  cuv_ldp_match_cuda_free (match);
  cuv_ldp_cuda_free (cuda);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&host);
  index_clear (&index);
}

CUV_CHECKS_CUDA (check_ldp_match_cuda)
{
  static const struct {
    CuvLdpParams params;
    int width, height;
  } layouts[] = {
    /* one byte per count: blocks of 256 codes, an odd number of histograms */
    { { .order = 2, .block = 16, .directions = 15 }, 40, 37 },
    { { .order = 3, .block = 16, .directions = 2, .border = CUV_LDP_REPLICATE },
        40, 37 },
    { { .order = 3, .block = 16, .directions = 7, .border = CUV_LDP_REPLICATE },
        50, 17 },
    { { .order = 3,
          .block = 8,
          .directions = 15,
          .is_merged = 1,
          .border = CUV_LDP_REPLICATE },
        40, 37 },
    { { .order = 2, .block = 6, .directions = 5 }, 40, 37 },
    { { .order = 3, .block = 16, .directions = 15, .scales = 2 }, 40, 37 },
    /* histograms of 255 codes: a byte of 255 means 255 */
    { { .order = 2,
          .block = 17,
          .directions = 15,
          .border = CUV_LDP_REPLICATE },
        15, 34 },
    { { .order = 2,
          .block = 17,
          .directions = 15,
          .border = CUV_LDP_REPLICATE,
          .bins = CUV_LDP_BINS_UNIFORM },
        15, 34 },
    { { .order = 2,
          .block = 16,
          .directions = 15,
          .border = CUV_LDP_REPLICATE,
          .bins = CUV_LDP_BINS_UNIFORM },
        40, 37 },
    { { .order = 2,
          .block = 9,
          .directions = 15,
          .bins = CUV_LDP_BINS_LEVELS,
          .levels = 33 },
        40, 37 },
    /* two bytes per count; so few histograms that warps share blocks */
    { { .order = 3, .grid = 1, .directions = 15 }, 40, 37 },
    { { .order = 3, .grid = 1, .directions = 5 }, 40, 37 },
    { { .order = 3, .grid = 2, .directions = 7 }, 40, 37 },
    { { .order = 3, .grid = 3, .directions = 15 }, 70, 60 },
    { { .order = 4, .grid = 1, .directions = 2, .bins = CUV_LDP_BINS_UNIFORM },
        40, 37 },
    { { .order = 9, .block = 99, .directions = 15 }, 40, 37 },
    /* four bytes per count, and two bytes packed from four */
    { { .order = 2, .grid = 1, .directions = 15, .is_merged = 1 }, 140, 131 },
    { { .order = 9, .grid = 1, .directions = 15, .is_merged = 1 }, 132, 131 },
    /* empty histograms */
    { { .order = 9, .block = 16, .directions = 15 }, 18, 18 },
  };

  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    Index index;

    index_init (
        &index, &layouts[i].params, layouts[i].width, layouts[i].height);
    check_resident (&index);
    if (i == 0 || !cuv_check_options.few || cuv_check_below (2))
      check_limits (&index);
    if (i == 0)
      check_out_of_memory (&index);
    index_clear (&index);
  }
  check_device_descriptor ();
}

#endif
