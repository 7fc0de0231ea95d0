/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Videos with crossing eigenvalues, whose components must not swap. */
#include "pca-inputs.h"
#include "cuvcheck.h"
#include "reference/pca-track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, WIDTH = 48, HEIGHT = 32, PIXELS = WIDTH * HEIGHT, FRAMES = 500 };

typedef struct {
  PcaInput input;
  CuvPcaTrack track;
  CuvPcaSum *sums;
  double abundances[3][PIXELS]; /* orthogonal: only noise couples spectra */
  double before[N * N];
} Film;

static void
film_init (Film *self)
{
  pca_input_init (
      &self->input, CUV_CUBE_F32, PCA_BSQ, WIDTH, HEIGHT, N, PCA_CONSTANT);
  CUV_CHECK (cuv_pca_track_init (&self->track, N));
  self->sums = malloc (CUV_PCA_SUMS (N) * sizeof *self->sums);
  for (int i = 0; i < 3 * PIXELS; i++)
    self->abundances[i / PIXELS][i % PIXELS] =
        cos (2.0 * M_PI * (3 + 2 * (i / PIXELS)) * (i % PIXELS + 0.5) / PIXELS);
}

static void
film_clear (Film *self)
{
  cuv_pca_track_clear (&self->track);
  pca_input_clear (&self->input);
  free (self->sums);
}

/* Makes a frame of three orthogonal spectra with these strengths, and noise. */
static void
film_frame (Film *self, const double strength[3])
{
  static const double spectra[3][N] = { { 1, 1, 1, 1, 1, 1, 1, 1 },
    { 1, 1, 1, 1, -1, -1, -1, -1 }, { 1, 1, -1, -1, 1, 1, -1, -1 } };

  for (int p = 0; p < PIXELS; p++) {
    for (int b = 0; b < N; b++) {
      double s = 40.0 + 0.05 * pca_random ();

      for (int i = 0; i < 3; i++)
        s += strength[i] * spectra[i][b] * self->abundances[i][p] / sqrt (N);
      pca_input_set (&self->input, p % WIDTH, p / WIDTH, b, s);
    }
  }
}

static CuvPcaUpdate
film_learn (Film *self, CuvPcaStabilise stabilise, double smoothing)
{
  const CuvPcaLearning learning = { CUV_PCA_COVARIANCE, stabilise, smoothing };

  memcpy (self->before, self->track.basis.vectors, sizeof self->before);
  CUV_CHECK (cuv_pca_sums (&self->input.cube, &self->input.bands, self->sums));
  return cuv_pca_track_learn (&self->track, self->sums, false, &learning);
}

