/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of whole frames, on the CPU or on the GPU. */
#include "cpu/pca-cpu.h"
#include "cuvcheck.h"
#include "pca-inputs.h"
#if HAVE_CUDA
#include "pca/pca.h"
#endif

#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  CuvCubeFormat format;
  PcaLayout layout;
  int width, height, n;
  CuvPcaTiming timing;
  bool alike; /* equal noise in all bands, so that its eigenvalues are close */
} BenchCase;

static const BenchCase cases[] = {
  { "u8 bip", CUV_CUBE_U8, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u8 bsq", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u8 bsq, noise alike", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT,
      true },
  { "u8 bip, lagged", CUV_CUBE_U8, PCA_BIP, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u8 bil, lagged", CUV_CUBE_U8, PCA_BIL, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u8 bsq, lagged", CUV_CUBE_U8, PCA_BSQ, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "u16 bsq", CUV_CUBE_U16, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u16 bip", CUV_CUBE_U16, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "u16 bil, lagged", CUV_CUBE_U16, PCA_BIL, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "f32 bip", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "f32 bsq", CUV_CUBE_F32, PCA_BSQ, 1920, 1080, 31, CUV_PCA_EXACT, false },
  { "f32 bip, lagged", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 31, CUV_PCA_LAGGED,
      false },
  { "f32 bip, 40 bands", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 40, CUV_PCA_EXACT,
      false },
  { "f32 bip, many", CUV_CUBE_F32, PCA_BIP, 1920, 1080, 81, CUV_PCA_EXACT,
      false },
  { "u16 bip, many", CUV_CUBE_U16, PCA_BIP, 1920, 1080, 81, CUV_PCA_EXACT,
      false },
  { "u16 bsq, mosaic", CUV_CUBE_U16, PCA_BSQ, 409, 217, 25, CUV_PCA_EXACT,
      false },
  { "u8 RGBx video", CUV_CUBE_U8, PCA_BGRX, 1920, 1080, 3, CUV_PCA_EXACT,
      false },
};

static CuvPcaParams
bench_params (const BenchCase *c)
{
  return (CuvPcaParams){ .learning = { CUV_PCA_COVARIANCE, CUV_PCA_SIGN, 0.1 },
    .display = { { 1, 2, 3 }, CUV_PCA_SIGMA, 3.0, { 0, 1 }, 1 },
    .timing = c->timing };
}

typedef struct {
  void *state; /* a CuvPcaCpu or CuvPcaCuda */
  CuvCube cubes[2];
  void *data[2], *lent[2]; /* of the cubes, on the host and on the GPU */
  CuvPcaBands bands;
  CuvPcaParams params;
  CuvPcaResult result;
  uint8_t *picture;
  int n;
} Bench;

static void
set_sample (const CuvCube *cube, uint8_t *at, unsigned value, unsigned noise)
{
  if (cube->format == CUV_CUBE_U8)
    *at = (uint8_t) (value / 4 + noise / 4096);
  else if (cube->format == CUV_CUBE_U16)
    *(uint16_t *) (void *) at = (uint16_t) (64 * value + noise / 256);
  else
    *(float *) (void *) at = (float) value + (float) noise / 8192;
}

/* Fills a pixel with two spectra in changing proportions and with noise, which
 * is equal in all bands or up to four times as strong in one band as in
 * another. */
static void
fill_bands (const CuvCube *cube, const BenchCase *c, uint8_t *at,
    unsigned pixel, unsigned *noise)
{
  const unsigned n = (unsigned) c->n, one = pixel % 211, two = pixel / 517 % 97;

  for (unsigned b = 0; b < n; b++, at += cube->band_step) {
    const unsigned strength = c->alike ? 256 : 64 + 192 * b / n;

    *noise = *noise * 1664525u + 1013904223u;
    set_sample (cube, at, (one * (b + 3) + two * (n - b)) / n,
        (*noise >> 16) * strength / 256);
  }
}

/* Makes a cube without padding; the noise differs from frame to frame. */
static CuvCube
bench_cube (const BenchCase *c, unsigned frame, size_t *size)
{
  const int bytes = cuv_cube_sample_size (c->format);
  const int across = c->layout == PCA_BGRX ? c->n + 1 : c->n;
  const int64_t row = (int64_t) c->width * bytes;
  const bool planes = c->layout == PCA_BSQ;
  CuvCube cube = { NULL, c->format, c->width, c->height, c->n, bytes * across,
    row * across, bytes };
  unsigned noise = frame + 1;
  uint8_t *data;

  if (planes || c->layout == PCA_BIL) {
    cube.pixel_step = bytes;
    cube.row_step = planes ? row : row * across;
    cube.band_step = planes ? row * c->height : row;
  }
  *size = (size_t) (row * c->height * across);
  cube.data = data = calloc (1, *size);
  for (int i = 0; i < c->width * c->height; i++)
    fill_bands (&cube, c,
        data + i % c->width * cube.pixel_step + i / c->width * cube.row_step,
        (unsigned) i, &noise);
  return cube;
}

/* Alternates two frames of one scene, so that every update changes the basis.
 */
static void
run (void *data)
{
  Bench *self = data;
  const CuvCube *cube = &self->cubes[self->n++ % 2];

  CUV_CHECK_RUN (
      cuv_pca_cuda_submit (self->state, cube, &self->bands, &self->params,
          self->picture, 4 * cube->width, cuv_check_stream),
      cuv_pca_cpu_run (self->state, cube, &self->bands, &self->params,
          self->picture, 4 * cube->width, 0, &self->result));
}

static void
collect (Bench *self)
{
  CUV_CHECK_RUN (cuv_pca_cuda_collect (self->state, &self->result, NULL), 0);
}

static void
time_runs (Bench *self, const BenchCase *c)
{
  const double pixels = (double) c->width * c->height;
  const double bytes = pixels * c->n * cuv_cube_sample_size (c->format);
  char name[80];

  snprintf (name, sizeof name, "pca %s, %s %dx%dx%d",
      CUV_CHECK_ON ("cuda", "cpu"), c->name, c->width, c->height, c->n);
  run (self);
  collect (self);
  if (cuv_check_options.cuda)
    cuv_check_report (cuv_check_time_stream (run, self, cuv_check_stream),
        pixels, bytes, "%s, in a row", name);
  cuv_check_bench (
      run, self, pixels, bytes, "%s%s", name, CUV_CHECK_ON (", alone", ""));
  collect (self);
  printf ("%s: sums %.2f, basis %.2f, picture %.2f ms, %d sweeps\n", name,
      (double) self->result.sums_us / 1000,
      (double) self->result.basis_us / 1000,
      (double) self->result.picture_us / 1000, self->result.update.sweeps);
}

static void
bench (const BenchCase *c)
{
  Bench self = { .params = bench_params (c),
    .bands = cuv_pca_all_bands (c->n) };
  const size_t size = (size_t) (4 * c->width * c->height);
  void *pixels = calloc (1, size), *memory;

  for (int i = 0; i < 2; i++) {
    size_t bytes;
    CuvCube cube = bench_cube (c, (unsigned) i, &bytes);

    self.data[i] = (void *) cube.data;
    cube.data = cuv_check_lend_data (cube.data, bytes, &self.lent[i]);
    self.cubes[i] = cube;
  }
  self.state =
      CUV_CHECK_ON ((void *) cuv_pca_cuda_new (c->n), cuv_pca_cpu_new (c->n));
  self.picture = cuv_check_lend_data (pixels, size, &memory);
  if (CUV_CHECK (self.state != NULL, ": %s", cuv_check_error ()))
    time_runs (&self, c);
  CUV_CHECK_ON (cuv_pca_cuda_free (self.state), cuv_pca_cpu_free (self.state));
  for (int i = 0; i < 2; i++) {
    cuv_check_device_free (self.lent[i]);
    free (self.data[i]);
  }
  cuv_check_device_free (memory);
  free (pixels);
}

CUV_BENCH (bench_pca)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cuv_check_wants (cases[i].name))
      bench (&cases[i]);
  }
}
