/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the analysis from frame to frame: from a frame's sums to the basis
 * and the gains of its picture. */
#ifndef CUV_PCA_TRACK_H
#define CUV_PCA_TRACK_H

#include "pca.h"

typedef struct {
  CuvPcaMoments moments, frame; /* running; those of the last frame */
  CuvPcaBasis basis;
  CuvPcaScratch scratch;
  CuvPcaLimits limits; /* smoothed percentiles */
  bool has_limits;
  CuvPcaDisplay limits_of; /* settings that the limits were computed with */
} CuvPcaTrack;

/* Initialises the state for n bands. Returns false if out of memory; call
 * cuv_pca_track_clear() in that case, too. */
bool cuv_pca_track_init (CuvPcaTrack *self, int n);
void cuv_pca_track_clear (CuvPcaTrack *self);
void cuv_pca_track_reset (CuvPcaTrack *self);

/* Updates moments and basis with the sums of a frame. */
CuvPcaUpdate cuv_pca_track_learn (CuvPcaTrack *self, const CuvPcaSum *sums,
    bool is_exact, const CuvPcaLearning *learning);

/* Whether cuv_pca_track_set_limits() must be called before the next picture. */
bool cuv_pca_track_needs_limits (
    const CuvPcaTrack *self, const CuvPcaDisplay *display);
void cuv_pca_track_set_limits (CuvPcaTrack *self, const int64_t *bins,
    const CuvPcaDisplay *display, double smoothing);

/* Sets the gains of the next picture; without a known basis it is black. */
void cuv_pca_track_gains (
    const CuvPcaTrack *self, const CuvPcaDisplay *display, CuvPcaGains *gains);

#endif