static double
dot_of (const double *a, const double *b)
{
  double sum = 0.0;

  for (int i = 0; i < N; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Returns the cosine between component k and its previous vector. */
static double
previous_cosine (const Film *self, int k)
{
  return dot_of (&self->before[k * N], &self->track.basis.vectors[k * N]);
}

/* Sets the strengths of three spectra; those of the first two cross twice in
 * the video. */
static void
strengths (int frame, double out[3])
{
  const double phase = 2.0 * M_PI * frame / FRAMES;

  out[0] = 10.0 + 2.0 * cos (phase);
  out[1] = 10.0 - 2.0 * cos (phase);
  out[2] = 3.0;
}

static void
run_film (CuvPcaStabilise stabilise, double *worst, int *turned, int *swaps)
{
  Film self;
  double s[3];

  film_init (&self);
  *worst = 1.0;
  *turned = *swaps = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    strengths (frame, s);
    film_frame (&self, s);
    CUV_CHECK (!film_learn (&self, stabilise, 0.1).is_cut);
    for (int k = 0; frame > 0 && k < 3; k++) {
      *worst = fmin (*worst, previous_cosine (&self, k));
      *turned += previous_cosine (&self, k) < 0.0;
    }
    *swaps += self.track.basis.values[0] < self.track.basis.values[1];
  }
  film_clear (&self);
}

/* Checks stabilise=sign and procrustes. With stabilise=none components swap at
 * each crossing, which shows that the check can fail. */
static void
check_crossing (void)
{
  double worst;
  int turned, swaps;

  cuv_check_case ("crossing eigenvalues, stabilise=none");
  run_film (CUV_PCA_FREE, &worst, &turned, &swaps);
  CUV_CHECK (worst < 0.3 && swaps == 0, ": %g", worst);
  cuv_check_case ("crossing eigenvalues, stabilise=sign");
  run_film (CUV_PCA_SIGN, &worst, &turned, &swaps);
  CUV_CHECK (worst > 0.9 && turned == 0, ": %g", worst);
  CUV_CHECK (swaps > FRAMES / 4 && swaps < FRAMES * 3 / 4, ": %d", swaps);
  cuv_check_case ("crossing eigenvalues, stabilise=procrustes");
  run_film (CUV_PCA_PROCRUSTES, &worst, &turned, &swaps);
  CUV_CHECK (worst > 0.9 && turned == 0, ": %g", worst);
}

/* Returns the minimum cosine between the first two components and those of the
 * first frame. Their strengths are equal, so that only noise decides which
 * vectors of their plane are found. */
static double
wander (CuvPcaStabilise stabilise)
{
  static const double equal[3] = { 10.0, 10.0, 3.0 };
  double first[2 * N], worst = 1.0;
  Film self;

  film_init (&self);
  for (int frame = 0; frame < 60; frame++) {
    film_frame (&self, equal);
    film_learn (&self, stabilise, 1.0);
    if (frame == 0)
      memcpy (first, self.track.basis.vectors, sizeof first);
    for (int k = 0; k < 2; k++)
      worst = fmin (
          worst, dot_of (&first[k * N], &self.track.basis.vectors[k * N]));
  }
  film_clear (&self);
  return worst;
}

static void
check_wander (void)
{
  double with, without;

  cuv_check_case ("equal eigenvalues");
  without = wander (CUV_PCA_SIGN);
  with = wander (CUV_PCA_PROCRUSTES);
  CUV_CHECK (with > 0.9, ": %g with procrustes, %g without", with, without);
  CUV_CHECK (without < 0.8, ": %g", without);
}

/* Checks that procrustes rotates components only within the space that they
 * span. */
static void
check_subspace (void)
{
  static const double near[3] = { 10.0, 10.01, 3.0 };
  Film self;
  double sum = 0.0, total;

  cuv_check_case ("procrustes keeps the space");
  film_init (&self);
  film_frame (&self, near);
  film_learn (&self, CUV_PCA_PROCRUSTES, 1.0);
  total = cuv_pca_basis_total (&self.track.basis);
  film_frame (&self, near);
  film_learn (&self, CUV_PCA_PROCRUSTES, 1.0);
  CUV_CHECK (
      fabs (cuv_pca_basis_total (&self.track.basis) / total - 1.0) < 0.01);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      sum = fmax (sum,
          fabs (dot_of (&self.track.basis.vectors[i * N],
                    &self.track.basis.vectors[j * N])
              - (i == j)));
  }
  CUV_CHECK (sum < 1e-11, ": %g", sum);
  for (int k = 0; k < 3; k++) {
    double c = 0.0, *v = &self.track.basis.vectors[k * N];

    for (int i = 0; i < N * N; i++)
      c += v[i / N] * self.track.moments.covariance[i] * v[i % N];
    CUV_CHECK (fabs (c - self.track.basis.values[k]) < 1e-9 * c, ": %d", k);
  }
  film_clear (&self);
}

/* Checks that eigenvectors in any order and of either sign return to their
 * places. */
static void
check_places (void)
{
  int32_t order[N];
  CuvPcaBasis basis;
  CuvPcaScratch scratch;

  cuv_check_case ("places");
  CUV_CHECK (cuv_pca_basis_init (&basis, N));
  CUV_CHECK (cuv_pca_scratch_init (&scratch, N));
  for (int k = 0; k < N; k++) {
    const int with = (int) cuv_check_below ((uint32_t) k + 1);

    order[k] = order[with];
    order[with] = k;
    basis.vectors[k * N + k] = 0.6;
    basis.vectors[k * N + (k ^ 1)] = k & 1 ? -0.8 : 0.8;
  }
  for (int k = 0; k < N; k++) {
    const double sign = cuv_check_below (2) ? 1.0 : -1.0;

    scratch.values[k] = order[k];
    for (int i = 0; i < N; i++)
      scratch.vectors[k * scratch.pitch + i] = sign
          * (basis.vectors[order[k] * N + i]
              + 0.2 * basis.vectors[(order[k] + 1) % N * N + i]);
  }
  cuv_pca_place_as_before (cuv_pca_group_single (), basis, scratch);
  for (int k = 0; k < N; k++) {
    CUV_CHECK (basis.values[k] == k, ": %g at %d", basis.values[k], k);
    CUV_CHECK (
        dot_of (&scratch.a[k * scratch.pitch], &basis.vectors[k * N]) > 0.9,
        ": %d", k);
  }
  cuv_pca_basis_clear (&basis);
  cuv_pca_scratch_clear (&scratch);
}

