// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans models of trees on channels on the GPU: lays out the images of a plan,
// then launches, for a frame, the kernels of the map in channels.cuh.
#include "waldboost/channels/channels-layout.cuh"
#include "waldboost/channels/gradient-kernel.cuh"
#include "waldboost/channels/smooth-kernel.cuh"
#include "waldboost/channels/sums-kernel.cuh"
#include "waldboost/channels/trees-kernels.cuh"

class ChannelsScanner : public CuvScanner
{
public:
  explicit ChannelsScanner (const CuvWaldboostModel *model)
      : trees (model->channels->trees)
  {
    const int n_nodes = trees.n_trees * ((1 << trees.depth) - 1);

    nodes.assign (trees.nodes, trees.nodes + n_nodes);
    leaves.assign (
        trees.leaves, trees.leaves + ((size_t) trees.n_trees << trees.depth));
    thresholds.assign (trees.thresholds, trees.thresholds + trees.n_trees);
  }

  int
  set_plan (const CuvWaldboostPlan &plan, CuvPyramid *pyramid,
      CuvPyramidTables *tables) override
  {
    layout.set_plan (plan, trees);
    trees_at = trees.depth == 1 ? add_trees<1> (tables)
        : trees.depth == 2      ? add_trees<2> (tables)
        : trees.depth == 3      ? add_trees<3> (tables)
                                : add_trees<4> (tables);
    n_segments = plan.n_segments;
    segments_at = tables->add (std::vector<int32_t> (
        plan.segment_end, plan.segment_end + plan.n_segments));
    levels_at = tables->add (layout.levels);
    taps_at = tables->add (cuv_channels_taps (plan));
    add_tiles (tables);
    describe (plan, pyramid);
    return 0;
  }

  int
  submit_pictures (CuvPyramid *pyramid, const CuvScanFrame &frame,
      cudaStream_t stream) override
  {
    if (make_picture (*pyramid, frame, stream) != 0)
      return -1;
    for (const Tiles &tiles : resizes) {
      if (resize (*pyramid, tiles, stream) != 0)
        return -1;
    }
    return trees.shrink == 4 ? make_channels<4> (*pyramid, stream)
                             : make_channels<2> (*pyramid, stream);
  }

