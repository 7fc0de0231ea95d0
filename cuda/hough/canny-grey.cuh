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

// Pixels as 16-bit numbers, two in a word.
static __device__ __forceinline__ unsigned
blur_five (unsigned a, unsigned b, unsigned c, unsigned d, unsigned e)
{
  return a + e + 4 * (b + d) + 6 * c; // at most 16 times the largest
}

// Returns the pixels between those of two pairs: the second of a, the first of
// b.
static __device__ __forceinline__ unsigned
pair_between (unsigned a, unsigned b)
{
  return __byte_perm (a, b, 0x5432);
}

// Returns the four pixels of word `word`, row y of raw, blurred by [1 4 6 4 1]
// / 16 in x and y: sums of up to 256 * 255 fit 16 bits, so that two pixels are
// added at a time.
static __device__ __forceinline__ unsigned
blur_word (const unsigned (*raw)[CUV_HOUGH_RAW_WORDS], int word, int y)
{
  unsigned pairs[4][5], down[4]; // from the pixels left of the word on

#pragma unroll
  for (int j = 0; j < 5; j++) {
    const unsigned *row = &raw[y + j - 2][word];

    pairs[0][j] = __byte_perm (row[-1], 0, 0x4342);
    pairs[1][j] = __byte_perm (row[0], 0, 0x4140);
    pairs[2][j] = __byte_perm (row[0], 0, 0x4342);
    pairs[3][j] = __byte_perm (row[1], 0, 0x4140);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    down[i] = blur_five (
        pairs[i][0], pairs[i][1], pairs[i][2], pairs[i][3], pairs[i][4]);
  const unsigned middle = pair_between (down[1], down[2]);
  const unsigned first = blur_five (
      down[0], pair_between (down[0], down[1]), down[1], middle, down[2]);
  const unsigned second = blur_five (
      down[1], middle, down[2], pair_between (down[2], down[3]), down[3]);

  return __byte_perm (first + 0x800080, second + 0x800080, 0x7531);
}

// Returns pixel (x, y) of raw, blurred in the same way.
static __device__ int
blur_pixel (const unsigned (*raw)[CUV_HOUGH_RAW_WORDS], int x, int y)
{
  return blur_word (raw, x / 4, y) >> x % 4 * 8 & 255;
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
  for (int i = threadIdx.x; i < CUV_HOUGH_GREY_ROWS * CUV_HOUGH_GREY_WORDS;
       i += CUV_HOUGH_CANNY_THREADS) {
    const int word = i % CUV_HOUGH_GREY_WORDS, x = x0 - 4 + 4 * word;
    const int y = i / CUV_HOUGH_GREY_WORDS;
    // what is outside the frame repeats blurred pixels
    const int in_raw =
        cuv_hough_clamp (y0 - CUV_HOUGH_GREY_HALO + y, frame.height)
        - (y0 - CUV_HOUGH_GREY_HALO - CUV_HOUGH_BLUR);

    if (x >= 0 && x + 4 <= frame.width) {
      grey[y][word] = blur_word (raw, word + 1, in_raw);
      continue;
    }
    grey[y][word] = 0;
    for (int k = 0; k < 4; k++)
      grey[y][word] |=
          blur_pixel (
              raw, cuv_hough_clamp (x + k, frame.width) - (x0 - 8), in_raw)
          << 8 * k;
  }
}

#endif
