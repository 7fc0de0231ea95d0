/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca-inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double
pca_random (void)
{
  return (double) cuv_check_random () / 2147483648.0 - 1.0;
}

static void
set_steps (CuvCube *cube, PcaLayout layout)
{
  const int64_t size = cuv_cube_sample_size (cube->format);
  const int64_t width = cube->width, n = cube->bands;
  const int64_t gap = width % 16 != 0;

  switch (layout) {
    case PCA_BIP:
      cube->band_step = size;
      cube->pixel_step = size * n;
      cube->row_step = cube->pixel_step * width + 3 * size * gap;
      break;
    case PCA_BIL:
      cube->pixel_step = size;
      cube->band_step = size * (width + gap);
      cube->row_step = cube->band_step * n;
      break;
    case PCA_BSQ:
      cube->pixel_step = size;
      cube->row_step = size * (width + 2 * gap);
      cube->band_step = cube->row_step * cube->height;
      break;
    case PCA_SPARSE:
      cube->pixel_step = 3 * size;
      cube->row_step = cube->pixel_step * width;
      cube->band_step = cube->row_step * cube->height;
      break;
    default:
      cube->band_step = -size;
      cube->pixel_step = size * (n + 1);
      cube->row_step = cube->pixel_step * width;
      break;
  }
}

static void
allocate (PcaInput *self, PcaLayout layout)
{
  CuvCube *cube = &self->cube;
  int64_t last, first;

  set_steps (cube, layout);
  first = layout == PCA_BGRX ? -cube->band_step * (cube->bands - 1) : 0;
  last = first + cube->row_step * (cube->height - 1)
      + cube->pixel_step * (cube->width - 1)
      + (layout == PCA_BGRX ? 0 : cube->band_step * (cube->bands - 1));
  self->size = (size_t) (last + cuv_cube_sample_size (cube->format));
  self->memory = calloc (1, self->size);
  cube->data = (uint8_t *) self->memory + first;
}

static uint8_t *
place (const PcaInput *self, int x, int y, int band)
{
  const CuvCube *cube = &self->cube;

  return (uint8_t *) cube->data + y * cube->row_step + x * cube->pixel_step
      + band * cube->band_step;
}

double
pca_input_get (const PcaInput *self, int x, int y, int band)
{
  const uint8_t *at = place (self, x, y, band);
  uint16_t u16;
  float f32;

  if (self->cube.format == CUV_CUBE_U8)
    return *at;
  memcpy (&u16, at, sizeof u16);
  if (self->cube.format == CUV_CUBE_U16)
    return u16;
  memcpy (&f32, at, sizeof f32);
  return (double) f32;
}

void
pca_input_set (PcaInput *self, int x, int y, int band, double value)
{
  uint8_t *at = place (self, x, y, band);
  const uint16_t u16 = (uint16_t) (value < 65535.0 ? value : 65535.0);
  const float f32 = (float) value;

  if (self->cube.format == CUV_CUBE_U8)
    *at = (uint8_t) (value < 255.0 ? value : 255.0);
  else if (self->cube.format == CUV_CUBE_U16)
    memcpy (at, &u16, sizeof u16);
  else
    memcpy (at, &f32, sizeof f32);
}

/* ---- fills ---- */

enum { N_SPECTRA = 4 };

/* Returns the proportion of a spectrum at a pixel. Each spectrum has waves of
 * another length. */
static double
abundance (int spectrum, int x, int y)
{
  return 0.5
      + 0.5 * sin (0.11 * (spectrum + 1) * x + 0.07 * (3 - spectrum) * y);
}

static double
mixed (int x, int y, int band, int n)
{
  double sum = 0.0;

  for (int s = 0; s < N_SPECTRA; s++)
    sum +=
        abundance (s, x, y) * exp (-8.0 * pow ((band + 0.5) / n - 0.2 * s, 2));
  return sum / N_SPECTRA + 0.01 * pca_random ();
}

