// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny's edges on the GPU: a block finds the candidates of a tile and what is
// connected within it. hysteresis.cu connects the tiles.
//
// Gradients and their L1 norms are integers up to 2040, which a half has
// exactly: a thread computes two pixels at a time, four next to each other.
#include "hough/maps.cuh"

#include <cuda_fp16.h>
#include "hough/components.cuh"
#include "hough/hysteresis.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)
#define WARP_ROWS (CUV_TILE_HEIGHT / WARPS)
#define HALO 2 // rows of grey values around the tile
#define GREY_ROWS (CUV_TILE_HEIGHT + 2 * HALO)
#define GREY_WORDS (CUV_TILE_WIDTH / 4 + 2) // of 4 pixels, from 4 before it
#define BLUR 2                              // its reach
#define RAW_ROWS (GREY_ROWS + 2 * BLUR)
#define RAW_WORDS (GREY_WORDS + 2)

// ---- pairs ----

static __device__ __forceinline__ __half2
as_halves (unsigned bits)
{
  return *(__half2 *) &bits;
}

static __device__ __forceinline__ unsigned
as_bits (__half2 pair)
{
  return *(unsigned *) &pair;
}

// The second of one pair and the first of the next.
static __device__ __forceinline__ __half2
between (__half2 a, __half2 b)
{
  return as_halves (__byte_perm (as_bits (a), as_bits (b), 0x5432));
}

static __device__ __forceinline__ float2
between (float2 a, float2 b)
{
  return make_float2 (a.y, b.x);
}

// All ones in the halves where a > b; a >= b.
static __device__ __forceinline__ unsigned
is_greater (__half2 a, __half2 b)
{
  return __hgt2_mask (a, b);
}

static __device__ __forceinline__ unsigned
is_no_less (__half2 a, __half2 b)
{
  return __hge2_mask (a, b);
}

static __device__ __forceinline__ unsigned
is_greater (float2 a, float2 b)
{
  return (a.x > b.x ? 0xffff : 0) | (a.y > b.y ? 0xffff0000 : 0);
}

static __device__ __forceinline__ unsigned
is_no_less (float2 a, float2 b)
{
  return (a.x >= b.x ? 0xffff : 0) | (a.y >= b.y ? 0xffff0000 : 0);
}

static __device__ __forceinline__ __half2
choose (unsigned mask, __half2 a, __half2 b)
{
  return as_halves ((as_bits (a) & mask) | (as_bits (b) & ~mask));
}

static __device__ __forceinline__ float2
choose (unsigned mask, float2 a, float2 b)
{
  return make_float2 (mask & 1 ? a.x : b.x, mask >> 31 ? a.y : b.y);
}

// The norm of gradients; squared if it is L2's.
static __device__ __forceinline__ void
find_norm (__half2 gx, __half2 gy, __half2 *norm)
{
  *norm = __hadd2 (__habs2 (gx), __habs2 (gy));
}

static __device__ __forceinline__ void
find_norm (__half2 gx, __half2 gy, float2 *norm)
{
  const float2 x = __half22float2 (gx), y = __half22float2 (gy);

  *norm = make_float2 (x.x * x.x + y.x * y.x, x.y * x.y + y.y * y.y);
}

static __device__ __forceinline__ void
spread (float limit, __half2 *pair)
{
  *pair = __float2half2_rn (limit);
}

static __device__ __forceinline__ void
spread (float limit, float2 *pair)
{
  *pair = make_float2 (limit, limit);
}

// ---- grey values ----

static __device__ __forceinline__ int
clamp (int v, int end)
{
  return min (max (v, 0), end - 1);
}

// Four pixels of a row from x on, which is a multiple of 4; beyond the border
// its pixels. words: the frame has them as words.
static __device__ __forceinline__ unsigned
load_grey (const CuvFrame &frame, bool words, int x, int y)
{
  const CuvComponent &c = frame.component[0];
  const int last = (frame.width - 1) / 4 * 4, n = frame.width - x;
  unsigned four = 0;

  y = clamp (y, frame.height);
  if (words) {
    const unsigned end = 0x1111 * ((frame.width - 1) % 4);
    const unsigned bytes = x < 0 ? 0
        : n >= 4                 ? 0x3210
        : n == 3                 ? 0x2210
        : n == 2                 ? 0x1110
                                 : end;

    four = __ldg ((const unsigned *) (c.data + (int64_t) y * c.stride
        + min (max (x, 0), last)));
    return __byte_perm (four, 0, bytes);
  }
  for (int i = 0; i < 4; i++)
    four |= (unsigned) cuv_frame_grey (&frame, clamp (x + i, frame.width), y)
        << 8 * i;
  return four;
}

