/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Analyses a cube on several threads, in passes over chunks of tiles. */
#include "cpu/pca-cpu.h"
#include "cuvthreads.h"
#include "cuvtime.h"
#include "cpu/pca-dsp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORKERS = CUV_PCA_CHUNKS };

/* Work on each tile of a pass, as flags. */
enum { SUM = 1 << 0, COUNT = 1 << 1, PAINT = 1 << 2, SCORE = 1 << 3 };

typedef struct {
  CuvPcaTile tile;
  int32_t values[CUV_PCA_SHOWN * CUV_PCA_TILE]; /* projections */
  uint8_t pixels[4 * CUV_PCA_TILE];
  int64_t bins[CUV_PCA_SHOWN * CUV_PCA_BINS];
  int64_t left_out;
  double *scores; /* scores of a tile: n_scores x CUV_PCA_TILE */
} Worker;

struct _CuvPcaCpu {
  CuvPcaTrack track;
  CuvPcaDsp dsp;
  int n, n_workers; /* n: number of bands */
  int n_scores; /* number of components that the workers' scores have room for
                 */
  Worker *workers;
  CuvPcaSum *chunks, *sums; /* sums of each chunk, and of the frame */

  /* the current run */
  const CuvCube *cube;
  const CuvPcaBands *bands;
  uint8_t *picture;
  ptrdiff_t stride;
  const CuvPcaScores *scores;
  int n_threads;
  int work; /* what a run does: flags */
  float pivots[CUV_CUBE_MAX_BANDS];
  CuvPcaGains gains, bin_gains;
};

static int
count_workers (void)
{
  const long n = sysconf (_SC_NPROCESSORS_ONLN);

  return n < 4 ? 4 : n > MAX_WORKERS ? MAX_WORKERS : (int) n;
}

CuvPcaCpu *
cuv_pca_cpu_new (int n)
{
  const size_t n_sums = (size_t) CUV_PCA_SUMS (n);
  CuvPcaCpu *self = calloc (1, sizeof *self);
  bool ok;

  if (self == NULL)
    return NULL;
  self->n = n;
  self->n_workers = count_workers ();
  self->workers = calloc ((size_t) self->n_workers, sizeof *self->workers);
  self->chunks = calloc (CUV_PCA_CHUNKS * n_sums, sizeof *self->chunks);
  self->sums = calloc (n_sums, sizeof *self->sums);
  ok = cuv_pca_track_init (&self->track, n) && self->workers != NULL
      && self->chunks != NULL && self->sums != NULL;
  for (int i = 0; ok && i < self->n_workers; i++)
    ok = cuv_pca_tile_init (&self->workers[i].tile, n);
  if (!ok) {
    cuv_pca_cpu_free (self);
    return NULL;
  }
  cuv_pca_dsp_init (&self->dsp);
  return self;
}

void
cuv_pca_cpu_free (CuvPcaCpu *self)
{
  if (self == NULL)
    return;
  for (int i = 0; self->workers != NULL && i < self->n_workers; i++) {
    cuv_pca_tile_clear (&self->workers[i].tile);
    free (self->workers[i].scores);
  }
  cuv_pca_track_clear (&self->track);
  free (self->workers);
  free (self->chunks);
  free (self->sums);
  free (self);
}

CuvPcaTrack *
cuv_pca_cpu_track (CuvPcaCpu *self)
{
  return &self->track;
}

static void
pca_count_tile (CuvPcaCpu *self, Worker *worker)
{
  const CuvPcaTile *tile = &worker->tile;

  self->dsp.project (tile, &self->bin_gains, worker->values);
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    int64_t *bins = &worker->bins[c * CUV_PCA_BINS];

    for (int p = 0; p < tile->count; p++)
      bins[worker->values[c * CUV_PCA_TILE + p]] += !tile->left_out[p];
  }
}

/* A tile may be the end of one row and the beginning of the next. */
static void
pca_paint_tile (CuvPcaCpu *self, Worker *worker, int64_t first)
{
  const int64_t width = self->cube->width;
  const int64_t end = first + worker->tile.count;

  self->dsp.project (&worker->tile, &self->gains, worker->values);
  self->dsp.paint (&worker->tile, worker->values, worker->pixels);
  for (int64_t at = first; at < end;) {
    const int64_t row_end = (at / width + 1) * width;
    const int64_t until = row_end < end ? row_end : end;

    memcpy (self->picture + at / width * self->stride + at % width * 4,
        worker->pixels + (at - first) * 4, (size_t) (until - at) * 4);
    at = until;
  }
}

