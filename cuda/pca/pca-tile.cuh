// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles of a cube in shared memory: some pixels of a row of the image, as they
// are in the cube. Planar: for each band that counts a row of samples, pitch
// bytes apart. Packed: pixels one after the other, with all bytes that they
// have between the bands that count. Behind them the counts, a sample a pixel:
// 1, or 0 where a pixel is left out or beyond the end of the image's row.
#ifndef CUV_PCA_TILE_CUH
#define CUV_PCA_TILE_CUH

#include <cuda_pipeline.h>
#include "pca/pca-state.cuh"

#define CUV_PCA_STEP 32 // pixels that a warp adds up at once

template <CuvCubeFormat F> struct CuvPcaSample {
  typedef uint8_t Type;
};
template <> struct CuvPcaSample<CUV_CUBE_U16> {
  typedef uint16_t Type;
};
template <> struct CuvPcaSample<CUV_CUBE_F32> {
  typedef float Type;
};

// Where a tile is in the image.
struct CuvPcaSpot {
  int y, first, count;
};

static __device__ __forceinline__ CuvPcaSpot
cuv_pca_spot (const CuvPcaPass &pass, int tile)
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
  CuvPcaSpot spot;

  // From the tile's beginning to a band's first sample, and on to the next.
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

  // Pixels that are added up, of which the last may be beyond the end.
  __device__ __forceinline__ int
  end () const
  {
    return (spot.count + CUV_PCA_STEP - 1) / CUV_PCA_STEP * CUV_PCA_STEP;
  }
  // Whether pixels are missing, so that not all counts are 1, or were written.
  __device__ __forceinline__ bool
  is_cut () const
  {
    return spot.count < pass.pixels;
  }

  // Planar: a warp has a row. Packed: there is one, and all have it.
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
    return PACKED ? (spot.count - 1) * step () + pass.span : spot.count * size;
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
    return pass.cube.data + spot.y * pass.cube.row_step
        + spot.first * pass.cube.pixel_step
        + (PACKED ? pass.low : pass.bands.index[row] * pass.cube.band_step);
  }

  // ---- from the cube ----

  // A thread's units of UNIT bytes, and what there is of a last one.
  template <int UNIT>
  __device__ __forceinline__ void
  fetch_units () const
  {
    const int step = UNIT * threads_of_row (), end = row_bytes ();

    for (int row = first_row (); row < n_rows (); row += blockDim.x / 32) {
      const uint8_t *from = source (row);
      uint8_t *to = bytes + row * pass.pitch;
      int at = UNIT * thread_of_row ();

#pragma unroll 2
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

  // Begins to copy it. By all threads, each the units that suspects() looks at.
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

  // ---- what is left out ----

  __device__ __forceinline__ bool
  is_bad (Sample value) const
  {
    if constexpr (F == CUV_CUBE_F32) {
      if (!(value - value == 0.0f))
        return true;
    }
    return pass.has_ignore && (double) value == pass.ignore;
  }

  // found or rest are not 0 if there is such a sample in a word.
  template <bool IGNORES>
  __device__ __forceinline__ void
  look_at (unsigned word, unsigned *found, float *rest) const
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

  template <int UNIT, bool IGNORES>
  __device__ __forceinline__ bool
  suspects_units () const
  {
    const int step = UNIT * threads_of_row (), end = row_bytes ();
    unsigned found = 0;
    float rest = 0.0f;

    for (int row = first_row (); row < n_rows (); row += blockDim.x / 32) {
      const uint8_t *from = bytes + row * pass.pitch;

#pragma unroll 4
      for (int at = UNIT * thread_of_row (); at < end; at += step) {
        if constexpr (UNIT == 16) {
          const uint4 four = *(const uint4 *) (from + at);

          look_at<IGNORES> (four.x, &found, &rest);
          look_at<IGNORES> (four.y, &found, &rest);
          look_at<IGNORES> (four.z, &found, &rest);
          look_at<IGNORES> (four.w, &found, &rest);
        } else if constexpr (UNIT == 4) {
          look_at<IGNORES> (*(const unsigned *) (from + at), &found, &rest);
        } else {
          look_at<IGNORES> (
              *(const Sample *) (from + at) * (0xffffffffu / Sample (~0)),
              &found, &rest);
        }
      }
    }
    return found != 0 || !(rest == 0.0f);
  }

  template <bool IGNORES>
  __device__ __forceinline__ bool
  suspects_some () const
  {
    return pass.unit == 16           ? suspects_units<16, IGNORES> ()
        : pass.unit == 4 && size < 4 ? suspects_units<4, IGNORES> ()
                                     : suspects_units<size, IGNORES> ();
  }

  // Whether there may be pixels to leave out: among the bytes that this thread
  // copied, those between bands and behind the end, too.
  __device__ __forceinline__ bool
  suspects () const
  {
    return pass.has_ignore ? suspects_some<true> () : suspects_some<false> ();
  }

  // What adds nothing to a band's sums.
  __device__ __forceinline__ Sample
  nothing (int band) const
  {
    if constexpr (F == CUV_CUBE_F32)
      return pass.pivots != nullptr ? (float) pass.pivots[band].d : 0.0f;
    return 0;
  }

  // Writes the counts, and nothing for what does not count; for pixels to leave
  // out it looks if told to. By all threads.
  __device__ __forceinline__ void
  mend (bool looks) const
  {
    const int n = pass.bands.n;
    unsigned left_out = 0;

    for (int p = threadIdx.x; p < end (); p += blockDim.x) {
      bool good = p < spot.count;

#pragma unroll 1
      for (int b = 0; b < n && good && looks; b++)
        good = !is_bad (*sample (b, p));
#pragma unroll 1
      for (int b = 0; b < n && !good; b++)
        *sample (b, p) = nothing (b);
      counts ()[p] = good;
      left_out += !good && p < spot.count;
    }
    if (left_out > 0 && pass.left_out != nullptr)
      atomicAdd (pass.left_out, (unsigned long long) left_out);
  }
};

#endif