// The blurred value at a pixel that is in the picture, of raw rows that begin
// at (x0, y0).
static __device__ unsigned
blurred (const unsigned (*raw)[RAW_WORDS], int x, int y)
{
  const uint8_t *at = (const uint8_t *) raw + y * RAW_WORDS * 4 + x;
  unsigned sum = 128;

  for (int j = -2; j <= 2; j++) {
    const uint8_t *row = at + j * RAW_WORDS * 4;
    const unsigned weight = j == 0 ? 6 : j == -1 || j == 1 ? 4 : 1;

    sum += weight * (row[-2] + 4 * row[-1] + 6 * row[0] + 4 * row[1] + row[2]);
  }
  return sum >> 8;
}

// A picture's words from (x0, y0) on; a warp loads rows. inside: they are all
// words of the frame.
template <int ROWS, int WORDS>
static __device__ __forceinline__ void
load_words (unsigned (*to)[WORDS], const CuvFrame &frame, bool words,
    bool inside, int x0, int y0)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x % 32;
  const CuvComponent &c = frame.component[0];
  const uint8_t *from = c.data + (int64_t) y0 * c.stride + x0;

  static_assert (WORDS > 32 && WORDS <= 64, "two a lane");
  if (!inside) {
#pragma unroll 4
    for (int y = warp; y < ROWS; y += WARPS) {
      for (int x = lane; x < WORDS; x += 32)
        to[y][x] = load_grey (frame, words, x0 + 4 * x, y0 + y);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i <= ROWS / WARPS; i++) {
    const int y = warp + i * WARPS;
    const unsigned *row = (const unsigned *) (from + (int64_t) y * c.stride);

    if (y < ROWS)
      to[y][lane] = __ldg (row + lane);
    if (y < ROWS && lane + 32 < WORDS)
      to[y][lane + 32] = __ldg (row + lane + 32);
  }
}

// The tile's grey values and those around it, from (x0 - 4, y0 - HALO) on.
template <bool BLURRED>
static __device__ __forceinline__ void
load_tile (unsigned (*grey)[GREY_WORDS], unsigned (*raw)[RAW_WORDS],
    const CuvFrame &frame, bool words, int x0, int y0)
{
  const bool inside = words && x0 >= 8 && x0 + CUV_TILE_WIDTH + 8 <= frame.width
      && y0 >= HALO + BLUR
      && y0 + CUV_TILE_HEIGHT + HALO + BLUR <= frame.height;

  if (!BLURRED) {
    load_words<GREY_ROWS, GREY_WORDS> (
        grey, frame, words, inside, x0 - 4, y0 - HALO);
    return;
  }
  load_words<RAW_ROWS, RAW_WORDS> (
      raw, frame, words, inside, x0 - 8, y0 - HALO - BLUR);
  __syncthreads ();
  for (int i = threadIdx.x; i < GREY_ROWS * GREY_WORDS * 4; i += THREADS) {
    const int x = i % (GREY_WORDS * 4), y = i / (GREY_WORDS * 4);

    ((uint8_t *) grey)[i] =
        blurred (raw, clamp (x0 - 4 + x, frame.width) - (x0 - 8),
            clamp (y0 - HALO + y, frame.height) - (y0 - HALO - BLUR));
  }
}

// ---- gradients ----

// Pixels are those of a thread, 0 .. 3, and those beside them: pair i begins at
// pixel 2 * i - 1.
struct Sums { // of a row: right - left, and left + 2 * middle + right
  __half2 difference[3], sum[3];
};

template <typename Norm> struct Gradients {
  __half2 gx[3], gy[3];
  Norm norm[3];
};

// Two bytes as halves: 0x6400 + v is 1024 + v.
static __device__ __forceinline__ __half2
unpack (unsigned four, unsigned selector)
{
  return __hsub2 (as_halves (__byte_perm (four, 0x64646464, selector)),
      __float2half2_rn (1024));
}

