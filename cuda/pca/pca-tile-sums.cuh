// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums of products over a tile. A warp keeps one part of the matrix, 32 x 32
// bands, in registers and adds some of the tile's pixels; at the end a block
// adds up the sums of its warps. After the bands comes one more row, the
// counts.
#ifndef CUV_PCA_TILE_SUMS_CUH
#define CUV_PCA_TILE_SUMS_CUH

#include "pca/pca-mma.cuh"
#include "pca/pca-tile.cuh"

#define CUV_PCA_GROUPS                                                         \
  (CUV_PCA_SIDE / 8) // groups of 8 bands per side of a
                     // part

// Returns the lane. It comes from a shuffle, so that the compiler does not
// hoist values that depend on it out of the tile loop, where they would spill.
// Called by whole warps.
static __device__ __forceinline__ int
opaque_lane ()
{
  return __shfl_sync (~0u, (int) threadIdx.x % 32, threadIdx.x % 32);
}

// The part of a warp: its first bands (row, column), the groups of columns up
// to the counts, its index in this launch, and which of n_shares shares of the
// pixels the warp adds.
struct CuvPcaPlace {
  int row, column, n_columns, part;
  int share, n_shares;
  bool works, diagonal; // the warp has a share; the part is on the diagonal
};

template <bool MANY>
static __device__ __forceinline__ CuvPcaPlace
cuv_pca_place_of (const CuvPcaPass &pass)
{
  const int warp = cuv_warp_of_thread ();
  const int here = cuv_pca_parts_here (pass);
  int part = pass.first_part + warp % here, row = 0;
  CuvPcaPlace place;

  while (part >= pass.n_side - row)
    part -= pass.n_side - row++;
  place.row = row * CUV_PCA_SIDE;
  place.column = (row + part) * CUV_PCA_SIDE;
  place.n_columns =
      min (CUV_PCA_GROUPS, cuv_div_up (pass.bands.n + 1 - place.column, 8));
  place.diagonal = part == 0;
  place.part = warp % here;
  place.share = warp / here;
  place.n_shares = MANY ? cuv_pca_shares (pass) : CUV_PCA_WARPS;
  place.works = place.share < place.n_shares;
  return place;
}

// A lane's row of each group of 8, and its pixels: the four lanes of a row
// share 32 pixels, in any way that is the same for all rows. Planar: words as
// wide as one load. Packed: 8 adjacent pixels or every fourth, whichever avoids
// bank conflicts. Rows after the counts repeat the counts; their sums are never
// read.
template <CuvCubeFormat F, bool PACKED> struct CuvPcaTileRows {
  typedef typename CuvPcaSample<F>::Type Sample;
  static constexpr int size = sizeof (Sample);

  int at[CUV_PCA_GROUPS];      // offset of the lane's first pixel
  int step[CUV_PCA_GROUPS];    // offset to an adjacent pixel
  int jump[CUV_PCA_GROUPS];    // packed: offset to the lane's next pixel
  float pivot[CUV_PCA_GROUPS]; // floats only

  __device__ __forceinline__
  CuvPcaTileRows (const CuvPcaTile<F, PACKED> &tile, int first)
  {
    const int lane = opaque_lane (), n = tile.pass.bands.n;
    const int apart = PACKED ? tile.pass.apart : F == CUV_CUBE_F32 ? 2 : 4;

#pragma unroll
    for (int g = 0; g < CUV_PCA_GROUPS; g++) {
      const int row = first + 8 * g + lane / 4;

      step[g] = row < n ? tile.step () : size;
      at[g] = (row < n ? tile.band_at (row) : tile.pass.counts_at)
          + lane % 4 * step[g] * apart;
      jump[g] = apart == 1 ? 4 * step[g] : step[g];
      if constexpr (F == CUV_CUBE_F32)
        pivot[g] = row < n ? (float) tile.pass.pivots[row].d : 0.0f;
    }
  }

  // Packed: loads n of the lane's 8 samples, starting at the first-th, of the
  // 32 at pixel.
  template <int n, typename T>
  __device__ __forceinline__ void
  load (const CuvPcaTile<F, PACKED> &tile, int g, int pixel, int first,
      T samples[n]) const
  {
    const uint8_t *from =
        tile.bytes + at[g] + pixel * step[g] + first * jump[g];

#pragma unroll
    for (int j = 0; j < n; j++, from += jump[g])
      samples[j] = *(const Sample *) from;
  }
};

