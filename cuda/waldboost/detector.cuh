// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector's inside: what the ways to scan share.
#ifndef CUV_WALDBOOST_DETECTOR_CUH
#define CUV_WALDBOOST_DETECTOR_CUH

#include "waldboost/features.cuh"
#include "waldboost/waldboost.h"

// Of WaldBoost models; cascades have as many as stages.
#define CUV_WALDBOOST_SEGMENTS 40

// What comes back: counters, then hits in any order.
struct CuvCounters {
  unsigned long long n_hits, windows, weak, flat;
  unsigned long long began, ended; // nanoseconds of the scan
  unsigned tiles, pad;             // that blocks have taken, where they do
  unsigned long long survivors[1]; // n_segments of them
};

struct CuvHits {
  CuvWaldboostHit *hits;
  CuvCounters *counters;

  // By all threads of a scan's first kernel, when the pyramid is there.
  __device__ void
  begin () const
  {
    if (blockIdx.x == 0 && threadIdx.x == 0 && counters->began == 0)
      counters->began = cuv_nanoseconds ();
  }

  __device__ void
  add (int level, int x, int y, float score) const
  {
    unsigned long long at = atomicAdd (&counters->n_hits, 1ull);

    if (at < CUV_WALDBOOST_MAX_HITS)
      hits[at] = CuvWaldboostHit{ level, x, y, score };
  }
};

// The rows of windows to search: end - first rows of one level, or all.
struct CuvRows {
  int level, first, end; // level -1 = all

  __device__ bool
  has_level (int of_level) const
  {
    return level < 0 || of_level == level;
  }

  __device__ bool
  has (int of_level, int row) const
  {
    return level < 0 || (of_level == level && row >= first && row < end);
  }
};

// One way to scan.
class CuvScanner
{
public:
  virtual ~CuvScanner () = default;
  // Lays itself and its pyramid out and adds tables. Returns 0 or -1.
  virtual int set_plan (
      const CuvWaldboostPlan &plan, CuvPyramid *pyramid, CuvTables *tables) = 0;
  // Enqueues the search; the counters are 0 before. With other rows than all
  // the pyramid, and what was made of it, is the last search's.
  virtual int submit (const CuvPyramid &pyramid, const CuvHits &hits,
      const CuvRows &rows, cudaStream_t stream) = 0;
};

// Each takes what it needs of the model.
CuvScanner *cuv_cascade_scanner_new (const CuvWaldboostModel *model);
CuvScanner *cuv_waldboost_scanner_new (const CuvWaldboostModel *model);

#endif