static void
score (CuvPcaCpu *self, Worker *worker, int64_t first)
{
  const CuvPcaBasis *basis = &self->track.basis;

  if (basis->is_known)
    cuv_pca_score (&worker->tile, basis, self->scores->n, worker->scores);
  cuv_pca_store_scores (&worker->tile, first,
      basis->is_known ? worker->scores : NULL, self->scores);
}

static void
chunk_task (void *data, int worker_index, int chunk)
{
  CuvPcaCpu *self = data;
  Worker *worker = &self->workers[worker_index];
  const int64_t n_tiles = cuv_pca_n_tiles (self->cube);
  const int64_t size = cuv_pca_chunk_tiles (self->cube);
  CuvPcaSum *sums = self->chunks + (size_t) chunk * CUV_PCA_SUMS (self->n);

  if (self->work & SUM)
    memset (sums, 0, (size_t) CUV_PCA_SUMS (self->n) * sizeof *sums);
  for (int64_t t = chunk * size; t < (chunk + 1) * size && t < n_tiles; t++) {
    self->dsp.load (self->cube, self->bands, t, &worker->tile);
    worker->left_out += worker->tile.n_left_out;
    if (self->work & COUNT)
      pca_count_tile (self, worker);
    if (self->work & PAINT)
      pca_paint_tile (self, worker, t * CUV_PCA_TILE);
    if (self->work & SCORE)
      score (self, worker, t * CUV_PCA_TILE);
    if (self->work & SUM) { /* last, because it shifts the samples */
      cuv_pca_shift (&worker->tile, self->pivots);
      self->dsp.add (&worker->tile, sums);
    }
  }
}

static void
merge_sums (CuvPcaCpu *self)
{
  const int n_sums = CUV_PCA_SUMS (self->n);
  const bool is_exact = self->cube->format != CUV_CUBE_F32;

  memset (self->sums, 0, (size_t) n_sums * sizeof *self->sums);
  for (int i = 0; i < CUV_PCA_CHUNKS; i++)
    cuv_pca_merge (
        self->n, is_exact, self->chunks + (size_t) i * n_sums, self->sums);
  cuv_pca_set_pivots (self->sums, self->n, self->pivots);
}

static void
merge_bins (CuvPcaCpu *self)
{
  int64_t *bins = self->workers[0].bins;

  for (int w = 1; w < self->n_workers; w++) {
    for (int i = 0; i < CUV_PCA_SHOWN * CUV_PCA_BINS; i++)
      bins[i] += self->workers[w].bins[i];
  }
}

/* Makes one pass over all tiles; returns the number of excluded pixels. */
static int64_t
pass (CuvPcaCpu *self, int work)
{
  int64_t left_out = 0;

  self->work = work;
  if (work & SUM)
    cuv_pca_find_pivots (self->cube, self->bands, self->pivots);
  for (int i = 0; i < self->n_workers; i++) {
    self->workers[i].left_out = 0;
    if (work & COUNT)
      memset (self->workers[i].bins, 0, sizeof self->workers[i].bins);
  }
  cuv_threads_run_workers (
      self->n_threads, self->n_workers, CUV_PCA_CHUNKS, chunk_task, self);
  for (int i = 0; i < self->n_workers; i++)
    left_out += self->workers[i].left_out;
  if (work & SUM)
    merge_sums (self);
  if (work & COUNT)
    merge_bins (self);
  return left_out;
}

/* Sets the display limits from percentiles of this frame (mapping=percentile).
 */
static void
find_limits (CuvPcaCpu *self, const CuvPcaParams *params)
{
  if (params->display.mapping != CUV_PCA_PERCENTILE
      || !self->track.basis.is_known)
    return;
  cuv_pca_gains_init_bins (
      &self->bin_gains, &self->track.basis, &params->display);
  pass (self, COUNT);
  cuv_pca_track_set_limits (&self->track, self->workers[0].bins,
      &params->display, params->learning.smoothing);
}