static __device__ __forceinline__ Sums
add_up (const unsigned *row)
{
  const __half2 two = __float2half2_rn (2);
  const __half2 even[] = { unpack (row[0], 0x4342), unpack (row[1], 0x4140),
    unpack (row[1], 0x4342), unpack (row[2], 0x4140) };
  Sums sums;

  for (int i = 0; i < 3; i++) {
    sums.difference[i] = __hsub2 (even[i + 1], even[i]);
    sums.sum[i] = __hfma2 (
        two, between (even[i], even[i + 1]), __hadd2 (even[i], even[i + 1]));
  }
  return sums;
}

template <typename Norm>
static __device__ __forceinline__ Gradients<Norm>
find_gradients (const Sums &above, const Sums &here, const Sums &below)
{
  const __half2 two = __float2half2_rn (2);
  Gradients<Norm> g;

  for (int i = 0; i < 3; i++) {
    g.gx[i] = __hfma2 (two, here.difference[i],
        __hadd2 (above.difference[i], below.difference[i]));
    g.gy[i] = __hsub2 (below.sum[i], above.sum[i]);
    find_norm (g.gx[i], g.gy[i], &g.norm[i]);
  }
  return g;
}

// ---- candidates ----

// |gy| - |gx| * (high + low), which is 0 if both are, and else has its sign:
// true of all integers up to 1020 for tan (22.5 degrees) and tan (67.5
// degrees) taken apart as below.
static __device__ __forceinline__ __half2
beyond (__half2 ax, __half2 ay, float high)
{
  const __half2 coarse = __hfma2 (ax, __float2half2_rn (-high), ay);

  return __hfma2 (ax, __float2half2_rn (-5.f / 32768), coarse);
}

// Whether norms of pixels 2 * i and 2 * i + 1 are the greatest across the edge;
// of equal ones the first.
template <typename Norm>
static __device__ __forceinline__ unsigned
is_ridge (const Gradients<Norm> &above, const Gradients<Norm> &here,
    const Gradients<Norm> &below, int i, Norm norm)
{
  const __half2 zero = __float2half2_rn (0);
  const __half2 gx = between (here.gx[i], here.gx[i + 1]);
  const __half2 gy = between (here.gy[i], here.gy[i + 1]);
  const __half2 ax = __habs2 (gx), ay = __habs2 (gy);
  const unsigned across = __hlt2_mask (beyond (ax, ay, 53.f / 128), zero);
  const unsigned down = __hgt2_mask (beyond (ax, ay, 309.f / 128), zero);
  const __half2 product_sign =
      as_halves (((as_bits (gx) ^ as_bits (gy)) & 0x80008000)
          | as_bits (__float2half2_rn (1)));
  const unsigned falls = __hlt2_mask (product_sign, zero);
  const Norm up = between (above.norm[i], above.norm[i + 1]);
  const Norm low = between (below.norm[i], below.norm[i + 1]);
  Norm first = choose (falls, above.norm[i + 1], above.norm[i]);
  Norm second = choose (falls, below.norm[i], below.norm[i + 1]);

  first = choose (across, here.norm[i], choose (down, up, first));
  second = choose (across, here.norm[i + 1], choose (down, low, second));
  return is_greater (norm, first) & is_no_less (norm, second);
}

// Four candidates in bits 0 .. 3, those that are edges by themselves in 4 .. 7.
template <typename Norm>
static __device__ __forceinline__ unsigned
find_candidates (const Gradients<Norm> &above, const Gradients<Norm> &here,
    const Gradients<Norm> &below, Norm low, Norm high)
{
  unsigned bits = 0;

  for (int i = 0; i < 2; i++) {
    const Norm norm = between (here.norm[i], here.norm[i + 1]);
    const unsigned weak =
        is_ridge (above, here, below, i, norm) & is_greater (norm, low);

    bits |= (weak & 0x00020001 << 2 * i)
        | (weak & is_greater (norm, high) & 0x00200010 << 2 * i);
  }
  return (bits | bits >> 16) & 255;
}

// A warp's rows of the tile; four pixels a lane.
template <typename Norm>
static __device__ __forceinline__ void
scan_rows (const unsigned (*grey)[GREY_WORDS], uint8_t (*found)[32], Norm low,
    Norm high)
{
  const int lane = threadIdx.x % 32, first = cuv_warp_of_thread () * WARP_ROWS;
  Sums sums[3];
  Gradients<Norm> gradients[3];

#pragma unroll
  for (int j = 0; j < WARP_ROWS + 4; j++) {
    sums[j % 3] = add_up (&grey[first + j][lane]);
    if (j >= 2)
      gradients[j % 3] = find_gradients<Norm> (
          sums[(j + 1) % 3], sums[(j + 2) % 3], sums[j % 3]);
    if (j >= 4)
      found[first + j - 4][lane] = find_candidates (gradients[(j + 1) % 3],
          gradients[(j + 2) % 3], gradients[j % 3], low, high);
  }
}

