// SPDX-License-Identifier: LGPL-2.1-or-later
// How the features of WaldBoost models with small blocks are read in a dense
// scan. A block of threads keeps, for its tile and each size of block, a plane
// in shared memory: of local binary patterns, their codes
// (planes-patterns.cuh); of ranks, the sums of blocks (planes-ranks.cuh).
#ifndef CUV_WALDBOOST_PLANES_CUH
#define CUV_WALDBOOST_PLANES_CUH

#include "waldboost/boost.cuh"

#define CUV_PLANE_Y 32 // rows of windows in a tile, at most
#define CUV_PLANE_THREADS 256
#define CUV_PLANE_WARPS (CUV_PLANE_THREADS / 32)
#define CUV_PLANE_ROWS (CUV_PLANE_Y / CUV_PLANE_WARPS) // of a tile, for a warp
#define CUV_N_PLANES 4 // blocks of 1x1, 2x1, 1x2, 2x2 pixels
#define CUV_FIRST 64   // weak classifiers that are passed by value

// A weak classifier, in 16 bytes. Places and distances are bytes of the planes.
template <typename Acc> struct alignas (16) CuvPlaneNode {
  uint16_t offset; // of the feature, from the window's place
  // of ranks: from the first block to those whose ranks count, from a block to
  // the next, and rows of a block
  uint16_t a, b;
  uint8_t column, height;
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
  int32_t pitch, rows;         // of a plane; bytes, and for CUV_PLANE_Y windows
  int32_t first[CUV_N_PLANES]; // of each plane; -1 = not used
  uint32_t bias[CUV_N_PLANES]; // of means, of two values side by side
  int32_t shift[CUV_N_PLANES]; // of means; else 0
  int32_t means;
};

// What kernels know of a model and a plan.
template <typename Acc> struct CuvPlaneTables {
  using Node = CuvPlaneNode<Acc>;

  size_t planes_bytes, shared_bytes; // without, with leaves
  // made by a kernel that may still run when this one starts: not for __ldg()
  const uint8_t *pictures;
  const uint4 *nodes;
  const Acc *leaves;         // of those that all windows are asked
  int32_t n_leaves, n_codes; // there, and of a weak classifier
  CuvPlaneShape shape;
  CuvCodeRules rules;

  static __device__ __forceinline__ uint8_t *
  memory ()
  {
    extern __shared__ uint4 shared[];

    return (uint8_t *) shared;
  }

  __device__ __forceinline__ const Acc *
  shared_leaves () const
  {
    return (const Acc *) (memory () + planes_bytes);
  }

  __device__ void
  load_leaves () const
  {
    for (int i = threadIdx.x; i < n_leaves; i += CUV_PLANE_THREADS)
      ((Acc *) (memory () + planes_bytes))[i] = leaves[i];
  }

  // Of a plane, that so many rows of windows look at; warps ask whole ones.
  __device__ __forceinline__ int
  rows_of (int window_rows) const
  {
    const int asked =
        (window_rows + CUV_PLANE_ROWS - 1) / CUV_PLANE_ROWS * CUV_PLANE_ROWS;

    return shape.rows - CUV_PLANE_Y + asked;
  }

  // At once: otherwise its parts are read one by one.
  __device__ __forceinline__ Node
  node (int k) const
  {
    return cuv_plane_node<Node> (__ldg (nodes + k));
  }

  // Values, two by two, or their means.
  template <bool means>
  __device__ __forceinline__ uint32_t
  block_value (int plane, uint32_t sums) const
  {
    const uint32_t low = 0xffffu >> shape.shift[plane];

    return means
        ? (sums + shape.bias[plane]) >> shape.shift[plane] & (low << 16 | low)
        : sums;
  }
};

// 1 - v in each half, of values less than 2^15.
static __device__ __forceinline__ uint32_t
cuv_one_less (uint32_t v)
{
  return (0x80018001u - v) ^ 0x80008000u;
}

// Four pixels, two by two as 16 bits.
static __device__ __forceinline__ uint2
cuv_widen (uint32_t four)
{
  return make_uint2 (
      __byte_perm (four, 0, 0x4140), __byte_perm (four, 0, 0x4342));
}

static __device__ __forceinline__ uint2
cuv_add (uint2 a, uint2 b)
{
  return make_uint2 (a.x + b.x, a.y + b.y);
}

// The four pixels that begin one to the right; by whole warps.
static __device__ __forceinline__ uint32_t
cuv_next_pixels (uint32_t four)
{
  return __funnelshift_r (four, __shfl_down_sync (~0u, four, 1), 8);
}

// The host's side.
class CuvPlanes
{
public:
  BlockShape shape; // of a tile

  // Whether model and plan are for it.
  bool fit (const CuvWaldboostModel &model,
      const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan);
  template <typename Acc>
  void add_tables (CuvTables *tables, const std::vector<CuvGridNode> &grid,
      const std::vector<CuvWeak> &weak, const std::vector<Acc> &thresholds,
      const std::vector<Acc> &leaves);
  template <typename Acc>
  CuvPlaneTables<Acc>
  on_device (const CuvPyramid &pyramid, const CuvCodeRules &rules) const
  {
    return CuvPlaneTables<Acc>{ planes_bytes,
      planes_bytes + (n_leaves * sizeof (Acc) + 15) / 16 * 16,
      (const uint8_t *) pyramid.pictures.data, pyramid.table<uint4> (nodes_at),
      pyramid.table<Acc> (leaves_at), n_leaves, n_codes, planes, rules };
  }
  // Weak classifiers that all windows are asked.
  int
  n_asked_all () const
  {
    return n_dense;
  }
  const CuvPlaneFirst &
  first_nodes () const
  {
    return first;
  }

private:
  void lay_out (const CuvWaldboostModel &model, const bool used[CUV_N_PLANES]);

  CuvPlaneShape planes;
  bool patterns;
  CuvPlaneFirst first = {};
  int n_dense, n_codes, n_leaves;
  size_t planes_bytes, nodes_at, leaves_at;
};

#endif
