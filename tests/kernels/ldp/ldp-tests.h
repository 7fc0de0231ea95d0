/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the program that tests local derivative patterns. */
#ifndef LDP_TESTS_H
#define LDP_TESTS_H

/* what is known of the C reference (ldp-known.c) */
void check_ldp_codes (void);
void check_ldp_layouts (void);
void check_ldp_pictures (void);
void check_ldp_likeness (void);

/* fast versions against it (ldp-versions.c) */
void check_ldp_versions (void);

/* packed histograms against each other (ldp-match.c) */
void check_ldp_match (void);
void bench_ldp_match (void);

/* the GPU against it (ldp-cuda.c) */
void check_ldp_cuda (void);

/* packed histograms against each other on the GPU (ldp-match-cuda.c) */
void check_ldp_match_cuda (void);
void bench_ldp_match_cuda (void);

void bench_ldp (void);
void bench_ldp_cuda (void);
void bench_ldp_sizes (void);

#endif
