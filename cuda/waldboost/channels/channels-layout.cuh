// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the images of a plan are in device memory, and the tables that say so.
#ifndef CUV_CHANNELS_LAYOUT_CUH
#define CUV_CHANNELS_LAYOUT_CUH

#include <vector>
#include "waldboost/channels/frame-kernels.cuh"
#include "waldboost/pyramid.cuh"

// Lays images of one kind one after another.
struct CuvChannelsRoom {
  int64_t size = 0; // elements

  // before: elements before the first one of the image.
  CuvChannelsImage
  add (int pitch, int64_t rows, int64_t before = 0)
  {
    const CuvChannelsImage image = { size + before, pitch };

    size += pitch * rows;
    return image;
  }
};

// The layout of a plan.
struct CuvChannelsLayout {
  CuvChannelsImage frame; // the picture of the turned frame
  std::vector<CuvChannelsDeviceLevel> levels;
  // Levels whose pictures are made with the frame's, each half of the one
  // before; the first is half of the frame.
  std::vector<int> halves;
  int n_depths; // of levels that are resized one after another
  CuvChannelsRoom words, pixels, sums, channels;

  void
  set_plan (const CuvWaldboostPlan &plan, const CuvChannelsTrees &trees)
  {
    *this = CuvChannelsLayout{};
    frame = words.add (cuv_whole_fours (plan.turn.width), plan.turn.height);
    for (int i = 0; i < plan.n_levels; i++) {
      add_level (plan.levels[i], trees);
      add_picture (plan, i);
    }
    set_channels (trees);
  }

  // Tiles of the levels with windows: n_columns x n_rows each, of an area whose
  // size area (level) returns.
  template <typename Area>
  std::vector<CuvChannelsTile>
  tiles (int n_columns, int n_rows, Area area) const
  {
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < (int) levels.size (); i++) {
      if (has_windows (levels[i]))
        add_tiles (&tiles, i, n_columns, n_rows, area (levels[i]));
    }
    return tiles;
  }

  // Tiles of the levels that are resized from pictures made before, depth 1, or
  // from those of the depth before.
  std::vector<CuvChannelsTile>
  resize_tiles (int depth, int n_columns, int n_rows) const
  {
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < (int) levels.size (); i++) {
      if (depths[i] == depth)
        add_tiles (&tiles, i, n_columns, n_rows,
            std::make_pair (levels[i].width, levels[i].height));
    }
    return tiles;
  }

  // Bytes between a row of a channel and the next channel's.
  int
  channel_pitch () const
  {
    int columns = 1;

    for (const CuvChannelsDeviceLevel &level : levels)
      columns = std::max (columns, level.channels.pitch);
    return cuv_div_up (columns, 16) * 16;
  }

private:
  std::vector<int> depths; // of the levels; 0: made with the frame's picture

  static void
  add_tiles (std::vector<CuvChannelsTile> *tiles, int level, int n_columns,
      int n_rows, std::pair<int, int> size)
  {
    for (int y = 0; y < size.second; y += n_rows) {
      for (int x = 0; x < size.first; x += n_columns)
        tiles->push_back (CuvChannelsTile{ level, x, y });
    }
  }

  static bool
  has_windows (const CuvChannelsDeviceLevel &level)
  {
    return level.n_x > 0 && level.n_y > 0;
  }

  // ---- pictures ----

  static bool
  is_copy (const CuvWaldboostPlan &plan, const CuvWaldboostLevel &level)
  {
    return level.source < 0 && level.width == plan.turn.width
        && level.height == plan.turn.height;
  }

  static bool
  are_halves (const CuvTap *taps, int n)
  {
    for (int i = 0; i < n; i++) {
      if (taps[i].index != 2 * i || taps[i].weight != 128)
        return false;
    }
    return true;
  }

  // Whether the level is half of the last one in halves.
  bool
  continues_halves (
      const CuvWaldboostPlan &plan, const CuvWaldboostLevel &level) const
  {
    const CuvChannelsImage &last =
        halves.empty () ? frame : levels[halves.back ()].picture;
    const CuvChannelsImage &source =
        level.source < 0 ? frame : levels[level.source].picture;

    return halves.size () < CUV_CHANNELS_HALVINGS && source.first == last.first
        && are_halves (plan.taps + level.first_x_tap, level.width)
        && are_halves (plan.taps + level.first_y_tap, level.height);
  }

  void
  add_picture (const CuvWaldboostPlan &plan, int index)
  {
    const CuvWaldboostLevel &from = plan.levels[index];
    CuvChannelsDeviceLevel &level = levels[index];
    int depth = 0;

    level.source = from.source < 0 ? frame : levels[from.source].picture;
    level.picture = level.source;
    if (!is_copy (plan, from)) {
      if (continues_halves (plan, from))
        halves.push_back (index);
      else
        depth = 1 + (from.source < 0 ? 0 : depths[from.source]);
      level.picture = words.add (cuv_whole_fours (from.width), from.height);
    }
    depths.push_back (depth);
    n_depths = std::max (n_depths, depth);
  }

  // ---- levels ----

  void
  add_level (const CuvWaldboostLevel &from, const CuvChannelsTrees &trees)
  {
    CuvChannelsDeviceLevel level = {};

    level.width = from.width;
    level.height = from.height;
    level.columns = from.width / trees.shrink;
    level.rows = from.height / trees.shrink;
    level.n_x = from.n_x;
    level.n_y = from.n_y;
    level.first_x_tap = from.first_x_tap;
    level.first_y_tap = from.first_y_tap;
    if (has_windows (level)) {
      level.pixels = pixels.add (
          cuv_whole_fours (from.width) + 2 * CUV_CHANNELS_PIXELS_PADDING,
          from.height, CUV_CHANNELS_PIXELS_PADDING);
      level.sums = sums.add (
          cuv_whole_fours (level.columns), CUV_CHANNELS_N * level.rows);
      level.channels.pitch =
          cuv_whole_fours (level.columns) + 2 * padding (trees);
    }
    levels.push_back (level);
  }

  // Of a row of a channel, on each side.
  static int
  padding (const CuvChannelsTrees &trees)
  {
    return cuv_whole_fours (trees.overhang);
  }

  // All levels have the same pitch, so that nodes have the same offsets.
  void
  set_channels (const CuvChannelsTrees &trees)
  {
    const int pitch = channel_pitch ();
    const int64_t above = (int64_t) CUV_CHANNELS_N * trees.overhang;

    for (CuvChannelsDeviceLevel &level : levels) {
      if (has_windows (level))
        level.channels =
            channels.add (pitch, CUV_CHANNELS_N * level.rows + 2 * above,
                above * pitch + padding (trees));
    }
  }
};

// A tap for the device.
static inline CuvChannelsTap
cuv_channels_tap_of (const CuvTap &tap)
{
  if (tap.weight == 0 || tap.weight == 256) // one sample, twice
    return CuvChannelsTap{ tap.index + tap.weight / 256, 128 | 128 << 8, 0, 0 };
  return CuvChannelsTap{ tap.index,
    (uint32_t) ((256 - tap.weight) | tap.weight << 8), 1, 0 };
}

static inline std::vector<CuvChannelsTap>
cuv_channels_taps (const CuvWaldboostPlan &plan)
{
  std::vector<CuvChannelsTap> taps;

  for (int i = 0; i < plan.n_taps; i++)
    taps.push_back (cuv_channels_tap_of (plan.taps[i]));
  return taps;
}

#endif
