/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters and sizes of an index, and the packing of counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "index/ldpindex-format.h"

static uint64_t
align (uint64_t bytes)
{
  const uint64_t n = CUV_LDP_INDEX_ALIGNMENT;

  return (bytes + n - 1) / n * n;
}

static const char *
check_thumbnail (int width, int height)
{
  if ((width == 0) == (height == 0) && width >= 0 && height >= 0
      && width <= CUV_LDP_INDEX_MAX_THUMBNAIL
      && height <= CUV_LDP_INDEX_MAX_THUMBNAIL)
    return NULL;
  return cuv_ldp_problem (
      "thumbnail-width is %d and thumbnail-height %d: set both to 0 for no "
      "thumbnails, or both to values from 1 to %d",
      width, height, CUV_LDP_INDEX_MAX_THUMBNAIL);
}

const char *
cuv_ldp_index_info_init (CuvLdpIndexInfo *self, const CuvLdpParams *params,
    int width, int height, int thumbnail_width, int thumbnail_height)
{
  const char *problem = check_thumbnail (thumbnail_width, thumbnail_height);
  size_t n_counts;

  *self = (CuvLdpIndexInfo){ .thumbnail_width = thumbnail_width,
    .thumbnail_height = thumbnail_height };
  if (problem == NULL)
    problem = cuv_ldp_layout_init (&self->layout, params, width, height);
  if (problem != NULL)
    return problem;
  n_counts = cuv_ldp_n_counts (&self->layout);
  if (n_counts > CUV_LDP_INDEX_MAX_COUNTS)
    return cuv_ldp_problem ("the descriptor of a picture has %zu counts, but "
                            "an index takes at most %d: use larger blocks, or "
                            "fewer bins or directions",
        n_counts, CUV_LDP_INDEX_MAX_COUNTS);
  self->count_size = cuv_ldp_index_count_size (&self->layout);
  self->descriptor_size = n_counts * (uint64_t) self->count_size;
  self->stride = align (cuv_ldp_index_thumbnail_offset (self)
      + 3 * (uint64_t) thumbnail_width * (uint64_t) thumbnail_height
      + sizeof (uint32_t));
  return NULL;
}

/* ---- text ---- */

static void
write_params (FILE *out, const CuvLdpParams *params)
{
  fprintf (out, "order %d, ", (int) params->order);
  if (params->block > 0)
    fprintf (out, "blocks of %dx%d pixels, ", (int) params->block,
        (int) params->block);
  else
    fprintf (out, "a grid of %d blocks a side, ", (int) params->grid);
  fprintf (out, "directions");
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
    if (params->directions >> d & 1)
      fprintf (out, " %d", 45 * d);
  }
  fprintf (out, "%s, border %s, ", params->is_merged ? " merged" : "",
      params->border == CUV_LDP_VALID ? "valid" : "replicate");
  if (params->bins == CUV_LDP_BINS_LEVELS)
    fprintf (out, "%d levels", (int) params->levels);
  else
    fprintf (out, "%s",
        params->bins == CUV_LDP_BINS_UNIFORM ? "uniform bins" : "256 bins");
}

char *
cuv_ldp_index_info_text (const CuvLdpIndexInfo *self)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);

  if (out == NULL)
    return NULL;
  write_params (out, &self->layout.params);
  fprintf (out, ", pictures of %dx%d", (int) self->layout.width,
      (int) self->layout.height);
  if (self->layout.params.scales > 1)
    fprintf (out, " at %d scales", (int) self->layout.params.scales);
  if (self->thumbnail_width > 0)
    fprintf (out, ", thumbnails of %dx%d", (int) self->thumbnail_width,
        (int) self->thumbnail_height);
  else
    fprintf (out, ", no thumbnails");
  fclose (out);
  return text;
}

