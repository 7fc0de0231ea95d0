/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds segments in regions of edges. A region consists of adjacent edges of
 * similar directions. Both sides of a bar with round ends may be one region, so
 * opposite directions are split. A region that bends is split at the pixel
 * farthest from its chord, as in D. Douglas, T. Peucker, Cartographica 1973,
 * but only a limited number of times. The straight parts are segments.
 *
 * A region's label is the index of one of its edges. The limits were chosen by
 * docs/benchmarks/hough.md, "What each step of segments brought". */
#include "hough/regions.h"
#include "hough.h"

#include <stdlib.h>
#include <string.h>

/* A segment, and its rank: votes, then the first end. */
typedef struct {
  uint64_t key;
  uint32_t label;
} Found;

struct _CuvRegions {
  int width, height, n_bins;
  const int16_t *boundaries;
  uint32_t *index; /* index of the edge at each pixel, plus 1; 0: none */
  /* for each edge */
  uint32_t *labels;
  uint32_t *roots; /* union-find forest of labels */
  uint32_t *bent;  /* edges of regions that are not straight */
  size_t n_bent;
  /* for each label */
  CuvRegionBox *boxes;
  CuvRegionChord *chords;
  uint8_t *sides;
  CuvRegionSums *sums;
  uint64_t *keys; /* key of the pixel at which to split; 0: straight */
  Found *found;
};

CuvRegions *
cuv_regions_new (int width, int height)
{
  CuvRegions *self = calloc (1, sizeof *self);
  size_t n = (size_t) cuv_region_max_edges (width, height);

  if (self == NULL)
    return NULL;
  self->width = width;
  self->height = height;
  self->index = calloc ((size_t) width * (size_t) height, sizeof *self->index);
  self->labels = calloc (n, sizeof *self->labels);
  self->boxes = calloc (n, sizeof *self->boxes);
  self->roots = calloc (n, sizeof *self->roots);
  self->bent = calloc (n, sizeof *self->bent);
  self->chords = calloc (n, sizeof *self->chords);
  self->sides = calloc (n, 1);
  self->sums = calloc (n, sizeof *self->sums);
  self->keys = calloc (n, sizeof *self->keys);
  self->found = calloc (n, sizeof *self->found);
  if (self->index != NULL && self->labels != NULL && self->boxes != NULL
      && self->roots != NULL && self->bent != NULL && self->chords != NULL
      && self->sides != NULL && self->sums != NULL && self->keys != NULL
      && self->found != NULL)
    return self;
  cuv_regions_free (self);
  return NULL;
}

void
cuv_regions_free (CuvRegions *self)
{
  if (self == NULL)
    return;
  free (self->index);
  free (self->labels);
  free (self->boxes);
  free (self->roots);
  free (self->bent);
  free (self->chords);
  free (self->sides);
  free (self->sums);
  free (self->keys);
  free (self->found);
  free (self);
}

static size_t
regions_place (const CuvRegions *self, uint32_t pixel)
{
  return (size_t) (pixel >> 16) * (size_t) self->width + (pixel & 0xffff);
}

static uint32_t
regions_edge_at (const CuvRegions *self, uint32_t pixel)
{
  return self->index[regions_place (self, pixel)] - 1;
}

/* ---- regions ---- */

static uint32_t
find_root (uint32_t *labels, uint32_t i)
{
  while (labels[i] != i)
    i = labels[i] = labels[labels[i]];
  return i;
}

static void
unite (uint32_t *labels, uint32_t a, uint32_t b)
{
  a = find_root (labels, a);
  b = find_root (labels, b);
  if (a < b)
    labels[b] = a;
  else
    labels[a] = b;
}

/* Unites an edge with its neighbours above and to the left. */
static void
join (CuvRegions *self, const CuvEdgeList *list, uint32_t i)
{
  static const int around[][2] = { { -1, 0 }, { -1, -1 }, { 0, -1 },
    { 1, -1 } };
  const int x = (int) (list->pixels[i] & 0xffff);
  const int y = (int) (list->pixels[i] >> 16);

  for (int n = 0; n < 4; n++) {
    const int u = x + around[n][0], v = y + around[n][1];
    uint32_t j;

    if (u < 0 || u >= self->width || v < 0)
      continue;
    j = self->index[v * self->width + u];
    if (j != 0
        && cuv_region_joins (list->bins[i], list->bins[j - 1], self->n_bins))
      unite (self->labels, i, j - 1);
  }
}