// Sums of 16 x 8 bands each, in the layout of mma accumulators.
template <typename T> struct CuvPcaProducts {
  static constexpr int n = CUV_PCA_GROUPS / 2 * CUV_PCA_GROUPS * 4;

  T sums[n / 4][4];
};

// A warp's sums. 16-bit samples: kind k holds products of bytes times 256^k.
template <CuvCubeFormat F> struct CuvPcaTileSums {
  typedef unsigned Value;
  static constexpr int kinds = F == CUV_CUBE_U16 ? 3 : 1;

  CuvPcaProducts<unsigned> products[kinds] = {};
};

template <> struct CuvPcaTileSums<CUV_CUBE_F32> {
  typedef double Value;
  static constexpr int kinds = 1;

  CuvPcaProducts<double> products[1] = {};
};

// Calls call (i, j, sums) for groups i, i + 1 of rows and group j < N_COLUMNS
// of columns, on and above the diagonal.
template <bool DIAGONAL, int N_COLUMNS, typename T, typename Call>
static __device__ __forceinline__ void
each_pair (CuvPcaProducts<T> *to, Call call)
{
#pragma unroll
  for (int i = 0; i < (DIAGONAL ? N_COLUMNS : CUV_PCA_GROUPS); i += 2) {
#pragma unroll
    for (int j = DIAGONAL ? i : 0; j < N_COLUMNS; j++)
      call (i, j, to->sums[i / 2 * CUV_PCA_GROUPS + j]);
  }
}

// Bytes of 32 pixels, a lane's eight of each group; planes are low and high
// bytes of 16-bit samples.
template <CuvCubeFormat F> struct CuvPcaTileBytes {
  static constexpr int planes = F == CUV_CUBE_U16 ? 2 : 1;

  unsigned words[planes][CUV_PCA_GROUPS][2];
};

// Packs four of a lane's samples. half: first or last four of eight.
template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ uint2
load_four (const CuvPcaTile<F, PACKED> &tile,
    const CuvPcaTileRows<F, PACKED> &rows, int g, int pixel, int half)
{
  constexpr int size = CuvPcaTile<F, PACKED>::size;
  const uint8_t *from =
      tile.bytes + rows.at[g] + (pixel + CUV_PCA_STEP / 2 * half) * size;

  if constexpr (PACKED) {
    unsigned s[4];

    rows.template load<4> (tile, g, pixel, 4 * half, s);
    const unsigned low = __byte_perm (s[0], s[1], size == 1 ? 0x40 : 0x5410);
    const unsigned high = __byte_perm (s[2], s[3], size == 1 ? 0x40 : 0x5410);

    return size == 1 ? make_uint2 (__byte_perm (low, high, 0x5410), 0)
                     : make_uint2 (low, high);
  } else if constexpr (F == CUV_CUBE_U16) {
    return *(const uint2 *) from;
  } else {
    return make_uint2 (*(const unsigned *) from, 0);
  }
}

template <CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ CuvPcaTileBytes<F>
load_bytes (const CuvPcaTile<F, PACKED> &tile,
    const CuvPcaTileRows<F, PACKED> &rows, int pixel)
{
  CuvPcaTileBytes<F> bytes = {};

#pragma unroll
  for (int g = 0; g < CUV_PCA_GROUPS; g++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const uint2 four = load_four (tile, rows, g, pixel, half);

      if constexpr (F == CUV_CUBE_U16) {
        bytes.words[0][g][half] = __byte_perm (four.x, four.y, 0x6420);
        bytes.words[1][g][half] = __byte_perm (four.x, four.y, 0x7531);
      } else {
        bytes.words[0][g][half] = four.x;
      }
    }
  }
  return bytes;
}