// Eight times four bits of bytes, as 32.
static __device__ __forceinline__ unsigned
gather_nibbles (uint2 bytes)
{
  unsigned word = 0;

  for (int i = 0; i < 2; i++) {
    unsigned v = (i == 0 ? bytes.x : bytes.y) & 0x0f0f0f0f;

    v = (v | v >> 4) & 0x00ff00ff;
    word |= ((v | v >> 8) & 0xffff) << 16 * i;
  }
  return word;
}

// Pixels of a word that are not at the picture's border or beyond.
static __device__ __forceinline__ unsigned
inner_pixels (const CuvMaps &maps, int x, int y)
{
  const int n = maps.width - 1 - x;

  if (y < 1 || y >= maps.height - 1 || n <= 0)
    return 0;
  return (n < 32 ? (1u << n) - 1 : ~0u) & (x == 0 ? ~1u : ~0u);
}

// ---- edges grow within the tile ----

// A row of a tile: bit x is pixel x.
typedef unsigned __int128 Row;

// The runs of ones that have a seed, from there on upwards: adding the seeds
// carries through the runs.
static __device__ __forceinline__ Row
fill_upwards (Row seeds, Row runs)
{
  return ((runs ^ (runs + seeds)) & runs) | seeds;
}

static __device__ __forceinline__ Row
reversed (Row row)
{
  const unsigned long long low = row, high = row >> 64;

  return (Row) __brevll (low) << 64 | __brevll (high);
}

static __device__ __forceinline__ Row
fill_runs (Row seeds, Row runs)
{
  return fill_upwards (seeds, runs)
      | reversed (fill_upwards (reversed (seeds), reversed (runs)));
}

// The row of the lane before or after; its own if there is none.
static __device__ __forceinline__ Row
beside (Row row, int delta)
{
  const unsigned long long low = row, high = row >> 64;

  return delta < 0
      ? (Row) __shfl_up_sync (~0u, high, 1) << 64 | __shfl_up_sync (~0u, low, 1)
      : (Row) __shfl_down_sync (~0u, high, 1) << 64
          | __shfl_down_sync (~0u, low, 1);
}

// By a warp, a row each.
static __device__ __forceinline__ Row
grow (Row edges, Row candidates)
{
  bool changed;

  static_assert (CUV_TILE_HEIGHT == 32 && CUV_TILE_WIDTH == 128, "rows");
  do {
    const Row near = edges | beside (edges, -1) | beside (edges, 1);
    const Row grown =
        fill_runs ((near | near << 1 | near >> 1) & candidates, candidates);

    changed = grown != edges;
    edges = grown;
  } while (__any_sync (~0u, changed));
  return edges;
}

// ---- what may go on in other tiles ----

// Words of a tile, row by row, and the sets of its candidates that are no edges
// yet.
struct Components {
  __align__ (16) unsigned edges[CUV_TILE_SIZE];
  __align__ (16) unsigned candidates[CUV_TILE_SIZE];
  unsigned undecided[CUV_TILE_SIZE];
  unsigned open[CUV_TILE_SIZE]; // roots whose set goes on in other tiles
  int parents[32 * CUV_TILE_SIZE];
  uint16_t runs[16 * CUV_TILE_SIZE]; // nodes
  unsigned n_runs;
};

// A pixel is number 32 * its word + its bit; a run's node is its first pixel.
struct Run {
  int word, bit, node;
  unsigned pixels; // of the word
};

static __device__ __forceinline__ Run
run_of (const Components *tile, int word, int bit)
{
  const unsigned candidates = tile->candidates[word];
  const int start = cuv_run_start (candidates, bit);

  return Run{ word, start, 32 * word + start, cuv_run_at (candidates, start) };
}

static __device__ __forceinline__ Run
listed_run (const Components *tile, unsigned i)
{
  return run_of (tile, tile->runs[i] / 32, tile->runs[i] % 32);
}

