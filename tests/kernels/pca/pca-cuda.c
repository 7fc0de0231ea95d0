/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU against the C reference: sums of integers are equal bit for bit, sums
 * of floats up to the order of additions, bases up to rounding, and pictures up
 * to one grey level. */
#include "config.h"
#include "pca-runs.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pca/pca.h"

typedef struct {
  const PcaRun *run;
  CuvPcaCuda *cuda;
  CuvPcaBasis basis;      /* learned on the GPU */
  PcaReference reference; /* makes pictures with that basis */
  CuvPcaTrack track;      /* learns on the CPU */
  uint8_t *picture;
} Case;

/* ---- sums ---- */

static double
value_of (const CuvPcaSum *sum, bool is_exact)
{
  return is_exact ? (double) sum->i : sum->d;
}

/* Returns whether integers are equal, or floats within the tolerance. */
static bool
is_same (const CuvPcaSum *a, const CuvPcaSum *b, bool is_exact, double size)
{
  return is_exact ? a->i == b->i : fabs (a->d - b->d) <= 1e-12 * size;
}

static void
check_sums (Case *self, const PcaInput *input, CuvPcaSum *expected)
{
  const bool is_exact = input->cube.format != CUV_CUBE_F32;
  const int n = self->run->n, stride = CUV_PCA_STRIDE (n);
  CuvPcaSum *found = malloc ((size_t) CUV_PCA_SUMS (n) * sizeof *found);
  int wrong = 0;

  cuv_pca_sums (&input->cube, &input->bands, expected);
  CUV_CHECK (cuv_pca_cuda_get_sums (self->cuda, found) == 0);
  for (int i = 0; i <= n; i++) {
    for (int j = i; j <= n; j++) {
      const int at = i * stride + j;
      const double size = sqrt (value_of (&expected[i * stride + i], is_exact)
          * value_of (&expected[j * stride + j], is_exact));

      wrong += !is_same (&found[at], &expected[at], is_exact, size);
    }
  }
  CUV_CHECK (wrong == 0, ": %d sums", wrong);
  free (found);
}

/* ---- bases ---- */

/* Returns the norm of B v - lambda v for component k of a, where B is the
 * matrix that b decomposes. */
static double
residual (const CuvPcaBasis *a, int k, const CuvPcaBasis *b)
{
  const double *v = &a->vectors[k * a->n];
  const int n = a->n;
  double sum = 0.0;

  for (int l = 0; l < n; l++) {
    const double along = cuv_pca_dot (v, &b->vectors[l * n], n);

    sum += pow ((a->values[k] - b->values[l]) * along, 2);
  }
  return sqrt (sum);
}

/* Checks that the vectors are orthonormal and decompose the same matrix.
 * Procrustes may rotate other vectors, because rounding decides which
 * eigenvalues are close. */
static void
check_near_basis (const CuvPcaBasis *a, const CuvPcaBasis *b, double tolerance,
    CuvPcaStabilise stabilise)
{
  const double total = cuv_pca_basis_total (b);
  double off = 0.0, far = 0.0;

  CUV_CHECK (fabs (cuv_pca_basis_total (a) - total) <= tolerance * total);
  for (int i = 0; i < a->n; i++) {
    far = fmax (far, residual (a, i, b));
    for (int j = 0; j <= i; j++)
      off = fmax (off,
          fabs (cuv_pca_dot (&a->vectors[i * a->n], &a->vectors[j * a->n], a->n)
              - (i == j ? 1.0 : 0.0)));
  }
  CUV_CHECK (off < 1e-11, ": %g", off);
  CUV_CHECK (far <= tolerance * total || stabilise == CUV_PCA_PROCRUSTES,
      ": %g of %g", far, total);
}

/* Checks a basis learnt from integers: means and deviations are equal bit for
 * bit, the basis up to rounding. */
static void
check_same_basis (
    const CuvPcaBasis *a, const CuvPcaBasis *b, CuvPcaStabilise stabilise)
{
  const size_t n = (size_t) a->n;

  CUV_CHECK (memcmp (a->mean, b->mean, n * sizeof (double)) == 0);
  CUV_CHECK (memcmp (a->deviation, b->deviation, n * sizeof (double)) == 0);
  check_near_basis (a, b, 1e-11, stabilise);
}

