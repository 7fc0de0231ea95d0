// SPDX-License-Identifier: LGPL-2.1-or-later
// Plans the pyramid (host code): memory layout of its images, and tables for
// its kernels.
#include "waldboost/pyramid.cuh"

// Packs a tap into one word. Kernels always read both pixels, even if the
// weight of the second is 0 and it may be outside the picture; such a tap
// becomes (index - 1, 256). Levels are at least two pixels wide and high, like
// windows.
static inline uint32_t
pack_tap (CuvTap tap)
{
  if (tap.weight == 0 && tap.index > 0)
    tap = CuvTap{ tap.index - 1, 256 };
  return (uint32_t) tap.index << 9 | (uint32_t) tap.weight;
}

static int
cuv_pyramid_round_up (int value, int unit)
{
  return cuv_div_up (value, unit) * unit;
}

// The size of all levels together.
struct Extent {
  int64_t elements, pixels; // of integral images; of pictures
  int widest;               // largest pitch of an integral image, in elements
};

// Places the levels' images one after the other.
static Extent
cuv_pyramid_lay_out (CuvPyramid *self, const CuvWaldboostPlan *plan)
{
  Extent extent = { 0, 0, 0 };
  int words = 0, taps = 0, widest = 0;

  self->host_levels.assign (plan->n_levels, CuvPyramidLevel{});
  for (int i = 0; i < plan->n_levels; i++)
    widest = plan->levels[i].width > widest ? plan->levels[i].width : widest;
  for (int i = 0; i < plan->n_levels; i++) {
    CuvPyramidLevel *level = &self->host_levels[i];

    level->plan = plan->levels[i];
    level->pitch = cuv_pyramid_round_up (
        (self->needs.common_pitch ? widest : level->plan.width) + 4, 64);
    extent.widest = level->pitch > extent.widest ? level->pitch : extent.widest;
    level->first = extent.elements;
    level->picture_pitch = cuv_pyramid_round_up (level->plan.width, 16);
    level->picture = extent.pixels;
    extent.pixels +=
        (int64_t) level->picture_pitch * cuv_whole_fours (level->plan.height);
    level->words = cuv_div_up (level->plan.n_x, 32);
    level->first_word = words;
    level->first_tap = taps;
    // whole strips, so that strip sums are addressed like rows
    extent.elements += (int64_t) level->pitch * CUV_PYRAMID_STRIP
        * (cuv_div_up (level->plan.height + 1, CUV_PYRAMID_STRIP) + 1);
    words += level->words * level->plan.n_y;
    taps += cuv_whole_fours (level->plan.width)
        + cuv_whole_fours (level->plan.height);
  }
  return extent;
}

static void
add_taps (std::vector<uint32_t> *taps, const CuvTap *from, int n)
{
  for (int i = 0; i < n; i++)
    taps->push_back (pack_tap (from[i]));
  taps->resize (cuv_whole_fours ((int) taps->size ()), taps->back ());
}

// Returns whether tap i is (factor * i, weight) for all i.
static bool
are_taps (const CuvTap *taps, int n, int factor, int weight)
{
  for (int i = 0; i < n; i++) {
    if (taps[i].index != factor * i || taps[i].weight != weight)
      return false;
  }
  return true;
}

static bool
are_copies (const CuvTap *taps, int n)
{
  return are_taps (taps, n, 1, 0);
}

static bool
are_halves (const CuvTap *taps, int n)
{
  return are_taps (taps, n, 2, 128);
}

// Returns whether each group of four packed taps reads from eight adjacent
// pixels.
static bool
are_near (const uint32_t *taps, int n)
{
  for (int i = 0; i < n; i++) {
    const uint32_t first = taps[i / 4 * 4] >> 9, index = taps[i] >> 9;

    if (index < first || index > first + 6)
      return false;
  }
  return true;
}

static std::vector<uint32_t>
pack_taps (CuvPyramid *self, const CuvWaldboostPlan *plan)
{
  std::vector<uint32_t> taps;

  for (CuvPyramidLevel &level : self->host_levels) {
    const CuvTap *x_taps = plan->taps + level.plan.first_x_tap;
    const CuvTap *y_taps = plan->taps + level.plan.first_y_tap;

    add_taps (&taps, x_taps, level.plan.width);
    add_taps (&taps, y_taps, level.plan.height);
    level.resize = are_copies (x_taps, level.plan.width)
            && are_copies (y_taps, level.plan.height)
        ? CUV_PYRAMID_RESIZE_COPY
        : are_near (&taps[level.first_tap], level.plan.width)
        ? CUV_PYRAMID_RESIZE_NEAR
        : CUV_PYRAMID_RESIZE_FAR;
  }
  return taps;
}

// Finds the first levels that halve the frame successively.
static CuvPyramidHalves
find_halves (const CuvPyramid *self, const CuvWaldboostPlan *plan)
{
  CuvPyramidHalves halves = {};
  int source = -1;

  if (self->needs.sums)
    return halves; // cuv_halves_kernel does not sum strips
  for (int i = 0; i < plan->n_levels && halves.n < CUV_PYRAMID_HALVINGS; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    if (level->source == source
        && are_halves (plan->taps + level->first_x_tap, level->width)
        && are_halves (plan->taps + level->first_y_tap, level->height))
      halves.level[halves.n++] = source = i;
  }
  return halves;
}