static void
label (CuvRegions *self, const CuvEdgeList *list)
{
  for (uint32_t i = 0; i < list->n; i++) {
    self->labels[i] = i;
    self->index[regions_place (self, list->pixels[i])] = i + 1;
  }
  for (uint32_t i = 0; i < list->n; i++)
    join (self, list, i);
  for (uint32_t i = 0; i < list->n; i++) {
    self->labels[i] = find_root (self->labels, i);
    self->bent[i] = i;
  }
  self->n_bent = list->n;
}

/* ---- splitting ---- */

static void
regions_extend_box (CuvRegionBox *box, uint32_t pixel)
{
  const uint32_t turned = pixel << 16 | pixel >> 16;

  box->top = pixel < box->top ? pixel : box->top;
  box->bottom = pixel > box->bottom ? pixel : box->bottom;
  box->left = turned < box->left ? turned : box->left;
  box->right = turned > box->right ? turned : box->right;
}

static int
side_of (const CuvRegions *self, const CuvRegionChord *chord, int direction)
{
  const int turned = direction >= self->n_bins;
  const int16_t *boundary =
      &self->boundaries[2 * (direction - (turned ? self->n_bins : 0))];

  return cuv_region_side (chord, boundary[0], boundary[1], turned);
}

/* Whether an edge and its region's first edge point to different sides of the
 * chord. */
static bool
opposes (const CuvRegions *self, const CuvEdgeList *list, uint32_t i)
{
  const uint32_t label = self->labels[i];

  return side_of (self, &self->chords[label], list->bins[i])
      != self->sides[label];
}

/* Finds the chord of a label, and the side that its first pixel points to. */
static void
find_chord (CuvRegions *self, const CuvEdgeList *list, uint32_t label)
{
  CuvRegionChord *chord = &self->chords[label];
  uint32_t first;

  *chord = cuv_region_chord (&self->boxes[label]);
  first = regions_edge_at (self, cuv_region_end (chord, 0));
  self->sides[label] = (uint8_t) side_of (self, chord, list->bins[first]);
}

/* Computes the chords of the edges in self->bent, and where to split them. */
static void
regions_measure (CuvRegions *self, const CuvEdgeList *list)
{
  const uint32_t *labels = self->labels, *bent = self->bent;

  for (size_t n = 0; n < self->n_bent; n++) {
    self->boxes[bent[n]] = (CuvRegionBox){ UINT32_MAX, 0, UINT32_MAX, 0 };
    self->keys[bent[n]] = 0;
  }
  for (size_t n = 0; n < self->n_bent; n++)
    regions_extend_box (&self->boxes[labels[bent[n]]], list->pixels[bent[n]]);
  for (size_t n = 0; n < self->n_bent; n++) {
    if (labels[bent[n]] == bent[n])
      find_chord (self, list, bent[n]);
  }
  for (size_t n = 0; n < self->n_bent; n++) {
    const uint32_t i = bent[n];
    uint64_t key = cuv_region_key (
        &self->chords[labels[i]], list->pixels[i], opposes (self, list, i));

    if (key > self->keys[labels[i]])
      self->keys[labels[i]] = key;
  }
}

/* Splits the regions that are not straight and drops the others from the list.
 */
static void
split (CuvRegions *self, const CuvEdgeList *list)
{
  size_t n_bent = 0;

  for (size_t n = 0; n < self->n_bent; n++) {
    const uint32_t i = self->bent[n], label = self->labels[i];

    if (self->keys[label] == 0)
      continue;
    self->labels[i] = regions_edge_at (self,
        cuv_region_part (&self->chords[label], self->keys[label],
            list->pixels[i], opposes (self, list, i)));
    self->bent[n_bent++] = i;
  }
  self->n_bent = n_bent;
}

/* ---- gaps ---- */

/* Whether the region of an edge continues the labelled one: it has the same
 * direction, and both of its ends are near the chord. */
static bool
goes_on (const CuvRegions *self, const CuvEdgeList *list, uint32_t label,
    uint32_t edge)
{
  const CuvRegionChord *chord = &self->chords[label];
  const uint32_t other = self->labels[edge];
  const uint32_t first = regions_edge_at (self, cuv_region_end (chord, 0));

  return other != label && self->keys[other] == 0
      && cuv_region_joins (list->bins[first], list->bins[edge], self->n_bins)
      && cuv_region_key (chord, cuv_region_end (&self->chords[other], 0), 0)
      == 0
      && cuv_region_key (chord, cuv_region_end (&self->chords[other], 1), 0)
      == 0;
}

