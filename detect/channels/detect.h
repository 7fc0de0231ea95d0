/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the windows of all sizes that a model accepts in a picture. This plain
 * C defines the result. */
#ifndef CUV_CHANNELS_DETECT_H
#define CUV_CHANNELS_DETECT_H

#include "model/channels.h"
#include "reference/waldboost-reference.h"

/* Scans the plan's levels of a picture, which is the frame turned as the plan
 * requires. The plan must be for this model, and list must have a counter for
 * each segment of the plan. The score of a hit is its last sum minus
 * final_threshold, divided by 256. Returns false if memory runs out. */
bool cuv_channels_scan_plan (const CuvChannelsModel *model,
    const CuvWaldboostPlan *plan, const CuvChannelsPicture *picture,
    CuvHitList *list);

#endif
