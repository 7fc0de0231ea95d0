/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reference/cut.h"
#include "reference/waldboost-reference.h"

#include <stdlib.h>
#include <string.h>

/* As many pixels as the time and memory of a small piece are worth. */
#define LEAST_PIXELS 2048

/* What is needed of a level of the whole plan for one region. */
typedef struct {
  CuvRoi windows; /* positions of windows: columns and rows */
  CuvRoi source;  /* pixels from which other levels are resized */
  int32_t piece;  /* index of the piece with these pixels */
} Need;

typedef struct {
  const CuvWaldboostPlan *whole;
  Need *needs; /* for each level of whole */
  CuvWaldboostCut *cut;
  CuvWaldboostLevel *levels; /* of the cut */
} Cutter;

/* ---- rectangles ---- */

static bool
is_empty (const CuvRoi *rect)
{
  return rect->left >= rect->right || rect->top >= rect->bottom;
}

static void
unite_needs (CuvRoi *rect, const CuvRoi *other)
{
  if (is_empty (rect))
    *rect = *other;
  rect->left = other->left < rect->left ? other->left : rect->left;
  rect->top = other->top < rect->top ? other->top : rect->top;
  rect->right = other->right > rect->right ? other->right : rect->right;
  rect->bottom = other->bottom > rect->bottom ? other->bottom : rect->bottom;
}

/* ---- windows in a region ---- */

typedef struct {
  int64_t x, y;
} Point;

/* Returns twice the centre of a hit's box, in pixels of the frame times its
 * enlargement. */
static Point
centre_of (const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit)
{
  const CuvWaldboostBox box = cuv_waldboost_box (plan, hit);

  return (Point){ (2 * (int64_t) box.x + box.width) * plan->width,
    (2 * (int64_t) box.y + box.height) * plan->height };
}

/* Converts pixels of the frame to the unit of centre_of(). */
static Point
from_frame (const CuvWaldboostPlan *plan, int x, int y)
{
  return (Point){ 2 * (int64_t) x * plan->upright_width,
    2 * (int64_t) y * plan->upright_height };
}

static bool
is_centred (const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit,
    const CuvRoi *region)
{
  const Point centre = centre_of (plan, hit);
  const Point first = from_frame (plan, region->left, region->top);
  const Point end = from_frame (plan, region->right, region->bottom);

  return centre.x >= first.x && centre.x < end.x && centre.y >= first.y
      && centre.y < end.y;
}

/* Returns the first of n columns of windows, or of rows if down, whose centres
 * are not before the point; n if all are. */