/* Looks for edges beyond an end of a region, in a strip of three pixels. */
static void
bridge (CuvRegions *self, const CuvEdgeList *list, uint32_t label, int last,
    int max_gap)
{
  const CuvRegionChord *chord = &self->chords[label];

  for (int n = 1; n <= max_gap + 1; n++) {
    for (int aside = -1; aside <= 1; aside++) {
      uint32_t pixel, edge;

      if (!cuv_region_beyond (
              chord, last, n, aside, self->width, self->height, &pixel))
        continue;
      edge = regions_edge_at (self, pixel);
      if (edge != UINT32_MAX && goes_on (self, list, label, edge))
        unite (self->roots, label, self->labels[edge]);
    }
  }
}

/* Lists the edges of regions that were united or are not straight, under their
 * new labels. */
static void
relabel (CuvRegions *self, size_t n_edges)
{
  for (uint32_t i = 0; i < n_edges; i++) {
    const uint32_t root = find_root (self->roots, i);

    if (self->labels[i] == i && root != i)
      self->keys[i] = self->keys[root] = 1;
  }
  self->n_bent = 0;
  for (uint32_t i = 0; i < n_edges; i++) {
    if (self->keys[self->labels[i]] == 0)
      continue;
    self->labels[i] = find_root (self->roots, self->labels[i]);
    self->bent[self->n_bent++] = i;
  }
}

/* Unites regions across gaps. */
static void
regions_merge (CuvRegions *self, const CuvEdgeList *list, int max_gap)
{
  for (uint32_t i = 0; i < list->n; i++)
    self->roots[i] = i;
  for (uint32_t i = 0; i < list->n; i++) {
    if (self->labels[i] != i || self->keys[i] != 0
        || self->chords[i].dt < CUV_HOUGH_REGION_MIN_BRIDGED)
      continue;
    bridge (self, list, i, 0, max_gap);
    bridge (self, list, i, 1, max_gap);
  }
  relabel (self, list->n);
  regions_measure (self, list);
}

/* ---- segments ---- */

static void
add_up (CuvRegions *self, const CuvEdgeList *list)
{
  memset (self->sums, 0, list->n * sizeof *self->sums);
  for (size_t i = 0; i < list->n; i++) {
    const uint32_t label = self->labels[i];
    int distance, half;

    if (self->keys[label] != 0)
      continue;
    half = cuv_region_half (&self->chords[label], list->pixels[i], &distance);
    self->sums[label].n[half]++;
    self->sums[label].sum[half] += distance;
  }
}

/* Best first. */
static int
compare_found (const void *a, const void *b)
{
  const Found *p = a, *q = b;

  return p->key > q->key ? -1 : p->key < q->key;
}

/* Lists the labels of segments. */
static size_t
list_found (CuvRegions *self, const CuvHoughLayout *layout, size_t n_edges,
    const CuvHoughParams *params)
{
  size_t n = 0;

  for (uint32_t i = 0; i < n_edges; i++) {
    const CuvRegionChord *chord = &self->chords[i];

    if (self->labels[i] != i || self->keys[i] != 0 || chord->dt == 0)
      continue;
    CuvLineSegment segment = cuv_region_segment (chord, &self->sums[i]);

    if (cuv_region_is_wanted (&segment, &layout->range, &params->segment,
            params->peaks.threshold))
      self->found[n++] = (Found){ (uint64_t) segment.votes << 32
            | (uint32_t) ~cuv_region_end (chord, 0),
        i };
  }
  qsort (self->found, n, sizeof *self->found, compare_found);
  return n;
}

size_t
cuv_regions_find (CuvRegions *self, const CuvHoughLayout *layout,
    const CuvEdgeList *list, const CuvHoughParams *params,
    CuvLineSegment *segments, size_t max)
{
  size_t n;

  if ((int64_t) list->n > cuv_region_max_edges (self->width, self->height))
    return 0;
  self->n_bins = layout->n_bins;
  self->boundaries = layout->boundaries;
  label (self, list);
  regions_measure (self, list);
  for (int i = 0; i < CUV_HOUGH_REGION_SPLITS; i++) {
    split (self, list);
    regions_measure (self, list);
  }
  regions_merge (self, list, params->segment.max_gap);
  for (int i = 0; i < CUV_HOUGH_REGION_RESPLITS; i++) {
    split (self, list);
    regions_measure (self, list);
  }
  add_up (self, list);
  n = list_found (self, layout, list->n, params);
  for (size_t i = 0; i < n && i < max; i++) {
    const uint32_t label = self->found[i].label;

    segments[i] = cuv_region_segment (&self->chords[label], &self->sums[label]);
  }
  for (size_t i = 0; i < list->n; i++)
    self->index[regions_place (self, list->pixels[i])] = 0;
  return n;
}