// Each run of a word that is not one of edges is a set.
static __device__ __forceinline__ void
list_runs (Components *tile, int word)
{
  const unsigned candidates = tile->candidates[word] & ~tile->edges[word];
  unsigned starts = candidates & ~(candidates << 1);
  unsigned at = 0;

  if (starts != 0)
    at = atomicAdd (&tile->n_runs, (unsigned) __popc (starts));
  tile->candidates[word] = candidates;
  tile->undecided[word] = tile->open[word] = 0;
  for (; starts != 0; starts &= starts - 1) {
    const int node = 32 * word + __ffs (starts) - 1;

    tile->runs[at++] = (uint16_t) node;
    tile->parents[node] = node;
  }
}

static __device__ __forceinline__ void
unite_pixel (Components *tile, const Run &run, int word, int bit)
{
  if (tile->candidates[word] >> bit & 1)
    cuv_unite (tile->parents, run.node, run_of (tile, word, bit).node);
}

// With runs in the row above, and in the words beside it.
static __device__ __forceinline__ void
unite_run (Components *tile, const Run &run)
{
  const bool goes_left = (run.pixels & 1) && run.word % CUV_TILE_WORDS > 0;
  const bool goes_right =
      run.pixels >> 31 && run.word % CUV_TILE_WORDS < CUV_TILE_WORDS - 1;
  const int above = run.word - CUV_TILE_WORDS;

  if (goes_left)
    unite_pixel (tile, run, run.word - 1, 31);
  if (above < 0)
    return;
  if (goes_left)
    unite_pixel (tile, run, above - 1, 31);
  if (goes_right)
    unite_pixel (tile, run, above + 1, 0);
  unsigned touched = tile->candidates[above]
      & (run.pixels | run.pixels << 1 | run.pixels >> 1);

  while (touched != 0) {
    const Run other = run_of (tile, above, __ffs (touched) - 1);

    cuv_unite (tile->parents, run.node, other.node);
    touched &= ~other.pixels;
  }
}

static __device__ __forceinline__ bool
is_at_border (const Run &run)
{
  const int row = run.word / CUV_TILE_WORDS, word = run.word % CUV_TILE_WORDS;

  return row == 0 || row == CUV_TILE_HEIGHT - 1
      || (word == 0 && (run.pixels & 1))
      || (word == CUV_TILE_WORDS - 1 && run.pixels >> 31);
}

// Finds the set's root, and whether it goes on.
static __device__ __forceinline__ void
find_root (Components *tile, const Run &run)
{
  const int root = cuv_find_root (tile->parents, run.node);

  tile->parents[run.node] = root;
  if (is_at_border (run))
    atomicOr (&tile->open[root / 32], 1u << root % 32);
}

// Notes a run of such a set for the other tiles.
static __device__ __forceinline__ void
note_if_open (Components *tile, const CuvMaps &maps, const Run &run)
{
  const int root = tile->parents[run.node];
  const int x0 = blockIdx.x * CUV_TILE_WIDTH, y0 = blockIdx.y * CUV_TILE_HEIGHT;

  if (!(tile->open[root / 32] >> root % 32 & 1))
    return;
  atomicOr (&tile->undecided[run.word], run.pixels);
  maps.parents[cuv_map_node (maps, x0 + run.node % CUV_TILE_WIDTH,
      y0 + run.node / CUV_TILE_WIDTH)] = cuv_map_node (maps,
      x0 + root % CUV_TILE_WIDTH, y0 + root / CUV_TILE_WIDTH);
}

// Finds the candidates that are edges, and those that are undecided, by all
// threads of a block; what is edges at first is so by itself.
static __device__ __forceinline__ void
connect (Components *tile, const CuvMaps &maps)
{
  if (threadIdx.x < 32) {
    Row *edges = (Row *) tile->edges + threadIdx.x;

    *edges = grow (*edges, ((const Row *) tile->candidates)[threadIdx.x]);
    tile->n_runs = 0;
  }
  __syncthreads ();
  for (int i = threadIdx.x; i < CUV_TILE_SIZE; i += THREADS)
    list_runs (tile, i);
  __syncthreads ();
  const unsigned n = tile->n_runs;

  for (unsigned i = threadIdx.x; i < n; i += THREADS)
    unite_run (tile, listed_run (tile, i));
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < n; i += THREADS)
    find_root (tile, listed_run (tile, i));
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < n; i += THREADS)
    note_if_open (tile, maps, listed_run (tile, i));
  __syncthreads ();
}

