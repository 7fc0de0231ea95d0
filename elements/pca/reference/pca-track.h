/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a sequence of frames has taught: from each frame's sums to the basis and
 * the gains that pictures are made with. */
#ifndef CUV_PCA_TRACK_H
#define CUV_PCA_TRACK_H

#include "pca.h"

typedef struct {
  CuvPcaMoments moments, frame; /* of all frames, and of the last */
  CuvPcaBasis basis;
  CuvPcaScratch scratch;
  CuvPcaLimits limits;
  bool has_limits;
  CuvPcaDisplay limits_of; /* what they were made for */
} CuvPcaTrack;

/* false: there is no memory; clear it all the same. */
bool cuv_pca_track_init (CuvPcaTrack *self, int n);
void cuv_pca_track_clear (CuvPcaTrack *self);
void cuv_pca_track_forget (CuvPcaTrack *self);

CuvPcaLesson cuv_pca_track_learn (CuvPcaTrack *self, const CuvPcaSum *sums,
    bool is_exact, const CuvPcaLearning *learning);

/* Whether a picture waits for cuv_pca_track_set_limits(). */
bool cuv_pca_track_needs_limits (
    const CuvPcaTrack *self, const CuvPcaDisplay *display);
void cuv_pca_track_set_limits (CuvPcaTrack *self, const int64_t *bins,
    const CuvPcaDisplay *display, double smoothing);

/* For a basis that is not known: all black. */
void cuv_pca_track_gains (
    const CuvPcaTrack *self, const CuvPcaDisplay *display, CuvPcaGains *gains);

#endif
