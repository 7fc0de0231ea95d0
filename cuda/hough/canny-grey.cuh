// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads the grey values of a tile and its halo, optionally blurred.
#ifndef CUV_HOUGH_CANNY_GREY_CUH
#define CUV_HOUGH_CANNY_GREY_CUH

#include "hough/edge-maps.cuh"

#define CUV_HOUGH_CANNY_THREADS 256
#define CUV_HOUGH_CANNY_WARPS (CUV_HOUGH_CANNY_THREADS / 32)
#define CUV_HOUGH_GREY_HALO 2 // rows around the tile
#define CUV_HOUGH_GREY_ROWS (CUV_HOUGH_TILE_HEIGHT + 2 * CUV_HOUGH_GREY_HALO)
// words of 4 pixels in a row
#define CUV_HOUGH_GREY_WORDS (CUV_HOUGH_TILE_WIDTH / 4 + 2)
#define CUV_HOUGH_BLUR 2 // radius of the blur, pixels
// rows loaded before blurring
#define CUV_HOUGH_RAW_ROWS (CUV_HOUGH_GREY_ROWS + 2 * CUV_HOUGH_BLUR)
#define CUV_HOUGH_RAW_WORDS (CUV_HOUGH_GREY_WORDS + 2)

// Returns four pixels of a row from x, a multiple of 4; border pixels are
// replicated. words: the plane is aligned for 32-bit loads.
static __device__ __forceinline__ unsigned
cuv_hough_load_four (const CuvFrame &frame, bool words, int x, int y)
{
  const CuvComponent &c = frame.component[0];
  const int last = (frame.width - 1) / 4 * 4, n = frame.width - x;
  unsigned four = 0;

  y = cuv_hough_clamp (y, frame.height);
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
    four |= (unsigned) cuv_frame_grey (
                &frame, cuv_hough_clamp (x + i, frame.width), y)
        << 8 * i;
  return four;
}

// Returns pixel (x, y) of raw, blurred by [1 4 6 4 1] / 16 in x and y.
// cuv_hough_blur_pixel() does the same for a single pixel of a frame.
static __device__ unsigned
cuv_hough_blur_tile (const unsigned (*raw)[CUV_HOUGH_RAW_WORDS], int x, int y)
{
  const uint8_t *at = (const uint8_t *) raw + y * CUV_HOUGH_RAW_WORDS * 4 + x;
  unsigned sum = 128;

  for (int j = -2; j <= 2; j++) {
    const uint8_t *row = at + j * CUV_HOUGH_RAW_WORDS * 4;
    const unsigned weight = j == 0 ? 6 : j == -1 || j == 1 ? 4 : 1;

    sum += weight * (row[-2] + 4 * row[-1] + 6 * row[0] + 4 * row[1] + row[2]);
  }
  return sum >> 8;
}

// Loads ROWS x WORDS words from (x0, y0) on. inside: all words are aligned and
// in the frame.
template <int ROWS, int WORDS>
static __device__ __forceinline__ void
load_words (unsigned (*to)[WORDS], const CuvFrame &frame, bool words,
    bool inside, int x0, int y0)
{
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x % 32;
  const CuvComponent &c = frame.component[0];
  const uint8_t *from = c.data + (int64_t) y0 * c.stride + x0;

  static_assert (WORDS > 32 && WORDS <= 64, "each lane loads two words");
  if (!inside) {
#pragma unroll 4
    for (int y = warp; y < ROWS; y += CUV_HOUGH_CANNY_WARPS) {
      for (int x = lane; x < WORDS; x += 32)
        to[y][x] = cuv_hough_load_four (frame, words, x0 + 4 * x, y0 + y);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i <= ROWS / CUV_HOUGH_CANNY_WARPS; i++) {
    const int y = warp + i * CUV_HOUGH_CANNY_WARPS;
    const unsigned *row = (const unsigned *) (from + (int64_t) y * c.stride);

    if (y < ROWS)
      to[y][lane] = __ldg (row + lane);
    if (y < ROWS && lane + 32 < WORDS)
      to[y][lane + 32] = __ldg (row + lane + 32);
  }
}

// Loads the grey values of the tile at (x0, y0), from (x0 - 4, y0 -
// CUV_HOUGH_GREY_HALO) on. raw: buffer for the pixels to blur.
template <bool BLURRED>
static __device__ __forceinline__ void
cuv_load_tile (unsigned (*grey)[CUV_HOUGH_GREY_WORDS],
    unsigned (*raw)[CUV_HOUGH_RAW_WORDS], const CuvFrame &frame, bool words,
    int x0, int y0)
{
  const bool inside = words && x0 >= 8
      && x0 + CUV_HOUGH_TILE_WIDTH + 8 <= frame.width
      && y0 >= CUV_HOUGH_GREY_HALO + CUV_HOUGH_BLUR
      && y0 + CUV_HOUGH_TILE_HEIGHT + CUV_HOUGH_GREY_HALO + CUV_HOUGH_BLUR
          <= frame.height;

  if (!BLURRED) {
    load_words<CUV_HOUGH_GREY_ROWS, CUV_HOUGH_GREY_WORDS> (
        grey, frame, words, inside, x0 - 4, y0 - CUV_HOUGH_GREY_HALO);
    return;
  }
  load_words<CUV_HOUGH_RAW_ROWS, CUV_HOUGH_RAW_WORDS> (raw, frame, words,
      inside, x0 - 8, y0 - CUV_HOUGH_GREY_HALO - CUV_HOUGH_BLUR);
  __syncthreads ();
  for (int i = threadIdx.x; i < CUV_HOUGH_GREY_ROWS * CUV_HOUGH_GREY_WORDS * 4;
       i += CUV_HOUGH_CANNY_THREADS) {
    const int x = i % (CUV_HOUGH_GREY_WORDS * 4),
              y = i / (CUV_HOUGH_GREY_WORDS * 4);

    ((uint8_t *) grey)[i] = cuv_hough_blur_tile (raw,
        cuv_hough_clamp (x0 - 4 + x, frame.width) - (x0 - 8),
        cuv_hough_clamp (y0 - CUV_HOUGH_GREY_HALO + y, frame.height)
            - (y0 - CUV_HOUGH_GREY_HALO - CUV_HOUGH_BLUR));
  }
}

#endif
