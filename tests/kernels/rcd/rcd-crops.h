/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random crops of a frame, compared with those of the reference. */
#ifndef RCD_CROPS_H
#define RCD_CROPS_H

#include "rcd.h"

/* Inside, beside and far beyond a frame, enlarged and reduced. */
CuvRcdCrop random_crop (int width, int height);

/* Compares pixels with the reference's. */
void check_crop (const CuvFrame *frame, const CuvRcdCrop *crop, int side,
    const uint8_t *pixels);

#endif
