/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-negative factorisation of a tensor: types shared by CPU and GPU.
 *
 * G (height x width x depth) >= 0 becomes a sum of `rank` terms, each an outer
 * product of three columns: of u (height x rank), v (width x rank) and
 * w (depth x rank). As a matrix of pixels by depth, it is the tensor of
 * 1 x pixels x depth with u = 1, which is never updated: v has a row for each
 * pixel, row after row of the image. */
#ifndef CUV_NTF_TYPES_H
#define CUV_NTF_TYPES_H

#include <stdint.h>
#include "cuv-cube.h"

/* Modes of the tensor, and the factor of each. */
enum { CUV_NTF_U, CUV_NTF_V, CUV_NTF_W, CUV_NTF_MODES };

typedef enum {
  CUV_NTF_TENSOR, /* u for rows, v for columns, w for depths */
  CUV_NTF_MATRIX, /* v for pixels, w for depths */
} CuvNtfFactorisation;

typedef enum {
  CUV_NTF_MU,   /* multiplicative updates; Hazan, Polak, Shashua 2005 */
  CUV_NTF_HALS, /* exact updates of one column after the other, CUV_NTF_SWEEPS
                 * sweeps per product with G; Gillis, Glineur 2012 */
} CuvNtfAlgorithm;

typedef enum {
  CUV_NTF_GS,     /* u, then v with the new u, then w */
  CUV_NTF_JACOBI, /* all from the old factors; ratios to the power of 1/3 */
} CuvNtfSchedule;

typedef enum {
  CUV_NTF_RANDOM,   /* uniform in (0.1, 1.1], Philox 4x32-10 */
  CUV_NTF_NNDSVD,   /* computed from singular vectors of G as a pixels x depth
                     * matrix */
  CUV_NTF_PREVIOUS, /* the factors of the previous run, if any; otherwise random
                     */
  CUV_NTF_NFINDR,   /* MATRIX: spectra of the pixels that span the largest
                     * simplex; Winter 1999 */
} CuvNtfInit;

#define CUV_NTF_MAX_RANK 64
#define CUV_NTF_SWEEPS 5 /* sweeps of HALS; as many as in TensorLy */
/* Maximum number of steps per term that update a row that sums to 1. */
#define CUV_NTF_SUM_TO_ONE_STEPS 8
#define CUV_NTF_MAX_ITERATIONS 10000
#define CUV_NTF_TEST_EVERY 10 /* iterations between tests of the error */
#define CUV_NTF_MAX_ERRORS (CUV_NTF_MAX_ITERATIONS / CUV_NTF_TEST_EVERY)

typedef struct {
  CuvNtfAlgorithm algorithm;
  CuvNtfSchedule schedule; /* always GS with HALS */
  CuvNtfInit init;
  uint32_t seed;
  int32_t iterations; /* maximum number; 1 .. CUV_NTF_MAX_ITERATIONS */
  double tolerance;   /* stop when the error changes by less than this between
                       * two tests; 0 = never */
  double sparsity;    /* 0 .. 1: L1 penalty. HALS subtracts sparsity x the
                       * column's root mean square from each new value; MU
                       * adds as much to denominators */
  /* Booleans. normalise: unit columns in u and v, the scale in w, terms sorted
   * by descending norm of w unless init is PREVIOUS. reinit_dead: terms that
   * vanished are randomised again at each test. sum_to_one: MATRIX, the values
   * of a pixel sum to 1; implies HALS, and normalise then only sorts. */
  int32_t normalise, reinit_dead, sum_to_one;
  CuvNtfFactorisation factorisation;
} CuvNtfParams;

typedef struct {
  int32_t iterations;     /* iterations done */
  int32_t effective_rank; /* terms that weigh more than 1e-6 of the sum */
  int32_t n_errors;
  int32_t converged; /* boolean: stopped by the tolerance */
  /* relative error, |G - sum of terms| / |G|, at each test, the last at the
   * end; 0 if G is 0 */
  double errors[CUV_NTF_MAX_ERRORS];
} CuvNtfResult;

/* Range of a cube's samples, and those that cannot be factorised. */
typedef struct {
  float largest;
  int64_t n_negative, n_not_finite;
  int32_t x, y, band; /* position of the first such sample */
} CuvNtfScan;

typedef enum {
  CUV_NTF_RUNNING,
  CUV_NTF_DONE,
  CUV_NTF_CANCELLED,
} CuvNtfStatus;

#endif
