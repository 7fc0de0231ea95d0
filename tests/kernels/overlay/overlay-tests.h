/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the program that tests drawing. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

void bench_overlay (void);

#endif
