// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions of CUDA that compute, load or store, for the emulated kernels; part
// of cuda_runtime.h.
#ifndef CUV_EMULATED_ARITHMETIC_H
#define CUV_EMULATED_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CUV_EMULATED_EXTREMES(T)                                               \
  static inline T min (T a, T b)                                               \
  {                                                                            \
    return b < a ? b : a;                                                      \
  }                                                                            \
  static inline T max (T a, T b)                                               \
  {                                                                            \
    return b > a ? b : a;                                                      \
  }
CUV_EMULATED_EXTREMES (int)
CUV_EMULATED_EXTREMES (unsigned)
CUV_EMULATED_EXTREMES (long long)
CUV_EMULATED_EXTREMES (unsigned long long)
CUV_EMULATED_EXTREMES (float)
CUV_EMULATED_EXTREMES (double)

static inline int
__popc (unsigned v)
{
  return __builtin_popcount (v);
}

static inline int
__clz (unsigned v)
{
  return v == 0 ? 32 : __builtin_clz (v);
}

static inline double
__hiloint2double (int high, int low)
{
  const uint64_t bits = (uint64_t) (unsigned) high << 32 | (unsigned) low;
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline unsigned
__brev (unsigned v)
{
  unsigned result = 0;

  for (int i = 0; i < 32; i++)
    result |= (v >> i & 1) << (31 - i);
  return result;
}

static inline unsigned long long
__brevll (unsigned long long v)
{
  return (unsigned long long) __brev ((unsigned) v) << 32
      | __brev ((unsigned) (v >> 32));
}

static inline int
__ffs (unsigned v)
{
  return __builtin_ffs ((int) v);
}

static inline unsigned
__umulhi (unsigned a, unsigned b)
{
  return (unsigned) ((uint64_t) a * b >> 32);
}

static inline unsigned
__funnelshift_l (unsigned low, unsigned high, unsigned shift)
{
  return (unsigned) ((((uint64_t) high << 32 | low) << (shift & 31)) >> 32);
}

static inline unsigned
__funnelshift_r (unsigned low, unsigned high, unsigned shift)
{
  return (unsigned) (((uint64_t) high << 32 | low) >> (shift & 31));
}

// Like __funnelshift_r(), with shift clamped to 32.
static inline unsigned
__funnelshift_rc (unsigned low, unsigned high, unsigned shift)
{
  return shift >= 32 ? high : __funnelshift_r (low, high, shift);
}

static inline unsigned
__byte_perm (unsigned a, unsigned b, unsigned selector)
{
  const uint64_t bytes = (uint64_t) b << 32 | a;
  unsigned result = 0;

  for (int i = 0; i < 4; i++)
    result |= (bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}

// Returns 255 in each byte that is equal in a and b, and 0 in the others.
static inline unsigned
__vcmpeq4 (unsigned a, unsigned b)
{
  unsigned result = 0;

  for (int i = 0; i < 32; i += 8)
    result |= (a >> i & 255) == (b >> i & 255) ? 255u << i : 0;
  return result;
}

// Returns the absolute differences of the bytes.
static inline unsigned
__vabsdiffu4 (unsigned a, unsigned b)
{
  unsigned result = 0;

  for (int i = 0; i < 32; i += 8)
    result |= (unsigned) abs ((int) (a >> i & 255) - (int) (b >> i & 255)) << i;
  return result;
}

static inline unsigned
__dp2a_lo (unsigned halves, unsigned bytes, unsigned sum)
{
  return sum + (halves & 0xffff) * (bytes & 255)
      + (halves >> 16) * (bytes >> 8 & 255);
}

static inline unsigned
__dp2a_hi (unsigned halves, unsigned bytes, unsigned sum)
{
  return __dp2a_lo (halves, bytes >> 16, sum);
}

static inline unsigned
__dp4a (unsigned a, unsigned b, unsigned sum)
{
  for (int i = 0; i < 32; i += 8)
    sum += (a >> i & 255) * (b >> i & 255);
  return sum;
}

static inline float
__uint_as_float (unsigned bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline unsigned
__float_as_uint (float value)
{
  unsigned bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
__fmaf_rn (float a, float b, float c)
{
  return fmaf (a, b, c);
}

// Rounded down; exact where the sum has at most 53 bits.
static inline float
__fmaf_rd (float a, float b, float c)
{
  const double sum = (double) a * b + c;
  const float nearest = (float) sum;

  return nearest > sum ? nextafterf (nearest, -INFINITY) : nearest;
}

static inline float
__fadd_rd (float a, float b)
{
  return __fmaf_rd (a, 1, b);
}

static inline long long
__double_as_longlong (double value)
{
  long long bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline double
__longlong_as_double (long long bits)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

// Combines f of the low and of the high 16 bits.
template <typename F>
static inline unsigned
cuv_emulated_halves (F f)
{
  return (f (0) & 0xffff) | (unsigned) f (16) << 16;
}

static inline unsigned
__vmaxu2 (unsigned a, unsigned b)
{
  return cuv_emulated_halves (
      [=] (int s) { return max (a >> s & 0xffff, b >> s & 0xffff); });
}

static inline unsigned
__vminu2 (unsigned a, unsigned b)
{
  return cuv_emulated_halves (
      [=] (int s) { return min (a >> s & 0xffff, b >> s & 0xffff); });
}

static inline unsigned
__vminu4 (unsigned a, unsigned b)
{
  unsigned smaller = 0;

  for (int s = 0; s < 32; s += 8)
    smaller |= min (a >> s & 0xff, b >> s & 0xff) << s;
  return smaller;
}

// Returns the sum of absolute differences of the bytes of a and b.
static inline unsigned
__vsadu4 (unsigned a, unsigned b)
{
  unsigned sum = 0;

  for (int s = 0; s < 32; s += 8)
    sum += (unsigned) abs ((int) (a >> s & 255) - (int) (b >> s & 255));
  return sum;
}

static inline unsigned
__viaddmin_s16x2_relu (unsigned a, unsigned b, unsigned c)
{
  return cuv_emulated_halves ([=] (int s) {
    int16_t sum = (int16_t) ((a >> s) + (b >> s));

    return max (min (sum, (int16_t) (c >> s)), 0);
  });
}

template <typename T>
static inline T
__ldg (const T *at)
{
  return *at;
}

template <typename T>
static inline void
__stcg (T *to, T value)
{
  *to = value;
}

template <typename T>
static inline T
__ldcg (const T *at)
{
  return *at;
}

#endif
