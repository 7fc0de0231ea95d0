/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for local derivative patterns. */
#ifndef LDP_TESTS_H
#define LDP_TESTS_H

#include "cuvbackend.h"

/* the C reference against known results (ldp-known.c) */
void check_ldp_codes (void);
void check_ldp_layouts (void);
void check_ldp_pictures (void);
void check_ldp_similarity (void);

/* fast versions against the C reference (ldp-versions.c) */
void check_ldp_versions (void);

/* similarities of packed histograms (ldp-match.c) */
void check_ldp_match (void);
void bench_ldp_match (void);

/* the GPU against the C reference (ldp-cuda.c) */
void check_ldp_cuda (void);

/* similarities on the GPU (ldp-match-cuda.c) */
void check_ldp_match_cuda (void);
void bench_ldp_match_cuda (void); /* ldp-match-bench.c */

void bench_ldp (void);
void bench_ldp_cuda (void);
void bench_ldp_sizes (void);

/* ldp-scan.c: on a processor */
void check_ldp_scan (const CuvProcessor *processor);

#endif
