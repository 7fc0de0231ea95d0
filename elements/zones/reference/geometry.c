/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points, boxes and steps against polygons and lines, exactly: all decisions
 * are signs of 64-bit cross products. */
#include "zones.h"

CuvZonePoint
cuv_zone_anchor (const CuvZoneBox *box, CuvZoneAnchor anchor)
{
  const int32_t x = box->left + (box->right - box->left) / 2;
  const int32_t y = box->top + (box->bottom - box->top) / 2;

  /* bottom itself would be outside a polygon that ends at the frame's edge */
  return (CuvZonePoint){ x,
    anchor == CUV_ANCHOR_BOTTOM_CENTER ? box->bottom - 1 : y };
}

/* Positive: p is right of the line from a to b, as y points down. */
static inline int64_t
cross (CuvZonePoint a, CuvZonePoint b, CuvZonePoint p)
{
  return (int64_t) (b.x - a.x) * (p.y - a.y)
      - (int64_t) (b.y - a.y) * (p.x - a.x);
}

int
cuv_zone_side (CuvZonePoint a, CuvZonePoint b, CuvZonePoint p)
{
  const int64_t c = cross (a, b, p);

  return (c < 0) - (c > 0);
}

/* Returns a bit for each of up to 32 edges: whether p.y is in the edge's
 * half-open range. Edge i ends at point i. */
static uint32_t
edges_beside (const CuvZonePoint *points, CuvZonePoint before, int n, int32_t y)
{
  bool above = before.y <= y;
  uint32_t edges = 0;

  for (int i = 0; i < n; i++) {
    const bool next = points[i].y <= y;

    edges |= (uint32_t) (above != next) << i;
    above = next;
  }
  return edges;
}

/* Looks for the edges beside p first, which are few: no branch depends on where
 * p is. */
bool
cuv_zone_contains (const CuvZonePoint *polygon, int n, CuvZonePoint p)
{
  bool inside = false;

  for (int first = 0; first < n; first += 32) {
    const int many = n - first < 32 ? n - first : 32;
    uint32_t edges = edges_beside (
        polygon + first, polygon[first > 0 ? first - 1 : n - 1], many, p.y);

    for (; edges != 0; edges &= edges - 1) {
      const int i = first + __builtin_ctz (edges);
      const CuvZonePoint a = polygon[i > 0 ? i - 1 : n - 1], b = polygon[i];
      const int64_t c = cross (a, b, p);

      /* a downward edge is right of p if p is on its right hand */
      inside ^= (a.y < b.y ? c : -c) > 0;
    }
  }
  return inside;
}

/* Whether an edge passes through the inner part of the box. If not, one of the
 * box's sides or the edge itself separates them. */
static bool
passes_through (CuvZonePoint a, CuvZonePoint b, const CuvZoneBox *box)
{
  const int sides[4] = {
    cuv_zone_side (a, b, (CuvZonePoint){ box->left, box->top }),
    cuv_zone_side (a, b, (CuvZonePoint){ box->right, box->top }),
    cuv_zone_side (a, b, (CuvZonePoint){ box->left, box->bottom }),
    cuv_zone_side (a, b, (CuvZonePoint){ box->right, box->bottom }),
  };
  bool left = false, right = false;

  if ((a.x <= box->left && b.x <= box->left)
      || (a.x >= box->right && b.x >= box->right)
      || (a.y <= box->top && b.y <= box->top)
      || (a.y >= box->bottom && b.y >= box->bottom))
    return false;
  for (int i = 0; i < 4; i++) {
    left |= sides[i] > 0;
    right |= sides[i] < 0;
  }
  return left && right;
}

bool
cuv_zone_overlaps (const CuvZonePoint *polygon, int n, const CuvZoneBox *box)
{
  CuvZonePoint a = polygon[n - 1];

  for (int i = 0; i < n; i++) {
    if (passes_through (a, polygon[i], box))
      return true;
    a = polygon[i];
  }
  /* no edge is in the box, so that all of it is inside or outside */
  return cuv_zone_contains (
      polygon, n, cuv_zone_anchor (box, CUV_ANCHOR_CENTER));
}

bool
cuv_zone_between (CuvZonePoint a, CuvZonePoint b, CuvZonePoint p)
{
  return (a.x <= p.x || b.x <= p.x) && (a.x >= p.x || b.x >= p.x)
      && (a.y <= p.y || b.y <= p.y) && (a.y >= p.y || b.y >= p.y);
}
