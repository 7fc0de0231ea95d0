// SPDX-License-Identifier: LGPL-2.1-or-later
// Pairs of half precision numbers on the CPU: the same bits as on the GPU, each
// result is rounded once.
#ifndef CUV_EMULATE_FP16_H
#define CUV_EMULATE_FP16_H

#include "cuda_runtime.h"

struct __half2 {
  uint16_t x, y;
};

// Converts finite numbers only.
static inline double
cuv_emulated_of_half (uint16_t bits)
{
  const int exponent = bits >> 10 & 31;
  const double value = exponent == 0
      ? ldexp (bits & 1023, -24)
      : ldexp (1024 + (bits & 1023), exponent - 25);

  return bits >> 15 ? -value : value;
}

// Rounds to the nearest half, ties to even.
static inline uint16_t
cuv_emulated_to_half (double value)
{
  const uint16_t sign = signbit (value) ? 0x8000 : 0;
  int exponent;
  double unit;

  frexp (value, &exponent);
  unit = ldexp (1, (exponent < -13 ? -13 : exponent) - 11);
  value = rint (fabs (value) / unit);
  // the biased exponent, unless value was rounded up to 2048
  exponent = (exponent < -13 ? -13 : exponent) + 14;
  if (value == 2048) {
    value = 1024;
    exponent++;
  }
  return sign
      | (value < 1024 ? (uint16_t) value
                      : (uint16_t) (exponent << 10 | ((int) value & 1023)));
}

template <typename F>
static inline __half2
cuv_emulated_pair (F f, __half2 a, __half2 b = {}, __half2 c = {})
{
  return { cuv_emulated_to_half (f (cuv_emulated_of_half (a.x),
               cuv_emulated_of_half (b.x), cuv_emulated_of_half (c.x))),
    cuv_emulated_to_half (f (cuv_emulated_of_half (a.y),
        cuv_emulated_of_half (b.y), cuv_emulated_of_half (c.y))) };
}

static inline __half2
__float2half2_rn (float v)
{
  return { cuv_emulated_to_half (v), cuv_emulated_to_half (v) };
}

static inline float2
__half22float2 (__half2 a)
{
  return { (float) cuv_emulated_of_half (a.x),
    (float) cuv_emulated_of_half (a.y) };
}

static inline __half2
__hadd2 (__half2 a, __half2 b)
{
  return cuv_emulated_pair (
      [] (double p, double q, double) { return p + q; }, a, b);
}

static inline __half2
__hsub2 (__half2 a, __half2 b)
{
  return cuv_emulated_pair (
      [] (double p, double q, double) { return p - q; }, a, b);
}

// Exact before rounding: a 22-bit product and an 11-bit addend fit a double.
static inline __half2
__hfma2 (__half2 a, __half2 b, __half2 c)
{
  return cuv_emulated_pair (
      [] (double p, double q, double r) { return p * q + r; }, a, b, c);
}

static inline __half2
__habs2 (__half2 a)
{
  return { (uint16_t) (a.x & 0x7fff), (uint16_t) (a.y & 0x7fff) };
}

template <typename F>
static inline unsigned
cuv_emulated_mask (F f, __half2 a, __half2 b)
{
  return (f (cuv_emulated_of_half (a.x), cuv_emulated_of_half (b.x)) ? 0xffffu
                                                                     : 0)
      | (f (cuv_emulated_of_half (a.y), cuv_emulated_of_half (b.y))
              ? 0xffff0000u
              : 0);
}

static inline unsigned
__hgt2_mask (__half2 a, __half2 b)
{
  return cuv_emulated_mask ([] (double p, double q) { return p > q; }, a, b);
}

static inline unsigned
__hge2_mask (__half2 a, __half2 b)
{
  return cuv_emulated_mask ([] (double p, double q) { return p >= q; }, a, b);
}

static inline unsigned
__hlt2_mask (__half2 a, __half2 b)
{
  return __hgt2_mask (b, a);
}

#endif