// Adds the products of 32 pixels, plane by plane: a sample is 256 high + low.
template <bool DIAGONAL, int N_COLUMNS, CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
add_step (const CuvPcaTile<F, PACKED> &tile,
    const CuvPcaTileRows<F, PACKED> &rows,
    const CuvPcaTileRows<F, PACKED> &columns, int pixel, CuvPcaTileSums<F> *to)
{
  const CuvPcaTileBytes<F> a = load_bytes (tile, rows, pixel);
  const CuvPcaTileBytes<F> b = DIAGONAL ? a : load_bytes (tile, columns, pixel);

#pragma unroll
  for (int k = 0; k < CuvPcaTileBytes<F>::planes * CuvPcaTileBytes<F>::planes;
       k++) {
    const auto &rows_of = a.words[k / CuvPcaTileBytes<F>::planes];
    const auto &columns_of = b.words[k % CuvPcaTileBytes<F>::planes];

    each_pair<DIAGONAL, N_COLUMNS> (
        &to->products[k / 2 + k % 2], [&] (int i, int j, unsigned *sums) {
          const unsigned pair[4] = { rows_of[i][0], rows_of[i + 1][0],
            rows_of[i][1], rows_of[i + 1][1] };

          cuv_pca_mma (sums, pair, columns_of[j]);
        });
  }
}

// Loads a lane's two pixels of the k-th eight of 32 pixels, for N groups.
template <int N, bool PACKED>
static __device__ __forceinline__ void
load_doubles (const CuvPcaTile<CUV_CUBE_F32, PACKED> &tile,
    const CuvPcaTileRows<CUV_CUBE_F32, PACKED> &rows, int pixel, int k,
    double values[CUV_PCA_GROUPS][2])
{
#pragma unroll
  for (int g = 0; g < N; g++) {
    float two[2];

    if constexpr (PACKED) {
      rows.template load<2> (tile, g, pixel, 2 * k, two);
    } else {
      *(float2 *) two =
          *(const float2 *) (tile.bytes + rows.at[g] + (pixel + 8 * k) * 4);
    }
    values[g][0] = two[0] - rows.pivot[g];
    values[g][1] = two[1] - rows.pivot[g];
  }
}

// Without tensor cores products are loops, which compile for minutes if they
// are unrolled.
enum { UNROLLED_PRODUCTS = CUV_PCA_HAS_MMA ? CUV_PCA_STEP / 8 : 1 };

template <bool DIAGONAL, int N_COLUMNS, bool PACKED>
static __device__ __forceinline__ void
add_step (const CuvPcaTile<CUV_CUBE_F32, PACKED> &tile,
    const CuvPcaTileRows<CUV_CUBE_F32, PACKED> &rows,
    const CuvPcaTileRows<CUV_CUBE_F32, PACKED> &columns, int pixel,
    CuvPcaTileSums<CUV_CUBE_F32> *to)
{
#pragma unroll UNROLLED_PRODUCTS
  for (int k = 0; k < CUV_PCA_STEP / 8; k++) {
    double a[CUV_PCA_GROUPS][2], other[CUV_PCA_GROUPS][2];
    double (*b)[2] = DIAGONAL ? a : other;

    load_doubles<DIAGONAL ? N_COLUMNS : CUV_PCA_GROUPS> (
        tile, rows, pixel, k, a);
    if (!DIAGONAL)
      load_doubles<N_COLUMNS> (tile, columns, pixel, k, other);
    each_pair<DIAGONAL, N_COLUMNS> (
        to->products, [&] (int i, int j, double *sums) {
          if (DIAGONAL && i == j) // the lower half would be below the diagonal
            cuv_pca_mma (sums, a[i], b[j]);
          else
            cuv_pca_mma (sums, a[i], a[i + 1], b[j]);
        });
  }
}

// Adds the warp's share of a tile's pixels.
template <int N_COLUMNS, CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
add_share (const CuvPcaTile<F, PACKED> &tile, const CuvPcaPlace &place,
    bool diagonal, CuvPcaTileSums<F> *sums)
{
  const CuvPcaTileRows<F, PACKED> rows (tile, place.row);
  const int step = CUV_PCA_STEP * place.n_shares;
  int p = CUV_PCA_STEP * place.share;

  if (diagonal) {
    for (; p < tile.extent.count; p += step)
      add_step<true, N_COLUMNS> (tile, rows, rows, p, sums);
  } else {
    const CuvPcaTileRows<F, PACKED> columns (tile, place.column);

    for (; p < tile.extent.count; p += step)
      add_step<false, N_COLUMNS> (tile, rows, columns, p, sums);
  }
}

