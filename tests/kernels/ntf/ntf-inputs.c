/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntf-inputs.h"
#include "cuvcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t
n_values (const CuvNtfTensor *self)
{
  return (size_t) self->height * (size_t) self->width * (size_t) self->depth;
}

CuvNtfTensor
ntf_tensor_new (int height, int width, int depth)
{
  CuvNtfTensor self = { height, width, depth, NULL, 1 };

  self.values = cuv_ntf_alloc (n_values (&self));
  return self;
}

void
ntf_tensor_clear (CuvNtfTensor *self)
{
  free (self->values);
}

double
ntf_random (void)
{
  return cuv_check_random () * 0x1p-32;
}

void
ntf_fill_noise (CuvNtfTensor *self)
{
  for (size_t i = 0; i < n_values (self); i++)
    self->values[i] = (float) ntf_random ();
}

void
ntf_fill_factors (CuvNtfFactors *self, bool sparse)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode]; i++) {
      for (int k = 0; k < self->rank; k++)
        self->mode[mode][i * self->stride + k] =
            sparse && cuv_check_below (2) ? 0 : (float) ntf_random ();
    }
  }
}

void
ntf_fill_planted (CuvNtfTensor *self, const CuvNtfFactors *f)
{
  float *value = self->values;

  for (int y = 0; y < self->height; y++) {
    for (int z = 0; z < self->depth; z++) {
      for (int x = 0; x < self->width; x++, value++) {
        *value = 0;
        for (int k = 0; k < f->rank; k++)
          *value += f->mode[CUV_NTF_U][y * f->stride + k]
              * f->mode[CUV_NTF_V][x * f->stride + k]
              * f->mode[CUV_NTF_W][z * f->stride + k];
      }
    }
  }
}

void
ntf_fill_scene (CuvNtfTensor *self, int rank)
{
  CuvNtfFactors planted;

  cuv_ntf_factors_init (&planted, self->height, self->width, self->depth, rank);
  ntf_fill_factors (&planted, true);
  ntf_fill_planted (self, &planted);
  for (size_t i = 0; i < n_values (self); i++)
    self->values[i] =
        (self->values[i] + (float) (0.1 * ntf_random ())) / (float) (rank + 1);
  cuv_ntf_factors_clear (&planted);
}

CuvCube
ntf_cube (const CuvNtfTensor *self)
{
  const int64_t line = (int64_t) self->width * (int64_t) sizeof (float);

  return (CuvCube){ (const uint8_t *) self->values, CUV_CUBE_F32, self->width,
    self->height, self->depth, sizeof (float), line * self->depth, line };
}

CuvNtfParams
ntf_params (int iterations)
{
  return (CuvNtfParams){
    .iterations = iterations, .normalise = true, .seed = cuv_check_random ()
  };
}

/* ---- comparing ---- */

static double
mode_difference (const CuvNtfFactors *a, const CuvNtfFactors *b, int mode)
{
  double most = 0, difference = 0;

  for (int i = 0; i < a->size[mode] * a->stride; i++) {
    double value = a->mode[mode][i];

    most = fmax (most, value);
    difference = fmax (difference, fabs (value - b->mode[mode][i]));
  }
  return most > 0 ? difference / most : difference;
}

double
ntf_difference (const CuvNtfFactors *a, const CuvNtfFactors *b)
{
  return fmax (mode_difference (a, b, CUV_NTF_U),
      fmax (mode_difference (a, b, CUV_NTF_V),
          mode_difference (a, b, CUV_NTF_W)));
}

double
ntf_sum_difference (const CuvNtfFactors *a, const CuvNtfFactors *b)
{
  CuvNtfTensor sum = ntf_tensor_new (a->size[0], a->size[1], a->size[2]);
  double difference;

  ntf_fill_planted (&sum, a);
  difference = cuv_ntf_error (&sum, b);
  ntf_tensor_clear (&sum);
  return difference;
}

double
ntf_cosine (
    const CuvNtfFactors *a, int k, const CuvNtfFactors *b, int l, int mode)
{
  double ab = 0, aa = 0, bb = 0;

  for (int i = 0; i < a->size[mode]; i++) {
    double p = a->mode[mode][i * a->stride + k];
    double q = b->mode[mode][i * b->stride + l];

    ab += p * q;
    aa += p * p;
    bb += q * q;
  }
  return aa > 0 && bb > 0 ? ab / sqrt (aa * bb) : 0;
}

bool
ntf_is_sound (const CuvNtfFactors *self, const CuvNtfResult *result)
{
  bool sound = result->n_errors > 0;

  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < self->size[mode] * self->stride; i++) {
      float value = self->mode[mode][i];

      sound &= isfinite (value)
          && (i % self->stride < self->rank ? value >= 0 : value == 0);
    }
  }
  for (int i = 0; i < result->n_errors; i++)
    sound &= isfinite (result->errors[i]) && result->errors[i] >= 0;
  return sound;
}

void
ntf_check_hals (const CuvNtfTensor *tensor, const CuvNtfFactors *wanted,
    const CuvNtfFactors *found, const CuvNtfResult *result)
{
  const double difference = ntf_sum_difference (wanted, found);
  const double error = cuv_ntf_error (tensor, found);

  CUV_CHECK (
      difference < NTF_HALS_DIFFERENCE, ": the sums differ by %g", difference);
  CUV_CHECK (fabs (result->errors[0] - error) < 1e-6, ": error %g, not %g",
      result->errors[0], error);
}

void
ntf_copy_factors (CuvNtfFactors *to, const CuvNtfFactors *from)
{
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < from->size[mode]; i++)
      memcpy (cuv_ntf_at (to, mode, i, 0), cuv_ntf_at (from, mode, i, 0),
          (size_t) from->rank * sizeof (float));
  }
}

bool
ntf_are_equal (const CuvNtfFactors *a, const CuvNtfFactors *b)
{
  bool equal = true;

  for (int mode = 0; mode < CUV_NTF_MODES; mode++)
    equal &= memcmp (a->mode[mode], b->mode[mode],
                 (size_t) (a->size[mode] * a->stride) * sizeof (float))
        == 0;
  return equal;
}
