/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the program that tests lines. */
#ifndef HOUGH_TESTS_H
#define HOUGH_TESTS_H

void check_edges (void);
void check_known_edges (void);

void check_bad_shapes (void);
void check_groups (void);
void check_votes (void);
void check_windows (void);
void check_known_lines (void);

void check_pclines (void);

void check_clip (void);
void check_line_of_cells (void);
void check_segments (void);

void check_versions (void);
void check_limits (void);

/* the GPU against the C reference */
void check_cuda (void);

void bench_hough (void);
void bench_hough_cuda (void);

#endif
