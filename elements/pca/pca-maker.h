/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of frame after frame in one place: the CPU's or the
 * GPU's half behind the same calls. */
#ifndef CUV_PCA_MAKER_H
#define CUV_PCA_MAKER_H

#include "cpu/pca-cpu.h"

typedef struct {
  int n; /* bands that count */
  bool on_device;
  CuvPcaCpu *cpu; /* one of the two */
  struct _CuvPcaCuda *cuda;
} CuvPcaMaker;

/* Whether so many bands can be looked at on the device, whose context is
 * current. */
bool cuv_pca_maker_fits (int n, CuvCubeFormat format);

/* NULL, and *problem says what went wrong. */
CuvPcaMaker *cuv_pca_maker_new (int n, bool on_device, const char **problem);

/* NULL is allowed. Of one on the device the context that it was made in must be
 * current, here and below. */
void cuv_pca_maker_free (CuvPcaMaker *self);

/* Has the next frame begin with a basis of n bands, or with nothing. NULL, or
 * what went wrong. */
const char *cuv_pca_maker_set_basis (
    CuvPcaMaker *self, const CuvPcaBasis *basis);
const char *cuv_pca_maker_reset (CuvPcaMaker *self);

/* Learns from a cube and paints it, as cuv_pca_cpu_run() does, in host or in
 * device memory; basis, of n bands, becomes what is then known. NULL, or what
 * went wrong. */
const char *cuv_pca_maker_run (CuvPcaMaker *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params, uint8_t *picture,
    ptrdiff_t stride, void *stream, int n_threads, CuvPcaResult *result,
    CuvPcaBasis *basis);

/* The same for scores, by a maker that is not on the device. */
const char *cuv_pca_maker_score (CuvPcaMaker *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params,
    const CuvPcaScores *scores, int n_threads, CuvPcaResult *result,
    CuvPcaBasis *basis);

#endif
