/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for tensor factorisation. */
#ifndef NTF_TESTS_H
#define NTF_TESTS_H

void check_ntf_random (void);
void check_ntf_planted (void);
void check_ntf_monotone (void);
void check_ntf_axes (void);
void check_ntf_edge_cases (void);
void check_ntf_params (void);
void check_ntf_sparsity (void);
void check_ntf_normalised (void);
void check_ntf_residual (void);

void check_ntf_loading (void);
void check_ntf_versions (void);

/* pixels x depth; then the same on the GPU */
void check_ntf_matrix (void);
void check_ntf_matrix_cuda (void);

/* the GPU against the C reference: runs, then loading and residuals */
void check_ntf_cuda_runs (void);
void check_ntf_cuda (void);

void bench_ntf (void);
void bench_ntf_cuda (void);

#endif