static void
pca_learn (CuvPcaCpu *self, const CuvPcaParams *params, CuvPcaResult *result)
{
  result->update = cuv_pca_track_learn (&self->track, self->sums,
      self->cube->format != CUV_CUBE_F32, &params->learning);
}

/* Makes one pass with the previous frame's state. */
static void
run_lagged (CuvPcaCpu *self, const CuvPcaParams *params, CuvPcaResult *result,
    struct timespec *start)
{
  const bool counts = params->display.mapping == CUV_PCA_PERCENTILE;

  if (cuv_pca_track_needs_limits (&self->track, &params->display))
    find_limits (self, params);
  cuv_pca_track_gains (&self->track, &params->display, &self->gains);
  if (counts)
    cuv_pca_gains_init_bins (
        &self->bin_gains, &self->track.basis, &params->display);
  result->left_out = pass (self, SUM | PAINT | (counts ? COUNT : 0));
  result->sums_us = cuv_microseconds_since (start);
  if (counts)
    cuv_pca_track_set_limits (&self->track, self->workers[0].bins,
        &params->display, params->learning.smoothing);
  pca_learn (self, params, result);
  result->basis_us = cuv_microseconds_since (start);
}

static void
learn_first (CuvPcaCpu *self, const CuvPcaParams *params, CuvPcaResult *result,
    struct timespec *start)
{
  if (params->is_frozen && self->track.basis.is_known)
    return;
  pass (self, SUM);
  result->sums_us = cuv_microseconds_since (start);
  pca_learn (self, params, result);
  result->basis_us = cuv_microseconds_since (start);
}

static void
run_exact (CuvPcaCpu *self, const CuvPcaParams *params, CuvPcaResult *result,
    struct timespec *start)
{
  learn_first (self, params, result, start);
  find_limits (self, params);
  cuv_pca_track_gains (&self->track, &params->display, &self->gains);
  result->left_out = pass (self, PAINT);
  result->picture_us = cuv_microseconds_since (start);
}

static void
pca_begin (CuvPcaCpu *self, const CuvCube *cube, const CuvPcaBands *bands,
    int n_threads, CuvPcaResult *result, struct timespec *start)
{
  clock_gettime (CLOCK_MONOTONIC, start);
  *result = (CuvPcaResult){ 0 };
  self->cube = cube;
  self->bands = bands;
  self->n_threads = n_threads;
}

void
cuv_pca_cpu_run (CuvPcaCpu *self, const CuvCube *cube, const CuvPcaBands *bands,
    const CuvPcaParams *params, uint8_t *picture, ptrdiff_t stride,
    int n_threads, CuvPcaResult *result)
{
  struct timespec start;

  pca_begin (self, cube, bands, n_threads, result, &start);
  self->picture = picture;
  self->stride = stride;
  if (params->timing == CUV_PCA_LAGGED && !params->is_frozen
      && self->track.basis.is_known
      && self->track.basis.mode == params->learning.mode)
    run_lagged (self, params, result, &start);
  else
    run_exact (self, params, result, &start);
  result->pixels = (int64_t) cube->width * cube->height - result->left_out;
}

static bool
ensure_scores (CuvPcaCpu *self, int n)
{
  if (n <= self->n_scores)
    return true;
  for (int i = 0; i < self->n_workers; i++) {
    const size_t size = (size_t) n * CUV_PCA_TILE * sizeof (double);
    double *room = realloc (self->workers[i].scores, size);

    if (room == NULL)
      return false;
    self->workers[i].scores = room;
  }
  self->n_scores = n;
  return true;
}

bool
cuv_pca_cpu_score (CuvPcaCpu *self, const CuvCube *cube,
    const CuvPcaBands *bands, const CuvPcaParams *params,
    const CuvPcaScores *scores, int n_threads, CuvPcaResult *result)
{
  struct timespec start;

  if (!ensure_scores (self, scores->n))
    return false;
  pca_begin (self, cube, bands, n_threads, result, &start);
  self->scores = scores;
  learn_first (self, params, result, &start);
  result->left_out = pass (self, SCORE);
  result->picture_us = cuv_microseconds_since (&start);
  result->pixels = (int64_t) cube->width * cube->height - result->left_out;
  return true;
}