  int
  submit (const CuvPyramid &pyramid, const CuvScanHits &hits,
      const CuvScanRows &rows, cudaStream_t stream) override
  {
    if (windows.n == 0)
      return 0;
    const CuvChannelsSearch search = {
      pyramid.table<CuvChannelsTile> (windows.at), levels (pyramid),
      pyramid.image<const uint8_t> (CUV_WALDBOOST_IMAGE_CHANNELS),
      device_trees (pyramid), rows, hits,
      pyramid.image<CuvChannelsCandidate> (CUV_WALDBOOST_IMAGE_CANDIDATES),
      &hits.counters->candidates
    };

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
  // Tiles of a kernel, in the plan's tables.
  struct Tiles {
    size_t at;
    int n;
  };

  // ---- planning ----

  // Adds the trees; offsets are from the first byte of a window.
  template <int depth>
  size_t
  add_trees (CuvPyramidTables *tables) const
  {
    const uint32_t pitch = layout.channel_pitch ();
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

  Tiles
  add (CuvPyramidTables *tables, const std::vector<CuvChannelsTile> &tiles)
  {
    return Tiles{ tables->add (tiles), (int) tiles.size () };
  }

  void
  add_tiles (CuvPyramidTables *tables)
  {
    using Level = CuvChannelsDeviceLevel;
    const int shrink = trees.shrink;

    resizes.clear ();
    for (int depth = 1; depth <= layout.n_depths; depth++)
      resizes.push_back (add (tables,
          layout.resize_tiles (
              depth, CUV_CHANNELS_FRAME_X, CUV_CHANNELS_RESIZE_ROWS)));
    pixels = add (tables,
        layout.tiles (CUV_CHANNELS_GRADIENT_COLUMNS, CUV_CHANNELS_GRADIENT_ROWS,
            [] (const Level &level) {
              return std::make_pair (level.width, level.height);
            }));
    blocks = add (tables,
        layout.tiles (CUV_CHANNELS_SUMS_COLUMNS, CUV_CHANNELS_SUMS_ROWS,
            [=] (const Level &level) {
              return std::make_pair (
                  level.columns * shrink, level.rows * shrink);
            }));
    smooth = add (tables,
        layout.tiles (CUV_CHANNELS_SMOOTH_COLUMNS, CUV_CHANNELS_SMOOTH_ROWS,
            [] (const Level &level) {
              return std::make_pair (level.columns, level.rows);
            }));
    windows = add (tables,
        layout.tiles (CUV_CHANNELS_TREES_COLUMNS, CUV_CHANNELS_TREES_ROWS,
            [] (const Level &level) {
              return std::make_pair (level.n_x, level.n_y);
            }));
  }

  // What waldboost.cu reads of the pyramid.
  void
  describe (const CuvWaldboostPlan &plan, CuvPyramid *pyramid) const
  {
    pyramid->needs = {};
    pyramid->turn = plan.turn;
    pyramid->width = plan.turn.width;
    pyramid->height = plan.turn.height;
    pyramid->n_levels = plan.n_levels;
    pyramid->host_levels.assign (plan.n_levels, CuvPyramidLevel{});
    for (int i = 0; i < plan.n_levels; i++)
      pyramid->host_levels[i].plan = plan.levels[i];
    std::fill_n (pyramid->image_sizes, (int) CUV_WALDBOOST_IMAGE_N, 0);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_COLORS] =
        layout.words.size * sizeof (uint32_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_MAGNITUDES] =
        layout.pixels.size * sizeof (uint16_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_DIRECTIONS] = layout.pixels.size;
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_BLOCKS] =
        layout.sums.size * sizeof (uint16_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_CHANNELS] = layout.channels.size;
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_CANDIDATES] = (size_t) windows.n
        * CUV_CHANNELS_TREES_WINDOWS * sizeof (CuvChannelsCandidate);
  }

  // ---- launching ----

  const CuvChannelsDeviceLevel *
  levels (const CuvPyramid &pyramid) const
  {
    return pyramid.table<CuvChannelsDeviceLevel> (levels_at);
  }

  static unsigned *
  words (const CuvPyramid &pyramid)
  {
    return pyramid.image<unsigned> (CUV_WALDBOOST_IMAGE_COLORS);
  }

  CuvChannelsDeviceTrees
  device_trees (const CuvPyramid &pyramid) const
  {
    return CuvChannelsDeviceTrees{ trees.n_trees,
      std::min (trees.n_trees, CUV_CHANNELS_TREES_DENSE), trees.shrink,
      trees.overhang, trees.final_threshold, pyramid.table<uint8_t> (trees_at),
      n_segments, pyramid.table<int32_t> (segments_at) };
  }

  CuvChannelsChain
  chain (const CuvPyramid &pyramid) const
  {
    CuvChannelsChain chain = { words (pyramid), 1,
      { { layout.frame.first, layout.frame.pitch, pyramid.width,
          pyramid.height } } };

    for (int i : layout.halves) {
      const CuvChannelsDeviceLevel &level = layout.levels[i];

      chain.picture[chain.n++] = { level.picture.first, level.picture.pitch,
        level.width, level.height };
    }
    return chain;
  }

  static CuvChannelsPart
  part_of (const CuvScanFrame &frame)
  {
    const CuvFrame &whole = *frame.frame;
    const CuvWaldboostPart &from = frame.part;
    CuvChannelsPart part = { {}, from.left, from.top, from.width, from.height,
      whole.model == CUV_MODEL_YUV };

    for (int i = 0; i < CUV_CHANNELS_COLORS; i++)
      part.component[i] = whole.component[whole.n_components < 3 ? 0 : i];
    if (from.matrix != nullptr)
      part.matrix = *from.matrix;
    return part;
  }

  int
  make_picture (const CuvPyramid &pyramid, const CuvScanFrame &frame,
      cudaStream_t stream) const
  {
    const CuvChannelsPart part = part_of (frame);
    const dim3 grid (cuv_div_up (pyramid.width, CUV_CHANNELS_SQUARE),
        cuv_div_up (pyramid.height, CUV_CHANNELS_SQUARE));
    const dim3 block (CUV_CHANNELS_FRAME_X, CUV_CHANNELS_FRAME_Y);
    const auto kernel = pyramid.turn.degrees != 0
        ? cuv_channels_frame_kernel<true>
        : cuv_channels_frame_kernel<false>;

    kernel<<<grid, block, 0, stream>>> (part, pyramid.turn, chain (pyramid));
    CUV_CUDA_LAUNCHED (cuv_channels_frame_kernel);
    return 0;
  }

  int
  resize (
      const CuvPyramid &pyramid, const Tiles &tiles, cudaStream_t stream) const
  {
    return cuv_launch_dependent ("cuv_channels_resize_kernel", tiles.n,
        dim3 (CUV_CHANNELS_FRAME_X, CUV_CHANNELS_FRAME_Y), 0, stream,
        cuv_channels_resize_kernel, pyramid.table<CuvChannelsTile> (tiles.at),
        levels (pyramid), pyramid.table<CuvChannelsTap> (taps_at),
        words (pyramid));
  }

  template <int depth>
  int
  scan (const CuvChannelsSearch &search, cudaStream_t stream) const
  {
    const int threads = 32 * CUV_CHANNELS_TREES_WARPS;

    if (cuv_launch_dependent ("cuv_channels_dense_kernel", windows.n, threads,
            0, stream, cuv_channels_dense_kernel<depth>, search)
        != 0)
      return -1;
    return cuv_launch_dependent ("cuv_channels_finish_kernel",
        CUV_CHANNELS_TREES_FINISH_BLOCKS * cuv_cuda_multiprocessors (), threads,
        0, stream, cuv_channels_finish_kernel<depth>, search);
  }

  template <int shrink>
  int
  make_channels (const CuvPyramid &pyramid, cudaStream_t stream) const
  {
    const CuvChannelsPixels out = { pyramid.image<uint16_t> (
                                        CUV_WALDBOOST_IMAGE_MAGNITUDES),
      pyramid.image<uint8_t> (CUV_WALDBOOST_IMAGE_DIRECTIONS),
      pyramid.image<uint16_t> (CUV_WALDBOOST_IMAGE_BLOCKS) };

    if (windows.n == 0)
      return 0;
    if (cuv_launch_dependent ("cuv_channels_gradient_kernel",
            cuv_div_up (pixels.n, CUV_CHANNELS_GRADIENT_WARPS),
            32 * CUV_CHANNELS_GRADIENT_WARPS, 0, stream,
            cuv_channels_gradient_kernel<shrink>,
            pyramid.table<CuvChannelsTile> (pixels.at), pixels.n,
            levels (pyramid), words (pyramid), out)
            != 0
        || cuv_launch_dependent ("cuv_channels_sums_kernel",
               cuv_div_up (blocks.n, CUV_CHANNELS_SUMS_WARPS),
               32 * CUV_CHANNELS_SUMS_WARPS, 0, stream,
               cuv_channels_sums_kernel<shrink>,
               pyramid.table<CuvChannelsTile> (blocks.at), blocks.n,
               levels (pyramid), out.magnitudes, out.directions, out.sums)
            != 0)
      return -1;
    return cuv_launch_dependent ("cuv_channels_smooth_kernel", smooth.n,
        dim3 (32, CUV_CHANNELS_N), 0, stream, cuv_channels_smooth_kernel,
        pyramid.table<CuvChannelsTile> (smooth.at), levels (pyramid),
        trees.overhang, shrink == 4 ? 8 : 6, out.sums,
        pyramid.image<uint8_t> (CUV_WALDBOOST_IMAGE_CHANNELS));
  }

  CuvChannelsTrees trees; // its pointers may dangle: use the copies below
  std::vector<CuvChannelsNode> nodes;
  std::vector<int16_t> leaves;
  std::vector<int32_t> thresholds;
  CuvChannelsLayout layout;
  int32_t n_segments = 0;
  // offsets in the plan's tables
  size_t trees_at, segments_at, levels_at, taps_at;
  std::vector<Tiles> resizes; // by depth
  Tiles pixels = {}, blocks = {}, smooth = {}, windows = {};
};

CuvScanner *
cuv_channels_scanner_new (const CuvWaldboostModel *model)
{
  return new ChannelsScanner (model);
}
