// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector's pyramid on the GPU: for each level its picture and those
// integral images of it that the model needs.
#ifndef CUV_WALDBOOST_PYRAMID_CUH
#define CUV_WALDBOOST_PYRAMID_CUH

#include <algorithm>
#include <vector>
#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "waldboost/waldboost-types.h"

// How the kernels cut their work.
#define CUV_STRIP 32           // rows of a block that makes integral images
#define CUV_PICTURE_THREADS 64 // of a block that makes pictures
#define CUV_PICTURE_ROWS 16    // of it, where there are no strips
#define CUV_HALVINGS 5         // of a block, the last makes one pixel
#define CUV_HALVES (1 << (CUV_HALVINGS - 1)) // square, of the first
#define CUV_DIAGONALS 128                    // of a block
#define CUV_PAIR_X 32 // windows of a pair are so many positions apart

// What four neighbouring columns of a level are made from, in a row of its
// source: the same four, eight neighbours, or more.
enum CuvResize {
  CUV_RESIZE_COPY,
  CUV_RESIZE_NEAR,
  CUV_RESIZE_FAR,
};

// An element of an integral image for pairs of windows: that of pixels (x, y)
// plus 2^16 times those CUV_PAIR_X window positions to the right, modulo 2^32.
// The sums of a block are then the halves of one word, if they fit 16 bits: one
// read and one subtraction do for both windows.
struct CuvPair {
  uint32_t sums;
};

// An integral image's element (x, y) is the sum of the level's pixels above and
// left of (x, y), modulo the range of the element type; a block's sum is exact
// as long as it fits. Where windows step by 2, the even columns of a row stand
// before the odd ones, so that neighbouring windows read neighbouring elements.
struct CuvPyramidLevel {
  CuvWaldboostLevel plan;
  int64_t first; // element (0, 0), in each of the integral buffers
  int32_t pitch; // elements from row to row
  int32_t picture_pitch;
  int64_t picture;    // pixel (0, 0), in the picture buffer
  int32_t words;      // of 32 window positions in a row
  int32_t first_word; // of this level, counting those of all levels
  int32_t first_tap;  // of its columns, in packed taps; rows follow
  CuvResize resize;
};

static inline __host__ __device__ bool
cuv_is_split (const CuvPyramidLevel &level)
{
  return level.plan.step == 2;
}

// Where column x of an integral row is.
static inline __host__ __device__ int
cuv_integral_column (bool split, int half, int x)
{
  return split ? (x & 1) * half + (x >> 1) : x;
}

// Where the sums of a strip's columns are, in each of the strips' buffers.
static inline __host__ __device__ int64_t
cuv_strip_sums_at (const CuvPyramidLevel &level, int strip)
{
  return level.first / CUV_STRIP + (int64_t) strip * level.pitch;
}

// Pictures have columns, and taps columns and rows, up to a multiple of 4.
// Those beyond the level count for nothing.
static inline __host__ __device__ int
cuv_whole_fours (int n)
{
  return (n + 3) / 4 * 4;
}

// Levels that are each half of the one before, the first of the frame: made at
// once.
struct CuvHalves {
  int32_t n, level[CUV_HALVINGS];

  bool
  has (int i) const
  {
    return std::find (level, level + n, i) != level + n;
  }
};

// A piece of work in one level; what x and y count is the kernel's business.
struct CuvTile {
  int32_t level, x, y;
};

// What the model needs.
struct CuvPyramidNeeds {
  bool sums;         // integral images
  bool narrow;       // their elements are uint16_t
  bool paired;       // or CuvPair, else uint32_t
  bool squares;      // of squared pixels, uint32_t
  bool tilted;       // tilted ones, uint32_t
  bool common_pitch; // the same for all levels

  int
  picture_rows () const // of a tile
  {
    return sums ? CUV_STRIP : CUV_PICTURE_ROWS;
  }
};

// Tables of a plan, gathered on the host and uploaded at once.
class CuvTables
{
public:
  template <typename T>
  size_t
  add (const std::vector<T> &items)
  {
    size_t at = (bytes.size () + 15) / 16 * 16;

    bytes.resize (at + items.size () * sizeof (T));
    if (!items.empty ())
      memcpy (&bytes[at], items.data (), items.size () * sizeof (T));
    return at;
  }
  std::vector<uint8_t> bytes;
};

struct CuvPyramid {
  CuvPyramidNeeds needs;
  int width, height, n_levels, n_strips, n_diagonal_tiles;
  std::vector<CuvPyramidLevel> host_levels;
  CuvHalves halves;
  std::vector<int> picture_tiles; // where each depth's tiles begin; and the end
  CuvBuffer grey;                 // of frames whose grey is not a plane
  CuvBuffer pictures, sums, squares, tilted, diagonal;
  CuvBuffer strip_sums, strip_squares; // of each strip's columns
  // in the plan's tables:
  size_t levels_at, taps_at, picture_tiles_at, strip_tiles_at, diagonals_at;
  const uint8_t *tables; // on the device, set by who uploads them

  int
  grey_pitch () const
  {
    return cuv_div_up (width, 16) * 16;
  }
  template <typename T>
  const T *
  table (size_t at) const
  {
    return (const T *) (tables + at);
  }
  const CuvPyramidLevel *
  levels () const
  {
    return table<CuvPyramidLevel> (levels_at);
  }
};

// Lays the plan out, adds its tables and reserves memory; slack_rows may be
// read beyond the last integral row. Returns 0 or -1.
int cuv_pyramid_set_plan (CuvPyramid *self, CuvTables *tables,
    const CuvPyramidNeeds &needs, const CuvWaldboostPlan *plan, int slack_rows);
void cuv_pyramid_clear (CuvPyramid *self);

// Enqueues the pyramid of one frame.
int cuv_pyramid_submit (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream);

#endif
