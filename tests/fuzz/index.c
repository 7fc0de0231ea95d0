/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are an index with all of its entries, or an error. They are parsed
 * unchanged, and once more with correct checksums of header and slots, which a
 * fuzzer cannot guess. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "index/ldpindex-format.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static volatile unsigned seen; /* keeps reads from being optimised away */

/* ---- one index ---- */

static void
check_header (const CuvLdpIndex *index, const uint8_t *data)
{
  uint8_t header[CUV_LDP_INDEX_HEADER];

  cuv_ldp_index_header (cuv_ldp_index_info (index), header);
  if (memcmp (header, data, sizeof header) != 0)
    abort ();
}

/* Reads every byte of an entry, so that sanitizers report any beyond the file.
 */
static unsigned
read_entry (const CuvLdpIndex *index, uint64_t i)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const size_t n = cuv_ldp_n_counts (&info->layout);
  const char *name = cuv_ldp_index_name (index, i);
  const uint8_t *thumbnail = cuv_ldp_index_thumbnail (index, i);
  uint32_t *counts = malloc (n * sizeof *counts);
  unsigned sum = cuv_ldp_index_check_entry (index, i);

  cuv_ldp_index_unpack (
      &info->layout, cuv_ldp_index_descriptor (index, i), counts);
  sum += counts[n - 1] + (name != NULL ? (unsigned) strlen (name) : 0);
  if (thumbnail != NULL)
    sum += thumbnail[3 * info->thumbnail_width * info->thumbnail_height - 1];
  free (counts);
  return sum;
}

static void
check_index (const CuvLdpIndex *index, const uint8_t *data, size_t size)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const uint64_t n = cuv_ldp_index_n_entries (index);
  char *error, *text = cuv_ldp_index_info_text (info);

  check_header (index, data);
  if (text == NULL || info->stride % 64 != 0
      || n > (size - CUV_LDP_INDEX_PAGE) / info->stride)
    abort ();
  for (uint64_t i = 0; i < n; i++)
    seen = read_entry (index, i);
  if (cuv_ldp_index_check (index, &error) != (error == NULL))
    abort ();
  free (error);
  free (text);
}

static void
parse (const uint8_t *data, size_t size)
{
  char *error;
  CuvLdpIndex *index = cuv_ldp_index_parse (data, size, &error);

  if ((index == NULL) != (error != NULL))
    abort ();
  if (index != NULL)
    check_index (index, data, size);
  cuv_ldp_index_free (index);
  free (error);
}

/* ---- both ---- */

static void
fix_checksums (uint8_t *bytes)
{
  memcpy (bytes, cuv_ldp_index_magic, sizeof cuv_ldp_index_magic);
  cuv_ldp_put32 (bytes + 8, CUV_LDP_INDEX_VERSION);
  cuv_ldp_put32 (bytes + CUV_LDP_INDEX_HEADER - 4,
      cuv_ldp_index_crc (0, bytes, CUV_LDP_INDEX_HEADER - 4));
  for (uint64_t slot = 0; slot < 2; slot++) {
    uint8_t *at = bytes + cuv_ldp_index_slot_offset (slot);

    if (at[8] != 0) /* others stay damaged */
      cuv_ldp_put32 (at + 8, cuv_ldp_index_crc (0, at, 8));
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint8_t *copy;

  parse (data, size);
  if (size < CUV_LDP_INDEX_PAGE)
    return 0;
  copy = malloc (size);
  memcpy (copy, data, size);
  fix_checksums (copy);
  parse (copy, size);
  free (copy);
  return 0;
}
