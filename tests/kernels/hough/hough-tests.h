/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for the line detector. */
#ifndef HOUGH_TESTS_H
#define HOUGH_TESTS_H

void check_edges (void);
void check_known_edges (void);

void check_bad_configs (void);
void check_bins (void);
void check_votes (void);
void check_orientation_windows (void);
void check_known_lines (void);

void check_pclines (void);

void check_clip (void);
void check_cell_lines (void);
void check_segments (void);
void check_regions (void);

void check_cpu_versions (void);
void check_limits (void);
void check_pairs (void);

/* the GPU against the C reference */
void check_cuda (void);

void bench_hough (void);
void bench_hough_cuda (void);

#endif
