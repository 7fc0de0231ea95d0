/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks with a bit per pixel. */
#ifndef CUV_MOTION_BITS_H
#define CUV_MOTION_BITS_H

#include "motion.h"

/* As cuv_motion_open() and cuv_motion_close(); scratch has room for as many
 * words as the mask, and a row. */
void cuv_motion_bits_open (
    const CuvMotionBits *self, int side, uint64_t *scratch);
void cuv_motion_bits_close (
    const CuvMotionBits *self, int side, uint64_t *scratch);

/* As cuv_motion_hide(); NULL hides nothing. */
void cuv_motion_bits_hide (const CuvMotionBits *self, const uint64_t *unmasked);

/* A provisional part, and the one that it turned out to belong to. */
typedef struct {
  CuvMotionPart part;
  int32_t parent;
} CuvMotionLabel;

/* A run of moving pixels of a row: first, end (exclusive), and its label. */
typedef struct {
  int32_t first, end, label;
} CuvMotionRun;

/* Memory of cuv_motion_bits_parts() for one size. */
typedef struct {
  CuvMotionLabel *labels;
  CuvMotionRun *runs; /* of two rows */
} CuvMotionRuns;

bool cuv_motion_runs_init (CuvMotionRuns *self, int width, int height);
void cuv_motion_runs_clear (CuvMotionRuns *self);

/* As cuv_motion_parts(). Reads only the words that the marks name; all if they
 * are NULL. */
int cuv_motion_bits_parts (const CuvMotionBits *mask,
    const CuvMotionMark *marks, CuvMotionRuns *memory, CuvMotionPart *parts,
    int max);

#endif
