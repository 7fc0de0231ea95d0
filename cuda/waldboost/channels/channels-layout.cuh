// SPDX-License-Identifier: LGPL-2.1-or-later
// Places the images of the pyramid in device memory and makes the tables of
// their places. The pyramid has the levels of all models' plans, each of them
// once.
#ifndef CUV_CHANNELS_LAYOUT_CUH
#define CUV_CHANNELS_LAYOUT_CUH

#include <vector>
#include "waldboost/channels/frame-kernels.cuh"
#include "waldboost/pyramid.cuh"

// Places images of one kind one after the other.
struct CuvChannelsRoom {
  int64_t size = 0; // elements

  // Places an image. before: number of elements before the image's first one.
  CuvChannelsImage
  add (int pitch, int64_t rows, int64_t before = 0)
  {
    const CuvChannelsImage image = { size + before, pitch };

    size += pitch * rows;
    return image;
  }
};

// Divides an area of a level into tiles of n_columns x n_rows and adds these.
static inline void
cuv_channels_add_tiles (std::vector<CuvChannelsTile> *tiles, int level,
    int n_columns, int n_rows, std::pair<int, int> size)
{
  for (int y = 0; y < size.second; y += n_rows) {
    for (int x = 0; x < size.first; x += n_columns)
      tiles->push_back (CuvChannelsTile{ level, x, y });
  }
}

// Converts a tap for the device.
static inline CuvChannelsTap
cuv_channels_tap_of (const CuvTap &tap)
{
  if (tap.weight == 0 || tap.weight == 256) // the same sample twice
    return CuvChannelsTap{ tap.index + tap.weight / 256, 128 | 128 << 8, 0, 0 };
  return CuvChannelsTap{ tap.index,
    (uint32_t) ((256 - tap.weight) | tap.weight << 8), 1, 0 };
}

// The layout for plans of frames of the same size.
struct CuvChannelsLayout {
  CuvChannelsImage frame = {};                // the picture of the turned frame
  std::vector<CuvChannelsDeviceLevel> levels; // n_x, n_y: unused
  // Levels whose pictures are made together with the frame's. The first is half
  // of the frame, each other one half of the previous one.
  std::vector<int> halves;
  // number of passes of resizing, each from levels of the pass before
  int n_depths = 0;
  std::vector<CuvChannelsTap> taps;
  CuvChannelsRoom words, pixels, sums, channels;
  // Bytes from a row of a channel to the same row of the next channel; set by
  // finish().
  int channel_pitch = 0;

  CuvChannelsLayout () = default;
  // Starts a layout for models of this shrink and at most this overhang.
  CuvChannelsLayout (const CuvTurn &turn, int shrink, int overhang)
      : shrink (shrink), overhang (overhang)
  {
    frame = words.add (cuv_whole_fours (turn.width), turn.height);
  }

  // Adds the levels of a plan that the pyramid does not have yet. Returns the
  // index of each of the plan's levels.
  std::vector<int>
  add_plan (const CuvWaldboostPlan &plan)
  {
    std::vector<int> indices;
    const int first_tap = (int) taps.size ();

    for (int i = 0; i < plan.n_taps; i++)
      taps.push_back (cuv_channels_tap_of (plan.taps[i]));
    for (int i = 0; i < plan.n_levels; i++) {
      CuvWaldboostLevel level = plan.levels[i];

      // in a plan, and thus in the pyramid, a level comes after its source
      level.source = level.source < 0 ? -1 : indices[level.source];
      indices.push_back (find_level (level));
      if (indices[i] == (int) levels.size ())
        add_level (plan, level, first_tap);
      needs_channels[indices[i]] =
          needs_channels[indices[i]] || (level.n_x > 0 && level.n_y > 0);
    }
    return indices;
  }

  // Completes the layout; call it after the last plan. All levels get the same
  // pitch, so that nodes have the same offsets.
  void
  finish ()
  {
    int columns = 1;

    for (int i = 0; i < (int) levels.size (); i++) {
      if (needs_channels[i])
        columns = std::max (columns, row_of_channel (levels[i]));
    }
    channel_pitch = cuv_div_up (columns, 16) * 16;
    for (int i = 0; i < (int) levels.size (); i++) {
      if (needs_channels[i])
        add_channels (&levels[i]);
    }
  }

