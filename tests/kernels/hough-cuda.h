/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef HOUGH_CUDA_H
#define HOUGH_CUDA_H

/* The line detector on the GPU against the C reference. */
void hough_check_cuda (void);

/* Its times: of CUV_BENCH_PICTURE, a binary PGM, or a texture. */
void hough_bench_cuda (void);

#endif
