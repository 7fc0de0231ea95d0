// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles of a cube in shared memory: some pixels of a row of the image, band
// after band, whatever the cube's order; 16-bit samples as planes of low and
// high bytes.
#ifndef CUV_PCA_TILE_CUH
#define CUV_PCA_TILE_CUH

#include "spectral/pca-state.cuh"

template <CuvCubeFormat F> struct CuvPcaSample {
  typedef uint8_t Type;
  static constexpr int planes = 1;
};
template <> struct CuvPcaSample<CUV_CUBE_U16> {
  typedef uint16_t Type;
  static constexpr int planes = 2;
};
template <> struct CuvPcaSample<CUV_CUBE_F32> {
  typedef float Type;
  static constexpr int planes = 1;
};

// What a tile's rows are made of.
template <CuvCubeFormat F> struct CuvPcaPart {
  typedef uint8_t Type;
};
template <> struct CuvPcaPart<CUV_CUBE_F32> {
  typedef float Type;
};

template <CuvCubeFormat F> struct CuvPcaTile {
  typedef typename CuvPcaSample<F>::Type Sample;
  typedef typename CuvPcaPart<F>::Type Part;

  Part *rows;    // n_rows of pitch, of low bytes; then those of high bytes
  uint8_t *left; // a byte a pixel: it is left out
  int pitch;     // samples
  int plane;     // samples from low to high bytes
  int pixels;    // of a whole one
  int y, first, count; // those it has
  double ignore;

  __device__ __forceinline__
  CuvPcaTile (const CuvPcaPass &pass, void *shared)
      : rows ((Part *) shared), pitch (pass.pitch), plane (pass.rows * pitch),
        pixels (pass.pixels), y (0), first (0), count (0), ignore (pass.ignore)
  {
    left = (uint8_t *) (rows + CuvPcaSample<F>::planes * plane);
  }

  // Where a tile is.
  __device__ __forceinline__ void
  move_to (const CuvPcaPass &pass, int tile)
  {
    y = tile / pass.tiles_across;
    first = (tile - y * pass.tiles_across) * pixels;
    count = min (pixels, pass.width - first);
  }

  // At a sample's place: row * pitch + pixel.
  __device__ __forceinline__ void
  put (int at, Sample value)
  {
    rows[at] = (Part) value;
    if constexpr (F == CUV_CUBE_U16)
      rows[plane + at] = (Part) (value >> 8);
  }

  __device__ __forceinline__ double
  get (int row, int pixel) const
  {
    const Part low = rows[row * pitch + pixel];

    if constexpr (F == CUV_CUBE_F32)
      return low;
    unsigned value = low;

    if constexpr (F == CUV_CUBE_U16)
      value |= (unsigned) rows[plane + row * pitch + pixel] << 8;
    // 2^52 + value: conversions take longer
    return __hiloint2double (0x43300000, (int) value) - 4503599627370496.0;
  }

  // Whether a sample makes its pixel be left out.
  template <bool IGNORE>
  __device__ __forceinline__ bool
  is_bad (Sample value) const
  {
    bool bad = false;

    if constexpr (F == CUV_CUBE_F32)
      bad = !(value - value == 0.0f);
    if constexpr (IGNORE)
      bad = bad || (double) value == ignore;
    return bad;
  }

  // Puts a sample, and says whether it is bad.
  template <bool IGNORE>
  __device__ __forceinline__ bool
  take (int at, Sample value)
  {
    put (at, value);
    if (!is_bad<IGNORE> (value))
      return false;
    left[at % pitch] = 1;
    return true;
  }
};

// ---- pixels next to each other, each with all its bands ----

// A thread's way through such samples: some that follow each other, as a word
// has them, then on to those of its next word.
struct CuvPcaWay {
  int band, at;            // of the next sample
  int across, pitch;       // samples of a pixel; from band to band
  int step, step_at, back; // to the next word; at a pixel's end

  __device__ __forceinline__
  CuvPcaWay (const CuvPcaPass &pass, int n)
      : across (pass.packed), pitch (pass.reversed ? -pass.pitch : pass.pitch)
  {
    const int from = n * threadIdx.x, pixels = n * blockDim.x / across;

    band = from % across;
    at = band * pitch + from / across;
    if (pass.reversed)
      at += (pass.bands.n - 1) * pass.pitch;
    step = n * blockDim.x - pixels * across;
    step_at = step * pitch + pixels;
    back = 1 - across * pitch;
  }
  __device__ __forceinline__ void
  wrap ()
  {
    if (band >= across) {
      band -= across;
      at += back;
    }
  }
};

