// SPDX-License-Identifier: LGPL-2.1-or-later
// How the features of WaldBoost models with small blocks are read in a dense
// scan. A block of threads keeps, for its tile and each size of block, a plane
// of all the sums of blocks of that size in shared memory: a feature is nine
// reads of it, of a window alone, or of two side by side at once.
#ifndef CUV_WALDBOOST_PLANES_CUH
#define CUV_WALDBOOST_PLANES_CUH

#include <cuda_fp16.h>
#include "waldboost/codes.cuh"

#define CUV_PLANE_X 64 // windows of a tile
#define CUV_PLANE_Y 32
#define CUV_PLANE_THREADS 256
#define CUV_DENSE 3    // weak classifiers that all windows of a tile are asked
#define CUV_N_PLANES 4 // blocks of 1x1, 2x1, 1x2, 2x2 pixels
#define CUV_FIRST 64   // weak classifiers that are passed by value

// A weak classifier, in 16 bytes. Places and distances are bytes of the planes.
template <typename Acc> struct alignas (16) CuvPlaneNode {
  uint16_t offset;        // of the first block, from the window's place
  uint16_t a, b;          // from the first block to those whose ranks count
  uint8_t column, height; // from a block to the next; rows of a block
  int32_t first_leaf;
  Acc threshold;
};

template <typename Node>
static __device__ __forceinline__ Node
cuv_plane_node (uint4 words)
{
  union {
    uint4 words;
    Node node;
  } both = { words };

  return both.node;
}

// The first ones by value: what all threads read alike then comes from constant
// memory.
struct CuvPlaneFirst {
  uint4 nodes[CUV_FIRST];
};

struct CuvPlaneShape {
  int32_t pitch, rows;         // of a plane; its elements are 16 bits
  int32_t first[CUV_N_PLANES]; // of each plane; -1 = not used
  uint32_t bias[CUV_N_PLANES]; // of means, of two values side by side
  int32_t shift[CUV_N_PLANES]; // of means; else 0
  int32_t means;
};

// All bits in those of the two halves in which a is at least b. As numbers of
// half precision they have the same order, up to the infinity at 0x7c00; here
// they are at most 4 * 255 + 1.
static __device__ __forceinline__ uint32_t
cuv_at_least (uint32_t a, uint32_t b)
{
  return __hge2_mask (*(const __half2 *) &a, *(const __half2 *) &b);
}

// 1 - v in each half, of values less than 2^15.
static __device__ __forceinline__ uint32_t
cuv_one_less (uint32_t v)
{
  return (0x80018001u - v) ^ 0x80008000u;
}

