// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads four pixels of a row at a time, as words of four bytes.
#ifndef CUV_RCD_LOAD_CUH
#define CUV_RCD_LOAD_CUH

#include "rcd/search.cuh"

enum CuvRcdLoad {
  CUV_RCD_LOAD_PIXELS_3, // packed RGB, 3 bytes a pixel, rows word-aligned
  CUV_RCD_LOAD_PIXELS_4, // packed RGB, 4 bytes a pixel, rows word-aligned
  CUV_RCD_LOAD_LUMA,     // a plane of Y, rows word-aligned
  CUV_RCD_LOAD_SAMPLES,  // any other format, byte by byte
};

// A frame and how to load it.
struct CuvRcdSource {
  CuvFrame frame;
  CuvRcdLoad load;
  // PIXELS only:
  const uint8_t *pixels; // first byte of the first pixel
  int stride, step;      // bytes from row to row, from pixel to pixel
  unsigned low, high;    // luma weights of bytes 0 and 1, 2 and 3, for dp2a
  unsigned colour[3];    // __byte_perm selectors of a colour in two pixels
};

// Order of pixels in a word of colours: 0 2 1 3, as a __byte_perm selector. The
// halves then match those of gradients, see planes.cuh.
#define CUV_RCD_COLOUR_ORDER 0x3120u

// Packs four samples in that order.
static __device__ __forceinline__ unsigned
cuv_rcd_word (unsigned p0, unsigned p1, unsigned p2, unsigned p3)
{
  return p0 | p2 << 8 | p1 << 16 | p3 << 24;
}

// A column of four pixels.
struct CuvRcdColumn {
  int x;          // first pixel to load, a multiple of 4 inside the frame
  unsigned order; // __byte_perm selector that repeats the border
  unsigned at[4]; // PIXELS: byte offsets of the words in a row
};

// Returns the column from x on, which is a multiple of 4. Beyond the frame its
// border is repeated.
static __device__ __forceinline__ CuvRcdColumn
cuv_rcd_column (const CuvRcdSource &source, int x)
{
  const int width = source.frame.width;
  const int last = (width * source.step - 1) & ~3;
  CuvRcdColumn column = {};

  column.x = min (max (x, 0), (width - 1) & ~3);
  for (int i = 0; i < 4; i++) {
    column.order |= (unsigned) (min (max (x + i, 0), width - 1) - column.x)
        << 4 * i;
    column.at[i] = (unsigned) min (column.x * source.step + 4 * i, last);
  }
  return column;
}

// Four pixels as loaded; unpacked later, so that many loads are in flight.
struct CuvRcdRaw {
  unsigned word[4];
};

// Loads any format byte by byte. word[0] has grey values in order, word[1 ..]
// colours in CUV_RCD_COLOUR_ORDER.
static __device__ __noinline__ CuvRcdRaw
cuv_rcd_fetch_samples (const CuvRcdSource &source, int x, int y)
{
  const CuvFrame &frame = source.frame;
  const bool colour = frame.n_components >= 3;
  CuvRcdRaw raw = {};

  for (int i = 0; i < 4; i++) {
    const int at = min (x + i, frame.width - 1);
    const int shift = (CUV_RCD_COLOUR_ORDER >> 4 * i & 3) * 8;

    raw.word[0] |= (unsigned) cuv_rcd_grey (&frame, at, y) << 8 * i;
    for (int c = 0; c < 3; c++)
      raw.word[1 + c] |=
          (unsigned) cuv_rcd_sample (&frame, colour ? c : 0, at, y) << shift;
  }
  return raw;
}

// Returns words like cuv_rcd_fetch_samples(), but loads the luma as a word.
static __device__ __forceinline__ CuvRcdRaw
cuv_rcd_fetch_luma (const CuvRcdSource &source, int x, int y)
{
  const CuvFrame &frame = source.frame;
  CuvRcdRaw raw;

  raw.word[0] = __ldg ((const unsigned *) (frame.component[0].data
      + (int64_t) y * frame.component[0].stride + x));
  raw.word[1] = __byte_perm (raw.word[0], 0, CUV_RCD_COLOUR_ORDER);
  for (int c = 1; c < 3; c++) {
    raw.word[1 + c] = raw.word[1];
    if (frame.n_components >= 3) {
      unsigned p[4];

#pragma unroll
      for (int i = 0; i < 4; i++)
        p[i] = (unsigned) cuv_rcd_sample (
            &frame, c, min (x + i, frame.width - 1), y);
      raw.word[1 + c] = cuv_rcd_word (p[0], p[1], p[2], p[3]);
    }
  }
  return raw;
}

// Loads packed RGB. Pixels beyond the end of a row are undefined.
template <int N>
static __device__ __forceinline__ CuvRcdRaw
cuv_rcd_fetch_pixels (
    const CuvRcdSource &source, const CuvRcdColumn &column, int y)
{
  const uint8_t *row = source.pixels + (int64_t) y * source.stride;
  CuvRcdRaw raw = {};

#pragma unroll
  for (int i = 0; i < N; i++)
    raw.word[i] = __ldg ((const unsigned *) (row + column.at[i]));
  return raw;
}