// The first n of a word's samples.
template <CuvCubeFormat F, bool IGNORE>
static __device__ __forceinline__ bool
cuv_pca_take_word (
    CuvPcaTile<F> &tile, CuvPcaWay *way, unsigned word, int n_bands, int n)
{
  typedef typename CuvPcaTile<F>::Sample Sample;
  constexpr int size = sizeof (Sample);
  CuvPcaWay here = *way;
  bool bad = false;

#pragma unroll
  for (int i = 0; i < 4 / size; i++) {
    Sample sample;

    if constexpr (F == CUV_CUBE_F32)
      sample = __uint_as_float (word);
    else
      sample = (Sample) (word >> 8 * size * i);
    if (here.band < n_bands && i < n) // others are between pixels
      bad = tile.template take<IGNORE> (here.at, sample) || bad;
    here.band++;
    here.at += here.pitch;
    here.wrap ();
  }
  way->band += way->step;
  way->at += way->step_at;
  way->wrap ();
  return bad;
}

template <CuvCubeFormat F, bool IGNORE>
static __device__ __forceinline__ bool
cuv_pca_load_packed (const CuvPcaPass &pass, CuvPcaTile<F> &tile)
{
  constexpr int ahead = F == CUV_CUBE_F32 ? 16 : 8; // words on their way
  constexpr int size = sizeof (typename CuvPcaTile<F>::Sample), n = 4 / size;
  const unsigned *from =
      (const unsigned *) (pass.cube.data + (int64_t) tile.y * pass.cube.row_step
          + (int64_t) tile.first * pass.cube.pixel_step)
      + threadIdx.x;
  const int threads = blockDim.x, n_bands = pass.bands.n;
  const int n_samples = (tile.count - 1) * pass.packed + n_bands;
  const int n_words = n_samples / n;
  CuvPcaWay way (pass, n);
  bool bad = false;
  int i = threadIdx.x;

  for (; i + (ahead - 1) * threads < n_words; i += ahead * threads) {
    unsigned words[ahead];

#pragma unroll
    for (int j = 0; j < ahead; j++, from += threads)
      words[j] = __ldg (from);
#pragma unroll
    for (int j = 0; j < ahead; j++)
      bad = cuv_pca_take_word<F, IGNORE> (tile, &way, words[j], n_bands, n)
          || bad;
  }
  for (; i <= n_words; i += threads, from += threads) {
    const int left = n_samples - n * i;
    unsigned word = 0;

    if (left >= n)
      word = __ldg (from);
    for (int k = 0; left < n && k < left * size; k++) // they fill no word
      word |= (unsigned) ((const uint8_t *) from)[k] << 8 * k;
    bad = cuv_pca_take_word<F, IGNORE> (tile, &way, word, n_bands, left) || bad;
  }
  return bad;
}

// ---- bands ----

// Any: band by band, a warp each.
template <CuvCubeFormat F, bool IGNORE>
static __device__ __forceinline__ bool
cuv_pca_load_planar (const CuvPcaPass &pass, CuvPcaTile<F> &tile)
{
  typedef typename CuvPcaTile<F>::Sample Sample;
  constexpr int ahead = 8;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const uint8_t *base = pass.cube.data + (int64_t) tile.y * pass.cube.row_step
      + (int64_t) (tile.first + lane) * pass.cube.pixel_step;
  const int64_t step = 32 * pass.cube.pixel_step;
  bool bad = false;

  for (int row = cuv_warp_of_thread (); row < pass.bands.n; row += warps) {
    const uint8_t *from = base + pass.bands.index[row] * pass.cube.band_step;
    int at = row * tile.pitch + lane, p = lane;

    for (; p + 32 * (ahead - 1) < tile.count; p += 32 * ahead) {
      Sample samples[ahead];

#pragma unroll
      for (int j = 0; j < ahead; j++, from += step)
        samples[j] = __ldg ((const Sample *) from);
#pragma unroll
      for (int j = 0; j < ahead; j++, at += 32)
        bad = tile.template take<IGNORE> (at, samples[j]) || bad;
    }
    for (; p < tile.count; p += 32, at += 32, from += step)
      bad =
          tile.template take<IGNORE> (at, __ldg ((const Sample *) from)) || bad;
  }
  return bad;
}

