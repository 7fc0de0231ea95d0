/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the overlay test. */
#ifndef OVERLAY_TESTS_H
#define OVERLAY_TESTS_H

void bench_overlay (void);

#endif
