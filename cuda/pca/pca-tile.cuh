// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles of a cube in shared memory: consecutive pixels of a row of the image,
// with samples as in the cube. Planar: one row per selected band, pitch bytes
// apart. Packed: pixels one after the other, each from its first to its last
// selected byte. Then the counts, one sample per pixel: 0 if it is excluded or
// beyond the end of the image's row, otherwise 1.
#ifndef CUV_PCA_TILE_CUH
#define CUV_PCA_TILE_CUH

#include <cuda_pipeline.h>
#include "pca/pca-state.cuh"

#define CUV_PCA_STEP 32 // pixels per iteration of a warp

template <CuvCubeFormat F> struct CuvPcaSample {
  typedef uint8_t Type;
};
template <> struct CuvPcaSample<CUV_CUBE_U16> {
  typedef uint16_t Type;
};
template <> struct CuvPcaSample<CUV_CUBE_F32> {
  typedef float Type;
};

// The pixels of a tile: `count` of row y, from `first` on.
struct CuvPcaExtent {
  int y, first, count;
};

static __device__ __forceinline__ CuvPcaExtent
cuv_pca_extent (const CuvPcaPass &pass, int tile)
{
  const int at = pass.backwards ? pass.n_tiles - 1 - tile : tile;
  const int y = pass.height == 1 ? 0 : at / pass.tiles_across;
  const int first = (at - y * pass.tiles_across) * pass.pixels;

  return { y, first, min (pass.pixels, pass.width - first) };
}

