// SPDX-License-Identifier: LGPL-2.1-or-later
// Small matrix products by a warp, in tensor cores where they exist. A group of
// four lanes holds a row of either operand, so that for S S^T both operands are
// the same registers and each sample is loaded once.
#ifndef CUV_PCA_MMA_CUH
#define CUV_PCA_MMA_CUH

#include "cuv-cuda.cuh"

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
#define CUV_PCA_HAS_MMA 1
#else
#define CUV_PCA_HAS_MMA 0
#endif

// Computes c += a b^T, 8 x 8, over 8 pixels. Lane l has two pixels of row l / 4
// of a and b, and columns l % 4 * 2 + {0, 1} of row l / 4 of c.
static __device__ __forceinline__ void
cuv_pca_mma (double *c, const double *a, const double *b)
{
#pragma unroll
  for (int i = 0; i < 2; i++) {
#if CUV_PCA_HAS_MMA
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                 "{%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a[i]), "d"(b[i]));
#else
    const int lane = threadIdx.x % 32;

#pragma unroll 1
    for (int k = 0; k < 4; k++) {
      const double x = __shfl_sync (~0u, a[i], lane / 4 * 4 + k);

      for (int j = 0; j < 2; j++)
        c[j] += x * __shfl_sync (~0u, b[i], (lane % 4 * 2 + j) * 4 + k);
    }
#endif
  }
}

// Computes a 16 x 8 product of doubles: c[2] and c[3] belong to the lower 8
// rows.
static __device__ __forceinline__ void
cuv_pca_mma (
    double *c, const double *upper, const double *lower, const double *b)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(upper[0]), "d"(lower[0]), "d"(upper[1]), "d"(lower[1]),
               "d"(b[0]), "d"(b[1]));
#else
  cuv_pca_mma (c, upper, b);
  cuv_pca_mma (c + 2, lower, b);
#endif
}

// Computes a 16 x 8 product of bytes over 32 pixels. Lane l has four pixels
// from l % 4 * 4 on: of row l / 4 in a[0] and b[0], of row l / 4 + 8 in a[1].
// a[2], a[3] and b[1] have the pixels 16 further on. The first two elements of
// c belong to row l / 4, the others to row l / 4 + 8.
static __device__ __forceinline__ void
cuv_pca_mma (unsigned *c, const unsigned *a, const unsigned *b)
{
#if CUV_PCA_HAS_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  const int lane = threadIdx.x % 32;

  for (int k = 0; k < 8; k++) {
    const unsigned upper =
        __shfl_sync (~0u, a[k / 4 * 2], lane / 4 * 4 + k % 4);
    const unsigned lower =
        __shfl_sync (~0u, a[k / 4 * 2 + 1], lane / 4 * 4 + k % 4);

    for (int j = 0; j < 2; j++) {
      const unsigned other =
          __shfl_sync (~0u, b[k / 4], (lane % 4 * 2 + j) * 4 + k % 4);

      c[j] = __dp4a (upper, other, c[j]);
      c[2 + j] = __dp4a (lower, other, c[2 + j]);
    }
  }
#endif
}

// Computes a 16 x 8 product of bytes over 16 pixels; lane l has pixels
// l % 4 * 4 + {0 .. 3}.
static __device__ __forceinline__ void
cuv_pca_mma (unsigned *c, unsigned upper, unsigned lower, unsigned b)
{
#if CUV_PCA_HAS_MMA
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(upper), "r"(lower), "r"(b));
#else
  const unsigned a[4] = { upper, lower, 0, 0 }, two[2] = { b, 0 };

  cuv_pca_mma (c, a, two);
#endif
}

// Multiplies unsigned bytes a by signed bytes b over 32 bands; rows are pixels.
static __device__ __forceinline__ void
cuv_pca_mma (int *c, const unsigned *a, const unsigned *b)
{
#if CUV_PCA_HAS_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  unsigned sums[4] = {}, negative[4] = {}, flipped[2], signs[2];

  for (int k = 0; k < 2; k++) { // b = (b ^ 128) - 128
    flipped[k] = b[k] ^ 0x80808080u;
    signs[k] = 0x80808080u;
  }
  cuv_pca_mma (sums, a, flipped);
  cuv_pca_mma (negative, a, signs);
  for (int i = 0; i < 4; i++)
    c[i] += (int) (sums[i] - negative[i]);
#endif
}

// Transposes an 8 x 8 matrix of 16-bit elements: lane l passes two elements of
// row l / 4 and gets those of column l / 4.
static __device__ __forceinline__ unsigned
cuv_pca_transpose (unsigned two)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 750
  unsigned column;

  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(column)
               : "r"(two));
  return column;
#else
  const int lane = threadIdx.x % 32, from = lane % 4 * 8 + lane / 8;
  const unsigned upper = __shfl_sync (~0u, two, from);
  const unsigned lower = __shfl_sync (~0u, two, from + 4);

  return __byte_perm (upper, lower, lane / 4 % 2 ? 0x7632 : 0x5410);
#endif
}

#endif