// Loads row y of a column. Beyond the frame its border is repeated.
template <CuvRcdLoad L>
static __device__ __forceinline__ CuvRcdRaw
cuv_rcd_fetch (const CuvRcdSource &source, const CuvRcdColumn &column, int y)
{
  y = min (max (y, 0), source.frame.height - 1);
  if constexpr (L == CUV_RCD_LOAD_PIXELS_3)
    return cuv_rcd_fetch_pixels<3> (source, column, y);
  else if constexpr (L == CUV_RCD_LOAD_PIXELS_4)
    return cuv_rcd_fetch_pixels<4> (source, column, y);
  else if constexpr (L == CUV_RCD_LOAD_LUMA)
    return cuv_rcd_fetch_luma (source, column.x, y);
  else
    return cuv_rcd_fetch_samples (source, column.x, y);
}

// Returns the BT.2020 luma of four packed pixels.
static __device__ __forceinline__ unsigned
cuv_rcd_grey_of (const CuvRcdSource &source, const unsigned *p)
{
  unsigned g[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    g[i] = __dp2a_hi (source.high, p[i], __dp2a_lo (source.low, p[i], 32768u));
  return __byte_perm (
      __byte_perm (g[0], g[1], 0x62), __byte_perm (g[2], g[3], 0x62), 0x5410);
}

// Unpacks four pixels: grey values in order, colours in CUV_RCD_COLOUR_ORDER.
template <CuvRcdLoad L>
static __device__ __forceinline__ void
cuv_rcd_unpack (const CuvRcdSource &source, const CuvRcdColumn &column,
    const CuvRcdRaw &raw, unsigned *grey, unsigned *colours)
{
  const unsigned *w = raw.word;
  unsigned p[4] = { w[0], w[1], w[2], w[3] };

  if constexpr (L == CUV_RCD_LOAD_PIXELS_3) {
    p[1] = __byte_perm (w[0], w[1], 0x6543);
    p[2] = __byte_perm (w[1], w[2], 0x5432);
    p[3] = w[2] >> 8;
  }
  if constexpr (L == CUV_RCD_LOAD_PIXELS_3 || L == CUV_RCD_LOAD_PIXELS_4) {
    *grey = cuv_rcd_grey_of (source, p);
#pragma unroll
    for (int c = 0; c < 3; c++)
      colours[c] = __byte_perm (__byte_perm (p[0], p[2], source.colour[c]),
          __byte_perm (p[1], p[3], source.colour[c]), 0x5410);
  } else {
    *grey = w[0];
#pragma unroll
    for (int c = 0; c < 3; c++)
      colours[c] = w[1 + c];
  }
  *grey = __byte_perm (*grey, 0, column.order);
}

// ---- on the host ----

static inline bool
cuv_rcd_is_word_aligned (const CuvComponent &c, const uint8_t *data)
{
  return ((uintptr_t) data | (uintptr_t) c.stride) % 4 == 0;
}

// Returns whether the frame is packed RGB with 3 or 4 bytes a pixel, and sets
// *pixels to its first byte.
static inline bool
cuv_rcd_find_pixels (const CuvFrame &frame, const uint8_t **pixels)
{
  const CuvComponent *c = frame.component;

  if (frame.model != CUV_MODEL_RGB || (c[0].step != 3 && c[0].step != 4))
    return false;
  *pixels = c[0].data;
  for (int i = 1; i < 3; i++)
    *pixels = c[i].data < *pixels ? c[i].data : *pixels;
  for (int i = 0; i < 3; i++) {
    if (c[i].step != c[0].step || c[i].stride != c[0].stride
        || c[i].data - *pixels >= 3)
      return false;
  }
  return cuv_rcd_is_word_aligned (c[0], *pixels);
}

static inline CuvRcdSource
cuv_rcd_source (const CuvFrame &frame)
{
  static const unsigned weights[3] = { 17216, 44434, 3886 };
  const CuvComponent *c = frame.component;
  CuvRcdSource source = {};

  source.frame = frame;
  source.load = CUV_RCD_LOAD_SAMPLES;
  if (cuv_rcd_find_pixels (frame, &source.pixels)) {
    source.load =
        c[0].step == 3 ? CUV_RCD_LOAD_PIXELS_3 : CUV_RCD_LOAD_PIXELS_4;
    source.stride = c[0].stride;
    source.step = c[0].step;
    for (int i = 0; i < 3; i++) {
      const unsigned at = (unsigned) (c[i].data - source.pixels);

      source.colour[i] = at | (at + 4) << 4;
      *(at < 2 ? &source.low : &source.high) |= weights[i] << 16 * (at % 2);
    }
  } else if (frame.model != CUV_MODEL_RGB && c[0].step == 1
      && cuv_rcd_is_word_aligned (c[0], c[0].data)) {
    source.load = CUV_RCD_LOAD_LUMA;
  }
  return source;
}

#endif
