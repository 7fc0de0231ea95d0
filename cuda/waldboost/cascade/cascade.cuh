// SPDX-License-Identifier: LGPL-2.1-or-later
// An OpenCV cascade on the device, and the evaluation of its stages for one
// window.
#ifndef CUV_WALDBOOST_CASCADE_CUH
#define CUV_WALDBOOST_CASCADE_CUH

#include <type_traits>
#include "waldboost/cascade/packed-nodes.cuh"
#include "waldboost/scanner.cuh"

#define CUV_CASCADE_THREADS 256
#define CUV_CASCADE_WARPS (CUV_CASCADE_THREADS / 32)
// window positions of a tile, across and down
#define CUV_CASCADE_TILE_X 64
#define CUV_CASCADE_MAX_TILE_Y 32
#define CUV_CASCADE_PAIR_X 32 // positions between a pair's windows
#define CUV_CASCADE_MAX_HAAR_Y 16
// maximum number of weak classifiers in a stage 0 that is a kernel argument
#define CUV_CASCADE_FIRST_WEAK 24

// When few windows of a tile are left, several threads evaluate a stage for one
// window, if sums are exact in any order: a warp in long stages,
// CUV_CASCADE_GROUP threads in short ones. These limits were the fastest of
// those measured.
#define CUV_CASCADE_LONG_STAGE 24 // weak classifiers; fewer: a short stage
#define CUV_CASCADE_GROUP 8
// maximum number of windows for which CUV_CASCADE_GROUP is faster in a short
// stage
#define CUV_CASCADE_FEW_SHORT 48
#define CUV_CASCADE_FEW_LONG 128 // the same for a warp in a long stage
#define CUV_CASCADE_FEW 32       // lists of fewer windows are not compacted

// Haar: a pitch known at compile time, for windows of at most
// CUV_CASCADE_FIXED_WINDOW columns, so that addresses of windows in different
// rows differ by a constant. Windows below each other are 8 banks of shared
// memory apart, 16 at step 2, which avoids bank conflicts of clustered
// survivors.
#define CUV_CASCADE_FIXED_WINDOW 62
static constexpr __host__ __device__ int
cuv_cascade_fixed_pitch (bool split)
{
  return (split ? 192 : 128) + 8;
}

struct CuvCascadeStage {
  int32_t first, end; // weak classifiers first to end - 1
  float threshold;
  // index of a stage of few stumps in CuvCascade.passes, otherwise -1
  int32_t passes;
};

// A cascade on the device; Nodes: CuvCascadeWideNodes or CuvCascadePackedNodes.
template <typename Nodes> struct CuvCascade {
  int32_t n_stages, window_width, window_height;
  int32_t skip;  // boolean: see CuvWaldboostPlan
  int32_t exact; // boolean: stage sums are exact in any order
  const CuvCascadeStage *stages;
  const CuvWeak *weak;
  const float *leaves;
  // a bit set for each stage of few stumps: the combinations of the stumps'
  // decisions (left = 1, the first stump is the highest bit) that pass the
  // stage
  const uint32_t *passes;
  // a bit set of 8 words for each LBP node: the patterns that go left. The
  // pattern b = cuv_below(), the complement of the code, is bit 31 - (b & 31)
  // of word b >> 5
  const uint32_t *lookup;
  Nodes nodes[2]; // for unsplit and for split columns

  __device__ Nodes
  nodes_of (bool split) const
  {
    return split ? nodes[1] : nodes[0];
  }
};

// Stage 0, passed by value so that uniform reads come from constant memory.
template <typename Node> struct CuvCascadeFirstStage {
  CuvCascadeStage stage;
  int32_t n; // 0: has too many weak classifiers
  Node nodes[2][CUV_CASCADE_FIRST_WEAK];
};

// Layout of a tile in shared memory.
struct CuvCascadeTileShape {
  int32_t rows;           // number of window rows
  int32_t pitch[2];       // elements per row: unsplit, split columns
  int32_t half;           // elements of half a split row
  int32_t image_elements; // elements of one image's tile
  int32_t window_height;

  __device__ int
  pitch_of (bool is_split) const
  {
    return is_split ? pitch[1] : pitch[0];
  }
};

// Integral images, see CuvPyramid.
struct CuvCascadeImages {
  const void *sums;
  const uint32_t *squares, *tilted;
  const CuvRange *ranges; // see CuvWaldboostPlan, or nullptr
};

// ---- one window ----

// The top left corner of a window in each image; with tiles, in shared memory.
template <typename Sum> struct CuvCascadeView {
  const Sum *sums;
  const uint32_t *tilted;
  float factor;  // Haar: contrast normalisation
  unsigned half; // pairs: byte selector of the window's half
};

// Returns a window's block sum: with CuvPairSum, one of the two in a word.
template <typename Sum>
static __device__ __forceinline__ int
sum_in (const CuvCascadeView<Sum> &, unsigned sum)
{
  return (Sum) sum;
}