  // Returns tiles of n_columns x n_rows of the levels that need channels; area
  // (level) returns the size of the area to divide.
  template <typename Area>
  std::vector<CuvChannelsTile>
  tiles (int n_columns, int n_rows, Area area) const
  {
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < (int) levels.size (); i++) {
      if (needs_channels[i])
        cuv_channels_add_tiles (&tiles, i, n_columns, n_rows, area (levels[i]));
    }
    return tiles;
  }

  // Returns the tiles of the levels that are resized in a pass: depth 1 from
  // pictures made before, others from the levels of the previous depth.
  std::vector<CuvChannelsTile>
  resize_tiles (int depth, int n_columns, int n_rows) const
  {
    std::vector<CuvChannelsTile> tiles;

    for (int i = 0; i < (int) levels.size (); i++) {
      if (depths[i] == depth)
        cuv_channels_add_tiles (&tiles, i, n_columns, n_rows,
            std::make_pair (levels[i].width, levels[i].height));
    }
    return tiles;
  }

private:
  int shrink = 0, overhang = 0;
  // for each level:
  std::vector<CuvWaldboostLevel> planned; // source: an index into levels
  std::vector<bool> needs_channels;
  std::vector<int> depths; // 0: made together with the frame's picture

  // Returns the index of the level, or the number of levels if there is none.
  // Levels of the same scale and source have the same pixels, because scale and
  // frame determine the size.
  int
  find_level (const CuvWaldboostLevel &level) const
  {
    int i = 0;

    while (i < (int) planned.size ()
        && (planned[i].scale != level.scale
            || planned[i].source != level.source))
      i++;
    return i;
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

  // Returns whether the level is half of the last one in halves.
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
  add_picture (const CuvWaldboostPlan &plan, const CuvWaldboostLevel &from,
      CuvChannelsDeviceLevel *level)
  {
    int depth = 0;

    level->source = from.source < 0 ? frame : levels[from.source].picture;
    level->picture = level->source;
    if (!is_copy (plan, from)) {
      if (continues_halves (plan, from))
        halves.push_back ((int) levels.size ());
      else
        depth = 1 + (from.source < 0 ? 0 : depths[from.source]);
      level->picture = words.add (cuv_whole_fours (from.width), from.height);
    }
    depths.push_back (depth);
    n_depths = std::max (n_depths, depth);
  }

  // ---- levels ----

  // Adds a level. from: the plan's level, with its source as an index into
  // levels.
  void
  add_level (const CuvWaldboostPlan &plan, const CuvWaldboostLevel &from,
      int first_tap)
  {
    CuvChannelsDeviceLevel level = {};

    level.width = from.width;
    level.height = from.height;
    level.columns = from.width / shrink;
    level.rows = from.height / shrink;
    level.first_x_tap = first_tap + from.first_x_tap;
    level.first_y_tap = first_tap + from.first_y_tap;
    add_picture (plan, from, &level);
    levels.push_back (level);
    planned.push_back (from);
    needs_channels.push_back (false);
  }

  // ---- channels ----

  // Returns the elements of padding on each side of a row of a channel.
  int
  padding () const
  {
    return cuv_whole_fours (overhang);
  }

  int
  row_of_channel (const CuvChannelsDeviceLevel &level) const
  {
    return cuv_whole_fours (level.columns) + 2 * padding ();
  }

  void
  add_channels (CuvChannelsDeviceLevel *level)
  {
    const int64_t above = (int64_t) CUV_CHANNELS_N * overhang;

    level->pixels = pixels.add (
        cuv_whole_fours (level->width) + 2 * CUV_CHANNELS_PIXELS_PADDING,
        level->height, CUV_CHANNELS_PIXELS_PADDING);
    level->sums = sums.add (
        cuv_whole_fours (level->columns), CUV_CHANNELS_N * level->rows);
    level->channels =
        channels.add (channel_pitch, CUV_CHANNELS_N * level->rows + 2 * above,
            above * channel_pitch + padding ());
  }
};

#endif
