// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the images of a plan are in device memory, and the tables that say so.
#ifndef CUV_CHANNELS_LAYOUT_CUH
#define CUV_CHANNELS_LAYOUT_CUH

#include <vector>
#include "waldboost/channels/channels.cuh"
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

// A picture that levels are resized from.
struct CuvChannelsPicture {
  CuvChannelsImage image;
  int32_t width, height;
  int level;  // that it is of, -1: the turned frame
  int source; // picture that it is resized from
  bool half;  // of its source
};

// The layout of a plan.
struct CuvChannelsLayout {
  std::vector<CuvChannelsPicture> pictures; // sources first
  std::vector<CuvChannelsDeviceLevel> levels;
  CuvChannelsRoom words, pixels, sums, channels;

  void
  set_plan (const CuvWaldboostPlan &plan, const CuvChannelsTrees &trees)
  {
    *this = CuvChannelsLayout{};
    add_pictures (plan);
    for (int i = 0; i < plan.n_levels; i++)
      add_level (plan, trees, i);
    set_channels (trees);
  }

  // The number of first pictures each of which is half of the one before.
  int
  n_chained () const
  {
    int n = 1;

    while (n < (int) pictures.size () && pictures[n].half
        && pictures[n].source == n - 1)
      n++;
    return n;
  }

  // Tiles of the levels with windows: n_columns x n_rows each, of an area whose
  // size area (level) returns.
  template <typename Area>
  std::vector<CuvChannelsTile>
  tiles (int n_columns, int n_rows, Area area) const
  {
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < (int) levels.size (); i++) {
      const auto size = area (levels[i]);

      for (int y = 0; has_windows (levels[i]) && y < size.second; y += n_rows) {
        for (int x = 0; x < size.first; x += n_columns)
          tiles.push_back (CuvChannelsTile{ i, x, y });
      }
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
  std::vector<int> picture_of; // level -> its own picture, -1: none

  static bool
  has_windows (const CuvChannelsDeviceLevel &level)
  {
    return level.n_x > 0 && level.n_y > 0;
  }

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

  static bool
  is_half (const CuvWaldboostPlan &plan, const CuvWaldboostLevel &level)
  {
    return are_halves (plan.taps + level.first_x_tap, level.width)
        && are_halves (plan.taps + level.first_y_tap, level.height);
  }

  void
  add_picture (int width, int height, int level, int source, bool half)
  {
    pictures.push_back (
        CuvChannelsPicture{ words.add (cuv_whole_fours (width), height), width,
            height, level, source, half });
  }

  int
  picture_of_source (const CuvWaldboostLevel &level) const
  {
    return level.source < 0 ? 0 : picture_of[level.source];
  }

  void
  add_pictures (const CuvWaldboostPlan &plan)
  {
    std::vector<bool> is_source (plan.n_levels, false);

    for (int i = 0; i < plan.n_levels; i++) {
      if (plan.levels[i].source >= 0)
        is_source[plan.levels[i].source] = true;
    }
    picture_of.assign (plan.n_levels, -1);
    add_picture (plan.turn.width, plan.turn.height, -1, -1, false);
    for (int i = 0; i < plan.n_levels; i++) {
      const CuvWaldboostLevel &level = plan.levels[i];

      if (is_copy (plan, level)) {
        picture_of[i] = 0;
      } else if (is_source[i]) {
        picture_of[i] = (int) pictures.size ();
        add_picture (level.width, level.height, i, picture_of_source (level),
            is_half (plan, level));
      }
    }
  }

  void
  add_level (
      const CuvWaldboostPlan &plan, const CuvChannelsTrees &trees, int index)
  {
    const CuvWaldboostLevel &from = plan.levels[index];
    const int own = picture_of[index];
    CuvChannelsDeviceLevel level = {};

    level.width = from.width;
    level.height = from.height;
    level.columns = from.width / trees.shrink;
    level.rows = from.height / trees.shrink;
    level.n_x = from.n_x;
    level.n_y = from.n_y;
    level.copy = own >= 0;
    level.source = pictures[own >= 0 ? own : picture_of_source (from)].image;
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