// Sixteen bytes of a band, to their place.
template <CuvCubeFormat F>
static __device__ __forceinline__ bool
cuv_pca_take_four (CuvPcaTile<F> &tile, int at, const uint4 &four)
{
  bool bad = false;

  if constexpr (F == CUV_CUBE_U16) {
    *(uint2 *) &tile.rows[at] =
        make_uint2 (__byte_perm (four.x, four.y, 0x6420),
            __byte_perm (four.z, four.w, 0x6420));
    *(uint2 *) &tile.rows[tile.plane + at] =
        make_uint2 (__byte_perm (four.x, four.y, 0x7531),
            __byte_perm (four.z, four.w, 0x7531));
  } else {
    *(uint4 *) &tile.rows[at] = four;
  }
  if constexpr (F == CUV_CUBE_F32) {
    const unsigned words[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (tile.template is_bad<false> (__uint_as_float (words[i]))) {
        tile.left[at % tile.pitch + i] = 1;
        bad = true;
      }
    }
  }
  return bad;
}

// Bands whose samples are next to each other, sixteen bytes at once, of which
// the tile has whole ones.
template <CuvCubeFormat F>
static __device__ __forceinline__ bool
cuv_pca_load_fours (const CuvPcaPass &pass, CuvPcaTile<F> &tile)
{
  constexpr int size = sizeof (typename CuvPcaTile<F>::Sample), n = 16 / size;
  constexpr int ahead = 4;
  const uint8_t *base = pass.cube.data + (int64_t) tile.y * pass.cube.row_step
      + (int64_t) tile.first * size;
  const int across = tile.count / n, all = pass.bands.n * across;
  bool bad = false;

  for (int i = threadIdx.x; i < all; i += ahead * blockDim.x) {
    uint4 fours[ahead];
    int at[ahead];

#pragma unroll
    for (int j = 0; j < ahead; j++) {
      const int k = i + j * (int) blockDim.x, row = k / across;
      const int place = k - row * across;

      at[j] = k < all ? row * tile.pitch + n * place : -1;
      if (k < all)
        fours[j] = __ldg (
            (const uint4 *) (base + pass.bands.index[row] * pass.cube.band_step)
            + place);
    }
#pragma unroll
    for (int j = 0; j < ahead; j++) {
      if (at[j] >= 0)
        bad = cuv_pca_take_four (tile, at[j], fours[j]) || bad;
    }
  }
  return bad;
}

// What is beyond the end of a row of the image is 0; the row behind the bands
// says which pixels count.
template <CuvCubeFormat F>
static __device__ __forceinline__ void
cuv_pca_fill (CuvPcaTile<F> &tile, int n)
{
  typedef typename CuvPcaTile<F>::Sample Sample;
  const int pitch = tile.pitch;

  for (int p = threadIdx.x; p < tile.pixels; p += blockDim.x) {
    tile.put (n * pitch + p, (Sample) (p < tile.count));
    for (int row = 0; p >= tile.count && row < n; row++)
      tile.put (row * pitch + p, (Sample) 0);
  }
}

template <CuvCubeFormat F>
static __device__ __forceinline__ void
cuv_pca_leave_out (CuvPcaTile<F> &tile, int n)
{
  typedef typename CuvPcaTile<F>::Sample Sample;

  for (int p = threadIdx.x; p < tile.count; p += blockDim.x) {
    for (int row = 0; tile.left[p] && row <= n; row++)
      tile.put (row * tile.pitch + p, (Sample) 0);
  }
}

// Loads a tile; whether pixels of it are left out, which left says. By all
// threads.
template <CuvCubeFormat F, bool IGNORE>
static __device__ __forceinline__ bool
cuv_pca_load (const CuvPcaPass &pass, CuvPcaTile<F> &tile, int at)
{
  bool bad;

  tile.move_to (pass, at);
  if (pass.packed > 0)
    bad = cuv_pca_load_packed<F, IGNORE> (pass, tile);
  else if (!IGNORE && pass.fours && tile.count % 16 == 0)
    bad = cuv_pca_load_fours (pass, tile);
  else
    bad = cuv_pca_load_planar<F, IGNORE> (pass, tile);
  cuv_pca_fill (tile, pass.bands.n);
  if (F != CUV_CUBE_F32 && !IGNORE) {
    __syncthreads ();
    return false;
  }
  bad = __syncthreads_or (bad) != 0;
  if (bad) {
    cuv_pca_leave_out (tile, pass.bands.n);
    __syncthreads ();
  }
  return bad;
}

#endif
