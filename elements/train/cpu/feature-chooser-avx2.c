/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the loss of a histogram, four codes at a time. */
#include "cuvavx2.h"
#include "cpu/feature-chooser.h"

/* Converts 64-bit integers to doubles with one rounding: the halves become the
 * last digits of doubles of about 2^84 and 2^52. */
static inline __m256d
to_double (__m256i x)
{
  const __m256i high_bits = _mm256_set1_epi64x (0x4530000000000000);
  const __m256i low_bits = _mm256_set1_epi64x (0x4330000000000000);
  const __m256d both = _mm256_set1_pd (0x1p84 + 0x1p52);
  __m256i high = _mm256_or_si256 (_mm256_srli_epi64 (x, 32), high_bits);
  __m256i low = _mm256_blend_epi32 (x, low_bits, 0xaa);

  return _mm256_add_pd (_mm256_sub_pd (_mm256_castsi256_pd (high), both),
      _mm256_castsi256_pd (low));
}

static double
sum (__m256d x)
{
  __m128d half =
      _mm_add_pd (_mm256_castpd256_pd128 (x), _mm256_extractf128_pd (x, 1));

  return _mm_cvtsd_f64 (_mm_add_sd (half, _mm_unpackhi_pd (half, half)));
}

/* Computes the loss; entries beyond the last code are 0. */
static double
estimate_loss (const CuvTrainHistogram *histogram, int n_codes)
{
  __m256d loss = _mm256_setzero_pd ();

  for (int code = 0; code < n_codes; code += 4)
    loss = _mm256_add_pd (loss,
        _mm256_sqrt_pd (
            _mm256_mul_pd (to_double (load (histogram->positives + code)),
                to_double (load (histogram->negatives + code)))));
  return sum (loss);
}

void
cuv_train_dsp_init_avx2 (CuvTrainDsp *self)
{
  self->estimate_loss = estimate_loss;
}
