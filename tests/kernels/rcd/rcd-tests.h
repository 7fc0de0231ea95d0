/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for region covariance. */
#ifndef RCD_TESTS_H
#define RCD_TESTS_H

/* the C reference against literal implementations of the definitions */
void check_features (void);
void check_sums (void);
void check_distances (void);

/* the C reference against known results */
void check_bad_configs (void);
void check_levels (void);
void check_rounds (void);
void check_determinants (void);
void check_jbld (void);
void check_forstner (void);
void check_affine (void);
void check_few_pixels (void);

void check_planted (void);
void check_places (void);
void check_ties (void);
void check_maps (void);

/* the CPU and the GPU against the C reference */
void check_versions (void);
void check_large (void);
void check_large_sums (void);
void check_invalid_sums (void);
void check_measured (void);
void check_crops (void);
void check_cuda (void);
void check_filters (void);

void bench_rcd (void);
void bench_rcd_cuda (void);
void bench_filters (void);

#endif
