/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resizes grey pictures row by row: the same as cuv_ldp_resized_pixel() of each
 * pixel, with the horizontal weights computed once per width. */
#ifndef CUV_LDP_RESIZE_H
#define CUV_LDP_RESIZE_H

#include "ldp.h"

typedef struct _CuvLdpResizer CuvLdpResizer;

/* Output size; n_workers: how many cuv_ldp_resizer_run() may run at a time.
 * NULL if out of memory. */
CuvLdpResizer *cuv_ldp_resizer_new (int width, int height, int n_workers);
void cuv_ldp_resizer_free (CuvLdpResizer *self); /* NULL is allowed */

/* Call before running on frames of another width. Returns false if out of
 * memory. */
bool cuv_ldp_resizer_prepare (CuvLdpResizer *self, int width);

/* Row y of the resized frame. Each worker, 0 .. n_workers - 1, has memory of
 * its own. */
void cuv_ldp_resizer_run (CuvLdpResizer *self, int worker,
    const CuvFrame *frame, int y, uint8_t *row);

#endif
