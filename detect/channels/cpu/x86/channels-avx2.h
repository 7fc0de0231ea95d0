/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The AVX2 version of the function table of channels-dsp.h: channels-avx2.c has
 * the loops over pixels, scan-avx2.c those over windows. */
#ifndef CUV_CHANNELS_AVX2_H
#define CUV_CHANNELS_AVX2_H

#include "channels/cpu/channels-dsp.h"

void cuv_channels_scan_row_avx2 (
    const CuvChannelsScanRow *row, CuvHitList *list);

#endif