// A view is a window's place in a plane.
template <CuvCode code, typename Acc> struct CuvPlaneAccess {
  using View = int;
  using Node = CuvPlaneNode<Acc>;

  size_t shared_bytes;
  const uint8_t *pictures;
  const uint4 *nodes;
  const Acc *leaves; // of those that all windows are asked
  int32_t n_codes;   // of a weak classifier there
  CuvPlaneShape shape;
  CuvCodeRules rules;

  static __device__ __forceinline__ uint8_t *
  memory ()
  {
    extern __shared__ uint4 shared[];

    return (uint8_t *) shared;
  }

  // ---- making planes ----

  // Two by two, as 16 bits.
  static __device__ __forceinline__ uint2
  widen (uint32_t four)
  {
    return make_uint2 (
        __byte_perm (four, 0, 0x4140), __byte_perm (four, 0, 0x4342));
  }

  static __device__ __forceinline__ uint2
  add (uint2 a, uint2 b)
  {
    return make_uint2 (a.x + b.x, a.y + b.y);
  }

  // The four pixels that begin one to the right; by whole warps.
  static __device__ __forceinline__ uint32_t
  next_pixels (uint32_t four)
  {
    return __funnelshift_r (four, __shfl_down_sync (~0u, four, 1), 8);
  }

  template <bool means>
  __device__ __forceinline__ void
  store (uint8_t *at, int plane, uint2 v) const
  {
    if (means) {
      const uint32_t low = 0xffffu >> shape.shift[plane];
      const uint32_t mask = low << 16 | low;

      v.x = (v.x + shape.bias[plane]) >> shape.shift[plane] & mask;
      v.y = (v.y + shape.bias[plane]) >> shape.shift[plane] & mask;
    }
    if (shape.first[plane] >= 0)
      *(uint2 *) (at + shape.first[plane]) = v;
  }

  // A warp makes some rows of each plane, from the pixels of one more. Those
  // outside the picture are 0.
  template <bool means>
  __device__ __forceinline__ void
  load_rows (const CuvPyramidLevel &level, const CuvTile &tile) const
  {
    const int warps = CUV_PLANE_THREADS / 32;
    const int each = (shape.rows + warps - 1) / warps;
    const int first = threadIdx.x / 32 * each;
    const int end = min (first + each, shape.rows);
    const int column = 4 * lane_of_thread (), x = tile.x + column;
    const int pitch = level.picture_pitch;
    const int n = x < pitch ? level.plan.height - tile.y - first : 0;
    const uint8_t *from =
        pictures + level.picture + (int64_t) (tile.y + first) * pitch + x;
    uint32_t four = n > 0 ? __ldg ((const uint32_t *) from) : 0;
    uint2 one = widen (four), wide = add (one, widen (next_pixels (four)));

#pragma unroll 4
    for (int row = first; row < end; row++) {
      from += pitch;
      four = row - first + 1 < n ? __ldg ((const uint32_t *) from) : 0;
      uint2 below = widen (four);
      uint2 wide_below = add (below, widen (next_pixels (four)));
      if (2 * column < shape.pitch) {
        uint8_t *to = memory () + row * shape.pitch + 2 * column;

        store<means> (to, 0, one);
        store<means> (to, 1, wide);
        store<means> (to, 2, add (one, below));
        store<means> (to, 3, add (wide, wide_below));
      }
      one = below;
      wide = wide_below;
    }
  }

  __device__ void
  load (const CuvPyramidLevel &level, const CuvTile &tile) const
  {
    if (shape.means)
      load_rows<true> (level, tile);
    else
      load_rows<false> (level, tile);
  }

  // At once: otherwise its parts are read one by one.
  __device__ __forceinline__ Node
  node (int k) const
  {
    return cuv_plane_node<Node> (__ldg (nodes + k));
  }

  // ---- one window ----

  __device__ __forceinline__ int
  leaf (View place, const Node &node) const
  {
    const uint8_t *first = memory () + place + node.offset;
    const int row = node.height * shape.pitch;
    auto value = [&] (int at) { return *(const uint16_t *) (first + at); };
    int block[9];

#pragma unroll
    for (int k = 0; k < 9; k++)
      block[k] = value (k / 3 * row + k % 3 * node.column);
    return node.first_leaf
        + (code == CUV_CODE_PATTERN
                ? cuv_pattern (block, rules.inclusive)
                : ranks (block, value (node.a), value (node.b)));
  }

  // Both ranks at once, in 16 bits each: 9 less the number of blocks whose
  // value is not below a's, or b's.
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

  // ---- windows two by two ----

  // The values at a place and at the next.
  static __device__ __forceinline__ uint32_t
  pair (int at)
  {
    const uint32_t *words = (const uint32_t *) (memory () + (at & ~3));

    return __byte_perm (words[0], words[1], at & 2 ? 0x5432 : 0x3210);
  }

  // Those of three blocks in a row; the first is the second of words if odd.
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

  __device__ __forceinline__ uint32_t
  pattern_pair (const uint32_t top[3], const uint32_t middle[3],
      const uint32_t bottom[3]) const
  {
    const uint32_t least = middle[1] + (rules.inclusive ? 0 : 0x10001);
    const uint32_t ring[8] = { top[0], top[1], top[2], middle[2], bottom[2],
      bottom[1], bottom[0], middle[0] };
    uint32_t codes = 0;

#pragma unroll
    for (int k = 0; k < 8; k++)
      codes |= cuv_at_least (ring[k], least) & 0x800080u >> k;
    return codes;
  }

  static __device__ __forceinline__ uint32_t
  rank_pair (const uint32_t top[3], const uint32_t middle[3],
      const uint32_t bottom[3], uint32_t of)
  {
    const uint32_t less = cuv_one_less (of);
    uint32_t count = 0;

#pragma unroll
    for (int k = 0; k < 3; k++)
      count += __viaddmin_s16x2_relu (top[k], less, 0x10001)
          + __viaddmin_s16x2_relu (middle[k], less, 0x10001)
          + __viaddmin_s16x2_relu (bottom[k], less, 0x10001);
    return 0x90009 - count;
  }

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

      codes[r] = code == CUV_CODE_PATTERN
          ? pattern_pair (top, middle, bottom)
          : rank_pair (top, middle, bottom, pair (row + node.a))
              + rules.factor
                  * rank_pair (top, middle, bottom, pair (row + node.b))
              + rules.offset * 0x10001;
    }
  }

  // The codes of the windows at place, in an even column, and right of it, 16
  // bits each; and of those below, n rows.
  template <int n>
  __device__ __forceinline__ void
  codes (int place, const Node &node, uint32_t codes[n]) const
  {
    const int at = place + node.offset;

    if (node.height == 1 && node.column == 2)
      codes_of<1, 1, n> (at, node, codes);
    else if (node.height == 1)
      codes_of<2, 1, n> (at, node, codes);
    else if (node.column == 2)
      codes_of<1, 2, n> (at, node, codes);
    else
      codes_of<2, 2, n> (at, node, codes);
  }
};

// The host's side.
class CuvPlanes
{
public:
  BlockShape shape = { CUV_PLANE_X, CUV_PLANE_Y };

  // Whether model and plan are for it.
  bool fit (const CuvWaldboostModel &model,
      const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan);
  template <typename Acc>
  void add_tables (CuvTables *tables, const std::vector<CuvGridNode> &grid,
      const std::vector<CuvWeak> &weak, const std::vector<Acc> &thresholds,
      const std::vector<Acc> &leaves);
  template <CuvCode code, typename Acc>
  CuvPlaneAccess<code, Acc>
  access (const CuvPyramid &pyramid, const CuvCodeRules &rules) const
  {
    return CuvPlaneAccess<code, Acc>{ shared_bytes,
      (const uint8_t *) pyramid.pictures.data, pyramid.table<uint4> (nodes_at),
      pyramid.table<Acc> (leaves_at), n_codes, planes, rules };
  }
  const CuvPlaneFirst &
  first_nodes () const
  {
    return first;
  }

private:
  CuvPlaneShape planes;
  CuvPlaneFirst first;
  int n_codes;
  size_t shared_bytes, nodes_at, leaves_at;
};

#endif
