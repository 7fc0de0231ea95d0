/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones by brute force: geometry in rationals of 128 bits, and each frame's
 * events from the whole past of a track. */
#ifndef ZONES_ORACLE_H
#define ZONES_ORACLE_H

#include "zones.h"

bool oracle_contains (const CuvZonePoint *polygon, int n, CuvZonePoint p);
bool oracle_overlaps (
    const CuvZonePoint *polygon, int n, const CuvZoneBox *box);

/* What the last step of a path does: 0, or the direction of a crossing. */
int oracle_crosses (const CuvZone *line, const CuvZonePoint *path, int n_steps);

/* Whether the path is inside after its last step, and when it entered; inside
 * has the geometry of each step. */
bool oracle_visit (
    const bool *inside, int n_steps, int hysteresis, int *entered);

#endif
