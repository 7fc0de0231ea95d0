/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The weights of a cascade's windows: the sums of its last stage, in double. */
#ifndef CUV_DETECT_WEIGHTS_H
#define CUV_DETECT_WEIGHTS_H

#include "reference/waldboost-reference.h"

/* Writes the weights of the hits that a scan found in an upright frame, without
 * upscale. The frame is in host memory and has the plan's size. Returns false
 * if memory runs out. */
bool cuv_detect_weights_of (const CuvWaldboostModel *model,
    const CuvWaldboostPlan *plan, const CuvFrame *frame,
    const CuvWaldboostResult *result, double *weights);

#endif