static void
check_learnt (Case *self, const PcaInput *input, const CuvPcaResult *result)
{
  const bool is_exact = input->cube.format != CUV_CUBE_F32;
  const CuvPcaLearning *learning = &self->run->params.learning;
  CuvPcaSum *sums =
      malloc ((size_t) CUV_PCA_SUMS (self->run->n) * sizeof *sums);
  CuvPcaUpdate update;

  check_sums (self, input, sums);
  update = cuv_pca_track_learn (&self->track, sums, is_exact, learning);
  CUV_CHECK (self->basis.is_known == self->track.basis.is_known);
  CUV_CHECK (result->update.is_cut == update.is_cut);
  if (self->basis.is_known && is_exact) {
    check_same_basis (&self->basis, &self->track.basis, learning->stabilise);
  } else if (self->basis.is_known) {
    check_near_basis (
        &self->basis, &self->track.basis, 1e-9, learning->stabilise);
  }
  free (sums);
}

/* ---- pictures ---- */

/* Checks that at most a few samples differ, by 1: the GPU rounds fewer sums. */
static void
check_picture (const Case *self, const uint8_t *expected, int frame)
{
  const PcaRun *run = self->run;
  const size_t size = (size_t) (run->stride * run->height);
  int wrong = 0, near = 0;

  for (size_t i = 0; i < size; i++) {
    const int difference = abs (self->picture[i] - expected[i]);

    near += difference == 1;
    wrong += difference > 1;
  }
  CUV_CHECK (wrong == 0 && near <= 2 + (int) size / 10000,
      ": frame %d, %d samples are wrong and %d near", frame, wrong, near);
}

static void
submit (Case *self, const PcaInput *input, CuvPcaResult *result)
{
  const PcaRun *run = self->run;
  const size_t size = (size_t) (run->stride * run->height);
  uint8_t *memory = cuv_check_upload (input->memory, input->size), *picture;
  CuvCube cube = input->cube;

  memset (self->picture, 0x55, size);
  picture = cuv_check_upload (self->picture, size);
  cube.data = memory + (input->cube.data - (uint8_t *) input->memory);
  CUV_CHECK (cuv_pca_cuda_submit (self->cuda, &cube, &input->bands,
                 &run->params, picture, run->stride, cuv_check_stream)
          == 0,
      ": %s", cuv_cuda_error ());
  CUV_CHECK (cuv_pca_cuda_collect (self->cuda, result, &self->basis) == 0);
  cuv_check_download (self->picture, picture, size);
  cuv_check_device_free (memory);
  cuv_check_device_free (picture);
}

static int
count (const PcaInput *input)
{
  int n = 0;

  for (int y = 0; y < input->cube.height; y++) {
    for (int x = 0; x < input->cube.width; x++)
      n += pca_input_is_counted (input, x, y);
  }
  return n;
}

static void
check_frame (Case *self, int i)
{
  const PcaInput *input = &self->run->frames[i];
  uint8_t *expected = self->run->pictures[i];
  CuvPcaResult result;

  submit (self, input, &result);
  CUV_CHECK (result.pixels == count (input));
  CUV_CHECK (result.pixels + result.left_out
      == (int64_t) self->run->width * self->run->height);
  if (!self->run->params.is_frozen || i == 0)
    check_learnt (self, input, &result);
  memset (expected, 0x55, (size_t) (self->run->stride * self->run->height));
  self->reference.given = &self->basis;
  self->reference.cut = result.update.is_cut;
  pca_reference_frame (
      &self->reference, input, &self->run->params, expected, self->run->stride);
  check_picture (self, expected, i);
}

void
pca_check_run_cuda (PcaRun *run)
{
  Case self = { .run = run };

  self.cuda = cuv_pca_cuda_new (run->n);
  if (!CUV_CHECK (self.cuda != NULL, ": %s", cuv_cuda_error ()))
    return;
  CUV_CHECK (cuv_pca_basis_init (&self.basis, run->n));
  CUV_CHECK (cuv_pca_track_init (&self.track, run->n));
  pca_reference_init (&self.reference, run->n);
  self.picture = malloc ((size_t) (run->stride * run->height));
  for (int i = 0; i < PCA_RUN_FRAMES; i++)
    check_frame (&self, i);
  free (self.picture);
  pca_reference_clear (&self.reference);
  cuv_pca_track_clear (&self.track);
  cuv_pca_basis_clear (&self.basis);
  cuv_pca_cuda_free (self.cuda);
}

