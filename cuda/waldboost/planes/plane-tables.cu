// SPDX-License-Identifier: LGPL-2.1-or-later
// Planes on the host: determines which models they support, their layout and
// tables.
#include "waldboost/planes/lbp-planes.cuh"
#include "waldboost/planes/rank-planes.cuh"

#include <algorithm>
#include <string.h>

// Planes for wider windows do not fit shared memory. A warp computes a row of
// sums of at most 128 columns.
#define CUV_PLANE_MAX_WINDOW 64
#define CUV_PLANE_MAX_BYTES (48 << 10) // bytes; leaves and a list need the rest
#define CUV_PLANE_SLACK 16             // bytes read after the last plane

// Returns the plane of a feature's block size, or -1 if blocks are too large.
static int
plane_of (const CuvGridNode &node)
{
  return node.width > 2 || node.height > 2
      ? -1
      : node.width - 1 + 2 * (node.height - 1);
}

static int
round_up_4 (int n)
{
  return (n + 3) / 4 * 4;
}

// Determines the layout. A plane has a value for each position in the tile's
// windows: for LBP, the code (one byte) of a grid of at least 3 x 3 pixels; for
// ranks, the sum or mean (two bytes) of a block.
void
CuvPlanes::lay_out (
    const CuvWaldboostModel &model, const bool used[CUV_PLANE_N])
{
  int n = 0;

  patterns = model.feature == CUV_FEATURE_LBP;
  // LBP: 8 bits; LRP: rank + 10 * rank; LRD: differences of ranks, -8 to 8
  n_codes = patterns ? 256 : model.feature == CUV_FEATURE_LRP ? 100 : 17;
  shape.height = CUV_PLANE_Y;
  if (patterns) {
    n_dense = CuvPatternPlanes<int32_t>::n_dense;
    shape.width = CuvPatternPlanes<int32_t>::tile_x;
    planes.pitch = round_up_4 (shape.width + model.window_width - 3);
    planes.rows = shape.height + model.window_height - 3;
  } else {
    n_dense = CuvRankPlanes<int32_t>::n_dense;
    shape.width = CuvRankPlanes<int32_t>::tile_x;
    planes.pitch = 2 * round_up_4 (shape.width + model.window_width - 1);
    planes.rows = shape.height + model.window_height - 1;
  }
  // the last weak classifier is followed by the final test
  n_dense = std::min (n_dense, model.n_weak - 1);
  planes.means = model.block_value != CUV_BLOCK_SUM;
  for (int p = 0; p < CUV_PLANE_N; p++) {
    planes.starts[p] = used[p] ? n++ * planes.pitch * planes.rows : -1;
    // log2 of the number of pixels in a block: bit 0 of p: width 2, bit 1:
    // height 2
    planes.shift[p] = planes.means ? (p & 1) + (p >> 1) : 0;
    planes.bias[p] =
        model.block_value == CUV_BLOCK_MEAN_ROUND && planes.shift[p] > 0
        ? 0x10001u << (planes.shift[p] - 1)
        : 0;
  }
  planes_bytes =
      ((size_t) n * planes.pitch * planes.rows + CUV_PLANE_SLACK + 15) / 16
      * 16;
}

bool
CuvPlanes::fit (const CuvWaldboostModel &model,
    const std::vector<CuvGridNode> &grid, const CuvWaldboostPlan &plan)
{
  bool used[CUV_PLANE_N] = {};

  for (int i = 0; i < plan.n_levels; i++) {
    if (plan.levels[i].n_x > 0 && plan.levels[i].step != 1)
      return false;
  }
  for (const CuvGridNode &node : grid) {
    if (plane_of (node) < 0)
      return false;
    used[plane_of (node)] = true;
  }
  if (grid.empty () || model.window_width > CUV_PLANE_MAX_WINDOW)
    return false;
  lay_out (model, used);
  return planes_bytes <= CUV_PLANE_MAX_BYTES;
}

template <typename Acc>
void
CuvPlanes::add_tables (CuvPyramidTables *tables,
    const std::vector<CuvGridNode> &grid, const std::vector<CuvWeak> &weak,
    const std::vector<Acc> &thresholds, const std::vector<Acc> &all_leaves)
{
  std::vector<CuvPlaneNode<Acc>> nodes;
  std::vector<Acc> leaves;

  for (size_t k = 0; k < weak.size (); k++) {
    const CuvGridNode &node = grid[weak[k].first_node];
    CuvPlaneNode<Acc> to = {};

    const int row = node.height * planes.pitch;
    const int size =
        patterns ? CuvPatternPlanes<Acc>::element : CuvRankPlanes<Acc>::element;

    to.height = node.height;
    to.column = node.width * size;
    auto block = [&] (int i) { return i / 3 * row + i % 3 * to.column; };

    to.offset =
        planes.starts[plane_of (node)] + node.y * planes.pitch + node.x * size;
    to.a = block (node.a);
    to.b = block (node.b);
    to.first_leaf = weak[k].first_leaf;
    to.threshold = thresholds[k];
    nodes.push_back (to);
  }
  nodes_at = tables->add (nodes);
  memcpy (first_nodes.nodes, nodes.data (),
      std::min (nodes.size () * sizeof nodes[0], sizeof first_nodes.nodes));
  for (int k = 0; k < n_dense; k++) {
    auto from = all_leaves.begin () + weak[k].first_leaf;

    leaves.insert (leaves.end (), from, from + n_codes);
  }
  n_leaves = (int) leaves.size ();
  leaves_at = tables->add (leaves);
}

template void CuvPlanes::add_tables (CuvPyramidTables *,
    const std::vector<CuvGridNode> &, const std::vector<CuvWeak> &,
    const std::vector<int32_t> &, const std::vector<int32_t> &);
template void CuvPlanes::add_tables (CuvPyramidTables *,
    const std::vector<CuvGridNode> &, const std::vector<CuvWeak> &,
    const std::vector<float> &, const std::vector<float> &);
