// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny edge detection in tiles, which hysteresis.cu connects, and edge maps as
// input.
#include "hough/canny-gradients.cuh"
#include "hough/canny-hysteresis.cuh"

// Packs the low nibbles of eight bytes into a word.
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

// Returns a mask of the word's pixels inside the frame and not on its border.
static __device__ __forceinline__ unsigned
inner_pixels (const CuvHoughMaps &maps, int x, int y)
{
  const int n = maps.width - 1 - x;

  if (y < 1 || y >= maps.height - 1 || n <= 0)
    return 0;
  return (n < 32 ? (1u << n) - 1 : ~0u) & (x == 0 ? ~1u : ~0u);
}

// Stores the tile's grey values in maps.blurred.
static __device__ __forceinline__ void
store_tile (const CuvHoughMaps &maps,
    const unsigned (*grey)[CUV_HOUGH_GREY_WORDS], int x0, int y0)
{
  const int lane = threadIdx.x % 32, pitch = cuv_blurred_pitch (maps) / 4;
  unsigned *to =
      (unsigned *) maps.blurred + (size_t) y0 * pitch + x0 / 4 + lane;

  static_assert (CUV_HOUGH_TILE_WIDTH == 4 * 32, "a word per lane");
#pragma unroll
  for (int y = cuv_warp_of_thread (); y < CUV_HOUGH_TILE_HEIGHT;
       y += CUV_HOUGH_CANNY_WARPS)
    to[y * pitch] = grey[CUV_HOUGH_GREY_HALO + y][1 + lane];
}

// Grid: tiles. words: see cuv_hough_load_four(). low, high: thresholds in units
// of Norm. Shared memory: grey values, then found candidates; unblurred pixels
// share theirs with the components, which come later.
template <bool BLURRED, typename Norm>
static __global__ void
__launch_bounds__ (CUV_HOUGH_CANNY_THREADS) canny_kernel (
    CuvHoughMaps maps, CuvFrame frame, bool words, float low, float high)
{
  __shared__ unsigned grey[CUV_HOUGH_GREY_ROWS][CUV_HOUGH_GREY_WORDS];
  __shared__ __align__ (8) uint8_t found[CUV_HOUGH_TILE_HEIGHT][32];
  __shared__ union {
    unsigned raw[CUV_HOUGH_RAW_ROWS][CUV_HOUGH_RAW_WORDS];
    CuvHoughComponents components;
  } tile;
  const int x0 = blockIdx.x * CUV_HOUGH_TILE_WIDTH,
            y0 = blockIdx.y * CUV_HOUGH_TILE_HEIGHT;
  Norm weak_limit, strong_limit;

  cuv_pdl_trigger ();
  if (blockIdx.x == 0 && blockIdx.y == 0)
    cuv_begin_frame (maps);
  cuv_load_tile<BLURRED> (grey, tile.raw, frame, words, x0, y0);
  __syncthreads ();
  if (BLURRED && maps.blurred != nullptr)
    store_tile (maps, grey, x0, y0);
  broadcast (low, &weak_limit);
  broadcast (high, &strong_limit);
  cuv_scan_rows<Norm> (grey, found, weak_limit, strong_limit);
  __syncthreads ();
  for (int i = threadIdx.x; i < CUV_HOUGH_TILE_SIZE;
       i += CUV_HOUGH_CANNY_THREADS) {
    const int row = i / CUV_HOUGH_TILE_WORDS, word = i % CUV_HOUGH_TILE_WORDS;
    const uint2 bytes = ((const uint2 *) found[row])[word];
    const unsigned inner = inner_pixels (maps, x0 + 32 * word, y0 + row);

    tile.components.candidates[i] = gather_nibbles (bytes) & inner;
    tile.components.edges[i] =
        gather_nibbles (make_uint2 (bytes.x >> 4, bytes.y >> 4)) & inner;
  }
  __syncthreads ();
  cuv_connect_tile (&tile.components, maps);
  for (int i = threadIdx.x; i < CUV_HOUGH_TILE_SIZE;
       i += CUV_HOUGH_CANNY_THREADS) {
    const size_t at =
        (size_t) (y0 + i / CUV_HOUGH_TILE_WORDS) * cuv_map_pitch (maps)
        + x0 / 32 + i % CUV_HOUGH_TILE_WORDS;

    maps.edges[at] = tile.components.edges[i];
    maps.undecided[at] = tile.components.undecided[i];
  }
}

// With edges=input the frame is the edge map: every nonzero pixel is an edge.
// One warp per word of 32 pixels.
static __global__ void
input_kernel (CuvHoughMaps maps, CuvFrame frame)
{
  const int pitch = cuv_map_pitch (maps), lane = threadIdx.x % 32;
  const int word = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int x = word % pitch * 32 + lane, y = word / pitch;

  cuv_pdl_trigger ();
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

template <typename Norm>
static int
cuv_canny_submit (const CuvHoughMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, float low, float high, cudaStream_t stream,
    CuvReplay *recorded)
{
  const CuvComponent &c = frame.component[0];
  const bool words = frame.model != CUV_MODEL_RGB && c.step == 1
      && ((uintptr_t) c.data | (uintptr_t) c.stride) % 4 == 0;
  const dim3 grid (maps.tiles_x, maps.tiles_y);
  const auto kernel =
      params.blur ? canny_kernel<true, Norm> : canny_kernel<false, Norm>;

  if (recorded != nullptr)
    return recorded->change_first (
        kernel, grid, CUV_HOUGH_CANNY_THREADS, maps, frame, words, low, high);
  kernel<<<grid, CUV_HOUGH_CANNY_THREADS, 0, stream>>> (
      maps, frame, words, low, high);
  CUV_CUDA_LAUNCHED (canny_kernel);
  return 0;
}

int
cuv_maps_submit (const CuvHoughMaps &maps, const CuvFrame &frame,
    const CuvCannyParams &params, cudaStream_t stream, CuvReplay *recorded)
{
  const float low = params.low, high = params.high;

  return params.norm == CUV_CANNY_L1
      ? cuv_canny_submit<__half2> (
          maps, frame, params, low, high, stream, recorded)
      : cuv_canny_submit<float2> (
          maps, frame, params, low * low, high * high, stream, recorded);
}

int
cuv_maps_submit_input (const CuvHoughMaps &maps, const CuvFrame &frame,
    cudaStream_t stream, CuvReplay *recorded)
{
  const int blocks = (int) (cuv_map_words (maps) / CUV_HOUGH_CANNY_WARPS);

  if (recorded != nullptr)
    return recorded->change_first (
        input_kernel, blocks, CUV_HOUGH_CANNY_THREADS, maps, frame);
  input_kernel<<<blocks, CUV_HOUGH_CANNY_THREADS, 0, stream>>> (maps, frame);
  CUV_CUDA_LAUNCHED (input_kernel);
  return 0;
}