// Returns how many levels made by cuv_picture_kernel a level depends on.
static int
depth_of (const CuvPyramid *self, int level)
{
  int depth = 0;

  while ((level = self->host_levels[level].plan.source) >= 0
      && !self->halves.has (level))
    depth++;
  return depth;
}

// Divides pictures into tiles, in order of depth; there is a launch per depth.
static std::vector<CuvPyramidTile>
tile_pictures (CuvPyramid *self)
{
  std::vector<CuvPyramidTile> tiles;
  bool has_deeper = true;

  self->picture_tiles.clear ();
  for (int depth = 0; has_deeper; depth++) {
    self->picture_tiles.push_back ((int) tiles.size ());
    has_deeper = false;
    for (int i = 0; i < self->n_levels; i++) {
      const CuvPyramidLevel &level = self->host_levels[i];
      const int d = depth_of (self, i);
      const int across = CUV_PYRAMID_PICTURE_THREADS
          * (level.resize == CUV_PYRAMID_RESIZE_FAR ? 1 : 4);

      has_deeper |= d > depth;
      if (d != depth || self->halves.has (i))
        continue;
      for (int y = 0; y < level.plan.height; y += self->needs.picture_rows ()) {
        for (int x = 0; x < level.plan.width; x += across)
          tiles.push_back (CuvPyramidTile{ i, x, y });
      }
    }
  }
  self->picture_tiles.push_back ((int) tiles.size ());
  return tiles;
}

// Makes the tiles of integral_kernel (strips) and of the tilted kernels
// (diagonals).
static void
tile_integrals (const CuvPyramid *self, std::vector<CuvPyramidTile> *strips,
    std::vector<CuvPyramidTile> *diagonals)
{
  for (int i = 0; i < self->n_levels; i++) {
    const CuvWaldboostLevel &plan = self->host_levels[i].plan;

    // levels without windows are only sources of other levels
    const bool sums = self->needs.sums && plan.n_x > 0;

    for (int y = 0; sums && y < plan.height; y += CUV_PYRAMID_STRIP)
      strips->push_back (CuvPyramidTile{ i, 0, y / CUV_PYRAMID_STRIP });
    for (int x = 0; sums && self->needs.tilted && x <= plan.width + plan.height;
         x += CUV_PYRAMID_DIAGONALS)
      diagonals->push_back (CuvPyramidTile{ i, x, 0 });
  }
}

static void
size_images (CuvPyramid *self, Extent extent, int slack_rows)
{
  const CuvPyramidNeeds &needs = self->needs;
  const size_t elements = extent.elements + (size_t) slack_rows * extent.widest;
  const size_t wide = elements * sizeof (uint32_t);
  size_t *sizes = self->image_sizes;

  // one more row, because the kernels read a second row even with weight 0
  sizes[CUV_WALDBOOST_IMAGE_GREY] =
      (size_t) self->grey_pitch () * (self->height + 1);
  sizes[CUV_WALDBOOST_IMAGE_PICTURES] = (size_t) extent.pixels;
  sizes[CUV_WALDBOOST_IMAGE_SUMS] = !needs.sums ? 0
      : needs.narrow                            ? elements * sizeof (uint16_t)
                                                : wide;
  sizes[CUV_WALDBOOST_IMAGE_STRIP_SUMS] =
      needs.sums ? wide / CUV_PYRAMID_STRIP : 0;
  sizes[CUV_WALDBOOST_IMAGE_SQUARES] = needs.squares ? wide : 0;
  sizes[CUV_WALDBOOST_IMAGE_STRIP_SQUARES] =
      needs.squares ? wide / CUV_PYRAMID_STRIP : 0;
  sizes[CUV_WALDBOOST_IMAGE_DIAGONAL] = sizes[CUV_WALDBOOST_IMAGE_TILTED] =
      needs.tilted ? wide : 0;
}

void
cuv_pyramid_set_plan (CuvPyramid *self, CuvPyramidTables *tables,
    const CuvPyramidNeeds &needs, const CuvWaldboostPlan *plan, int slack_rows)
{
  Extent extent;

  self->needs = needs;
  self->turn = plan->turn;
  self->width = plan->turn.width;
  self->height = plan->turn.height;
  self->n_levels = plan->n_levels;
  extent = cuv_pyramid_lay_out (self, plan);
  self->n_scanned = self->n_split = 0;
  for (const CuvPyramidLevel &level : self->host_levels) {
    self->n_scanned += level.plan.n_x > 0;
    self->n_split += level.plan.n_x > 0 && cuv_is_split (level);
  }
  self->halves = find_halves (self, plan);
  std::vector<uint32_t> taps = pack_taps (self, plan);
  std::vector<CuvPyramidTile> pictures = tile_pictures (self);
  std::vector<CuvPyramidTile> strips, diagonals;
  tile_integrals (self, &strips, &diagonals);
  self->n_split_strips =
      (int) (std::stable_partition (strips.begin (), strips.end (),
                 [&] (const CuvPyramidTile &strip) {
                   return cuv_is_split (self->host_levels[strip.level]);
                 })
          - strips.begin ());
  self->n_strips = (int) strips.size ();
  self->n_diagonal_tiles = (int) diagonals.size ();
  self->levels_at = tables->add (self->host_levels);
  self->taps_at = tables->add (taps);
  self->picture_tiles_at = tables->add (pictures);
  self->strip_tiles_at = tables->add (strips);
  self->diagonals_at = tables->add (diagonals);
  size_images (self, extent, slack_rows);
}
