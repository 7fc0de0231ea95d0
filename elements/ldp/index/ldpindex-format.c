/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of header, commit slots and entries, their checksums, and errors.
 */
#include "index/ldpindex-format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const uint8_t cuv_ldp_index_magic[8] = { 'C', 'U', 'V', 'L', 'D', 'P', 'I', 0 };

bool
cuv_ldp_index_fail (char **error, const char *path, const char *format, ...)
{
  char *text = NULL;
  va_list args;

  va_start (args, format);
  if (vasprintf (&text, format, args) < 0)
    text = NULL;
  va_end (args);
  if (text == NULL || path == NULL) {
    *error = text;
    return false;
  }
  if (asprintf (error, "%s: %s", path, text) < 0)
    *error = NULL;
  free (text);
  return false;
}

uint32_t
cuv_ldp_index_crc (uint32_t before, const uint8_t *bytes, size_t size)
{
  return (uint32_t) crc32_z (before, bytes, size);
}

/* ---- header ---- */

void
cuv_ldp_index_header (
    const CuvLdpIndexInfo *info, uint8_t header[CUV_LDP_INDEX_HEADER])
{
  const CuvLdpLayout *layout = &info->layout;
  const CuvLdpParams *params = &layout->params;
  /* files of one scale stay readable by releases that know version 1 only */
  const int32_t numbers[] = { params->scales > 1 ? CUV_LDP_INDEX_VERSION : 1,
    params->order, params->block, params->grid, params->directions,
    params->is_merged, (int32_t) params->border, (int32_t) params->bins,
    params->levels, layout->width, layout->height, layout->columns,
    layout->rows, layout->n_histograms, layout->n_bins, info->count_size,
    info->thumbnail_width, info->thumbnail_height };
  uint8_t *at = header + sizeof cuv_ldp_index_magic;

  memset (header, 0, CUV_LDP_INDEX_HEADER);
  memcpy (header, cuv_ldp_index_magic, sizeof cuv_ldp_index_magic);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++, at += 4)
    cuv_ldp_put32 (at, (uint32_t) numbers[i]);
  cuv_ldp_put64 (at, info->descriptor_size);
  cuv_ldp_put64 (at + 8, info->stride);
  if (params->scales > 1)
    cuv_ldp_put32 (at + 16, (uint32_t) params->scales);
  cuv_ldp_put32 (header + CUV_LDP_INDEX_HEADER - 4,
      cuv_ldp_index_crc (0, header, CUV_LDP_INDEX_HEADER - 4));
}

/* ---- slots ---- */

uint64_t
cuv_ldp_index_slot_offset (uint64_t n_entries)
{
  return n_entries % 2 == 0
      ? 512
      : 1024; /* the slots lie in different disk sectors */
}

void
cuv_ldp_index_slot (uint64_t n_entries, uint8_t slot[CUV_LDP_INDEX_SLOT])
{
  cuv_ldp_put64 (slot, n_entries);
  cuv_ldp_put32 (slot + 8, cuv_ldp_index_crc (0, slot, 8));
}

/* ---- entries ---- */

uint32_t
cuv_ldp_index_checksum_begin (uint64_t i)
{
  uint8_t number[8];

  cuv_ldp_put64 (number, i);
  return cuv_ldp_index_crc (0, number, sizeof number);
}

uint32_t
cuv_ldp_index_checksum (
    const CuvLdpIndexInfo *info, uint64_t i, const uint8_t *entry)
{
  return cuv_ldp_index_crc (
      cuv_ldp_index_checksum_begin (i), entry, (size_t) info->stride - 4);
}

/* Returns the number of continuation bytes after the first byte of a UTF-8
 * character, or -1. */
static int
count_followers (unsigned char first)
{
  if (first < 0x80)
    return 0;
  if (first < 0xc2 || first > 0xf4)
    return -1;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

bool
cuv_ldp_index_is_utf8 (const char *name)
{
  static const uint32_t least[4] = { 0, 0x80, 0x800, 0x10000 };
  const unsigned char *p = (const unsigned char *) name;

  while (*p != 0) {
    const int n = count_followers (*p);
    uint32_t code = n <= 0 ? *p : *p & (0x3fu >> n);

    p++;
    for (int i = 0; i < n; i++, p++) {
      if ((*p & 0xc0) != 0x80)
        return false;
      code = code << 6 | (*p & 0x3f);
    }
    if (n < 0 || code < least[n] || code > 0x10ffff
        || (code >= 0xd800 && code < 0xe000))
      return false;
  }
  return true;
}
