/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and stores of AVX2 registers, native, or on NEON through SIMDe. */
#ifndef CUV_AVX2_H
#define CUV_AVX2_H

#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#else /* NEON through SIMDe */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/fma.h>
#endif

#if defined __x86_64__ && !defined __AVX2__ && !defined __clang__
#pragma GCC target("avx2") /* the style test compiles headers alone */
#endif

/* Forces specialisation for constant arguments. */
#define CUV_INLINE static inline __attribute__ ((always_inline))

CUV_INLINE __m256i
load (const void *at)
{
  return _mm256_loadu_si256 ((const __m256i *) at);
}

CUV_INLINE void
store (void *at, __m256i value)
{
  _mm256_storeu_si256 ((__m256i *) at, value);
}

/* Loads 16 bytes from each pointer into one register. */
CUV_INLINE __m256i
load_halves (const void *low, const void *high)
{
  return _mm256_inserti128_si256 (
      _mm256_castsi128_si256 (_mm_loadu_si128 ((const __m128i *) low)),
      _mm_loadu_si128 ((const __m128i *) high), 1);
}

/* Loads 16 bytes and converts them to 16-bit integers. */
CUV_INLINE __m256i
load_bytes (const uint8_t *at)
{
  return _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) at));
}

#endif
