/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_WALDBOOST_PYRAMID_H
#define CUV_WALDBOOST_PYRAMID_H

#include "waldboost.h"

/* Gives a plan whose scan and frame size are set its levels and taps. False if
 * memory runs out. */
bool cuv_pyramid_fill (CuvWaldboostPlan *plan, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params);

#endif
