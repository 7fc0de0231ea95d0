/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Painted films: textured objects on a textured ground, in RGB. */
#ifndef RCD_SCENES_H
#define RCD_SCENES_H

#include "cuvcheck.h"
#include "rcd/rcd-types.h"

/* Paints the whole frame; another seed is another scene. */
void paint_ground (const CuvFrame *frame, uint32_t seed);

/* An object over it, as large as the box; what lies outside is left out. Of
 * each kind 0, 1, .. it has other colours and stripes. fade 0 .. 1: how much
 * its colours have become others. */
void paint_object (
    const CuvFrame *frame, int kind, double fade, const CuvRcdBox *box);

/* One colour. */
void paint_flat (const CuvFrame *frame, uint8_t value, const CuvRcdBox *box);

/* Intersection over union. */
double overlap (const CuvRcdBox *a, const CuvRcdBox *b);

#endif
