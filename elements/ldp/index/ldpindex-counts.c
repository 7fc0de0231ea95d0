/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "index/ldpindex.h"

#include "index/ldpindex-format.h"

enum { MAX_BYTE_TOTAL = 256 }; /* codes of a histogram with one-byte counts */

int
cuv_ldp_index_count_size (const CuvLdpLayout *layout)
{
  int x[2], y[2], column = 0, row = 0, most_x = 0, most_y = 0;
  uint32_t total;

  for (int i = 0; i < layout->columns; i++) {
    cuv_ldp_block (layout, i, 0, x, y);
    if (x[1] - x[0] > most_x) {
      most_x = x[1] - x[0];
      column = i;
    }
  }
  for (int i = 0; i < layout->rows; i++) {
    cuv_ldp_block (layout, 0, i, x, y);
    if (y[1] - y[0] > most_y) {
      most_y = y[1] - y[0];
      row = i;
    }
  }
  total = cuv_ldp_total (layout, column, row);
  return total <= MAX_BYTE_TOTAL ? 1 : total <= UINT16_MAX ? 2 : 4;
}

static uint32_t
total_of_block (const CuvLdpLayout *layout, int i)
{
  return cuv_ldp_total (layout, i % layout->columns, i / layout->columns);
}

/* ---- one histogram ---- */

static bool
has_total (const uint32_t *counts, int n, uint32_t total)
{
  uint64_t sum = 0;

  for (int i = 0; i < n; i++)
    sum += counts[i];
  return sum == total;
}

static void
pack_counts (const uint32_t *counts, int n, int size, uint8_t *bytes)
{
  for (int i = 0; i < n; i++) {
    if (size == 1)
      bytes[i] = (uint8_t) (counts[i] < MAX_BYTE_TOTAL ? counts[i] : UINT8_MAX);
    else if (size == 2)
      cuv_ldp_put16 (bytes + 2 * i, (uint16_t) counts[i]);
    else
      cuv_ldp_put32 (bytes + 4 * i, counts[i]);
  }
}

static void
unpack_counts (
    const uint8_t *bytes, int n, int size, uint32_t total, uint32_t *counts)
{
  uint32_t sum = 0;
  int largest = 0;

  for (int i = 0; i < n; i++) {
    counts[i] = size == 1 ? bytes[i]
        : size == 2       ? cuv_ldp_get16 (bytes + 2 * i)
                          : cuv_ldp_get32 (bytes + 4 * i);
    sum += counts[i];
    if (counts[i] > counts[largest])
      largest = i;
  }
  if (size == 1 && total == MAX_BYTE_TOTAL && sum == UINT8_MAX
      && counts[largest] == UINT8_MAX)
    counts[largest] = MAX_BYTE_TOTAL;
}

/* ---- all histograms ---- */

bool
cuv_ldp_index_pack (
    const CuvLdpLayout *layout, const uint32_t *counts, void *bytes)
{
  const int size = cuv_ldp_index_count_size (layout);
  uint8_t *out = bytes;

  for (int i = 0; i < layout->columns * layout->rows; i++) {
    const uint32_t total = total_of_block (layout, i);

    for (int h = 0; h < layout->n_histograms; h++) {
      if (!has_total (counts, layout->n_bins, total))
        return false;
      pack_counts (counts, layout->n_bins, size, out);
      counts += layout->n_bins;
      out += layout->n_bins * size;
    }
  }
  return true;
}

void
cuv_ldp_index_unpack (
    const CuvLdpLayout *layout, const void *bytes, uint32_t *counts)
{
  const int size = cuv_ldp_index_count_size (layout);
  const uint8_t *in = bytes;

  for (int i = 0; i < layout->columns * layout->rows; i++) {
    const uint32_t total = total_of_block (layout, i);

    for (int h = 0; h < layout->n_histograms; h++) {
      unpack_counts (in, layout->n_bins, size, total, counts);
      counts += layout->n_bins;
      in += layout->n_bins * size;
    }
  }
}
