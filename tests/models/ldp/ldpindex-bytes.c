/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares packed counts, and all other bytes of a file, with
 * docs/definitions/ldp-index.md. */
#include <stdlib.h>
#include <string.h>
#include "index/ldpindex-format.h"
#include "ldpindex-tests.h"

/* ---- counts ---- */

static int
brute_count_size (const CuvLdpLayout *layout)
{
  uint32_t most = 0;

  for (int s = 0; s < layout->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (layout, s);

    for (int i = 0; i < part.n_blocks; i++) {
      const uint32_t total =
          cuv_ldp_total (&part, i % part.columns, i / part.columns);

      most = total > most ? total : most;
    }
  }
  return most <= 256 ? 1 : most < 65536 ? 2 : 4;
}

static void
check_layout (const CuvLdpParams *params, int width, int height)
{
  CuvLdpIndexInfo info;
  uint32_t *counts, *back;
  uint8_t *bytes;
  size_t n;

  if (cuv_ldp_index_info_init (&info, params, width, height, 0, 0) != NULL)
    return;
  n = cuv_ldp_n_counts (&info.layout);
  counts = calloc (n, sizeof *counts);
  back = calloc (n, sizeof *back);
  bytes = malloc (info.descriptor_size);
  CUV_CHECK (info.count_size == brute_count_size (&info.layout));
  CUV_CHECK (info.descriptor_size == n * (size_t) info.count_size);
  for (uint64_t i = 0; i < 8; i++) {
    make_counts (&info, cuv_check_random (), counts);
    CUV_CHECK (cuv_ldp_index_pack (&info.layout, counts, bytes));
    cuv_ldp_index_unpack (&info.layout, bytes, back);
    CUV_CHECK (memcmp (counts, back, n * sizeof *counts) == 0);
    counts[cuv_check_below ((uint32_t) n)]++;
    CUV_CHECK (!cuv_ldp_index_pack (&info.layout, counts, bytes));
  }
  free (counts);
  free (back);
  free (bytes);
}

static void
check_blocks (int block)
{
  const int width = block + (int) cuv_check_below (40);
  const int height = block + (int) cuv_check_below (40);

  for (int i = 0; i < 16; i++) {
    CuvLdpParams params = { .order = 2 + (int) cuv_check_below (4),
      .block = i % 4 == 3 ? 0 : block,
      .grid = 1 + (int) cuv_check_below (3),
      .directions = 1 + (int) cuv_check_below (15),
      .is_merged = i & 1,
      .border = i & 2 ? CUV_LDP_VALID : CUV_LDP_REPLICATE,
      .bins = (CuvLdpBins) (i % 3),
      .levels = 2 + (int) cuv_check_below (255),
      .scales = 1 + (int) cuv_check_below (width > 16 && height > 16 ? 3 : 1) };

    cuv_check_case ("counts %dx%d, block %d, directions %d%s", width, height,
        (int) params.block, (int) params.directions, i & 1 ? " merged" : "");
    check_layout (&params, width, height);
  }
}

void
test_counts (void)
{
  static const int blocks[] = { 1, 3, 8, 11, 15, 16, 17, 127, 128, 255, 256 };

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    check_blocks (blocks[i]);
}

/* ---- all bytes ---- */

/* Computes the CRC-32 of IEEE 802.3 bit by bit. */
static uint32_t
slow_crc (uint32_t crc, const uint8_t *bytes, size_t size)
{
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

static uint64_t
little (const uint8_t *bytes, int n)
{
  return n == 0 ? 0 : bytes[0] | little (bytes + 1, n - 1) << 8;
}

static void
check_header (const uint8_t *file)
{
  /* version, order .. levels, size, columns, rows, histograms, bins, bytes of a
   * count, thumbnail */
  static const uint32_t expected[] = { 1, 2, 16, 0, 1, 0, 1, 2, 8, 16, 16, 1, 1,
    1, 8, 1, 2, 2 };

  CUV_CHECK (memcmp (file, "CUVLDPI", 8) == 0);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    CUV_CHECK (
        little (file + 8 + 4 * i, 4) == expected[i], ": at %zu", 8 + 4 * i);
  CUV_CHECK (little (file + 80, 8) == 8);
  CUV_CHECK (little (file + 88, 8) == 1152);
  for (size_t i = 96; i < 124; i++)
    CUV_CHECK (file[i] == 0);
  CUV_CHECK (little (file + 124, 4) == slow_crc (0, file, 124));
}

static void
check_entry (const uint8_t *file, uint64_t i)
{
  const CuvLdpIndexInfo info = small_info ();
  const uint8_t *entry = file + 4096 + 1152 * i;
  uint8_t number[8] = { (uint8_t) i };
  uint32_t counts[8];
  char name[64];

  make_counts (&info, i, counts);
  make_name (i, name, sizeof name);
  for (int bin = 0; bin < 8; bin++)
    CUV_CHECK (entry[bin] == (counts[bin] > 255 ? 255 : counts[bin]));
  CUV_CHECK (strcmp ((const char *) entry + 64, name) == 0);
  for (uint64_t p = 0; p < 12; p++)
    CUV_CHECK (entry[64 + 1024 + p] == (uint8_t) (i * 7 + p));
  CUV_CHECK (little (entry + 1148, 4)
      == slow_crc (slow_crc (0, number, 8), entry, 1148));
}

/* Only files of several scales have version 2, with one more field for the
 * number of scales. */
static void
check_scales_header (void)
{
  CuvLdpIndexInfo info = small_info ();
  CuvLdpParams params = info.layout.params;
  uint8_t header[128];

  params.scales = 3;
  CUV_CHECK (cuv_ldp_index_info_init (&info, &params, 64, 48, 2, 2) == NULL);
  cuv_ldp_index_header (&info, header);
  CUV_CHECK (little (header + 8, 4) == 2);
  CUV_CHECK (little (header + 52, 4) == 4 && little (header + 56, 4) == 3);
  CUV_CHECK (little (header + 80, 8) == 8 * (4 * 3 + 2 * 2 + 1 * 1));
  CUV_CHECK (little (header + 96, 4) == 3);
  for (size_t i = 100; i < 124; i++)
    CUV_CHECK (header[i] == 0);
}

void
test_bytes (void)
{
  char path[MAX_PATH];

  cuv_check_case ("bytes");
  check_scales_header ();
  path_of ("bytes", path);
  for (uint64_t n = 0; n < 5; n++) {
    uint8_t *file;
    size_t size;

    make_file (path, n);
    file = read_file (path, &size);
    CUV_CHECK (size == 4096 + 1152 * n);
    check_header (file);
    for (uint64_t m = n > 0 ? n - 1 : 0; m <= n; m++) {
      const uint8_t *slot = file + (m % 2 == 0 ? 512 : 1024);

      CUV_CHECK (little (slot, 8) == m);
      CUV_CHECK (little (slot + 8, 4) == slow_crc (0, slot, 8));
    }
    for (uint64_t i = 0; i < n; i++)
      check_entry (file, i);
    free (file);
  }
}
