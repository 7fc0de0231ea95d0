/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factorisations on the CPU or, with --cuda, on the GPU, and cases that compare
 * them with the reference. */
#ifndef NTF_RUNS_H
#define NTF_RUNS_H

#include "cuvcheck.h"
#include "ntf-inputs.h"

typedef struct {
  CuvCheckVersion version;
  void *state; /* a CuvNtfCpu or CuvNtfCuda */
  int32_t cancel;
} NtfRun;

/* Fails a check and returns false if out of memory. */
bool ntf_run_init (NtfRun *self, int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation, const CuvCheckVersion *version);
void ntf_run_clear (NtfRun *self);

bool ntf_run_load (NtfRun *self, const CuvNtfTensor *tensor);

/* Load or scan a cube of `size` bytes in host memory. */
bool ntf_run_load_cube (NtfRun *self, const CuvCube *cube, size_t size,
    const double *ignore, int z, double scale);
bool ntf_run_scan (NtfRun *self, const CuvCube *cube, size_t size,
    const double *ignore, CuvNtfScan *scan);

bool ntf_run_start (NtfRun *self, const CuvNtfParams *params);
CuvNtfStatus ntf_run_step (NtfRun *self);
const CuvNtfResult *ntf_run_result (const NtfRun *self);

/* Runs to the end and stores the factors found. Starts from `factors` if init
 * is PREVIOUS, and on the GPU also if init is not RANDOM. */
CuvNtfResult ntf_run_to_end (
    NtfRun *self, const CuvNtfParams *params, CuvNtfFactors *factors);

/* Loads the tensor and runs to the end, in one call. */
CuvNtfResult ntf_run_once (const CuvNtfTensor *tensor,
    const CuvNtfParams *params, int n_threads, CuvNtfFactors *factors);

/* Checks that the residuals of the last run add up to its error, and compares
 * some of them with their definition. */
void ntf_check_residual (NtfRun *self, const CuvNtfTensor *tensor,
    const CuvNtfFactors *factors, double error);

/* A tensor, and all versions with it loaded. */
typedef struct {
  CuvNtfTensor tensor;
  CuvNtfFactorisation factorisation;
  CuvNtfFactors wanted, found, again;
  NtfRun runs[CUV_CHECK_MAX_VERSIONS];
  int n_runs;
} NtfCase;

/* Fill the tensor between ntf_case_init() and ntf_case_open(), which fails a
 * check and returns false on errors. */
void ntf_case_init (NtfCase *self, int height, int width, int depth, int rank,
    CuvNtfFactorisation factorisation);
bool ntf_case_open (NtfCase *self);
void ntf_case_clear (NtfCase *self);

/* Runs all versions, each with several numbers of threads or, on the GPU,
 * twice, and checks that results are equal bit for bit. Returns the first
 * result; its factors are in `found`. */
CuvNtfResult ntf_check_equal (NtfCase *self, const CuvNtfParams *params);

/* Compares each iteration of all versions with the reference, beginning with
 * the factors in `wanted`. Every iteration starts from the reference's factors,
 * so that rounding errors do not accumulate. HALS amplifies them: of its
 * factors only the sums of terms are compared. */
void ntf_check_iterations (NtfCase *self, CuvNtfParams params, int iterations);

/* Does the same for a whole run of multiplicative updates, whose factors are
 * compared column by column. */
void ntf_check_mu (NtfCase *self, const CuvNtfParams *params);

/* Compares the counts of two results, and their errors. */
void ntf_check_errors (const CuvNtfResult *wanted, const CuvNtfResult *found);

#endif
