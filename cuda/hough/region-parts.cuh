// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits regions where they bend most, again and again, as reference/regions.c
// does. A block splits several small regions at once, or a large one, whose
// parts are in its shared memory.
#ifndef CUV_HOUGH_REGION_PARTS_CUH
#define CUV_HOUGH_REGION_PARTS_CUH

#include "hough/region-buffers.cuh"

// The maximum number of edges of the regions that a block splits at once, and
// of their parts: each part has at least one edge. A larger region is split
// alone and has few parts.
#define CUV_HOUGH_REGION_CHUNK 768

static_assert (CUV_HOUGH_REGION_CHUNK <= CUV_HOUGH_REGION_THREADS
        && 1 << CUV_HOUGH_REGION_SPLITS <= CUV_HOUGH_REGION_CHUNK,
    "every part needs a thread");

struct CuvHoughRegionParts {
  CuvRegionBox boxes[CUV_HOUGH_REGION_CHUNK];
  // halves of the key at which to split; 0: straight
  unsigned highs[CUV_HOUGH_REGION_CHUNK], lows[CUV_HOUGH_REGION_CHUNK];
  CuvRegionSums sums[CUV_HOUGH_REGION_CHUNK];
  // the edge at the chord's first pixel, and the side its direction points to
  int firsts[CUV_HOUGH_REGION_CHUNK], sides[CUV_HOUGH_REGION_CHUNK];
  int seconds[CUV_HOUGH_REGION_CHUNK]; // what is split off becomes this part
  int levels[CUV_HOUGH_REGION_CHUNK];  // number of splits after which the part
                                       // was created
  int n;
};

// Splits the regions whose edges are edges[0 .. n - 1]; all threads of the
// block call each function.
struct CuvHoughRegionSplitter {
  const CuvHoughRegionWork &work;
  const CuvHoughRegionEdge *const edges;
  const unsigned n;
  CuvHoughRegionParts *const parts;

  // Calls f (edge, part) for the thread's edges.
  template <typename F>
  __device__ __forceinline__ void
  for_each_edge (const F &f) const
  {
    for (unsigned i = threadIdx.x; i < n; i += CUV_HOUGH_REGION_THREADS) {
      const CuvHoughRegionEdge edge = edges[i];

      f (edge, work.regions.parts[edge.index]);
    }
  }

  // Calls f for the edges of the parts that `level` splits created.
  template <typename F>
  __device__ __forceinline__ void
  for_each_new (int level, const F &f) const
  {
    for_each_edge ([&] (const CuvHoughRegionEdge &edge, int part) {
      if (parts->levels[part] == level)
        f (edge, part);
    });
  }

  __device__ __forceinline__ unsigned long long
  key_of_part (int part) const
  {
    return (unsigned long long) parts->highs[part] << 32 | parts->lows[part];
  }

  __device__ __forceinline__ bool
  is_straight (int part) const
  {
    return key_of_part (part) == 0;
  }

  __device__ __forceinline__ CuvRegionChord
  chord_of_part (int part) const
  {
    return cuv_region_chord (&parts->boxes[part]);
  }

  __device__ __forceinline__ int
  side_of (const CuvRegionChord &chord, int direction) const
  {
    const bool turned = direction >= work.layout.n_bins;
    const short2 boundary =
        work.layout.boundaries[direction - (turned ? work.layout.n_bins : 0)];

    return cuv_region_side (&chord, boundary.x, boundary.y, turned);
  }

  // Whether a direction and that of the part's first edge point to different
  // sides of the part's chord.
  __device__ __forceinline__ bool
  opposes (int part, const CuvRegionChord &chord, int direction) const
  {
    return side_of (chord, direction) != parts->sides[part];
  }

  __device__ __forceinline__ void
  clear (int part, int level) const
  {
    parts->boxes[part] = CuvRegionBox{ ~0u, 0, ~0u, 0 };
    parts->highs[part] = parts->lows[part] = 0;
    parts->sums[part] = CuvRegionSums{};
    parts->levels[part] = level;
  }

  // Makes a part of each of the n_regions regions from `first` on.
  __device__ __forceinline__ void
  begin (unsigned first, int n_regions) const
  {
    if (threadIdx.x == 0)
      parts->n = n_regions;
    if ((int) threadIdx.x < n_regions)
      clear (threadIdx.x, 0);
    for_each_edge ([&] (const CuvHoughRegionEdge &edge, int &part) {
      part = (int) (edge.region - first);
    });
    __syncthreads ();
  }

