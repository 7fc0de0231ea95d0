/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include "index/ldpindex-format.h"

static uint64_t
align (uint64_t bytes)
{
  const uint64_t n = CUV_LDP_INDEX_ALIGNMENT;

  return (bytes + n - 1) / n * n;
}

/* Clears unused parameters, so that equal descriptors have equal headers. */
static CuvLdpParams
normalized (const CuvLdpParams *params)
{
  CuvLdpParams same = *params;

  same.is_merged = params->is_merged != 0;
  if (params->block > 0)
    same.grid = 0;
  if (params->bins != CUV_LDP_BINS_LEVELS)
    same.levels = 0;
  return same;
}

static const char *
check_thumbnail (int width, int height)
{
  if ((width == 0) != (height == 0) || width < 0 || height < 0
      || width > CUV_LDP_INDEX_MAX_THUMBNAIL
      || height > CUV_LDP_INDEX_MAX_THUMBNAIL)
    return "thumbnail width and height must both be 0, or both 1 to 1024";
  return NULL;
}

static void
set_sizes (CuvLdpIndexInfo *self, uint64_t n_counts)
{
  self->count_size = cuv_ldp_index_count_size (&self->layout);
  self->descriptor_size = n_counts * (uint64_t) self->count_size;
  self->stride = align (cuv_ldp_index_thumbnail_offset (self)
      + 3 * (uint64_t) self->thumbnail_width * (uint64_t) self->thumbnail_height
      + sizeof (uint32_t));
}

const char *
cuv_ldp_index_info_init (CuvLdpIndexInfo *self, const CuvLdpParams *params,
    int width, int height, int thumbnail_width, int thumbnail_height)
{
  const CuvLdpParams same = normalized (params);
  const CuvLdpLayout *layout = &self->layout;
  const char *wrong = check_thumbnail (thumbnail_width, thumbnail_height);
  uint64_t n_counts;

  memset (self, 0, sizeof *self);
  if (wrong == NULL)
    wrong = cuv_ldp_layout_init (&self->layout, &same, width, height);
  if (wrong != NULL)
    return wrong;
  n_counts = (uint64_t) layout->columns * (uint64_t) layout->rows
      * (uint64_t) layout->n_histograms * (uint64_t) layout->n_bins;
  if (n_counts > CUV_LDP_INDEX_MAX_COUNTS)
    return "a picture has more than 67108864 counts: use larger blocks or "
           "fewer "
           "bins";
  self->thumbnail_width = thumbnail_width;
  self->thumbnail_height = thumbnail_height;
  set_sizes (self, n_counts);
  return NULL;
}

/* ---- text ---- */

static void
write_params (FILE *out, const CuvLdpParams *params)
{
  fprintf (out, "order %d, ", (int) params->order);
  if (params->block > 0)
    fprintf (out, "blocks of %d pixels, ", (int) params->block);
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
  if (self->thumbnail_width > 0)
    fprintf (out, ", thumbnails of %dx%d", (int) self->thumbnail_width,
        (int) self->thumbnail_height);
  else
    fprintf (out, ", no thumbnails");
  fclose (out);
  return text;
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
