/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components of a cube's pixels, and pictures of them: four steps.
 *
 *   cuv_pca_sums()         sums of products of bands over a frame's pixels
 *   cuv_pca_moments_add()  running mean and second moments over frames
 *   cuv_pca_basis_update() eigenvectors, matched to those of the previous frame
 *                          so that pictures do not flicker
 *   cuv_pca_gains_*()      gain and offset of three components as R, G, B
 *
 * Everything after the sums works on n x n matrices, in double. All versions on
 * the CPU return the same bits; those of the GPU are within the tolerance that
 * docs/spectralpca.md states.
 *
 * A frame: gstspectralpca.c -> backend.c -> cpu/pca-cpu.c, or cuda/pca/pca.cu
 * (for frames in CUDA memory, and for cubes if there is a GPU) -> a picture or
 * scores, and the basis as metadata.
 *
 *   plugin.c                   registers the element
 *   gstspectralpca.c           the element
 *   gstspectralpcasettings.c   its properties and signals
 *   gstspectralpcascores.c     caps and header of cubes of scores
 *   gstspectralpcatable.c      components as metadata and statistics
 *   gstspectralbasis.c         a basis as a JSON file
 *   backend.c                  on the CPU or the GPU
 *   reference/                 the definition, in plain C:
 *     pca.c                      tiles, pivots, sums of products
 *     pca-basis.c                moments and basis on one thread
 *     pca-picture.c              projection, percentiles, pixels
 *     pca-scores.c               projections as floats
 *     pca-track.c                state from frame to frame
 *   cpu/                       the same made fast:
 *     pca-cpu.c                  passes over a frame on threads
 *     pca-dsp.c                  function table of the inner loops
 *     x86/pca-avx2.c             sums, projections and pixels in AVX2
 *     x86/pca-avx2-load.c        and the loading of tiles
 *   ../../cuda/pca/eigen/      moments and the eigen solver, for gcc and nvcc
 *   ../../cuda/pca/            the same on the GPU */
#ifndef CUV_PCA_H
#define CUV_PCA_H

#include <stdbool.h>
#include "pca/eigen/basis.h"

/* Selects all of n bands, without an ignore value. */
CuvPcaBands cuv_pca_all_bands (int n);

/* ---- tiles and sums ---- */

/* Samples of CUV_PCA_TILE consecutive pixels, one row per band: doubles, or in
 * SIMD versions 16-bit integers. Excluded pixels and those beyond the last are
 * 0. */
typedef struct {
  int32_t n;      /* bands; row n is 1 for valid pixels */
  int32_t count;  /* pixels, 1 .. CUV_PCA_TILE */
  bool is_exact;  /* the cube's samples are integers */
  bool is_narrow; /* the samples are in narrow, otherwise in rows */
  double *rows;   /* CUV_PCA_STRIDE (n) rows of CUV_PCA_TILE, 32-byte aligned */
  int16_t *narrow;             /* the same memory as 16-bit integers */
  bool left_out[CUV_PCA_TILE]; /* excluded pixels */
  int32_t n_left_out;
} CuvPcaTile;

/* Allocates memory for tiles of n bands; false if out of memory. */
bool cuv_pca_tile_init (CuvPcaTile *self, int n);
void cuv_pca_tile_clear (CuvPcaTile *self);

int64_t cuv_pca_n_tiles (const CuvCube *cube);
/* Returns the number of tiles per chunk: chunk c begins at tile c *
 * cuv_pca_chunk_tiles(). */
int64_t cuv_pca_chunk_tiles (const CuvCube *cube);

/* Copies tile `tile`, 0 .. cuv_pca_n_tiles() - 1, of the selected bands. */
void cuv_pca_load (const CuvCube *cube, const CuvPcaBands *bands, int64_t tile,
    CuvPcaTile *out);

/* Chooses the value of each band that sums are taken about, to limit
 * cancellation; 0 for integer cubes. See cuv_pca_pivot(). */
void cuv_pca_find_pivots (
    const CuvCube *cube, const CuvPcaBands *bands, float *pivots);
/* Subtracts the pivots from the samples, before cuv_pca_add(). */
void cuv_pca_shift (CuvPcaTile *tile, const float *pivots);
/* Stores the pivots in complete sums, see CUV_PCA_SUMS. */
void cuv_pca_set_pivots (CuvPcaSum *sums, int n, const float *pivots);

/* Adds the products of a tile to a chunk's sums, and a chunk's sums to the
 * frame's. */
