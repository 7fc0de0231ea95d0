// SPDX-License-Identifier: LGPL-2.1-or-later
// The pyramid on the GPU: for each level its picture, resized from the frame or
// from another level, and the integral images that the model needs.
#ifndef CUV_WALDBOOST_PYRAMID_CUH
#define CUV_WALDBOOST_PYRAMID_CUH

#include <algorithm>
#include <vector>
#include "cuv-cuda.cuh"
#include "cuv-frame.h"
#include "waldboost/image-pool.cuh"
#include "waldboost/waldboost-types.h"

// Work per block of the kernels.
#define CUV_PYRAMID_STRIP 32 // rows per block of the integral kernel
// threads per block of the picture kernel
#define CUV_PYRAMID_PICTURE_THREADS 64
// rows per block of the picture kernel if there are no integral images
#define CUV_PYRAMID_PICTURE_ROWS 16
#define CUV_PYRAMID_DIAGONALS 128 // lines per block of the tilted kernels
// The maximum number of levels that cuv_halves_kernel makes, and the side of a
// block's square in the first of them; in the last level the square is one
// pixel.
#define CUV_PYRAMID_HALVINGS 5
#define CUV_PYRAMID_HALVES (1 << (CUV_PYRAMID_HALVINGS - 1))

// The source columns from which four adjacent columns of a level are
// interpolated.
enum CuvPyramidResize {
  CUV_PYRAMID_RESIZE_COPY, // the same four columns
  CUV_PYRAMID_RESIZE_NEAR, // four of eight adjacent columns
  CUV_PYRAMID_RESIZE_FAR,  // any columns
};

// Element (x, y) of an integral image is the sum of the level's pixels above
// and left of (x, y), modulo the range of the element type; the sum of a block
// is exact if it fits that type. Where windows step by 2, a row is split: its
// even columns come before the odd ones, so that adjacent windows read adjacent
// elements.
struct CuvPyramidLevel {
  CuvWaldboostLevel plan;
  int64_t first; // index of element (0, 0) in each of the integral buffers
  int32_t pitch; // elements per row
  int32_t picture_pitch;
  int64_t picture;    // index of pixel (0, 0) in the picture buffer
  int32_t words;      // words per row of a bit mask, which has a bit per window
  int32_t first_word; // index of the level's first word
  // index of the packed taps of its columns; those of rows follow
  int32_t first_tap;
  CuvPyramidResize resize;
};

static inline __host__ __device__ bool
cuv_is_split (const CuvPyramidLevel &level)
{
  return level.plan.step == 2;
}

// Returns the index of column x in a row of an integral image.
static inline __host__ __device__ int
cuv_integral_column (bool split, int half, int x)
{
  return split ? (x & 1) * half + (x >> 1) : x;
}

// Returns the index of a strip's column sums (CUV_PYRAMID_STRIP rows) in each
// of the strip buffers.
static inline __host__ __device__ int64_t
cuv_strip_sums_at (const CuvPyramidLevel &level, int strip)
{
  return level.first / CUV_PYRAMID_STRIP + (int64_t) strip * level.pitch;
}

// Rounds up to a multiple of four: pictures are padded in columns, taps in
// columns and rows. The padding is never used.
static inline __host__ __device__ int
cuv_whole_fours (int n)
{
  return (n + 3) / 4 * 4;
}

// A chain of levels that halve the frame successively, made by one kernel.
struct CuvPyramidHalves {
  int32_t n, level[CUV_PYRAMID_HALVINGS];

  bool
  has (int i) const
  {
    return std::find (level, level + n, i) != level + n;
  }
};

// A tile of a level; the unit of x and y depends on the kernel.
struct CuvPyramidTile {
  int32_t level, x, y;
};

// Groups of levels; a value of 0 or more is the index of one level.
enum CuvPyramidLevels {
  CUV_PYRAMID_ALL_LEVELS = -1,
  CUV_PYRAMID_SPLIT_LEVELS = -2, // levels with cuv_is_split()
  CUV_PYRAMID_OTHER_LEVELS = -3,
};

// The images that a scanner reads.
struct CuvPyramidNeeds {
  bool sums;         // integral images, of uint32_t unless narrow
  bool narrow;       // integral images of uint16_t
  bool squares;      // integral images of squares, uint32_t
  bool tilted;       // tilted integral images, uint32_t
  bool common_pitch; // all levels have the same pitch
  bool in_parts;     // split levels and others may be scanned in two streams

  int
  picture_rows () const // rows per tile
  {
    return sums ? CUV_PYRAMID_STRIP : CUV_PYRAMID_PICTURE_ROWS;
  }
};

// Tables of a plan, collected on the host and uploaded in one copy.
class CuvPyramidTables
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
  CuvTurn turn;
  int width, height; // size of the turned frame, pixels
  int n_levels, n_strips, n_diagonal_tiles;
  int n_split_strips;     // number of strips of split levels, which come first
  int n_scanned, n_split; // levels that have windows; those with split columns
  std::vector<CuvPyramidLevel> host_levels;
  CuvPyramidHalves halves;
  // first tile of each depth, then the number of tiles
  std::vector<int> picture_tiles;
  size_t image_sizes[CUV_WALDBOOST_IMAGE_N]; // bytes; 0: not needed
  CuvImages *images;                         // of the current frame
  // offsets in the plan's tables:
  size_t levels_at, taps_at, picture_tiles_at, strip_tiles_at, diagonals_at;
  // on the device, set by waldboost.cu
  const uint8_t *tables;
  unsigned long long *began; // for cuv_record_start(), 0 before each frame

  // Returns whether split levels and the others can be scanned in two streams.
  bool
  in_parts () const
  {
    return needs.in_parts && n_split > 0 && n_split < n_scanned;
  }
  int
  grey_pitch () const
  {
    return cuv_div_up (width, 16) * 16;
  }
  template <typename T>
  T *
  image (CuvImage which) const
  {
    return (T *) images->of[which].data;
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

// Lays out the images of a plan, with slack_rows readable rows after the last
// integral image, and adds its tables.
void cuv_pyramid_set_plan (CuvPyramid *self, CuvPyramidTables *tables,
    const CuvPyramidNeeds &needs, const CuvWaldboostPlan *plan, int slack_rows);

// Enqueues the kernels that make the pictures of all levels. Returns 0 or -1.
int cuv_pyramid_submit_pictures (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream);

// Enqueues, after the pictures, the kernels that make the integral images of
// these levels and the tilted ones of all levels. Returns 0 or -1.
int cuv_pyramid_submit_integrals (
    CuvPyramid *self, CuvPyramidLevels levels, cudaStream_t stream);

#endif
