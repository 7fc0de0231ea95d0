// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans models of trees on channels on the GPU: lays out the images of all
// plans, then launches, for a frame, the kernels of the map in channels.cuh.
#include "waldboost/channels/gradient-kernel.cuh"
#include "waldboost/channels/smooth-kernel.cuh"
#include "waldboost/channels/sums-kernel.cuh"
#include "waldboost/channels/trees-scan.cuh"

class ChannelsScanner : public CuvScanner
{
public:
  ChannelsScanner (const CuvWaldboostSearch *searches, int n)
      : shrink (searches[0].model->channels->trees.shrink)
  {
    for (int i = 0; i < n; i++) {
      const CuvChannelsTrees &trees = searches[i].model->channels->trees;

      scans.push_back (CuvChannelsTreesScan (trees));
      overhang = std::max (overhang, (int) trees.overhang);
    }
  }

  int
  set_plans (const CuvWaldboostSearch *searches, CuvPyramid *pyramid,
      CuvPyramidTables *tables) override
  {
    const CuvTurn &turn = searches[0].plan->turn;
    std::vector<std::vector<int>> indices; // of the plans' levels in the layout

    layout = CuvChannelsLayout (turn, shrink, overhang);
    for (size_t i = 0; i < scans.size (); i++)
      indices.push_back (layout.add_plan (*searches[i].plan));
    layout.finish ();
    for (size_t i = 0; i < scans.size (); i++)
      scans[i].set_plan (*searches[i].plan, layout, indices[i], tables);
    levels_at = tables->add (layout.levels);
    taps_at = tables->add (layout.taps);
    add_tiles (tables);
    describe (turn, pyramid);
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
    return shrink == 4 ? make_channels<4> (*pyramid, stream)
                       : make_channels<2> (*pyramid, stream);
  }

  int
  submit (const CuvPyramid &pyramid, int model, const CuvScanHits &hits,
      const CuvScanRows &rows, cudaStream_t stream) override
  {
    return scans[model].submit (pyramid, hits, rows, stream);
  }

private:
  // The tiles of a kernel, in the plan's tables.
  struct Tiles {
    size_t at;
    int n;
  };

  // ---- planning ----

  Tiles
  add (CuvPyramidTables *tables, const std::vector<CuvChannelsTile> &tiles)
  {
    return Tiles{ tables->add (tiles), (int) tiles.size () };
  }

  void
  add_tiles (CuvPyramidTables *tables)
  {
    using Level = CuvChannelsDeviceLevel;

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
            [this] (const Level &level) {
              return std::make_pair (
                  level.columns * shrink, level.rows * shrink);
            }));
    smooth = add (tables,
        layout.tiles (CUV_CHANNELS_SMOOTH_COLUMNS, CUV_CHANNELS_SMOOTH_ROWS,
            [] (const Level &level) {
              return std::make_pair (level.columns, level.rows);
            }));
  }

  // Sets the fields of the pyramid that waldboost.cu reads.
  void
  describe (const CuvTurn &turn, CuvPyramid *pyramid) const
  {
    size_t candidates = 0;

    pyramid->needs = {};
    pyramid->turn = turn;
    pyramid->width = turn.width;
    pyramid->height = turn.height;
    for (const CuvChannelsTreesScan &scan : scans)
      candidates = std::max (candidates, scan.candidates_size ());
    std::fill_n (pyramid->image_sizes, (int) CUV_WALDBOOST_IMAGE_N, 0);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_COLORS] =
        layout.words.size * sizeof (uint32_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_MAGNITUDES] =
        layout.pixels.size * sizeof (uint16_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_DIRECTIONS] = layout.pixels.size;
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_BLOCKS] =
        layout.sums.size * sizeof (uint16_t);
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_CHANNELS] = layout.channels.size;
    pyramid->image_sizes[CUV_WALDBOOST_IMAGE_CANDIDATES] = candidates;
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

    kernel<<<grid, block, 0, stream>>> (
        part, pyramid.turn, chain (pyramid), pyramid.began);
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

  template <int side>
  int
  make_channels (const CuvPyramid &pyramid, cudaStream_t stream) const
  {
    const CuvChannelsPixels out = { pyramid.image<uint16_t> (
                                        CUV_WALDBOOST_IMAGE_MAGNITUDES),
      pyramid.image<uint8_t> (CUV_WALDBOOST_IMAGE_DIRECTIONS),
      pyramid.image<uint16_t> (CUV_WALDBOOST_IMAGE_BLOCKS) };

    if (pixels.n == 0)
      return 0;
    if (cuv_launch_dependent ("cuv_channels_gradient_kernel",
            cuv_div_up (pixels.n, CUV_CHANNELS_GRADIENT_WARPS),
            32 * CUV_CHANNELS_GRADIENT_WARPS, 0, stream,
            cuv_channels_gradient_kernel<side>,
            pyramid.table<CuvChannelsTile> (pixels.at), pixels.n,
            levels (pyramid), words (pyramid), out)
            != 0
        || cuv_launch_dependent ("cuv_channels_sums_kernel",
               cuv_div_up (blocks.n, CUV_CHANNELS_SUMS_WARPS),
               32 * CUV_CHANNELS_SUMS_WARPS, 0, stream,
               cuv_channels_sums_kernel<side>,
               pyramid.table<CuvChannelsTile> (blocks.at), blocks.n,
               levels (pyramid), out.magnitudes, out.directions, out.sums)
            != 0)
      return -1;
    return cuv_launch_dependent ("cuv_channels_smooth_kernel", smooth.n,
        dim3 (32, CUV_CHANNELS_N), 0, stream, cuv_channels_smooth_kernel,
        pyramid.table<CuvChannelsTile> (smooth.at), levels (pyramid), overhang,
        side == 4 ? 8 : 6, out.sums,
        pyramid.image<uint8_t> (CUV_WALDBOOST_IMAGE_CHANNELS));
  }

  const int shrink;
  int overhang = 0;                        // the maximum of the models
  std::vector<CuvChannelsTreesScan> scans; // one for each model
  CuvChannelsLayout layout;
  size_t levels_at, taps_at;  // offsets in the plan's tables
  std::vector<Tiles> resizes; // one for each depth
  Tiles pixels = {}, blocks = {}, smooth = {};
};

CuvScanner *
cuv_channels_scanner_new (const CuvWaldboostSearch *searches, int n)
{
  return new ChannelsScanner (searches, n);
}
