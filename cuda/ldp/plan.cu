// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits a picture into tiles. Kernels look their tile up in tables, for
// integer division by sizes unknown at compile time is slow.
#include <algorithm>
#include <vector>
#include "ldp/describe.cuh"

// Spans of n blocks on an axis, `together` blocks each. A span longer than
// `most` is cut into equal parts, whose length is a multiple of `unit`, as
// `most` is.
static std::vector<CuvLdpSpan>
spans_of (int block, int pixels, int n, int together, int most, int unit)
{
  std::vector<CuvLdpSpan> spans;

  for (int i = 0; i < n; i += together) {
    const int n_blocks = std::min (together, n - i);
    const int begin = cuv_ldp_edge (block, pixels, n, i);
    const int end = cuv_ldp_edge (block, pixels, n, i + n_blocks);
    const int share = cuv_div_up (end - begin, cuv_div_up (end - begin, most));
    const int size = cuv_div_up (share, unit) * unit;

    for (int at = begin; at < end; at += size)
      spans.push_back ({ at, std::min (size, end - at), i, n_blocks });
  }
  return spans;
}

// Maximum height of a tile. If blocks are cut anyway, they are cut finely
// enough to fill the device, but not below CUV_LDP_ROWS, which are done at
// once.
static int
most_rows (const CuvLdpLayout &layout, int n_across, bool is_cut)
{
  const int n_slots = CUV_LDP_RESIDENT * cuv_cuda_multiprocessors ();
  const int tallest =
      cuv_ldp_longest (layout.params.block, layout.height, layout.rows);
  int most = CUV_LDP_DOWN;

  is_cut = is_cut || tallest > most;
  while (is_cut && most > CUV_LDP_ROWS
      && n_across * layout.rows * cuv_div_up (tallest, most) < n_slots)
    most -= CUV_LDP_ROWS;
  return most;
}

static std::vector<uint8_t>
blocks_of (const CuvLdpLayout &layout, const std::vector<CuvLdpSpan> &across,
    int together)
{
  const int margin = cuv_ldp_margin (&layout);
  std::vector<uint8_t> blocks (
      across.size () * CUV_LDP_ACROSS, (uint8_t) together);
  uint8_t *block = blocks.data ();

  for (const CuvLdpSpan &span : across) {
    for (int i = 0; i < span.size; i++) {
      const int x = span.at + i;

      if (x >= margin && x < layout.width - margin)
        block[i] = (uint8_t) (cuv_ldp_block_at (layout.params.block,
                                  layout.width, layout.columns, x)
            - span.block);
    }
    block += CUV_LDP_ACROSS;
  }
  return blocks;
}

template <typename T>
static const void *
upload (CuvArena *arena, const std::vector<T> &data)
{
  return cuv_arena_upload (arena, data.data (), data.size () * sizeof (T));
}

int
cuv_ldp_plan (CuvLdpPlan *self, const CuvLdpLayout &layout, CuvArena *arena)
{
  const int block = layout.params.block;
  const int stride = cuv_ldp_stride (&layout);

  self->count_size = cuv_ldp_count_size (&layout);
  const int together = std::max (1,
      std::min (CUV_LDP_ACROSS
              / cuv_ldp_longest (block, layout.width, layout.columns),
          CUV_LDP_SHARED_WORDS / stride));
  const std::vector<CuvLdpSpan> across = spans_of (
      block, layout.width, layout.columns, together, CUV_LDP_ACROSS, 16);
  const bool is_cut =
      (int) across.size () > cuv_div_up (layout.columns, together);
  const std::vector<CuvLdpSpan> down = spans_of (block, layout.height,
      layout.rows, 1, most_rows (layout, (int) across.size (), is_cut), 1);

  self->n_across = (int) across.size ();
  self->n_down = (int) down.size ();
  self->adds = is_cut || self->n_down > layout.rows;
  self->n_shared = cuv_div_up ((together + 1) * stride, 4) * 4;
  self->across = (const CuvLdpSpan *) upload (arena, across);
  self->down = (const CuvLdpSpan *) upload (arena, down);
  self->block_of =
      (const unsigned *) upload (arena, blocks_of (layout, across, together));
  return self->across != nullptr && self->down != nullptr
          && self->block_of != nullptr
      ? 0
      : -1;
}
