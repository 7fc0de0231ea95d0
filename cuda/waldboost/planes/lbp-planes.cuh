// SPDX-License-Identifier: LGPL-2.1-or-later
// Planes of LBP codes. For a given block size the code depends only on the
// position, so all codes of a tile are computed once, and a weak classifier
// reads one byte.
#ifndef CUV_WALDBOOST_PLANES_LBP_PLANES_CUH
#define CUV_WALDBOOST_PLANES_LBP_PLANES_CUH

#include "waldboost/planes/planes.cuh"

// columns computed by a warp at a time, four per thread
#define CUV_PLANE_CODE_COLUMNS 120
// maximum number of rows of pixels that determine a code
#define CUV_PLANE_CODE_REACH 6

// A thread's part of a row: 16-bit values of its four columns and of the next
// four, two per word.
struct CuvCodeRow {
  uint2 own, next;
};

template <typename Acc> struct CuvPatternPlanes : CuvPlaneTables<Acc> {
  using Tables = CuvPlaneTables<Acc>;
  using Tables::memory;
  using Tables::pictures;
  using Tables::rules;
  using Tables::shape;
  using typename Tables::Node;

  static const int tile_x = 96;   // windows across a tile
  static const int element = 1;   // bytes per value of a plane
  static const int n_dense = 5;   // weak classifiers evaluated for all windows
  static const int at_once = 3;   // see CuvPlaneRun
  static const int n_columns = 3; // columns of windows per thread
  static const int n_windows = n_columns * CUV_PLANE_ROWS;

  // ---- computing planes ----

  // Computes sums of one pixel or of two adjacent ones; `next` is undefined in
  // the last thread.
  template <int width>
  static __device__ __forceinline__ CuvCodeRow
  sums_of (uint32_t four)
  {
    CuvCodeRow row;

    if (width == 1) {
      row.own = cuv_unpack (four);
      row.next = cuv_unpack (__shfl_down_sync (~0u, four, 1));
    } else {
      row.own =
          cuv_add (cuv_unpack (four), cuv_unpack (cuv_next_pixels (four)));
      row.next.x = __shfl_down_sync (~0u, row.own.x, 1);
      row.next.y = __shfl_down_sync (~0u, row.own.y, 1);
    }
    return row;
  }

  // Computes block values from the sums of a block's first and last row of
  // pixels.
  template <int plane, bool means>
  __device__ __forceinline__ CuvCodeRow
  block_row (const CuvCodeRow &above, const CuvCodeRow &below) const
  {
    const bool tall = plane >= 2;
    auto value = [&] (uint32_t a, uint32_t b) {
      return this->template block_value<means> (plane, tall ? a + b : a);
    };

    return {
      { value (above.own.x, below.own.x), value (above.own.y, below.own.y) },
      { value (above.next.x, below.next.x), value (above.next.y, below.next.y) }
    };
  }

  // Computes the three blocks of a grid's row, for the four columns.
  template <int width>
  static __device__ __forceinline__ void
  three_blocks (const CuvCodeRow &row, uint2 blocks[3])
  {
    blocks[0] = row.own;
    if (width == 1) {
      blocks[1] = make_uint2 (__byte_perm (row.own.x, row.own.y, 0x5432),
          __byte_perm (row.own.y, row.next.x, 0x5432));
      blocks[2] = make_uint2 (row.own.y, row.next.x);
    } else {
      blocks[1] = make_uint2 (row.own.y, row.next.x);
      blocks[2] = row.next;
    }
  }

  // Computes four codes, a byte each, from the values of their blocks.
  __device__ __forceinline__ uint32_t
  patterns (
      const uint2 top[3], const uint2 middle[3], const uint2 bottom[3]) const
  {
    const uint32_t offset = rules.inclusive ? 0 : 0x10001;
    const uint32_t less[2] = { cuv_one_less (middle[1].x + offset),
      cuv_one_less (middle[1].y + offset) };
    const uint2 ring[8] = { top[0], top[1], top[2], middle[2], bottom[2],
      bottom[1], bottom[0], middle[0] };
    uint2 codes = make_uint2 (0, 0);

#pragma unroll
    for (int k = 0; k < 8; k++) { // add 1 in each half that is not less
      codes.x =
          2 * codes.x + __viaddmin_s16x2_relu (ring[k].x, less[0], 0x10001);
      codes.y =
          2 * codes.y + __viaddmin_s16x2_relu (ring[k].y, less[1], 0x10001);
    }
    return __byte_perm (codes.x, codes.y, 0x6420);
  }

  // Computes the codes of one plane in row y from the sums of rows y and
  // following.
  template <int plane, bool means>
  __device__ __forceinline__ void
  make_codes (const CuvCodeRow *const rows[CUV_PLANE_CODE_REACH], bool wanted,
      uint8_t *row_at) const
  {
    const int height = 1 + plane / 2;
    uint2 blocks[3][3];

    if (shape.starts[plane] < 0)
      return;
#pragma unroll
    for (int j = 0; j < 3; j++)
      three_blocks<1 + plane % 2> (block_row<plane, means> (*rows[j * height],
                                       *rows[j * height + height - 1]),
          blocks[j]);
    const uint32_t codes = patterns (blocks[0], blocks[1], blocks[2]);
    if (wanted)
      *(uint32_t *) (row_at + shape.starts[plane]) = codes;
  }

  // Computes a warp's rows of the planes whose blocks have this width, from
  // these rows of pixels and the next five. Pixels outside the picture are read
  // as 0.
  template <int width, bool means>
  __device__ __forceinline__ void
  load_rows (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
      int n_rows, int column, int warp, int warps) const
  {
    const int reach = CUV_PLANE_CODE_REACH;
    const int rows_per_warp = (n_rows + warps - 1) / warps,
              first = warp * rows_per_warp;
    const int n =
        min (rows_per_warp, n_rows - first) + reach - 1; // rows of pixels
    const int pitch = level.picture_pitch, x = tile.x + column;
    const int n_inside = x < pitch ? level.plan.height - tile.y - first : 0;
    const bool wanted =
        lane_of_thread () < CUV_PLANE_CODE_COLUMNS / 4 && column < shape.pitch;
    const uint8_t *from =
        pictures + level.picture + (int64_t) (tile.y + first) * pitch + x;
    uint8_t *to = memory () + (first - reach + 1) * shape.pitch + column;
    CuvCodeRow rows[CUV_PLANE_CODE_REACH]; // ring buffer of the last rows

    for (int base = 0; base < n; base += reach) {
      uint32_t four[CUV_PLANE_CODE_REACH];

#pragma unroll
      for (int i = 0; i < reach; i++) {
        four[i] = base + i < min (n, n_inside) ? *(const uint32_t *) from : 0;
        from += pitch;
      }
#pragma unroll
      for (int i = 0; i < reach; i++) {
        const CuvCodeRow *last[CUV_PLANE_CODE_REACH];

        rows[i] = sums_of<width> (four[i]);
#pragma unroll
        for (int j = 0; j < reach; j++)
          last[j] = &rows[(i + 1 + j) % reach];
        if (base + i >= reach - 1 && base + i < n) {
          uint8_t *row_at = to + (base + i) * shape.pitch;

          make_codes<width - 1, means> (last, wanted, row_at);
          make_codes<width + 1, means> (last, wanted, row_at);
        }
      }
    }
  }

  // Computes the planes of both widths. If both are used, each is computed by
  // half of the warps.
  template <bool means>
  __device__ __forceinline__ void
  load_as (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
      int n_rows) const
  {
    const bool narrow = shape.starts[0] >= 0 || shape.starts[2] >= 0;
    const bool wide = shape.starts[1] >= 0 || shape.starts[3] >= 0;
    const int warps = CUV_PLANE_WARPS / (narrow && wide ? 2 : 1);
    const int warp = cuv_warp_of_thread ();

    for (int base = 0; base < shape.pitch; base += CUV_PLANE_CODE_COLUMNS) {
      const int column = base + 4 * lane_of_thread ();

      if (narrow && warp < warps)
        load_rows<1, means> (level, tile, n_rows, column, warp, warps);
      else
        load_rows<2, means> (level, tile, n_rows, column, warp % warps, warps);
    }
  }

  // Computes the planes for some rows of windows.
  __device__ void
  load (const CuvPyramidLevel &level, const CuvPyramidTile &tile,
      int window_rows) const
  {
    if (shape.means)
      load_as<true> (level, tile, this->rows_of (window_rows));
    else
      load_as<false> (level, tile, this->rows_of (window_rows));
  }

  // ---- one window ----

  __device__ __forceinline__ int
  leaf (int window, const Node &node) const
  {
    return node.first_leaf + memory ()[window + node.offset];
  }

  // ---- all windows of a tile: every 32nd one of a row for each thread ----

  static __device__ __forceinline__ int
  column_of (int i)
  {
    return lane_of_thread () + i % n_columns * 32;
  }

  // Reads the codes of the thread's windows; window: offset of the first.
  __device__ __forceinline__ void
  codes (int window, const Node &node, int codes[n_windows]) const
  {
    const uint8_t *at = memory () + window + node.offset;

#pragma unroll
    for (int i = 0; i < n_windows; i++)
      codes[i] = at[i / n_columns * shape.pitch + i % n_columns * 32];
  }
};

#endif
