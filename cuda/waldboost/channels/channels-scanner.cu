// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans models of trees on channels on the GPU: lays out the images of a plan,
// then launches, for a frame, the kernels of the map in channels.cuh.
#include "waldboost/channels/channels-layout.cuh"
#include "waldboost/channels/gradient-kernel.cuh"
#include "waldboost/channels/smooth-kernel.cuh"
#include "waldboost/channels/sums-kernel.cuh"
#include "waldboost/channels/trees-kernel.cuh"

#define CUV_CHANNELS_OFFSET_BITS 24 // of a node

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
    if (add_nodes (tables) != 0)
      return -1;
    first = plan.first;
    n_segments = plan.n_segments;
    segments_at = tables->add (std::vector<int32_t> (
        plan.segment_end, plan.segment_end + plan.n_segments));
    leaves_at = tables->add (leaves);
    thresholds_at = tables->add (thresholds);
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
    for (size_t i = 1; i < layout.pictures.size (); i++) {
      if (resize_picture (*pyramid, layout.pictures[i], stream) != 0)
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
    const CuvChannelsDeviceTrees device = { trees.n_trees,
      std::min (trees.n_trees, CUV_CHANNELS_TREES_DENSE), trees.depth,
      trees.shrink, first, trees.final_threshold,
      pyramid.table<uint32_t> (nodes_at), pyramid.table<int16_t> (leaves_at),
      pyramid.table<int32_t> (thresholds_at), n_segments,
      pyramid.table<int32_t> (segments_at) };

    return cuv_launch_dependent ("cuv_channels_trees_kernel", windows.n,
        32 * CUV_CHANNELS_TREES_WARPS, 0, stream, cuv_channels_trees_kernel,
        pyramid.table<CuvChannelsTile> (windows.at), levels (pyramid), device,
        pyramid.image<const uint8_t> (CUV_WALDBOOST_IMAGE_CHANNELS), rows,
        hits);
  }

private:
  // Tiles of a kernel, in the plan's tables.
  struct Tiles {
    size_t at;
    int n;
  };

  // ---- planning ----

  // Offsets of nodes from the first byte of a window.
  int
  add_nodes (CuvPyramidTables *tables)
  {
    const int64_t pitch = layout.channel_pitch ();
    const int per_tree = (1 << trees.depth) - 1;
    std::vector<uint32_t> packed;

    for (size_t i = 0; i < nodes.size (); i++) {
      const CuvChannelsNode &node = nodes[i];
      const int64_t offset =
          (node.row * CUV_CHANNELS_N + node.channel) * pitch + node.column;

      if (offset >> CUV_CHANNELS_OFFSET_BITS != 0)
        return cuv_cuda_record (
            cudaErrorInvalidValue, "the frame is too wide for the model");
      packed.push_back ((uint32_t) offset << 8 | node.threshold);
      if ((i + 1) % per_tree == 0)
        packed.push_back (0);
    }
    nodes_at = tables->add (packed);
    return 0;
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
    const int shrink = trees.shrink, around = 2 * trees.overhang;

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
            [=] (const Level &level) {
              return std::make_pair (
                  level.columns + around, level.rows + around);
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

  static dim3
  grid (int width, int height)
  {
    return dim3 (cuv_div_up (width, CUV_CHANNELS_FRAME_X),
        cuv_div_up (height, CUV_CHANNELS_FRAME_Y));
  }

  int
  make_picture (const CuvPyramid &pyramid, const CuvScanFrame &frame,
      cudaStream_t stream) const
  {
    const dim3 block (CUV_CHANNELS_FRAME_X, CUV_CHANNELS_FRAME_Y);
    const CuvTurn &turn = pyramid.turn;
    const CuvChannelsPart part = { *frame.frame, frame.left, frame.top,
      frame.width, frame.height,
      frame.matrix != nullptr ? *frame.matrix : CuvRgbMatrix{} };
    const int pitch = layout.pictures[0].image.pitch;

    if (turn.degrees == 0) {
      cuv_channels_frame_kernel<<<grid (part.width, part.height), block, 0,
          stream>>> (part, words (pyramid), pitch);
      CUV_CUDA_LAUNCHED (cuv_channels_frame_kernel);
      return 0;
    }
    cuv_channels_turn_kernel<<<grid (turn.width, turn.height), block, 0,
        stream>>> (part, turn, words (pyramid), pitch);
    CUV_CUDA_LAUNCHED (cuv_channels_turn_kernel);
    return 0;
  }

  int
  resize_picture (const CuvPyramid &pyramid, const CuvChannelsPicture &picture,
      cudaStream_t stream) const
  {
    const CuvChannelsDeviceLevel &level = layout.levels[picture.level];
    const CuvChannelsImage &source = layout.pictures[picture.source].image;
    const CuvChannelsTap *taps = pyramid.table<CuvChannelsTap> (taps_at);

    return cuv_launch_dependent ("cuv_channels_picture_kernel",
        grid (level.width, level.height),
        dim3 (CUV_CHANNELS_FRAME_X, CUV_CHANNELS_FRAME_Y), 0, stream,
        cuv_channels_picture_kernel, words (pyramid) + source.first,
        source.pitch, taps + level.first_x_tap, taps + level.first_y_tap,
        level.width, level.height, words (pyramid) + picture.image.first,
        picture.image.pitch);
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
            levels (pyramid), pyramid.table<CuvChannelsTap> (taps_at),
            words (pyramid), out)
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
  int32_t first = 0, n_segments = 0;
  // offsets in the plan's tables
  size_t nodes_at, leaves_at, thresholds_at, segments_at, levels_at, taps_at;
  Tiles pixels = {}, blocks = {}, smooth = {}, windows = {};
};

CuvScanner *
cuv_channels_scanner_new (const CuvWaldboostModel *model)
{
  return new ChannelsScanner (model);
}