// The parts at the right end have fewer groups of columns. Their number is a
// template parameter: a test before each group would take longer than it saves.
template <bool MANY, CuvCubeFormat F, bool PACKED>
static __device__ __forceinline__ void
cuv_pca_add_tile (const CuvPcaTile<F, PACKED> &tile, const CuvPcaPlace &place,
    CuvPcaTileSums<F> *sums)
{
  if (!place.works)
    return;
  if (!MANY)
    add_share<CUV_PCA_GROUPS> (tile, place, true, sums);
  else if (place.n_columns == 4)
    add_share<4> (tile, place, place.diagonal, sums);
  else if (place.n_columns == 3)
    add_share<3> (tile, place, place.diagonal, sums);
  else
    add_share<2> (tile, place, place.diagonal, sums);
}

// Adds a part's sum to global memory. Floats are stored per block because their
// sums depend on the order.
static __device__ __forceinline__ void
add_value (const CuvPcaPass &pass, int kind, int y, int x, unsigned value)
{
  atomicAdd (
      (unsigned long long *) &pass.sums[y * CUV_PCA_STRIDE (pass.bands.n) + x],
      (unsigned long long) value << 8 * kind);
}

static __device__ __forceinline__ void
add_value (const CuvPcaPass &pass, int, int y, int x, double value)
{
  const size_t block = (size_t) blockIdx.x * CUV_PCA_SUMS (pass.bands.n);

  pass.sums[block + y * CUV_PCA_STRIDE (pass.bands.n) + x].d = value;
}

// Whether the i-th of a lane's sums can be on or above the diagonal.
template <bool MANY>
static __device__ __forceinline__ constexpr bool
is_used (int i)
{
  return MANY || i / 4 % CUV_PCA_GROUPS >= i / 4 / CUV_PCA_GROUPS * 2;
}

// Adds a part's shares by tree reduction in shared memory: half of the
// remaining warps pass theirs to the other half. Called by all threads.
template <bool MANY, typename T>
static __device__ __forceinline__ void
add_shares (const CuvPcaPass &pass, const CuvPcaPlace &place,
    CuvPcaProducts<T> *products, T *area)
{
  constexpr int n = CuvPcaProducts<T>::n;
  const int here = MANY ? cuv_pca_parts_here (pass) : 1, share = place.share;
  T *own = area + place.part * n * 32 + threadIdx.x % 32;

#pragma unroll 1
  for (int left = place.n_shares, half; left > 1; left = half) {
    half = (left + 1) / 2;
    __syncthreads ();
    if (share >= half && share < left) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        if (is_used<MANY> (i))
          own[((share - half) * here * n + i) * 32] =
              products->sums[i / 4][i % 4];
      }
    }
    __syncthreads ();
    if (share + half < left) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        if (is_used<MANY> (i))
          products->sums[i / 4][i % 4] += own[(share * here * n + i) * 32];
      }
    }
  }
}

// Adds a block's sums to global memory. Called by all threads after their last
// tile.
template <bool MANY, CuvCubeFormat F>
static __device__ __forceinline__ void
cuv_pca_flush_sums (const CuvPcaPass &pass, const CuvPcaPlace &place,
    CuvPcaTileSums<F> *sums, void *shared)
{
  typedef typename CuvPcaTileSums<F>::Value Value;
  const int lane = opaque_lane ();

#pragma unroll
  for (int kind = 0; kind < CuvPcaTileSums<F>::kinds; kind++) {
    CuvPcaProducts<Value> *products = &sums->products[kind];

    add_shares<MANY> (pass, place, products, (Value *) shared);
    if (place.share > 0)
      continue;
#pragma unroll
    for (int i = 0; i < CuvPcaProducts<Value>::n; i++) {
      const int row =
          place.row + i / 4 / CUV_PCA_GROUPS * 16 + i % 4 / 2 * 8 + lane / 4;
      const int column =
          place.column + i / 4 % CUV_PCA_GROUPS * 8 + lane % 4 * 2 + i % 2;

      if (is_used<MANY> (i) && row <= column && column <= pass.bands.n)
        add_value (pass, kind, row, column, products->sums[i / 4][i % 4]);
    }
  }
}

#endif