// A block makes a tile.
template <bool BLURRED, typename Norm>
static __global__ void
__launch_bounds__ (THREADS) canny_kernel (
    CuvMaps maps, CuvFrame frame, bool words, float low, float high)
{
  __shared__ unsigned grey[GREY_ROWS][GREY_WORDS];
  __shared__ __align__ (8) uint8_t found[CUV_TILE_HEIGHT][32];
  __shared__ union {
    unsigned raw[RAW_ROWS][RAW_WORDS];
    Components components;
  } tile;
  const int x0 = blockIdx.x * CUV_TILE_WIDTH, y0 = blockIdx.y * CUV_TILE_HEIGHT;
  Norm weak_limit, strong_limit;

  cuv_let_next_kernel_start ();
  if (blockIdx.x == 0 && blockIdx.y == 0)
    cuv_begin_frame (maps);
  load_tile<BLURRED> (grey, tile.raw, frame, words, x0, y0);
  __syncthreads ();
  spread (low, &weak_limit);
  spread (high, &strong_limit);
  scan_rows<Norm> (grey, found, weak_limit, strong_limit);
  __syncthreads ();
  for (int i = threadIdx.x; i < CUV_TILE_SIZE; i += THREADS) {
    const int row = i / CUV_TILE_WORDS, word = i % CUV_TILE_WORDS;
    const uint2 bytes = ((const uint2 *) found[row])[word];
    const unsigned inner = inner_pixels (maps, x0 + 32 * word, y0 + row);

    tile.components.candidates[i] = gather_nibbles (bytes) & inner;
    tile.components.edges[i] =
        gather_nibbles (make_uint2 (bytes.x >> 4, bytes.y >> 4)) & inner;
  }
  __syncthreads ();
  connect (&tile.components, maps);
  for (int i = threadIdx.x; i < CUV_TILE_SIZE; i += THREADS) {
    const size_t at = (size_t) (y0 + i / CUV_TILE_WORDS) * cuv_map_pitch (maps)
        + x0 / 32 + i % CUV_TILE_WORDS;

    maps.edges[at] = tile.components.edges[i];
    maps.undecided[at] = tile.components.undecided[i];
  }
}

// ---- a frame that is a map ----

// A warp makes a word.
static __global__ void
input_kernel (CuvMaps maps, CuvFrame frame)
{
  const int pitch = cuv_map_pitch (maps), lane = threadIdx.x % 32;
  const int word = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int x = word % pitch * 32 + lane, y = word / pitch;

  cuv_let_next_kernel_start ();
  if (blockIdx.x == 0)
    cuv_begin_frame (maps);
  const bool edge =
      x < maps.width && y < maps.height && cuv_frame_grey (&frame, x, y) != 0;
  const unsigned bits = __ballot_sync (~0u, edge);

  if (lane == 0) {
    maps.edges[word] = bits;
    maps.undecided[word] = 0;
  }
}

// ---- launchers ----

template <typename Norm>
static int
submit (const CuvMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, float low, float high, cudaStream_t stream)
{
  const CuvComponent &c = frame.component[0];
  const bool words = frame.model != CUV_MODEL_RGB && c.step == 1
      && ((uintptr_t) c.data | (uintptr_t) c.stride) % 4 == 0;
  const dim3 grid (maps.tiles_x, maps.tiles_y);
  const auto kernel =
      params.blur ? canny_kernel<true, Norm> : canny_kernel<false, Norm>;

  kernel<<<grid, THREADS, 0, stream>>> (maps, frame, words, low, high);
  CUV_CUDA_LAUNCHED (canny_kernel);
  return cuv_hysteresis_submit (maps, stream);
}

int
cuv_maps_submit (const CuvMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, cudaStream_t stream)
{
  const float low = params.low, high = params.high;

  return params.norm == CUV_CANNY_L1
      ? submit<__half2> (maps, frame, params, low, high, stream)
      : submit<float2> (maps, frame, params, low * low, high * high, stream);
}

int
cuv_maps_submit_input (
    const CuvMaps &maps, const CuvFrame &frame, cudaStream_t stream)
{
  const int blocks = (int) (cuv_map_words (maps) / WARPS);

  input_kernel<<<blocks, THREADS, 0, stream>>> (maps, frame);
  CUV_CUDA_LAUNCHED (input_kernel);
  return 0;
}
