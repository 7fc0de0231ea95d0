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

  CuvChannelsImage
  add (int pitch, int rows)
  {
    const CuvChannelsImage image = { size, pitch };

    size += (int64_t) pitch * rows;
    return image;
  }
};

// A picture that levels are resized from.
struct CuvChannelsPicture {
  CuvChannelsImage image;
  int level;  // that it is of, -1: the turned frame
  int source; // picture that it is resized from
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
    pictures.push_back (CuvChannelsPicture{
        words.add (cuv_whole_fours (plan.turn.width), plan.turn.height), -1,
        -1 });
    for (int i = 0; i < plan.n_levels; i++) {
      const CuvWaldboostLevel &level = plan.levels[i];

      if (is_copy (plan, level)) {
        picture_of[i] = 0;
      } else if (is_source[i]) {
        picture_of[i] = (int) pictures.size ();
        pictures.push_back (CuvChannelsPicture{
            words.add (cuv_whole_fours (level.width), level.height), i,
            picture_of_source (level) });
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
      level.pixels = pixels.add (cuv_whole_fours (from.width), from.height);
      level.sums = sums.add (
          cuv_whole_fours (level.columns), CUV_CHANNELS_N * level.rows);
      level.channels.pitch = level.columns + 2 * trees.overhang;
    }
    levels.push_back (level);
  }

  // All levels have the same pitch, so that nodes have the same offsets.
  void
  set_channels (const CuvChannelsTrees &trees)
  {
    const int pitch = channel_pitch ();

    for (CuvChannelsDeviceLevel &level : levels) {
      if (has_windows (level))
        level.channels = channels.add (
            pitch, CUV_CHANNELS_N * (level.rows + 2 * trees.overhang));
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
