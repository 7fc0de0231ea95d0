/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the test program for the overlay. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

void bench_overlay (void);
void check_fills (void);

/* On the GPU: a CuvOverlayCuda. */
void check_cuda_fills (void *cuda);

#endif
