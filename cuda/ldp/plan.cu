// SPDX-License-Identifier: LGPL-2.1-or-later
// How a picture is shared out to blocks of threads. They look up where they
// are: to divide by sizes that are not known takes a kernel long.
#include <algorithm>
#include <vector>
#include "ldp/ldp-state.cuh"

// Of n blocks, `together` in a piece; longer ones than `most` in many.
static std::vector<CuvLdpPiece>
pieces_of (int block, int pixels, int n, int together, int most)
{
  std::vector<CuvLdpPiece> pieces;

  for (int i = 0; i < n; i += together) {
    const int n_blocks = std::min (together, n - i);
    const int end = cuv_ldp_edge (block, pixels, n, i + n_blocks);

    for (int at = cuv_ldp_edge (block, pixels, n, i); at < end; at += most)
      pieces.push_back ({ at, std::min (most, end - at), i, n_blocks });
  }
  return pieces;
}

static std::vector<uint8_t>
blocks_of (const CuvLdpShape &shape, const std::vector<CuvLdpPiece> &across,
    int together)
{
  const int margin = cuv_ldp_margin (&shape);
  std::vector<uint8_t> blocks (
      across.size () * CUV_LDP_ACROSS, (uint8_t) together);
  uint8_t *block = blocks.data ();

  for (const CuvLdpPiece &piece : across) {
    for (int i = 0; i < piece.size; i++) {
      const int x = piece.at + i;

      if (x >= margin && x < shape.width - margin)
        block[i] = (uint8_t) (cuv_ldp_block_at (shape.params.block, shape.width,
                                  shape.columns, x)
            - piece.block);
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
cuv_ldp_plan (CuvLdpPlan *self, const CuvLdpShape &shape, CuvArena *arena)
{
  const int block = shape.params.block;
  const int of_block = cuv_ldp_pairs (&shape) * shape.n_bins; // words

  self->count_size = cuv_ldp_count_size (&shape);
  const int together = std::max (1,
      std::min (
          CUV_LDP_ACROSS / cuv_ldp_longest (block, shape.width, shape.columns),
          CUV_LDP_SHARED_WORDS / of_block));
  const std::vector<CuvLdpPiece> across =
      pieces_of (block, shape.width, shape.columns, together, CUV_LDP_ACROSS);
  const std::vector<CuvLdpPiece> down =
      pieces_of (block, shape.height, shape.rows, 1, CUV_LDP_DOWN);

  self->n_across = (int) across.size ();
  self->n_down = (int) down.size ();
  self->adds = self->n_across > cuv_div_up (shape.columns, together)
      || self->n_down > shape.rows;
  self->n_shared = cuv_div_up ((together + 1) * of_block, 4) * 4;
  self->across = (const CuvLdpPiece *) upload (arena, across);
  self->down = (const CuvLdpPiece *) upload (arena, down);
  self->block_of =
      (const unsigned *) upload (arena, blocks_of (shape, across, together));
  return self->across != nullptr && self->down != nullptr
          && self->block_of != nullptr
      ? 0
      : -1;
}
