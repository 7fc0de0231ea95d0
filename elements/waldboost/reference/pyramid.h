/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_WALDBOOST_PYRAMID_H
#define CUV_WALDBOOST_PYRAMID_H

#include "waldboost.h"

/* Adds the levels and taps to a plan whose scan and frame size are set. False
 * if memory runs out. */
bool cuv_pyramid_fill (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params);

#endif
