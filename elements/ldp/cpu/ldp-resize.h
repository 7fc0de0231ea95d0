/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures made another size, row by row: cuv_ldp_pixel() of all pixels. */
#ifndef CUV_LDP_RESIZE_H
#define CUV_LDP_RESIZE_H

#include "ldp.h"

typedef struct _CuvLdpResizer CuvLdpResizer;

/* To width x height, by so many threads at a time; NULL if there is no memory.
 */
CuvLdpResizer *cuv_ldp_resizer_new (int width, int height, int n_workers);
void cuv_ldp_resizer_free (CuvLdpResizer *self); /* NULL is allowed */

/* Before frames of another width than the last. Returns whether there is
 * memory. */
bool cuv_ldp_resizer_prepare (CuvLdpResizer *self, int from);

/* Row y of a frame of that width. */
void cuv_ldp_resizer_run (CuvLdpResizer *self, int worker,
    const CuvFrame *frame, int y, uint8_t *row);

#endif