static double
fill_value (PcaFill fill, int x, int y, int band, int n)
{
  switch (fill) {
    case PCA_NOISE:
      return 0.5 + 0.5 * pca_random ();
    case PCA_MIXTURE:
      return fmax (mixed (x, y, band, n), 0.0);
    case PCA_EXTREMES:
      return cuv_check_below (2);
    case PCA_FAR:
      return (band % 3 < 2 ? 1e6 : 0.0) + pca_random ();
    default:
      return (double) (band % 7) / 7.0;
  }
}

void
pca_input_init (PcaInput *self, CuvCubeFormat format, PcaLayout layout,
    int width, int height, int n, PcaFill fill)
{
  static const double most[] = { 255.0, 65535.0, 1.0 };

  *self = (PcaInput){
    .cube = { .format = format, .width = width, .height = height, .bands = n },
    .bands = cuv_pca_all_bands (n)
  };
  allocate (self, layout);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      for (int b = 0; b < n; b++)
        pca_input_set (
            self, x, y, b, most[format] * fill_value (fill, x, y, b, n));
    }
  }
}

void
pca_input_clear (PcaInput *self)
{
  free (self->memory);
}

void
pca_input_copy (PcaInput *self, const PcaInput *from, PcaLayout layout)
{
  *self = *from;
  allocate (self, layout);
  for (int y = 0; y < from->cube.height; y++) {
    for (int x = 0; x < from->cube.width; x++) {
      for (int b = 0; b < from->cube.bands; b++)
        pca_input_set (self, x, y, b, pca_input_get (from, x, y, b));
    }
  }
}

/* ---- excluded bands and pixels ---- */

static void
drop_bands (CuvPcaBands *bands)
{
  const int n = bands->n;

  bands->n = 0;
  for (int b = 0; b < n; b++) {
    if (cuv_check_below (8) > 0 || (b == n - 1 && bands->n == 0))
      bands->index[bands->n++] = b;
  }
}

void
pca_input_exclude_some (PcaInput *self)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY };
  const CuvCube *cube = &self->cube;
  const int n = cube->width * cube->height / 20 + 1;

  if (cuv_check_below (2))
    drop_bands (&self->bands);
  if (cuv_check_below (2)) {
    self->bands.has_ignore = 1;
    self->bands.ignore = cube->format == CUV_CUBE_F32 ? -9999.9 : 255.0;
  }
  for (int i = 0; i < n; i++) {
    const int x = (int) cuv_check_below ((uint32_t) cube->width);
    const int y = (int) cuv_check_below ((uint32_t) cube->height);
    const int b = (int) cuv_check_below ((uint32_t) cube->bands);

    if (cube->format == CUV_CUBE_F32 && cuv_check_below (2))
      pca_input_set (self, x, y, b, bad[cuv_check_below (3)]);
    else if (self->bands.has_ignore)
      pca_input_set (self, x, y, b, self->bands.ignore);
  }
}

bool
pca_input_is_counted (const PcaInput *self, int x, int y)
{
  const CuvPcaBands *bands = &self->bands;

  for (int k = 0; k < bands->n; k++) {
    const double s = pca_input_get (self, x, y, bands->index[k]);

    if (!isfinite (s))
      return false;
    if (!bands->has_ignore)
      continue;
    if (self->cube.format == CUV_CUBE_F32 ? (float) s == (float) bands->ignore
                                          : s == bands->ignore)
      return false;
  }
  return true;
}

void
pca_input_name (const PcaInput *self, PcaLayout layout, PcaFill fill)
{
  static const char *const formats[] = { "u8", "u16", "f32" };
  static const char *const layouts[] = { "bip", "bil", "bsq", "bgrx",
    "sparse" };

  cuv_check_case ("%s %s %dx%d, %d of %d bands, fill %d",
      formats[self->cube.format], layouts[layout], self->cube.width,
      self->cube.height, self->bands.n, self->cube.bands, fill);
}