template <CuvCubeFormat F, bool PACKED> struct CuvPcaTile {
  typedef typename CuvPcaSample<F>::Type Sample;
  static constexpr int size = sizeof (Sample);

  const CuvPcaPass &pass;
  uint8_t *bytes;
  CuvPcaExtent extent;

  // Return the offset of a band's first sample, and the distance to the next.
  __device__ __forceinline__ int
  band_at (int band) const
  {
    return PACKED
        ? pass.bands.index[band] * (int) pass.cube.band_step - (int) pass.low
        : band * pass.pitch;
  }
  __device__ __forceinline__ int
  step () const
  {
    return PACKED ? (int) pass.cube.pixel_step : size;
  }
  __device__ __forceinline__ Sample *
  sample (int band, int pixel) const
  {
    return (Sample *) (bytes + band_at (band) + pixel * step ());
  }
  __device__ __forceinline__ Sample *
  counts () const
  {
    return (Sample *) (bytes + pass.counts_at);
  }

  // Returns the number of pixels to sum, rounded up to CUV_PCA_STEP.
  __device__ __forceinline__ int
  end () const
  {
    return (extent.count + CUV_PCA_STEP - 1) / CUV_PCA_STEP * CUV_PCA_STEP;
  }
  // Whether the last step is partial, so that some counts are 0.
  __device__ __forceinline__ bool
  is_partial () const
  {
    return extent.count < pass.pixels;
  }

  // Returns the number of rows to split over warps. Packed: one row, which all
  // warps share.
  __device__ __forceinline__ int
  n_rows () const
  {
    return PACKED ? 1 : pass.bands.n;
  }
  __device__ __forceinline__ int
  first_row () const
  {
    return PACKED ? 0 : cuv_warp_of_thread ();
  }
  __device__ __forceinline__ int
  row_bytes () const
  {
    return PACKED ? (extent.count - 1) * step () + pass.span
                  : extent.count * size;
  }
  __device__ __forceinline__ int
  thread_of_row () const
  {
    return PACKED ? threadIdx.x : threadIdx.x % 32;
  }
  __device__ __forceinline__ int
  threads_of_row () const
  {
    return PACKED ? blockDim.x : 32;
  }
  __device__ __forceinline__ const uint8_t *
  source (int row) const
  {
    return pass.cube.data + extent.y * pass.cube.row_step
        + extent.first * pass.cube.pixel_step
        + (PACKED ? pass.low : pass.bands.index[row] * pass.cube.band_step);
  }

  // ---- from the cube ----

  // Copies the thread's share of each row, in units of UNIT bytes; what is left
  // of the row, less than a unit, is copied sample by sample.
  template <int UNIT>
  __device__ __forceinline__ void
  fetch_units () const
  {
    const int step = UNIT * threads_of_row (), end = row_bytes ();

    for (int row = first_row (); row < n_rows (); row += blockDim.x / 32) {
      const uint8_t *from = source (row);
      uint8_t *to = bytes + row * pass.pitch;
      int at = UNIT * thread_of_row ();

      for (; at + 3 * step + UNIT <= end; at += 4 * step) {
#pragma unroll
        for (int i = 0; i < 4; i++)
          __pipeline_memcpy_async (
              to + at + i * step, from + at + i * step, UNIT);
      }
#pragma unroll 1
      for (; at + UNIT <= end; at += step)
        __pipeline_memcpy_async (to + at, from + at, UNIT);
#pragma unroll 1
      for (; at < end; at += size)
        *(Sample *) (to + at) = *(const Sample *) (from + at);
    }
  }

  __device__ __forceinline__ void
  fetch_samples () const
  {
    const int step = threads_of_row (), end = row_bytes () / size;

    for (int row = first_row (); row < n_rows (); row += blockDim.x / 32) {
      const uint8_t *from = source (row);
      Sample *to = (Sample *) (bytes + row * pass.pitch);

#pragma unroll 4
      for (int i = thread_of_row (); i < end; i += step)
        to[i] = *(const Sample *) (from + i * pass.sample_step);
    }
  }

  // Starts the asynchronous copy. Called by all threads; may_exclude() checks
  // the same units.
  __device__ __forceinline__ void
  fetch () const
  {
    if (pass.unit == 16)
      fetch_units<16> ();
    else if (pass.unit == 4 && pass.sample_step == size)
      fetch_units<4> ();
    else
      fetch_samples ();
  }

  // ---- samples to exclude ----

  __device__ __forceinline__ bool
  is_bad (Sample value) const
  {
    if constexpr (F == CUV_CUBE_F32) {
      if (!(value - value == 0.0f))
        return true;
    }
    return pass.has_ignore && (double) value == pass.ignore;
  }

  // Makes *found or *rest nonzero if a word has a sample to exclude: *rest
  // becomes NaN, the product of 0 and a value that is not finite.
  template <bool IGNORES>
  __device__ __forceinline__ void
  check_word (unsigned word, unsigned *found, float *rest) const
  {
    if constexpr (F == CUV_CUBE_F32) {
      const float value = __uint_as_float (word);

      *rest = fmaf (value, 0.0f, *rest);
      if (IGNORES)
        *found |= value == (float) pass.ignore;
    } else {
      const unsigned ones = 0xffffffffu / Sample (~0);
      const unsigned other = word ^ pass.ignore_word;

      *found |= (other - ones) & ~other & ones << (8 * size - 1);
    }
  }

  // Checks a unit in the same way.
  template <int UNIT, bool IGNORES>
  __device__ __forceinline__ void
  check_unit (const uint8_t *at, unsigned *found, float *rest) const
  {
    if constexpr (UNIT == 16) {
      const uint4 four = *(const uint4 *) at;

      check_word<IGNORES> (four.x, found, rest);
      check_word<IGNORES> (four.y, found, rest);
      check_word<IGNORES> (four.z, found, rest);
      check_word<IGNORES> (four.w, found, rest);
    } else if constexpr (UNIT == 4) {
      check_word<IGNORES> (*(const unsigned *) at, found, rest);
    } else {
      check_word<IGNORES> (
          *(const Sample *) at * (0xffffffffu / Sample (~0)), found, rest);
    }
  }

  // Checks four units at once, at the end some of them twice, so that no branch
  // separates the loads.
  template <int UNIT, bool IGNORES>
  __device__ __forceinline__ bool
  units_may_exclude () const
  {
    const int step = UNIT * threads_of_row (), end = row_bytes ();
    unsigned found = 0;
    float rest[4] = {};

    for (int row = first_row (); row < n_rows (); row += blockDim.x / 32) {
      const uint8_t *from = bytes + row * pass.pitch;

      for (int at = UNIT * thread_of_row (); at < end; at += 4 * step) {
#pragma unroll
        for (int i = 0; i < 4; i++)
          check_unit<UNIT, IGNORES> (
              from + (at + i * step < end ? at + i * step : at), &found,
              &rest[i]);
      }
    }
    return found != 0 || !(rest[0] + rest[1] + rest[2] + rest[3] == 0.0f);
  }

  template <bool IGNORES>
  __device__ __forceinline__ bool
  may_exclude () const
  {
    return pass.unit == 16           ? units_may_exclude<16, IGNORES> ()
        : pass.unit == 4 && size < 4 ? units_may_exclude<4, IGNORES> ()
                                     : units_may_exclude<size, IGNORES> ();
  }

  // Whether there may be pixels to exclude. Checks the bytes that this thread
  // copied, including those between bands and beyond the end.
  __device__ __forceinline__ bool
  may_exclude () const
  {
    return pass.has_ignore ? may_exclude<true> () : may_exclude<false> ();
  }

  // Returns the sample that adds nothing to a band's sums.
  __device__ __forceinline__ Sample
  neutral (int band) const
  {
    if constexpr (F == CUV_CUBE_F32)
      return pass.pivots != nullptr ? (float) pass.pivots[band].d : 0.0f;
    return 0;
  }

  // Writes counts, and neutral samples to pixels whose count is 0. checks:
  // looks for pixels to exclude. Called by all threads.
  __device__ __forceinline__ void
  write_counts (bool checks) const
  {
    const int n = pass.bands.n;
    unsigned left_out = 0;

    for (int p = threadIdx.x; p < end (); p += blockDim.x) {
      bool good = p < extent.count;

#pragma unroll 1
      for (int b = 0; b < n && good && checks; b++)
        good = !is_bad (*sample (b, p));
#pragma unroll 1
      for (int b = 0; b < n && !good; b++)
        *sample (b, p) = neutral (b);
      counts ()[p] = good;
      left_out += !good && p < extent.count;
    }
    if (left_out > 0 && pass.left_out != nullptr)
      atomicAdd (pass.left_out, (unsigned long long) left_out);
  }
};

#endif