static void
random_moments (CuvPcaMoments *self)
{
  for (int i = 0; i < N * N; i++)
    self->covariance[i] = 0.0;
  for (int r = 0; r < 2 * N; r++) {
    double x[N];

    for (int i = 0; i < N; i++)
      x[i] = pca_random ();
    for (int i = 0; i < N * N; i++)
      self->covariance[i] += x[i / N] * x[i % N];
  }
  self->pixels = 1;
}

/* Checks changes of scene that are not detected as cuts: the most similar pair
 * of components shares a place, and no component changes its sign. */
static void
check_scene_changes (void)
{
  const CuvPcaLearning learning = { CUV_PCA_COVARIANCE, CUV_PCA_SIGN, 1.0 };
  CuvPcaBasis before, basis;
  CuvPcaMoments moments;
  CuvPcaScratch scratch;

  cuv_check_case ("turns");
  CUV_CHECK (cuv_pca_basis_init (&before, N));
  CUV_CHECK (cuv_pca_basis_init (&basis, N));
  CUV_CHECK (cuv_pca_moments_init (&moments, N));
  CUV_CHECK (cuv_pca_scratch_init (&scratch, N));
  for (int frame = 0; frame < 50; frame++) {
    double elsewhere = 0.0, in_place = 0.0;

    cuv_pca_basis_copy (&before, &basis);
    random_moments (&moments);
    cuv_pca_basis_update (&basis, &moments, &learning, &scratch);
    for (int i = 0; frame > 0 && i < N * N; i++) {
      const double like =
          dot_of (&before.vectors[i / N * N], &basis.vectors[i % N * N]);

      if (i / N == i % N) {
        CUV_CHECK (like >= 0.0, ": %g", like);
        in_place = fmax (in_place, like);
      } else {
        elsewhere = fmax (elsewhere, fabs (like));
      }
    }
    CUV_CHECK (in_place >= elsewhere, ": %g, %g", in_place, elsewhere);
  }
  cuv_pca_basis_clear (&before);
  cuv_pca_basis_clear (&basis);
  cuv_pca_moments_clear (&moments);
  cuv_pca_scratch_clear (&scratch);
}

static void
check_scene_cut (void)
{
  static const double one[3] = { 10.0, 3.0, 1.0 }, dark[3] = { 0.5, 3.0, 1.0 };
  Film self;

  cuv_check_case ("scene cut");
  film_init (&self);
  film_frame (&self, one);
  CUV_CHECK (!film_learn (&self, CUV_PCA_SIGN, 0.1).is_cut);
  film_frame (&self, one);
  CUV_CHECK (!film_learn (&self, CUV_PCA_SIGN, 0.1).is_cut);
  film_frame (&self, dark);
  for (int p = 0; p < PIXELS * N; p++)
    pca_input_set (&self.input, p / N % WIDTH, p / N / WIDTH, p % N,
        0.5 * pca_input_get (&self.input, p / N % WIDTH, p / N / WIDTH, p % N));
  CUV_CHECK (film_learn (&self, CUV_PCA_SIGN, 0.1).is_cut);
  CUV_CHECK (self.track.moments.mean[0] == self.track.frame.mean[0]);
  CUV_CHECK (self.track.basis.values[0] > self.track.basis.values[1]);
  film_clear (&self);
}

CUV_CHECKS_CPU (check_pca_films)
{
  check_crossing ();
  check_wander ();
  check_subspace ();
  check_places ();
  check_scene_changes ();
  check_scene_cut ();
}
