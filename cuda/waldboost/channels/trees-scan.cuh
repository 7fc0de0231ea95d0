// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans with one model: makes the tables of its trees and windows, and launches
// the kernels.
#ifndef CUV_CHANNELS_TREES_SCAN_CUH
#define CUV_CHANNELS_TREES_SCAN_CUH

#include "waldboost/channels/channels-layout.cuh"
#include "waldboost/channels/trees-kernels.cuh"

class CuvChannelsTreesScan
{
public:
  // Copies the trees.
  explicit CuvChannelsTreesScan (const CuvChannelsTrees &model) : trees (model)
  {
    const int n_nodes = trees.n_trees * ((1 << trees.depth) - 1);

    nodes.assign (trees.nodes, trees.nodes + n_nodes);
    leaves.assign (
        trees.leaves, trees.leaves + ((size_t) trees.n_trees << trees.depth));
    thresholds.assign (trees.thresholds, trees.thresholds + trees.n_trees);
  }

  // Adds the tables of a plan. indices: of the plan's levels in the layout.
  void
  set_plan (const CuvWaldboostPlan &plan, const CuvChannelsLayout &layout,
      const std::vector<int> &indices, CuvPyramidTables *tables)
  {
    trees_at = trees.depth == 1 ? add_trees<1> (layout, tables)
        : trees.depth == 2      ? add_trees<2> (layout, tables)
        : trees.depth == 3      ? add_trees<3> (layout, tables)
                                : add_trees<4> (layout, tables);
    n_segments = plan.n_segments;
    segments_at = tables->add (std::vector<int32_t> (
        plan.segment_end, plan.segment_end + plan.n_segments));
    add_windows (plan, layout, indices, tables);
  }

  // Returns how many bytes of memory the scan needs for candidates.
  size_t
  candidates_size () const
  {
    return (size_t) n_tiles * CUV_CHANNELS_TREES_WINDOWS
        * sizeof (CuvChannelsCandidate);
  }

  // Enqueues the scan. Returns 0 or -1.
  int
  submit (const CuvPyramid &pyramid, const CuvScanHits &hits,
      const CuvScanRows &rows, cudaStream_t stream) const
  {
    const CuvChannelsSearch search = { pyramid.table<CuvChannelsTile> (
                                           tiles_at),
      pyramid.table<CuvChannelsDeviceLevel> (levels_at),
      pyramid.image<const uint8_t> (CUV_WALDBOOST_IMAGE_CHANNELS),
      device_trees (pyramid), rows, hits,
      pyramid.image<CuvChannelsCandidate> (CUV_WALDBOOST_IMAGE_CANDIDATES),
      &hits.counters->candidates };

    if (n_tiles == 0)
      return 0;
    switch (trees.depth) {
      case 1:
        return scan<1> (search, stream);
      case 2:
        return scan<2> (search, stream);
      case 3:
        return scan<3> (search, stream);
      default:
        return scan<4> (search, stream);
    }
  }

private:
  // ---- planning ----

  // Adds the trees; offsets are relative to the first byte of a window.
  template <int depth>
  size_t
  add_trees (const CuvChannelsLayout &layout, CuvPyramidTables *tables) const
  {
    const uint32_t pitch = layout.channel_pitch;
    std::vector<CuvChannelsDeviceTree<depth>> packed (trees.n_trees);
    const CuvChannelsNode *node = nodes.data ();
    const int16_t *leaf = leaves.data ();

    for (int i = 0; i < trees.n_trees; i++) {
      CuvChannelsDeviceTree<depth> &tree = packed[i];

      for (int k = 0; k < tree.n_nodes; k++, node++) {
        tree.offsets[k] =
            (node->row * CUV_CHANNELS_N + node->channel) * pitch + node->column;
        tree.thresholds[k] = node->threshold;
      }
      for (int16_t &at : tree.leaves)
        at = *leaf++;
      tree.reject = thresholds[i];
    }
    return tables->add (packed);
  }

  // Adds the plan's levels and the tiles of their windows.
  void
  add_windows (const CuvWaldboostPlan &plan, const CuvChannelsLayout &layout,
      const std::vector<int> &indices, CuvPyramidTables *tables)
  {
    std::vector<CuvChannelsDeviceLevel> levels;
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < plan.n_levels; i++) {
      levels.push_back (layout.levels[indices[i]]);
      levels[i].n_x = plan.levels[i].n_x;
      levels[i].n_y = plan.levels[i].n_y;
      cuv_channels_add_tiles (&tiles, i, CUV_CHANNELS_TREES_COLUMNS,
          CUV_CHANNELS_TREES_ROWS, { levels[i].n_x, levels[i].n_y });
    }
    n_tiles = (int) tiles.size ();
    levels_at = tables->add (levels);
    tiles_at = tables->add (tiles);
  }

  // ---- launching ----

  CuvChannelsDeviceTrees
  device_trees (const CuvPyramid &pyramid) const
  {
    return CuvChannelsDeviceTrees{ trees.n_trees,
      std::min (trees.n_trees, CUV_CHANNELS_TREES_DENSE), trees.shrink,
      trees.overhang, trees.final_threshold, pyramid.table<uint8_t> (trees_at),
      n_segments, pyramid.table<int32_t> (segments_at) };
  }

  template <int depth>
  int
  scan (const CuvChannelsSearch &search, cudaStream_t stream) const
  {
    const int threads = 32 * CUV_CHANNELS_TREES_WARPS;

    if (cuv_launch_dependent ("cuv_channels_dense_kernel", n_tiles, threads, 0,
            stream, cuv_channels_dense_kernel<depth>, search)
        != 0)
      return -1;
    return cuv_launch_dependent ("cuv_channels_finish_kernel",
        CUV_CHANNELS_TREES_FINISH_BLOCKS * cuv_cuda_multiprocessors (), threads,
        0, stream, cuv_channels_finish_kernel<depth>, search);
  }

  CuvChannelsTrees trees; // its pointers may dangle: use the copies below
  std::vector<CuvChannelsNode> nodes;
  std::vector<int16_t> leaves;
  std::vector<int32_t> thresholds;
  int n_segments = 0, n_tiles = 0;
  // offsets in the plan's tables
  size_t trees_at = 0, segments_at = 0, levels_at = 0, tiles_at = 0;
};

#endif
