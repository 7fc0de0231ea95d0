// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector's pyramid on the GPU: for each level an integral image, made
// from the grey frame in three launches for all levels together.
#ifndef CUV_WALDBOOST_PYRAMID_CUH
#define CUV_WALDBOOST_PYRAMID_CUH

#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

// A level's integral image: element (x, y) is the sum of the level's pixels
// above and left of (x, y), modulo the range of the element type; a block's sum
// is exact as long as it fits. Where windows step by 2, the even columns of a
// row stand before the odd ones, so that neighbouring windows read neighbouring
// elements.
struct CuvIntegralLevel {
  CuvWaldboostLevel plan;
  int64_t first;      // element (0, 0), in the integral buffer
  int32_t pitch;      // elements from row to row
  int32_t first_row;  // of this level, counting the rows of all levels
  int32_t words;      // of 32 window positions in a row
  int32_t first_word; // of this level, counting those of all levels
};

// Where column x of a row is.
static inline __host__ __device__ int
cuv_integral_column (const CuvIntegralLevel &level, int x)
{
  return level.plan.step == 2 ? (x & 1) * (level.pitch / 2) + (x >> 1) : x;
}

// A piece of work in one level; what x and y count is the kernel's business.
struct CuvTile {
  int32_t level, x, y;
};

struct CuvPyramid {
  int width, height, n_levels, n_rows, n_tiles;
  bool narrow; // elements are uint16_t, else uint32_t
  CuvIntegralLevel *levels_host, *levels;
  CuvTap *taps;
  CuvTile *tiles; // columns x, strips y
  uint8_t *grey;  // of frames whose grey is not a plane
  void *integral;
  void *strips; // sums of each strip's columns
};

// The device memory is the arena's. Returns 0 or -1.
int cuv_pyramid_init (CuvPyramid *self, CuvArena *arena,
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan);
void cuv_pyramid_clear (CuvPyramid *self);

// Enqueues the integrals of all levels for one frame.
int cuv_pyramid_submit (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream);

#endif