bool
cuv_ldp_index_check_same (const CuvLdpIndexInfo *index,
    const CuvLdpIndexInfo *requested, const char *path, char **error)
{
  uint8_t a[CUV_LDP_INDEX_HEADER], b[CUV_LDP_INDEX_HEADER];
  const CuvLdpLayout *layout = &index->layout;
  char *index_text, *requested_text, remedy[100] = "";

  cuv_ldp_index_header (index, a);
  cuv_ldp_index_header (requested, b);
  if (memcmp (a, b, sizeof a) == 0)
    return true;
  if (layout->width != requested->layout.width
      || layout->height != requested->layout.height)
    snprintf (remedy, sizeof remedy,
        "set descriptor-width to %d and descriptor-height to %d, ",
        (int) layout->width, (int) layout->height);
  index_text = cuv_ldp_index_info_text (index);
  requested_text = cuv_ldp_index_info_text (requested);
  cuv_ldp_index_fail (error, path,
      "has other parameters (%s) than requested (%s): %suse the index's "
      "parameters, or another index file",
      index_text != NULL ? index_text : "out of memory",
      requested_text != NULL ? requested_text : "out of memory", remedy);
  free (index_text);
  free (requested_text);
  return false;
}

/* ---- entries ---- */

uint64_t
cuv_ldp_index_offset (const CuvLdpIndexInfo *info, uint64_t i)
{
  return CUV_LDP_INDEX_PAGE + i * info->stride;
}

size_t
cuv_ldp_index_name_offset (const CuvLdpIndexInfo *info)
{
  return (size_t) align (info->descriptor_size);
}

size_t
cuv_ldp_index_thumbnail_offset (const CuvLdpIndexInfo *info)
{
  return cuv_ldp_index_name_offset (info) + CUV_LDP_INDEX_NAME;
}

/* ---- counts ---- */

enum { MAX_BYTE_TOTAL = 256 }; /* codes of a histogram with one-byte counts */

/* Returns the maximum number of codes in a histogram of a layout with one
 * scale. */
static uint32_t
find_max_total (const CuvLdpLayout *layout)
{
  const int columns = layout->columns, rows = layout->rows;
  int x[2], y[2], column = 0, row = 0, width = 0, height = 0;

  for (int i = 0; i < columns || i < rows; i++) {
    cuv_ldp_block (layout, i < columns ? i : 0, i < rows ? i : 0, x, y);
    if (i < columns && x[1] - x[0] > width) {
      width = x[1] - x[0];
      column = i;
    }
    if (i < rows && y[1] - y[0] > height) {
      height = y[1] - y[0];
      row = i;
    }
  }
  return cuv_ldp_total (layout, column, row);
}

int
cuv_ldp_index_count_size (const CuvLdpLayout *layout)
{
  uint32_t total = 0;

  for (int s = 0; s < layout->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (layout, s);
    const uint32_t most = find_max_total (&part);

    total = most > total ? most : total;
  }
  return total <= MAX_BYTE_TOTAL ? 1 : total <= UINT16_MAX ? 2 : 4;
}

static uint32_t
total_of_block (const CuvLdpLayout *layout, int i)
{
  return cuv_ldp_total (layout, i % layout->columns, i / layout->columns);
}

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

/* size: bytes of a packed count; here and below. */
static bool
pack_scale (
    const CuvLdpLayout *layout, int size, const uint32_t *counts, uint8_t *out)
{
  for (int i = 0; i < layout->n_blocks; i++) {
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

bool
cuv_ldp_index_pack (
    const CuvLdpLayout *layout, const uint32_t *counts, void *bytes)
{
  const int size = cuv_ldp_index_count_size (layout);
  uint8_t *out = bytes;

  for (int s = 0; s < layout->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (layout, s);

    if (!pack_scale (&part, size, counts, out))
      return false;
    counts += cuv_ldp_n_counts (&part);
    out += cuv_ldp_n_counts (&part) * (size_t) size;
  }
  return true;
}

static void
unpack_scale (
    const CuvLdpLayout *layout, int size, const uint8_t *in, uint32_t *counts)
{
  for (int i = 0; i < layout->n_blocks; i++) {
    const uint32_t total = total_of_block (layout, i);

    for (int h = 0; h < layout->n_histograms; h++) {
      unpack_counts (in, layout->n_bins, size, total, counts);
      counts += layout->n_bins;
      in += layout->n_bins * size;
    }
  }
}

void
cuv_ldp_index_unpack (
    const CuvLdpLayout *layout, const void *bytes, uint32_t *counts)
{
  const int size = cuv_ldp_index_count_size (layout);
  const uint8_t *in = bytes;

  for (int s = 0; s < layout->params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (layout, s);

    unpack_scale (&part, size, in, counts);
    counts += cuv_ldp_n_counts (&part);
    in += cuv_ldp_n_counts (&part) * (size_t) size;
  }
}