void cuv_pca_add (const CuvPcaTile *tile, CuvPcaSum *sums);
void cuv_pca_merge (
    int n, bool is_exact, const CuvPcaSum *chunk, CuvPcaSum *sums);

/* Computes all CUV_PCA_SUMS (n) sums of a cube. Returns false if out of
 * memory. */
bool cuv_pca_sums (
    const CuvCube *cube, const CuvPcaBands *bands, CuvPcaSum *sums);

/* ---- moments ---- */

bool cuv_pca_moments_init (CuvPcaMoments *self, int n);
void cuv_pca_moments_clear (CuvPcaMoments *self);

/* Computes the moments of one frame. For integer cubes they are exact up to the
 * final division; a float band whose variance is below rounding errors gets
 * variance 0. */
void cuv_pca_moments_from_sums (
    CuvPcaMoments *self, const CuvPcaSum *sums, bool is_exact);

/* Computes self = (1 - a) self + a frame, with a = smoothing, in second moments
 * per pixel. A frame without valid pixels changes nothing. Scene cut: if the
 * frame's second moments differ from self's by more than half of the frame's
 * Frobenius norm, self becomes the frame's moments and true is returned. */
bool cuv_pca_moments_add (
    CuvPcaMoments *self, const CuvPcaMoments *frame, double smoothing);

/* ---- eigenvectors ---- */

/* Initialises a basis of n bands with zeros. Returns false if out of memory;
 * call cuv_pca_basis_clear() in that case, too. */
bool cuv_pca_basis_init (CuvPcaBasis *self, int n);
void cuv_pca_basis_clear (CuvPcaBasis *self);
void cuv_pca_basis_copy (CuvPcaBasis *self, const CuvPcaBasis *from);

bool cuv_pca_scratch_init (CuvPcaScratch *self, int n);
void cuv_pca_scratch_clear (CuvPcaScratch *self);

/* Updates the basis to the eigenvectors of the moments. The iteration starts
 * from a known basis of the same mode. With stabilise, components are matched
 * to those of that basis, the most similar pair first. Returns the number of
 * Jacobi sweeps. */
int cuv_pca_basis_update (CuvPcaBasis *self, const CuvPcaMoments *moments,
    const CuvPcaLearning *learning, CuvPcaScratch *scratch);

/* Returns the sum of all eigenvalues; an eigenvalue divided by it is the
 * component's fraction of the variance. */
double cuv_pca_basis_total (const CuvPcaBasis *self);

/* ---- scores ---- */

/* A cube of floats, one component per band; steps are in floats. */
typedef struct {
  float *values;
  int32_t n, width;
  int64_t pixel_step, row_step, band_step;
} CuvPcaScores;

/* Computes the first n_scores components of a tile, CUV_PCA_TILE values each,
 * summed band by band in double: v_k . s with second moments, otherwise v_k .
 * (s - mean) / deviation. */
void cuv_pca_score (const CuvPcaTile *tile, const CuvPcaBasis *basis,
    int n_scores, double *out);

/* Writes the scores of a tile that begins at pixel `first` of the image.
 * Excluded pixels become NaN; so do all if values is NULL. */
void cuv_pca_store_scores (const CuvPcaTile *tile, int64_t first,
    const double *values, const CuvPcaScores *to);

/* ---- pictures ---- */

/* Computes gains that map components to 0 .. 255. limits: used by mapping
 * percentile only. A component without variance, or beyond the last, is 128
 * everywhere. */
void cuv_pca_gains_init (CuvPcaGains *self, const CuvPcaBasis *basis,
    const CuvPcaDisplay *display, const CuvPcaLimits *limits);

/* Computes gains that map components to bins 0 .. CUV_PCA_BINS - 1. */
void cuv_pca_gains_init_bins (
    CuvPcaGains *self, const CuvPcaBasis *basis, const CuvPcaDisplay *display);

/* Computes percentiles from a histogram of CUV_PCA_BINS bins per channel. */
void cuv_pca_limits_init (
    CuvPcaLimits *self, const int64_t *bins, const CuvPcaDisplay *display);

/* Applies gains to a tile. out: CUV_PCA_TILE values per channel, channel after
 * channel. */
void cuv_pca_project (
    const CuvPcaTile *tile, const CuvPcaGains *gains, int32_t *out);

/* Writes the tile's pixels as R, G, B, 255; excluded ones are black. */
void cuv_pca_paint (
    const CuvPcaTile *tile, const int32_t *values, uint8_t *out);

#endif
