/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-negative factorisation of a tensor: what all versions share.
 *
 * G (height x width x depth) >= 0 becomes a sum of `rank` terms, each an outer
 * product of three columns: of u (height x rank), v (width x rank) and
 * w (depth x rank). */
#ifndef CUV_NTF_TYPES_H
#define CUV_NTF_TYPES_H

#include <stdint.h>
#include "cuv-cube.h"

enum { CUV_NTF_U, CUV_NTF_V, CUV_NTF_W, CUV_NTF_MODES };

typedef enum {
  CUV_NTF_MU,   /* multiplicative updates; Hazan, Polak, Shashua 2005 */
  CUV_NTF_HALS, /* one column after the other, each exactly, CUV_NTF_SWEEPS
                 * times for each product with G; Gillis, Glineur 2012 */
} CuvNtfAlgorithm;

typedef enum {
  CUV_NTF_GS,     /* u, then v with the new u, then w */
  CUV_NTF_JACOBI, /* all from the old ones, ratios to the power of 1/3 */
} CuvNtfSchedule;

typedef enum {
  CUV_NTF_RANDOM,   /* uniform in (0.1, 1.1], Philox 4x32-10 */
  CUV_NTF_NNDSVD,   /* from the singular vectors of G as pixels x depth */
  CUV_NTF_PREVIOUS, /* the factors that are there; without any: random */
} CuvNtfInit;

#define CUV_NTF_MAX_RANK 64
#define CUV_NTF_SWEEPS 5 /* of HALS; as many as TensorLy makes */
#define CUV_NTF_MAX_ITERATIONS 10000
#define CUV_NTF_TEST_EVERY 10 /* iterations from one error to the next */
#define CUV_NTF_MAX_ERRORS (CUV_NTF_MAX_ITERATIONS / CUV_NTF_TEST_EVERY)

typedef struct {
  CuvNtfAlgorithm algorithm;
  CuvNtfSchedule schedule; /* HALS has GS only */
  CuvNtfInit init;
  uint32_t seed;
  int32_t iterations; /* at most; 1 .. CUV_NTF_MAX_ITERATIONS */
  double tolerance;   /* stop when a test's error is less than this below the
                       * one before; 0 = never */
  double sparsity;    /* 0 .. 1: a penalty on the sum of the factors' values.
                       * HALS takes sparsity x the column's root mean square off
                       * each new value; MU adds as much to denominators */
  /* Booleans. Unit columns of u and v, scale in w, and terms in order of
   * falling norms of w unless init is PREVIOUS; and whether at each test terms
   * that vanished start afresh. */
  int32_t normalise, reinit_dead;
} CuvNtfParams;

typedef struct {
  int32_t iterations;     /* that were made */
  int32_t effective_rank; /* terms above 1e-6 of all together */
  int32_t n_errors;
  int32_t converged; /* whether the tolerance stopped it */
  /* |G - sum of terms| / |G| after each test, the last one at the end; 0 where
   * all of G is 0 */
  double errors[CUV_NTF_MAX_ERRORS];
} CuvNtfResult;

/* What is in a cube that cannot be factorised. */
typedef struct {
  float largest;
  int64_t n_negative, n_not_finite;
  int32_t x, y, band; /* of the first of them */
} CuvNtfScan;

typedef enum {
  CUV_NTF_RUNNING,
  CUV_NTF_DONE,
  CUV_NTF_CANCELLED,
} CuvNtfStatus;

#endif
