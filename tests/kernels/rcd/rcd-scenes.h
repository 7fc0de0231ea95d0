/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic video: textured objects on a textured background, in RGB. */
#ifndef RCD_SCENES_H
#define RCD_SCENES_H

#include "cuvcheck.h"
#include "rcd/rcd-types.h"

/* Fills the frame with the background of this seed. */
void paint_ground (const CuvFrame *frame, uint32_t seed);

/* Draws an object that fills the box, clipped to the frame. kind 0, 1, ..: its
 * colours and stripes. fade, 0 .. 1: blend to other colours. */
void paint_object (
    const CuvFrame *frame, int kind, double fade, const CuvRcdBox *box);

/* Fills a box with one colour. */
void paint_flat (const CuvFrame *frame, uint8_t value, const CuvRcdBox *box);

/* Intersection over union. */
double overlap (const CuvRcdBox *a, const CuvRcdBox *b);

#endif
