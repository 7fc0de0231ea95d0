/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes what cuv_rcd_crop() computes, faster. */
#ifndef CUV_RCD_CPU_CROP_H
#define CUV_RCD_CPU_CROP_H

#include "rcd.h"

void cuv_rcd_cpu_crop (
    const CuvFrame *frame, const CuvRcdCrop *crop, int side, uint8_t *pixels);

#endif
