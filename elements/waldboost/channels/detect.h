/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The windows of all sizes that a model accepts in a picture: the definition of
 * the result, in plain C. */
#ifndef CUV_CHANNELS_DETECT_H
#define CUV_CHANNELS_DETECT_H

#include "model/channels.h"
#include "reference/waldboost-reference.h"

/* Scans the plan's levels of a picture, the plan's turned frame. The plan is
 * for this model; list has a counter for each of its segments. A hit's score is
 * its last sum less final_threshold, divided by 256. False if memory runs
 * out. */
bool cuv_channels_scan_plan (const CuvChannelsModel *model,
    const CuvWaldboostPlan *plan, const CuvChannelsPicture *picture,
    CuvHitList *list);

#endif