/* ---- cuv_pca_cuda_set_basis() ---- */

/* Checks that a frozen basis gives the same picture after a reset and being set
 * again, and that a reset leaves no state. */
static void
check_set (void)
{
  Case self = { 0 };
  CuvPcaResult result;
  PcaRun run;

  pca_run_init (&run, CUV_CUBE_U8, PCA_BSQ, 9);
  run.params.learning.smoothing = 1.0;
  run.params.display.mapping = CUV_PCA_SIGMA;
  run.params.timing = CUV_PCA_EXACT;
  run.params.is_frozen = true;
  cuv_check_case ("set basis");
  self.run = &run;
  self.cuda = cuv_pca_cuda_new (run.n);
  self.picture = malloc ((size_t) (run.stride * run.height));
  CUV_CHECK (cuv_pca_basis_init (&self.basis, run.n));
  submit (&self, &run.frames[0], &result);
  memcpy (run.pictures[0], self.picture, (size_t) (run.stride * run.height));
  CUV_CHECK (cuv_pca_cuda_reset (self.cuda) == 0);
  CUV_CHECK (cuv_pca_cuda_set_basis (self.cuda, &self.basis) == 0);
  submit (&self, &run.frames[0], &result);
  check_picture (&self, run.pictures[0], 0);
  submit (&self, &run.frames[1], &result);
  CUV_CHECK (cuv_pca_cuda_reset (self.cuda) == 0);
  submit (&self, &run.frames[0], &result);
  check_picture (&self, run.pictures[0], 0);
  free (self.picture);
  cuv_pca_basis_clear (&self.basis);
  cuv_pca_cuda_free (self.cuda);
  pca_run_clear (&run);
}

/* Checks more pixels of the largest value than a block's sums can hold at once:
 * mixed products of m pairs of bytes add up to 2 m 255^2. */
static void
check_many_pixels (void)
{
  const int side = cuv_check_options.few ? 260 : 6000, n = 2;
  const size_t size = (size_t) side * (size_t) side * (size_t) n * 2;
  const int64_t m = (int64_t) side * side, largest = 65535;
  uint8_t *samples = malloc (size), *memory, *picture;
  const CuvPcaParams params = { .learning = { .smoothing = 1.0 },
    .display = { .sigmas = 3.0 } };
  const CuvPcaBands bands = cuv_pca_all_bands (n);
  CuvPcaSum sums[CUV_PCA_SUMS (2)];
  CuvPcaCuda *cuda = cuv_pca_cuda_new (n);
  CuvPcaResult result;
  CuvCube cube = { NULL, CUV_CUBE_U16, side, side, n, 4, 4 * side, 2 };

  cuv_check_case ("%d x %d pixels of 65535", side, side);
  memset (samples, 255, size);
  cube.data = memory = cuv_check_upload (samples, size);
  picture = cuv_check_upload (samples, (size_t) (4 * m));
  CUV_CHECK (cuv_pca_cuda_submit (cuda, &cube, &bands, &params, picture,
                 4 * side, cuv_check_stream)
      == 0);
  CUV_CHECK (cuv_pca_cuda_collect (cuda, &result, NULL) == 0);
  CUV_CHECK (cuv_pca_cuda_get_sums (cuda, sums) == 0);
  CUV_CHECK (result.pixels == m);
  for (int i = 0; i < n; i++) {
    CUV_CHECK (sums[i * CUV_PCA_STRIDE (2) + n].i == m * largest);
    CUV_CHECK (sums[i * CUV_PCA_STRIDE (2) + 1].i == m * largest * largest);
  }
  cuv_pca_cuda_free (cuda);
  cuv_check_device_free (memory);
  cuv_check_device_free (picture);
  free (samples);
}

CUV_CHECKS_CUDA (check_pca_cuda)
{
  CUV_CHECK (cuv_pca_cuda_fits (256, CUV_CUBE_F32));
  CUV_CHECK (!cuv_pca_cuda_fits (1 << 13, CUV_CUBE_F32));
  check_set ();
  check_many_pixels ();
}

#endif
