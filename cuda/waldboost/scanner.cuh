// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface of scanners, each of which finds the hits of one kind of model
// in the pyramid: counters, hits, rows to scan.
#ifndef CUV_WALDBOOST_SCANNER_CUH
#define CUV_WALDBOOST_SCANNER_CUH

#include "waldboost/features.cuh"
#include "waldboost/pyramid.cuh"
#include "waldboost/waldboost.h"

// The maximum number of segments of a WaldBoost model. A cascade's segments are
// its stages.
#define CUV_WALDBOOST_SEGMENTS 40

// The result on the device: counters, followed by hits in any order.
struct CuvScanCounters {
  // numbers of hits, visited windows, evaluated weak classifiers (0 for
  // cascades), and visited windows without contrast (Haar cascades)
  unsigned long long n_hits, windows, weak, flat;
  // in nanoseconds: start of the frame, in the counters of the first model;
  // start and end of the scan
  unsigned long long frame_began, began, ended;
  // tiles that blocks have taken (plane_kernel)
  unsigned tiles;
  unsigned candidates; // windows that pass the first trees (channels/)
  unsigned long long survivors[1]; // one per segment
};

struct CuvScanHits {
  CuvWaldboostHit *hits;
  CuvScanCounters *counters;

  // Records the start of the scan. Call from all threads of its first kernel;
  // integral images of other levels may still be in progress.
  __device__ void
  begin () const
  {
    cuv_record_start (&counters->began);
  }

  __device__ void
  add (int level, int x, int y, float score) const
  {
    unsigned long long at = atomicAdd (&counters->n_hits, 1ull);

    if (at < CUV_WALDBOOST_MAX_HITS)
      hits[at] = CuvWaldboostHit{ level, x, y, score };
  }
};

// The rows of windows to scan: rows first to end - 1 of one level, or all rows
// of several levels.
struct CuvScanRows {
  int level, first, end; // level: an index or a CuvPyramidLevels

  __device__ bool
  has_level (int of_level) const
  {
    return level < 0 || of_level == level;
  }

  // Whether rows `from` to `to` - 1 of a level are among them.
  __device__ bool
  has_any (int of_level, int from, int to) const
  {
    return level < 0 || (of_level == level && from < end && to > first);
  }

  __device__ bool
  has (int of_level, int row) const
  {
    return level < 0 || (of_level == level && row >= first && row < end);
  }
};

// The part of a frame to scan; without a matrix only its grey is needed.
struct CuvScanFrame {
  const CuvFrame *frame;
  CuvWaldboostPart part;
};

// A scanner for one kind of model. Only the scanner of trees on channels can
// have several models.
class CuvScanner
{
public:
  virtual ~CuvScanner () = default;
  // Plans the pyramid and the scan of each model, and adds their tables.
  // searches: one for each model, with its plan. Returns 0 or -1.
  virtual int set_plans (const CuvWaldboostSearch *searches,
      CuvPyramid *pyramid, CuvPyramidTables *tables) = 0;
  // Enqueues the kernels that make the pictures of all levels. Returns 0 or -1.
  virtual int
  submit_pictures (
      CuvPyramid *pyramid, const CuvScanFrame &frame, cudaStream_t stream)
  {
    return cuv_pyramid_submit_pictures (pyramid, frame.frame, stream);
  }
  // Enqueues the scan of a model; the counters must be 0. If the rows belong to
  // one level, results of stage 0 may be reused from the previous scan. Split
  // levels and others are requested separately only if the scanner needs the
  // pyramid in_parts. Returns 0 or -1.
  virtual int submit (const CuvPyramid &pyramid, int model,
      const CuvScanHits &hits, const CuvScanRows &rows,
      cudaStream_t stream) = 0;
};

// Create scanners, which copy what they need from their models.
CuvScanner *cuv_cascade_scanner_new (const CuvWaldboostModel *model);
CuvScanner *cuv_channels_scanner_new (
    const CuvWaldboostSearch *searches, int n);
CuvScanner *cuv_waldboost_scanner_new (const CuvWaldboostModel *model);

#endif