  __device__ __forceinline__ void
  extend_boxes (int level) const
  {
    for_each_new (level, [&] (const CuvHoughRegionEdge &edge, int part) {
      const unsigned pixel = edge.pixel, turned = pixel << 16 | pixel >> 16;
      CuvRegionBox *const box = &parts->boxes[part];

      atomicMin (&box->top, pixel);
      atomicMax (&box->bottom, pixel);
      atomicMin (&box->left, turned);
      atomicMax (&box->right, turned);
    });
  }

  __device__ __forceinline__ void
  find_firsts (int level) const
  {
    for_each_new (level, [&] (const CuvHoughRegionEdge &edge, int part) {
      const CuvRegionChord chord = chord_of_part (part);

      if (edge.pixel == cuv_region_end (&chord, 0)) {
        parts->firsts[part] = edge.index;
        parts->sides[part] = side_of (chord, edge.direction);
      }
    });
  }

  // Finds where to split, first the upper half of the key, because the GPU has
  // no atomic maximum of 64 bits in shared memory. Returns whether a part is to
  // be split.
  __device__ __forceinline__ bool
  find_keys (int level) const
  {
    unsigned long long last = 0; // key of the thread's last edge
    bool bent = false;
    const auto key_of = [&] (const CuvHoughRegionEdge &edge, int part) {
      const CuvRegionChord chord = chord_of_part (part);

      return cuv_region_key (
          &chord, edge.pixel, opposes (part, chord, edge.direction));
    };

    for_each_new (level, [&] (const CuvHoughRegionEdge &edge, int part) {
      last = key_of (edge, part);
      if (last != 0)
        atomicMax (&parts->highs[part], (unsigned) (last >> 32));
      bent = bent || last != 0;
    });
    if (!__syncthreads_or (bent))
      return false;
    for_each_new (level, [&] (const CuvHoughRegionEdge &edge, int part) {
      const unsigned long long key =
          n <= CUV_HOUGH_REGION_THREADS ? last : key_of (edge, part);

      if (key != 0 && key >> 32 == parts->highs[part])
        atomicMax (&parts->lows[part], (unsigned) key);
    });
    __syncthreads ();
    return true;
  }

  __device__ __forceinline__ void
  split () const
  {
    for_each_edge ([&] (const CuvHoughRegionEdge &edge, int &part) {
      const unsigned long long key = key_of_part (part);

      if (key == 0)
        return;
      const CuvRegionChord chord = chord_of_part (part);
      const bool aside = key >= CUV_HOUGH_REGION_OPPOSITE
          && opposes (part, chord, edge.direction);

      if (cuv_region_part (&chord, key, edge.pixel, aside)
          != cuv_region_end (&chord, 0))
        part = parts->seconds[part];
    });
  }

  // Splits the parts that are not straight, n_splits times.
  __device__ __forceinline__ void
  run (int n_splits) const
  {
    const int part = (int) threadIdx.x;

    for (int level = 0;; level++) {
      const int n_parts = parts->n;

      extend_boxes (level);
      __syncthreads ();
      find_firsts (level);
      __syncthreads ();
      if (!find_keys (level) || level == n_splits)
        return;
      if (part < n_parts && !is_straight (part))
        parts->seconds[part] = atomicAdd (&parts->n, 1);
      __syncthreads ();
      split ();
      __syncthreads ();
      if (part < parts->n && (part >= n_parts || !is_straight (part)))
        clear (part, level + 1);
      __syncthreads ();
    }
  }

  // Adds up the distances of edges from the chords of straight parts.
  __device__ __forceinline__ void
  add_up () const
  {
    for_each_edge ([&] (const CuvHoughRegionEdge &edge, int part) {
      if (!is_straight (part))
        return;
      const CuvRegionChord chord = chord_of_part (part);
      int distance;
      const int half = cuv_region_half (&chord, edge.pixel, &distance);

      atomicAdd (&parts->sums[part].n[half], 1);
      atomicAdd (&parts->sums[part].sum[half], distance);
    });
    __syncthreads ();
  }
};

#endif
