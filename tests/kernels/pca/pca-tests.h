/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for principal components. */
#ifndef PCA_TESTS_H
#define PCA_TESTS_H

/* against literal implementations of the definitions */
void check_pca_sums (void);
void check_pca_moments (void);
void check_pca_frames (void);
void check_pca_jacobi (void);
void check_pca_basis (void);
void check_pca_pictures (void);

/* films */
void check_pca_films (void);

/* fast versions against the C reference */
void check_pca_tiles (void);
void check_pca_runs (void);

/* the GPU against the C reference */
void check_pca_cuda (void);

/* pictures on the GPU in another format */
void check_nv12_cuda (void);
void check_wait_cuda (void);

void bench_pca (void);
void bench_pca_cuda (void);

#endif
