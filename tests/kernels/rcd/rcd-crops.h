/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random crops of a frame, compared with those of the reference. */
#ifndef RCD_CROPS_H
#define RCD_CROPS_H

#include "rcd.h"

/* Returns a crop inside, beside or far beyond a frame, enlarged or reduced. */
CuvRcdCrop random_crop (int width, int height);

/* Compares the pixels of a crop with the reference's. */
void check_crop (const CuvFrame *frame, const CuvRcdCrop *crop, int side,
    const uint8_t *pixels);

#endif
