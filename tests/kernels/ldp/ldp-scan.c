/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scans of parts of an index, on the CPU or the GPU and with different amounts
 * of memory, against the matcher. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpu/ldp-match.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"
#include "scan/scan.h"

enum { N = 21, QUERIES = N / 3 };

/* Writes an index of noise in which some entries repeat others. */
static CuvLdpIndex *
write_index (const char *path, const CuvLdpParams *params, int size)
{
  CuvLdpIndexInfo info;
  CuvLdpIndexWriter *writer;
  uint32_t *counts;
  uint8_t *picture = malloc ((size_t) size * (size_t) size);
  char *error;

  CUV_CHECK (cuv_ldp_index_info_init (&info, params, size, size, 0, 0) == NULL);
  counts = malloc (cuv_ldp_n_counts (&info.layout) * sizeof *counts);
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  for (int i = 0; i < N; i++) {
    for (int p = 0; i % 4 != 3 && p < size * size; p++)
      picture[p] = (uint8_t) cuv_check_below (2u << i % 7);
    cuv_ldp_describe (&info.layout, picture, counts);
    CUV_CHECK (cuv_ldp_index_writer_append (writer, counts, "", NULL, &error));
  }
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  free (counts);
  free (picture);
  return cuv_ldp_index_open (path, &error);
}

/* Makes the second query a variant of the first: the larger similarity of both
 * must be returned. */
static void
check_variants (CuvLdpScan *scan, CuvLdpPackedQuery *queries, uint64_t n,
    const CuvProcessor *processor)
{
  double together[N];
  CuvLdpPackedQuery both[2] = { queries[0], queries[1] };

  both[0].similarities = both[1].similarities = together;
  both[1].is_variant = true;
  CUV_CHECK (cuv_ldp_scan_run (scan, both, 2, processor) == NULL);
  for (uint64_t i = 0; i < n; i++)
    CUV_CHECK (together[i]
        == fmax (queries[0].similarities[i], queries[1].similarities[i]));
}

static void
check_part (const CuvLdpIndex *index, uint64_t first, uint64_t n,
    size_t max_bytes, const CuvProcessor *processor)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  CuvLdpMatcher *matcher = cuv_ldp_matcher_new (&info->layout);
  double wanted[N], found[QUERIES][N + 1];
  CuvLdpPackedQuery queries[QUERIES];
  const char *error;
  CuvLdpScan *scan =
      cuv_ldp_scan_new (index, first, n, max_bytes, processor, &error);

  cuv_check_case ("entries %d and %d more, %zu bytes of %zu", (int) first,
      (int) n, max_bytes, (size_t) info->descriptor_size);
  CUV_CHECK (scan != NULL, ": %s", error);
  for (uint64_t i = 0; i < QUERIES; i++) {
    queries[i] = (CuvLdpPackedQuery){ cuv_ldp_index_descriptor (index, 3 * i),
      found[i], false };
    found[i][n] = -1.0;
  }
  CUV_CHECK (scan != NULL
      && cuv_ldp_scan_run (scan, queries, QUERIES, processor) == NULL);
  for (int i = 0; scan != NULL && i < QUERIES; i++) {
    cuv_ldp_matcher_run (matcher,
        &(CuvLdpPackedQuery){ queries[i].packed, wanted, false }, 1,
        cuv_ldp_index_descriptor (index, first), info->stride, 0, n, 1);
    CUV_CHECK (memcmp (found[i], wanted, n * sizeof *wanted) == 0);
    CUV_CHECK (found[i][n] == -1.0);
  }
  check_variants (scan, queries, n, processor);
  cuv_ldp_scan_free (scan);
  cuv_ldp_matcher_free (matcher);
}

/* Checks that ranks of a program are assigned to the GPUs of a machine in turn.
 */
static void
check_devices (void)
{
  int n = 0, n_again = 0;

  CUV_CHECK (cuv_ldp_scan_probe_cuda () == NULL);
  CUV_CHECK (cuv_ldp_scan_set_device (0, &n) == NULL && n > 0, ": %d", n);
  CUV_CHECK (cuv_ldp_scan_set_device (n, &n_again) == NULL && n_again == n,
      ": %d, then %d", n, n_again);
  CUV_CHECK (cuv_ldp_scan_free_memory () > 0);
}

CUV_CHECKS (check_ldp_scan)
{
  const CuvProcessor *processor = cuv_check_options.cuda
      ? &(CuvProcessor){ .on_device = true }
      : &(CuvProcessor){ .n_threads = 2 };
  static const struct {
    CuvLdpParams params;
    int size;
  } layouts[] = {
    { { .order = 2, .grid = 1, .directions = 15 }, 64 },
    { { .order = 3, .block = 16, .directions = 5, .scales = 2 }, 40 },
    { { .order = 2, .grid = 2, .directions = 3, .bins = CUV_LDP_BINS_UNIFORM },
        50 },
  };
  char path[] = "/tmp/ldp-scan-XXXXXX";
  const int fd = mkstemp (path);

  if (processor->on_device)
    check_devices ();
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    CuvLdpIndex *index;
    size_t size;

    unlink (path);
    index = write_index (path, &layouts[i].params, layouts[i].size);
    size = (size_t) cuv_ldp_index_info (index)->descriptor_size;
    check_part (index, 0, N, 1 << 24, processor);
    check_part (index, 3, 1, 1 << 24, processor);
    check_part (index, 5, N - 5, 9 * size + 8192, processor);
    if (!processor->on_device)
      check_part (index, 2, N - 2, 0, processor);
    cuv_ldp_index_free (index);
  }
  close (fd);
  unlink (path);
}