static int
first_from (
    const CuvWaldboostPlan *plan, int level, bool down, int n, Point point)
{
  int first = 0, end = n;

  while (first < end) {
    const int middle = (first + end) / 2;
    const int at = plan->first + middle * plan->levels[level].step;
    const Point centre =
        centre_of (plan, &(CuvWaldboostHit){ level, at, at, 0 });

    if (down ? centre.y < point.y : centre.x < point.x)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static CuvRoi
windows_in (const CuvWaldboostPlan *plan, int index, const CuvRoi *region)
{
  const CuvWaldboostLevel *level = &plan->levels[index];
  const Point first = from_frame (plan, region->left, region->top);
  const Point end = from_frame (plan, region->right, region->bottom);

  return (CuvRoi){ first_from (plan, index, false, level->n_x, first),
    first_from (plan, index, true, level->n_y, first),
    first_from (plan, index, false, level->n_x, end),
    first_from (plan, index, true, level->n_y, end) };
}

/* Returns the pixels of a level that windows read. */
static CuvRoi
pixels_of_windows (const CuvWaldboostPlan *plan, const CuvWaldboostLevel *level,
    const CuvRoi *windows)
{
  return (CuvRoi){ windows->left * level->step, windows->top * level->step,
    (windows->right - 1) * level->step + plan->window_width,
    (windows->bottom - 1) * level->step + plan->window_height };
}

/* ---- pixels that are read ---- */

static int
end_of_tap (CuvTap tap)
{
  return tap.index + 1 + (tap.weight > 0);
}

/* Adds the pixels from which a part of a level is resized. */
static void
need_source (Cutter *self, const CuvWaldboostLevel *level, const CuvRoi *rect)
{
  const CuvTap *x_taps = self->whole->taps + level->first_x_tap;
  const CuvTap *y_taps = self->whole->taps + level->first_y_tap;
  const CuvRoi read = { x_taps[rect->left].index, y_taps[rect->top].index,
    end_of_tap (x_taps[rect->right - 1]),
    end_of_tap (y_taps[rect->bottom - 1]) };

  unite_needs (
      level->source < 0 ? &self->cut->part : &self->needs[level->source].source,
      &read);
}

/* Finds what a region needs of each level, whose source comes before it. */
static void
find_needs (Cutter *self, const CuvRoi *region)
{
  const CuvWaldboostPlan *whole = self->whole;

  memset (self->needs, 0, (size_t) whole->n_levels * sizeof *self->needs);
  for (int i = whole->n_levels - 1; i >= 0; i--) {
    const CuvWaldboostLevel *level = &whole->levels[i];
    Need *need = &self->needs[i];
    CuvRoi rect;

    need->windows = windows_in (whole, i, region);
    if (!is_empty (&need->windows)) {
      rect = pixels_of_windows (whole, level, &need->windows);
      need_source (self, level, &rect);
    }
    if (!is_empty (&need->source))
      need_source (self, level, &need->source);
  }
}

/* ---- pieces ---- */

static int64_t
cost_of (const CuvWaldboostLevel *level)
{
  const int64_t n = (int64_t) level->width * level->height;

  return n > LEAST_PIXELS ? n : LEAST_PIXELS;
}

static int
add_piece (Cutter *self, int index, const CuvRoi *rect, int n_x, int n_y)
{
  CuvWaldboostCut *cut = self->cut;
  const int piece = cut->plan.n_levels++;
  CuvWaldboostLevel *level = &self->levels[piece];

  *level = self->whole->levels[index];
  level->width = rect->right - rect->left;
  level->height = rect->bottom - rect->top;
  level->n_x = n_x;
  level->n_y = n_y;
  if (level->source >= 0)
    level->source = self->needs[level->source].piece;
  level->first_x_tap = cut->plan.n_taps;
  level->first_y_tap = level->first_x_tap + level->width;
  cut->plan.n_taps += level->width + level->height;
  cut->cost += cost_of (level);
  cut->pieces[piece] = (CuvWaldboostPiece){ index, *rect };
  return piece;
}

/* Adds the pieces for a region. Pixels that are windows' as well as sources get
 * a piece for each. */
static void
cut_region (Cutter *self, const CuvRoi *region)
{
  find_needs (self, region);
  for (int i = 0; i < self->whole->n_levels; i++) {
    Need *need = &self->needs[i];
    const CuvRoi *windows = &need->windows;

    if (!is_empty (&need->source))
      need->piece = add_piece (self, i, &need->source, 0, 0);
    if (!is_empty (windows)) {
      const CuvRoi rect =
          pixels_of_windows (self->whole, &self->whole->levels[i], windows);

      add_piece (self, i, &rect, windows->right - windows->left,
          windows->bottom - windows->top);
    }
  }
}

static void
copy_taps (const CuvTap *from, int n, int origin, CuvTap *to)
{
  for (int i = 0; i < n; i++)
    to[i] = (CuvTap){ from[i].index - origin, from[i].weight };
}

/* Makes the taps of all pieces, which read from the part of the frame or from
 * other pieces. */
static bool
add_taps_of_pieces (Cutter *self)
{
  CuvWaldboostCut *cut = self->cut;
  CuvTap *taps = malloc (((size_t) cut->plan.n_taps + 1) * sizeof *taps);

  cut->plan.taps = taps;
  for (int i = 0; i < cut->plan.n_levels && taps != NULL; i++) {
    const CuvWaldboostPiece *piece = &cut->pieces[i];
    const CuvWaldboostLevel *level = &self->levels[i];
    const CuvWaldboostLevel *whole = &self->whole->levels[piece->level];
    const CuvRoi *source =
        level->source < 0 ? &cut->part : &cut->pieces[level->source].rect;

    copy_taps (self->whole->taps + whole->first_x_tap + piece->rect.left,
        level->width, source->left, taps + level->first_x_tap);
    copy_taps (self->whole->taps + whole->first_y_tap + piece->rect.top,
        level->height, source->top, taps + level->first_y_tap);
  }
  return taps != NULL;
}

/* ---- a cut ---- */

static void
set_size (CuvWaldboostCut *self)
{
  self->plan.width = self->part.right - self->part.left;
  self->plan.height = self->part.bottom - self->part.top;
  self->plan.turn = cuv_turn_new (0, self->plan.width, self->plan.height);
}

static bool
cut_plan (Cutter *self, const CuvRoi *regions, int n_regions)
{
  CuvWaldboostCut *cut = self->cut;
  const size_t n = (size_t) self->whole->n_levels * (size_t) n_regions * 2 + 1;

  self->needs =
      malloc (((size_t) self->whole->n_levels + 1) * sizeof *self->needs);
  self->levels = malloc (n * sizeof *self->levels);
  cut->pieces = malloc (n * sizeof *cut->pieces);
  cut->plan.levels = self->levels;
  if (self->needs == NULL || self->levels == NULL || cut->pieces == NULL)
    return false;
  for (int i = 0; i < n_regions; i++)
    cut_region (self, &regions[i]);
  set_size (cut);
  return add_taps_of_pieces (self);
}

CuvWaldboostCut *
cuv_waldboost_cut_new (
    const CuvWaldboostPlan *whole, const CuvRoi *regions, int n_regions)
{
  CuvWaldboostCut *cut = malloc (sizeof *cut);
  Cutter self = { .whole = whole, .cut = cut };
  bool ok;

  if (cut == NULL)
    return NULL;
  *cut = (CuvWaldboostCut){ .whole = whole, .plan = *whole };
  cut->plan.n_levels = cut->plan.n_taps = 0;
  cut->plan.taps = NULL;
  ok = cut_plan (&self, regions, n_regions);
  free (self.needs);
  if (ok)
    return cut;
  cuv_waldboost_cut_free (cut);
  return NULL;
}

void
cuv_waldboost_cut_free (CuvWaldboostCut *self)
{
  if (self == NULL)
    return;
  free ((void *) self->plan.levels);
  free ((void *) self->plan.taps);
  free (self->pieces);
  free (self);
}

bool
cuv_waldboost_cut_saves_work (const CuvWaldboostCut *self)
{
  int64_t cost = 0;

  for (int i = 0; i < self->whole->n_levels; i++)
    cost += cost_of (&self->whole->levels[i]);
  return self->cost <= cost;
}

/* ---- hits ---- */

static int
compare_hits (const void *a, const void *b)
{
  const CuvWaldboostHit *p = a, *q = b;

  if (p->level != q->level)
    return p->level < q->level ? -1 : 1;
  if (p->y != q->y)
    return p->y < q->y ? -1 : 1;
  return (p->x > q->x) - (p->x < q->x);
}

int
cuv_waldboost_cut_restore (
    const CuvWaldboostCut *self, CuvWaldboostHit *hits, int n_hits)
{
  int n = 0;

  for (int i = 0; i < n_hits; i++) {
    const CuvWaldboostPiece *piece = &self->pieces[hits[i].level];

    hits[i].level = piece->level;
    hits[i].x += piece->rect.left;
    hits[i].y += piece->rect.top;
  }
  qsort (hits, (size_t) n_hits, sizeof *hits, compare_hits);
  for (int i = 0; i < n_hits; i++) {
    if (n == 0 || compare_hits (&hits[n - 1], &hits[i]) != 0)
      hits[n++] = hits[i];
  }
  return n;
}

int
cuv_waldboost_keep_centred (const CuvWaldboostPlan *plan, const CuvRoi *regions,
    int n_regions, CuvWaldboostHit *hits, int n_hits)
{
  int n = 0;

  for (int i = 0; i < n_hits; i++) {
    bool keep = false;

    for (int k = 0; k < n_regions && !keep; k++)
      keep = is_centred (plan, &hits[i], &regions[k]);
    if (keep)
      hits[n++] = hits[i];
  }
  return n;
}
