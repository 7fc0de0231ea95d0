// SPDX-License-Identifier: LGPL-2.1-or-later
// Planes: features of WaldBoost models with blocks of up to 2 x 2 pixels and
// steps of 1. For each block size a thread block keeps a plane in shared
// memory, a value for each position of its tile: the LBP code
// (planes/lbp-planes.cuh), or for LRD and LRP the block sum
// (planes/rank-planes.cuh).
#ifndef CUV_WALDBOOST_PLANES_PLANES_CUH
#define CUV_WALDBOOST_PLANES_PLANES_CUH

#include "waldboost/waldboost-model.cuh"

#define CUV_PLANE_Y 32 // maximum number of rows of windows in a tile
#define CUV_PLANE_THREADS 256
#define CUV_PLANE_WARPS (CUV_PLANE_THREADS / 32)
// rows of a tile per warp
#define CUV_PLANE_ROWS (CUV_PLANE_Y / CUV_PLANE_WARPS)
#define CUV_PLANE_N 4      // for blocks of 1x1, 2x1, 1x2, 2x2 pixels
#define CUV_PLANE_FIRST 64 // weak classifiers passed as arguments

// A weak classifier in 16 bytes. Offsets are in bytes of the planes.
template <typename Acc> struct alignas (16) CuvPlaneNode {
  uint16_t offset; // of the feature's first block, relative to the window
  // LRD, LRP: offsets of blocks a and b from the first one; distance of
  // adjacent blocks in a row; block height
  uint16_t a, b;
  uint8_t column, height;
  int32_t first_leaf;
  Acc threshold;
};

// Unpacks a node loaded as 16 bytes.
template <typename Node>
static __device__ __forceinline__ Node
cuv_plane_node (uint4 words)
{
  union {
    uint4 words;
    Node node;
  } converted = { words };

  return converted.node;
}

// The first weak classifiers, passed by value so that uniform reads come from
// constant memory.
struct CuvPlaneFirst {
  uint4 nodes[CUV_PLANE_FIRST];
};

// Layout of the planes in shared memory.
struct CuvPlaneShape {
  // bytes per row; number of rows for CUV_PLANE_Y rows of windows
  int32_t pitch, rows;
  int32_t starts[CUV_PLANE_N]; // offset of each plane; -1 = unused
  uint32_t bias[CUV_PLANE_N];  // rounds means of two packed values
  int32_t shift[CUV_PLANE_N];  // means: log2 of the number of pixels; sums: 0
  int32_t means;
};

// Kernel arguments that depend on model and plan; the base class of
// CuvPatternPlanes (of local binary patterns, LBP) and CuvRankPlanes (of ranks,
// LRP and LRD).
template <typename Acc> struct CuvPlaneTables {
  using Node = CuvPlaneNode<Acc>;

  // bytes of the planes alone, and including the leaves
  size_t planes_bytes, shared_bytes;
  // written by a kernel that may still run when this one starts, so no __ldg()
  const uint8_t *pictures;
  const uint4 *nodes;
  const Acc *leaves; // of the first n_dense weak classifiers
  // number of these leaves; codes per weak classifier
  int32_t n_leaves, n_codes;
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

  // Returns the number of plane rows for window_rows rows of windows; warps
  // process CUV_PLANE_ROWS rows at a time.
  __device__ __forceinline__ int
  rows_of (int window_rows) const
  {
    const int rounded =
        (window_rows + CUV_PLANE_ROWS - 1) / CUV_PLANE_ROWS * CUV_PLANE_ROWS;

    return shape.rows - CUV_PLANE_Y + rounded;
  }

  // Reads with one load; the compiler would load the fields one by one.
  __device__ __forceinline__ Node
  node (int k) const
  {
    return cuv_plane_node<Node> (__ldg (nodes + k));
  }

  // Converts two packed sums to block values.
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

// Returns 1 - v in each half, for values below 2^15.
static __device__ __forceinline__ uint32_t
cuv_one_less (uint32_t v)
{
  return (0x80018001u - v) ^ 0x80008000u;
}

// Unpacks four pixels to 16-bit values, two per word.
static __device__ __forceinline__ uint2
cuv_unpack (uint32_t four)
{
  return make_uint2 (
      __byte_perm (four, 0, 0x4140), __byte_perm (four, 0, 0x4342));
}

static __device__ __forceinline__ uint2
cuv_add (uint2 a, uint2 b)
{
  return make_uint2 (a.x + b.x, a.y + b.y);
}

// Returns the four pixels one column to the right. Call from whole warps; in
// the last lane the last pixel is undefined.
static __device__ __forceinline__ uint32_t
cuv_next_pixels (uint32_t four)
{
  return __funnelshift_r (four, __shfl_down_sync (~0u, four, 1), 8);
}

// Planes on the host: says whether they support a model, and makes their
// tables.
class CuvPlanes
{
public:
  CuvWaldboostBlockShape shape; // of a tile
  CuvPlaneFirst first_nodes = {};
  int n_dense; // number of weak classifiers evaluated for all windows

  // Returns whether planes support the model and the plan.
  bool fit (const CuvWaldboostModel &model,
      const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan);
  template <typename Acc>
  void add_tables (CuvPyramidTables *tables,
      const std::vector<CuvGridNode> &grid, const std::vector<CuvWeak> &weak,
      const std::vector<Acc> &thresholds, const std::vector<Acc> &leaves);
  template <typename Acc>
  CuvPlaneTables<Acc>
  on_device (const CuvPyramid &pyramid, const CuvCodeRules &rules) const
  {
    return CuvPlaneTables<Acc>{ planes_bytes,
      planes_bytes + (n_leaves * sizeof (Acc) + 15) / 16 * 16,
      pyramid.image<const uint8_t> (CUV_WALDBOOST_IMAGE_PICTURES),
      pyramid.table<uint4> (nodes_at), pyramid.table<Acc> (leaves_at), n_leaves,
      n_codes, planes, rules };
  }

private:
  void lay_out (const CuvWaldboostModel &model, const bool used[CUV_PLANE_N]);

  CuvPlaneShape planes;
  bool patterns; // the feature is LBP
  int n_codes, n_leaves;
  size_t planes_bytes, nodes_at, leaves_at;
};

#endif
