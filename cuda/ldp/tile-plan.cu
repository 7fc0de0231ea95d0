// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits a picture into tiles (host code). Kernels look up their tile in
// tables, because integer division by sizes unknown at compile time is slow.
#include <algorithm>
#include <vector>
#include "ldp/describe.cuh"

// Splits an axis of n_blocks blocks into spans of blocks_per_span blocks. A
// span longer than max_length is cut into equal parts, whose length is a
// multiple of `alignment`, as max_length is.
static std::vector<CuvLdpSpan>
split_axis (int block, int pixels, int n_blocks, int blocks_per_span,
    int max_length, int alignment)
{
  std::vector<CuvLdpSpan> spans;

  for (int first = 0; first < n_blocks; first += blocks_per_span) {
    const int n = std::min (blocks_per_span, n_blocks - first);
    const int begin = cuv_ldp_block_begin (block, pixels, n_blocks, first);
    const int end = cuv_ldp_block_begin (block, pixels, n_blocks, first + n);
    const int n_parts = cuv_div_up (end - begin, max_length);
    const int length =
        cuv_div_up (cuv_div_up (end - begin, n_parts), alignment) * alignment;

    for (int at = begin; at < end; at += length)
      spans.push_back ({ at, std::min (length, end - at), first, n });
  }
  return spans;
}

// Returns the maximum height of a tile. Blocks that must be split over several
// tiles are split further, down to CUV_LDP_STEP_ROWS, until there are enough
// tiles to fill the device.
static int
choose_tile_height (
    const CuvLdpLayout &layout, int n_tile_columns, bool splits_columns)
{
  const int n_resident = CUV_LDP_BLOCKS_PER_SM * cuv_cuda_multiprocessors ();
  const int block_height =
      cuv_ldp_max_block_size (layout.params.block, layout.height, layout.rows);
  int height = CUV_LDP_TILE_HEIGHT;

  if (!splits_columns && block_height <= height)
    return height;
  while (height > CUV_LDP_STEP_ROWS
      && n_tile_columns * layout.rows * cuv_div_up (block_height, height)
          < n_resident)
    height -= CUV_LDP_STEP_ROWS;
  return height;
}

static std::vector<uint8_t>
find_block_of_pixel (const CuvLdpLayout &layout,
    const std::vector<CuvLdpSpan> &columns, int not_counted)
{
  const int margin = cuv_ldp_margin (&layout);
  std::vector<uint8_t> table (
      columns.size () * CUV_LDP_TILE_WIDTH, (uint8_t) not_counted);
  uint8_t *tile = table.data ();

  for (const CuvLdpSpan &span : columns) {
    for (int i = 0; i < span.length; i++) {
      const int x = span.begin + i;

      if (x >= margin && x < layout.width - margin)
        tile[i] = (uint8_t) (cuv_ldp_block_at (layout.params.block,
                                 layout.width, layout.columns, x)
            - span.first_block);
    }
    tile += CUV_LDP_TILE_WIDTH;
  }
  return table;
}

template <typename T>
static const void *
cuv_ldp_upload_table (CuvArena *arena, const std::vector<T> &table)
{
  return cuv_arena_upload (arena, table.data (), table.size () * sizeof (T));
}

int
cuv_ldp_plan (CuvLdpPlan *self, const CuvLdpLayout &layout, CuvArena *arena)
{
  const int block = layout.params.block;
  const int stride = cuv_ldp_block_stride (&layout);
  const int block_width =
      cuv_ldp_max_block_size (block, layout.width, layout.columns);
  const int blocks_per_tile = std::max (1,
      std::min (
          CUV_LDP_TILE_WIDTH / block_width, CUV_LDP_SHARED_WORDS / stride));
  const std::vector<CuvLdpSpan> columns = split_axis (block, layout.width,
      layout.columns, blocks_per_tile, CUV_LDP_TILE_WIDTH, 16);
  const int n_columns = (int) columns.size ();
  const bool splits_columns =
      n_columns > cuv_div_up (layout.columns, blocks_per_tile);
  const std::vector<CuvLdpSpan> rows =
      split_axis (block, layout.height, layout.rows, 1,
          choose_tile_height (layout, n_columns, splits_columns), 1);

  self->count_size = cuv_ldp_count_size (&layout);
  self->n_tile_columns = n_columns;
  self->n_tile_rows = (int) rows.size ();
  self->needs_atomic_add = splits_columns || self->n_tile_rows > layout.rows;
  self->n_shared_words = cuv_div_up ((blocks_per_tile + 1) * stride, 4) * 4;
  self->columns = (const CuvLdpSpan *) cuv_ldp_upload_table (arena, columns);
  self->rows = (const CuvLdpSpan *) cuv_ldp_upload_table (arena, rows);
  self->block_of_pixel = (const unsigned *) cuv_ldp_upload_table (
      arena, find_block_of_pixel (layout, columns, blocks_per_tile));
  return self->columns != nullptr && self->rows != nullptr
          && self->block_of_pixel != nullptr
      ? 0
      : -1;
}
