/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a cube's pixels, and pictures of them: the
 * definition, in four steps. What is faster returns the same bits.
 *
 *   cuv_pca_sums()         a frame's sums of products
 *   cuv_pca_moments_add()  what frames so far say: mean and covariance
 *   cuv_pca_basis_update() eigenvectors, so placed that pictures do not flicker
 *   cuv_pca_gains_*()      three components as red, green and blue
 *
 * Everything after the sums is small, and in double. */
#ifndef CUV_PCA_H
#define CUV_PCA_H

#include <stdbool.h>
#include "pca/pca-basis.h"

/* All bands of a cube. */
CuvPcaBands cuv_pca_all_bands (int n);

/* ---- tiles and sums ---- */

/* CUV_PCA_TILE pixels, band after band: rows of doubles, or in fast versions of
 * 16-bit integers. Pixels that are left out, or beyond the last, are 0. */
typedef struct {
  int32_t n;     /* bands; row n is 1 for pixels that count */
  int32_t count; /* pixels */
  bool is_exact; /* the cube's samples are integers */
  bool is_narrow;
  double *rows; /* CUV_PCA_STRIDE (n) rows of CUV_PCA_TILE, 32-byte aligned */
  int16_t *narrow; /* the same, if is_narrow */
  bool left_out[CUV_PCA_TILE];
  int32_t n_left_out;
} CuvPcaTile;

/* Memory for tiles of n bands; false if there is none. */
bool cuv_pca_tile_init (CuvPcaTile *self, int n);
void cuv_pca_tile_clear (CuvPcaTile *self);

int64_t cuv_pca_n_tiles (const CuvCube *cube);
/* Tiles of a chunk: chunk c has those from c times this number on. */
int64_t cuv_pca_chunk_tiles (const CuvCube *cube);

void cuv_pca_load (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
    CuvPcaTile *out);

/* The pivots of a cube's bands; of integers 0. */
void cuv_pca_find_pivots (
    const CuvCube *cube, const CuvPcaBands *bands, float *pivots);
/* Takes them off the samples, for cuv_pca_add(). */
void cuv_pca_shift (CuvPcaTile *tile, const float *pivots);
/* Puts them where sums, which are all there, have them. */
void cuv_pca_set_pivots (CuvPcaSum *sums, int n, const float *pivots);

/* Adds a tile's sums, a chunk's sums. */
void cuv_pca_add (const CuvPcaTile *tile, CuvPcaSum *sums);
void cuv_pca_merge (
    int n, bool is_exact, const CuvPcaSum *chunk, CuvPcaSum *sums);

/* All sums of a cube; false without memory. */
bool cuv_pca_sums (
    const CuvCube *cube, const CuvPcaBands *bands, CuvPcaSum *sums);

/* ---- moments ---- */

bool cuv_pca_moments_init (CuvPcaMoments *self, int n);
void cuv_pca_moments_clear (CuvPcaMoments *self);

/* Those of one frame. Of integers they are exact but for the last division;
 * a float band of which rounding leaves no variance has none. */
void cuv_pca_moments_from_sums (
    CuvPcaMoments *self, const CuvPcaSum *sums, bool is_exact);

/* Makes self (1 - a) self + a frame, as sums per pixel would be. A frame of no
 * pixels changes nothing. If the frame's second moments are farther from those
 * before than half their norm, it is another scene: they are forgotten, and
 * that is returned. */
bool cuv_pca_moments_add (
    CuvPcaMoments *self, const CuvPcaMoments *frame, double smoothing);

/* ---- eigenvectors ---- */

/* A CuvPcaBasis of n bands, all 0; false without memory. */
bool cuv_pca_basis_init (CuvPcaBasis *self, int n);
void cuv_pca_basis_clear (CuvPcaBasis *self);
void cuv_pca_basis_copy (CuvPcaBasis *self, const CuvPcaBasis *from);

bool cuv_pca_scratch_init (CuvPcaScratch *self, int n);
void cuv_pca_scratch_clear (CuvPcaScratch *self);

/* Makes the basis that of the moments. If it was known, and of the same mode,
 * it is where the search begins, and with stabilise what components are matched
 * to: the pair most alike first. Sweeps of Jacobi. */
int cuv_pca_basis_update (CuvPcaBasis *self, const CuvPcaMoments *moments,
    const CuvPcaLearning *learning, CuvPcaScratch *scratch);

/* The sum of all values, which says how much one of them explains. */
double cuv_pca_basis_total (const CuvPcaBasis *self);

/* Mean and deviation of component k, from 0 on, over the pixels; a deviation of
 * less than 1e-6 of the largest possible is 0. */
void cuv_pca_basis_spread (
    const CuvPcaBasis *self, int k, double *mean, double *deviation);

/* ---- scores ---- */

/* A cube of floats, of a component in each band; steps are in floats. */
typedef struct {
  float *values;
  int32_t n, width;
  int64_t pixel_step, row_step, band_step;
} CuvPcaScores;

/* The first components, CUV_PCA_TILE values each, added up band by band in
 * double: v_k . s of a correlation, v_k . (s - mean) / deviation else. */
void cuv_pca_score (const CuvPcaTile *tile, const CuvPcaBasis *basis,
    int n_scores, double *out);

/* Those of a tile whose first pixel is that of the image; pixels that are left
 * out are NaN, and all are without values. */
void cuv_pca_store_scores (const CuvPcaTile *tile, int64_t first,
    const double *values, const CuvPcaScores *to);

/* ---- pictures ---- */

/* Gains to bytes; limits for percentiles only. A component of no deviation, and
 * one that there is not, is 128. */
void cuv_pca_gains_init (CuvPcaGains *self, const CuvPcaBasis *basis,
    const CuvPcaDisplay *display, const CuvPcaLimits *limits);

/* Gains to bins. */
void cuv_pca_gains_init_bins (
    CuvPcaGains *self, const CuvPcaBasis *basis, const CuvPcaDisplay *display);

/* From counts of CUV_PCA_BINS bins for each channel. */
void cuv_pca_limits_init (
    CuvPcaLimits *self, const int64_t *bins, const CuvPcaDisplay *display);

/* Channel after channel, CUV_PCA_TILE values each. */
void cuv_pca_project (
    const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out);

/* R, G, B, 255 of the tile's pixels; those left out are black. */
void cuv_pca_paint (
    const CuvPcaTile *tile, const int32_t *values, uint8_t *out);

#endif
