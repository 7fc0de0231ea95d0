// SPDX-License-Identifier: LGPL-2.1-or-later
// Planes of block sums, 16 bits each, for LRD and LRP. Eleven reads give the
// ranks of two blocks, for one window or for two adjacent ones at the same
// time.
#ifndef CUV_WALDBOOST_PLANES_RANK_PLANES_CUH
#define CUV_WALDBOOST_PLANES_RANK_PLANES_CUH

#include "waldboost/planes/planes.cuh"

template <typename Acc> struct CuvRankPlanes : CuvPlaneTables<Acc> {
  using Tables = CuvPlaneTables<Acc>;
  using Tables::memory;
  using Tables::pictures;
  using Tables::rules;
  using Tables::shape;
  using typename Tables::Node;

  // see CuvPatternPlanes
  static const int tile_x = 64, element = 2;
  static const int n_dense = 3, at_once = 3;
  static const int n_columns = 2, n_windows = n_columns * CUV_PLANE_ROWS;

  // ---- computing planes ----

  // Stores four block values, two per word, in a plane if it is used.
  template <bool means>
  __device__ __forceinline__ void
  store (uint8_t *at, int plane, uint2 v) const
  {
    if (shape.starts[plane] >= 0)
      *(uint2 *) (at + shape.starts[plane]) =
          make_uint2 (this->template block_value<means> (plane, v.x),
              this->template block_value<means> (plane, v.y));
  }

  // Computes one warp's rows of each plane from these rows of pixels and the
  // next one. Pixels outside the picture are read as 0.
  template <bool means>
  __device__ __forceinline__ void
  load_rows (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
      int n_rows) const
  {
    const int rows_per_warp = (n_rows + CUV_PLANE_WARPS - 1) / CUV_PLANE_WARPS;
    const int first = cuv_warp_of_thread () * rows_per_warp;
    const int end = min (first + rows_per_warp, n_rows);
    const int column = 4 * lane_of_thread (), x = tile.x + column;
    const int pitch = level.picture_pitch;
    const int n = x < pitch ? level.plan.height - tile.y - first : 0;
    const uint8_t *from =
        pictures + level.picture + (int64_t) (tile.y + first) * pitch + x;
    uint32_t four = n > 0 ? *(const uint32_t *) from : 0;
    uint2 one = cuv_unpack (four),
          wide = cuv_add (one, cuv_unpack (cuv_next_pixels (four)));

#pragma unroll 4
    for (int row = first; row < end; row++) {
      from += pitch;
      four = row - first + 1 < n ? *(const uint32_t *) from : 0;
      uint2 below = cuv_unpack (four);
      uint2 wide_below = cuv_add (below, cuv_unpack (cuv_next_pixels (four)));
      if (2 * column < shape.pitch) {
        uint8_t *to = memory () + row * shape.pitch + 2 * column;

        store<means> (to, 0, one);
        store<means> (to, 1, wide);
        store<means> (to, 2, cuv_add (one, below));
        store<means> (to, 3, cuv_add (wide, wide_below));
      }
      one = below;
      wide = wide_below;
    }
  }

  // Computes the planes for some rows of windows.
  __device__ void
  load (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
      int window_rows) const
  {
    if (shape.means)
      load_rows<true> (level, tile, this->rows_of (window_rows));
    else
      load_rows<false> (level, tile, this->rows_of (window_rows));
  }

  // ---- one window ----

  __device__ __forceinline__ int
  leaf (int window, const Node &node) const
  {
    const uint8_t *first = memory () + window + node.offset;
    const int row = node.height * shape.pitch;
    auto value = [&] (int at) { return *(const uint16_t *) (first + at); };
    int block[9];

#pragma unroll
    for (int k = 0; k < 9; k++)
      block[k] = value (k / 3 * row + k % 3 * node.column);
    return node.first_leaf + ranks (block, value (node.a), value (node.b));
  }

  // Computes both ranks at the same time, 16 bits each: 9 minus the number of
  // blocks whose value is not below that of a, or of b.
  __device__ __forceinline__ int
  ranks (const int block[9], unsigned a, unsigned b) const
  {
    const unsigned less = cuv_one_less (b << 16 | a);
    unsigned count = 0;

#pragma unroll
    for (int k = 0; k < 9; k++)
      count +=
          __viaddmin_s16x2_relu ((unsigned) block[k] * 0x10001, less, 0x10001);
    int rank_a = 9 - (int) (count & 0xffff), rank_b = 9 - (int) (count >> 16);
    return rank_a + rules.factor * rank_b + rules.offset;
  }

  // ---- two adjacent windows ----

  // Returns the values at an offset and at the next one.
  static __device__ __forceinline__ uint32_t
  pair (int at)
  {
    const uint32_t *words = (const uint32_t *) (memory () + (at & ~3));

    return __byte_perm (words[0], words[1], at & 2 ? 0x5432 : 0x3210);
  }

  // Reads pairs of values for three blocks in a row. odd: the first block
  // starts in the upper half of a word.
  template <int column>
  static __device__ __forceinline__ void
  read_pairs (const uint32_t *words, bool odd, uint32_t pairs[3])
  {
    const unsigned first = odd ? 0x5432 : 0x3210;

    pairs[0] = __byte_perm (words[0], words[1], first);
    if (column == 2) {
      pairs[1] = __byte_perm (words[1], words[2], first);
      pairs[2] = __byte_perm (words[2], words[3], first);
    } else {
      pairs[1] = __byte_perm (words[0], words[1], first + 0x2222);
      pairs[2] = __byte_perm (words[1], words[2], first);
    }
  }

  // Returns the ranks of the values of two adjacent windows.
  static __device__ __forceinline__ uint32_t
  rank_pair (const uint32_t top[3], const uint32_t middle[3],
      const uint32_t bottom[3], uint32_t value)
  {
    const uint32_t less = cuv_one_less (value);
    uint32_t count = 0;

#pragma unroll
    for (int k = 0; k < 3; k++)
      count += __viaddmin_s16x2_relu (top[k], less, 0x10001)
          + __viaddmin_s16x2_relu (middle[k], less, 0x10001)
          + __viaddmin_s16x2_relu (bottom[k], less, 0x10001);
    return 0x90009 - count;
  }

  // Computes codes for blocks of column x height pixels, in n rows of windows.
  template <int column, int height, int n>
  __device__ __forceinline__ void
  codes_of (int at, const Node &node, uint32_t codes[n]) const
  {
    uint32_t pairs[n + 2 * height][3];

#pragma unroll
    for (int r = 0; r < n + 2 * height; r++)
      read_pairs<column> (
          (const uint32_t *) (memory () + (at & ~3) + r * shape.pitch), at & 2,
          pairs[r]);
#pragma unroll
    for (int r = 0; r < n; r++) {
      const uint32_t *top = pairs[r], *middle = pairs[r + height];
      const uint32_t *bottom = pairs[r + 2 * height];
      const int row = at + r * shape.pitch;

      codes[r] = rank_pair (top, middle, bottom, pair (row + node.a))
          + rules.factor * rank_pair (top, middle, bottom, pair (row + node.b))
          + rules.offset * 0x10001;
    }
  }

  // Computes the codes of two adjacent windows in each row, 16 bits each.
  __device__ __forceinline__ void
  code_pairs (int at, const Node &node, uint32_t codes[CUV_PLANE_ROWS]) const
  {
    const int n = CUV_PLANE_ROWS;

    if (node.height == 1 && node.column == 2)
      codes_of<1, 1, n> (at, node, codes);
    else if (node.height == 1)
      codes_of<2, 1, n> (at, node, codes);
    else if (node.column == 2)
      codes_of<1, 2, n> (at, node, codes);
    else
      codes_of<2, 2, n> (at, node, codes);
  }

  // ---- all windows of a tile: two adjacent ones per row and thread ----

  static __device__ __forceinline__ int
  column_of (int i)
  {
    return 2 * lane_of_thread () + i % 2;
  }

  // Computes the codes of the thread's windows; window: offset of the first.
  __device__ __forceinline__ void
  codes (int window, const Node &node, int codes[n_windows]) const
  {
    uint32_t pairs[CUV_PLANE_ROWS];

    code_pairs (window + node.offset, node, pairs);
#pragma unroll
    for (int i = 0; i < n_windows; i++)
      codes[i] = i % 2 ? pairs[i / 2] >> 16 : pairs[i / 2] & 0xffff;
  }
};

#endif
