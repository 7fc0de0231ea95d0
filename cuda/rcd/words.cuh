// SPDX-License-Identifier: LGPL-2.1-or-later
// Four pixels of a row at a time, as words of four bytes.
#ifndef CUV_RCD_WORDS_CUH
#define CUV_RCD_WORDS_CUH

#include "rcd/search.cuh"

enum CuvRcdLoad {
  CUV_RCD_LOAD_PIXELS,  // three colours in 3 or 4 bytes, rows of words
  CUV_RCD_LOAD_LUMA,    // a plane of Y in rows of words
  CUV_RCD_LOAD_SAMPLES, // anything
};

struct CuvRcdSource {
  CuvFrame frame;
  CuvRcdLoad load;
  // of PIXELS
  const uint8_t *pixels;
  int stride, step;
  unsigned low, high; // weights of grey, of bytes 0 and 1, 2 and 3
  unsigned colour[3]; // where it is in each of two pixels, for __byte_perm
};

// Order of the bytes in a word of colours: pixels 0 2 1 3.
#define CUV_RCD_ORDER 0x3120u

static __device__ __forceinline__ unsigned
cuv_rcd_word (unsigned p0, unsigned p1, unsigned p2, unsigned p3)
{
  return p0 | p2 << 8 | p1 << 16 | p3 << 24;
}

// Any four pixels; beyond the border as on it.
static __device__ __noinline__ void
cuv_rcd_load_samples (
    const CuvRcdSource &source, int x, int y, unsigned *grey, unsigned *colours)
{
  const CuvFrame &frame = source.frame;
  const bool colour = frame.n_components >= 3;

  *grey = colours[0] = colours[1] = colours[2] = 0;
  for (int i = 0; i < 4; i++) {
    const int at = min (max (x + i, 0), frame.width - 1);
    const int shift = (CUV_RCD_ORDER >> 4 * i & 3) * 8;

    *grey |= (unsigned) cuv_rcd_grey (&frame, at, y) << 8 * i;
    for (int c = 0; c < 3; c++)
      colours[c] |= (unsigned) cuv_rcd_sample (&frame, colour ? c : 0, at, y)
          << shift;
  }
}

static __device__ __forceinline__ void
cuv_rcd_load_pixels (
    const CuvRcdSource &source, int x, int y, unsigned *grey, unsigned *colours)
{
  const unsigned *from = (const unsigned *) (source.pixels
      + (int64_t) y * source.stride + x * source.step);
  unsigned p[4], g[4];

#pragma unroll
  for (int i = 0; i < 3; i++)
    p[i] = __ldg (from + i);
  if (source.step == 4) {
    p[3] = __ldg (from + 3);
  } else {
    p[3] = p[2] >> 8;
    p[2] = __byte_perm (p[1], p[2], 0x5432);
    p[1] = __byte_perm (p[0], p[1], 0x6543);
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    g[i] = __dp2a_hi (source.high, p[i], __dp2a_lo (source.low, p[i], 32768u));
  *grey = __byte_perm (
      __byte_perm (g[0], g[1], 0x62), __byte_perm (g[2], g[3], 0x62), 0x5410);
#pragma unroll
  for (int c = 0; c < 3; c++)
    colours[c] = __byte_perm (__byte_perm (p[0], p[2], source.colour[c]),
        __byte_perm (p[1], p[3], source.colour[c]), 0x5410);
}

static __device__ __forceinline__ void
cuv_rcd_load_luma (
    const CuvRcdSource &source, int x, int y, unsigned *grey, unsigned *colours)
{
  const CuvFrame &frame = source.frame;

  *grey = __ldg ((const unsigned *) (frame.component[0].data
      + (int64_t) y * frame.component[0].stride + x));
  colours[0] = __byte_perm (*grey, 0, CUV_RCD_ORDER);
  for (int c = 1; c < 3; c++) {
    colours[c] = colours[0];
    if (frame.n_components >= 3) {
      unsigned p[4];

#pragma unroll
      for (int i = 0; i < 4; i++)
        p[i] = (unsigned) cuv_rcd_sample (&frame, c, x + i, y);
      colours[c] = cuv_rcd_word (p[0], p[1], p[2], p[3]);
    }
  }
}

// The four pixels from x on, a multiple of 4; beyond the border as on it. grey:
// in order; colours in CUV_RCD_ORDER.
static __device__ __forceinline__ void
cuv_rcd_load (
    const CuvRcdSource &source, int x, int y, unsigned *grey, unsigned *colours)
{
  y = min (max (y, 0), source.frame.height - 1);
  if (x < 0 || x + 4 > source.frame.width
      || source.load == CUV_RCD_LOAD_SAMPLES)
    cuv_rcd_load_samples (source, x, y, grey, colours);
  else if (source.load == CUV_RCD_LOAD_PIXELS)
    cuv_rcd_load_pixels (source, x, y, grey, colours);
  else
    cuv_rcd_load_luma (source, x, y, grey, colours);
}

// ---- on the host ----

static inline bool
cuv_rcd_in_words (const CuvComponent &c, const uint8_t *data)
{
  return ((uintptr_t) data | (uintptr_t) c.stride) % 4 == 0;
}

// Whether the frame's pixels are three bytes next to each other, and a fourth
// or none.
static inline bool
cuv_rcd_has_pixels (const CuvFrame &frame, const uint8_t **pixels)
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
  return cuv_rcd_in_words (c[0], *pixels);
}

static inline CuvRcdSource
cuv_rcd_source (const CuvFrame &frame)
{
  static const unsigned weights[3] = { 17216, 44434, 3886 };
  const CuvComponent *c = frame.component;
  CuvRcdSource source = {};

  source.frame = frame;
  source.load = CUV_RCD_LOAD_SAMPLES;
  if (cuv_rcd_has_pixels (frame, &source.pixels)) {
    source.load = CUV_RCD_LOAD_PIXELS;
    source.stride = c[0].stride;
    source.step = c[0].step;
    for (int i = 0; i < 3; i++) {
      const unsigned at = (unsigned) (c[i].data - source.pixels);

      source.colour[i] = at | (at + 4) << 4;
      *(at < 2 ? &source.low : &source.high) |= weights[i] << 16 * (at % 2);
    }
  } else if (frame.model != CUV_MODEL_RGB && c[0].step == 1
      && cuv_rcd_in_words (c[0], c[0].data)) {
    source.load = CUV_RCD_LOAD_LUMA;
  }
  return source;
}

#endif