static __device__ __forceinline__ int
sum_in (const CuvCascadeView<CuvPairSum> &view, unsigned sums)
{
  return __byte_perm (sums, 0, view.half);
}

// Returns a node's decision: the top bit is set if the window goes left.
template <typename Nodes, typename Sum>
static __device__ __forceinline__ unsigned
decide (const CuvCascade<Nodes> &cascade, const CuvCascadeView<Sum> &view,
    const CuvCascadeLbpNode &node)
{
  unsigned sums[9];
  int block[9];

  cuv_packed_sums (view.sums, node.corners, sums);
#pragma unroll
  for (int k = 0; k < 9; k++)
    block[k] = sum_in (view, sums[k]);
  unsigned below = cuv_below (block);
  return __ldg (cascade.lookup + 8 * node.number + (below >> 5))
      << (below & 31);
}

// Converts a sum of pixels; a sum below 2^23 by inserting it into the mantissa.
template <bool small>
static __device__ __forceinline__ float
to_float (uint32_t sum)
{
  return small || sum < 1 << 23
      ? __uint_as_float (0x4b000000u | sum) - 8388608.f
      : (float) (int) sum;
}

// Returns a Haar node's decision. Packed nodes are not tilted, and their sums
// are below 2^23.
template <typename Nodes>
static __device__ __forceinline__ unsigned
decide (const CuvCascade<Nodes> &, const CuvCascadeView<uint32_t> &view,
    const CuvCascadeHaarNode &node)
{
  const bool plain = Nodes::packed;
  const CuvHaarCorners &c = node.corners;
  const uint32_t *at = !plain && c.tilted ? view.tilted : view.sums;
  float value = c.weight[0] * to_float<plain> (cuv_rectangle (at, c.corner[0]))
      + c.weight[1] * to_float<plain> (cuv_rectangle (at, c.corner[1]));

  if (c.weight[2] != 0)
    value += c.weight[2] * to_float<plain> (cuv_rectangle (at, c.corner[2]));
  return value * view.factor < node.threshold ? 1u << 31 : 0;
}

// Returns a node's successor for a window.
template <typename Nodes, typename Sum>
static __device__ __forceinline__ CuvCascadeBranch
branch_of (const CuvCascade<Nodes> &cascade, const CuvCascadeView<Sum> &view,
    const typename Nodes::Node &node)
{
  return (int) decide (cascade, view, node) < 0 ? node.left : node.right;
}

// Returns the response of weak classifier k.
template <bool stumps, typename Nodes, typename Sum>
static __device__ __forceinline__ float
leaf_of (const CuvCascade<Nodes> &cascade, const Nodes &nodes, int k,
    const CuvCascadeView<Sum> &view)
{
  if (stumps)
    return branch_of (cascade, view, nodes[k]).leaf;
  const CuvWeak &weak = cascade.weak[k];
  int child = 0;
  do
    child = branch_of (cascade, view, nodes[weak.first_node + child]).child;
  while (child > 0);
  return cascade.leaves[weak.first_leaf - child];
}

// Returns whether a window with these decisions of the stumps passes the stage.
template <typename Nodes>
static __device__ __forceinline__ bool
look_up (const CuvCascade<Nodes> &cascade, const CuvCascadeStage &stage,
    unsigned decisions)
{
  return cascade.passes[stage.passes + (decisions >> 5)] >> (decisions & 31)
      & 1;
}

// Computes a stage's sum with its weak classifiers distributed over a group of
// threads; a group of several threads requires sums that are exact in any
// order.
template <bool stumps, int group, typename Nodes, typename Sum>
static __device__ double
stage_sum (const CuvCascade<Nodes> &cascade, const Nodes &nodes,
    const CuvCascadeStage &stage, const CuvCascadeView<Sum> &view)
{
  const int lane = threadIdx.x % 32;
  const unsigned mates =
      group == 32 ? ~0u : ((1u << group % 32) - 1) << (lane - lane % group);
  double sum = 0;

  for (int k = stage.first + lane % group; k < stage.end; k += group)
    sum += leaf_of<stumps> (cascade, nodes, k, view);
  if constexpr (group > 1) {
    for (int d = group / 2; d > 0; d /= 2)
      sum += __shfl_xor_sync (mates, sum, d);
  }
  return sum;
}

template <bool stumps, typename Nodes, typename Sum>
static __device__ bool
stage_passes (const CuvCascade<Nodes> &cascade, const Nodes &nodes,
    const CuvCascadeStage &stage, const CuvCascadeView<Sum> &view)
{
  if (Nodes::Node::tabled && stumps && stage.passes >= 0) {
    unsigned decisions = 0;

    for (int k = stage.first; k < stage.end; k++)
      decisions =
          __funnelshift_l (decide (cascade, view, nodes[k]), decisions, 1);
    return look_up (cascade, stage, decisions);
  }
  return !(stage_sum<stumps, 1> (cascade, nodes, stage, view)
      < (double) stage.threshold);
}

#endif
