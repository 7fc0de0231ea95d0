/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixtures of eight pixels at a time. A step that no pixel needs is left out:
 * mostly all find their first mode, and only weights of others are touched. */
#include "cpu/x86/motion-avx2.h"

#include <float.h>

typedef struct {
  __m256 weight, variance, mean[CUV_MOTION_MAX_CHANNELS];
} Mode;

/* Eight pixels. A mask has all bits of a pixel's lane set or none. */
typedef struct {
  Mode modes[CUV_MOG2_MAX_MODES];
  bool loaded[CUV_MOG2_MAX_MODES];  /* variance and means */
  bool changed[CUV_MOG2_MAX_MODES]; /* the same */
  __m256 value[CUV_MOTION_MAX_CHANNELS];
  __m256i n; /* modes of each pixel */
  __m256 found, background;
} Pixels;

typedef struct {
  float *fields;
  int stride, n_channels;
  const CuvMog2Params *params;
  const CuvMog2Rate *rate;
} Work;

CUV_INLINE __m256
all (float value)
{
  return _mm256_set1_ps (value);
}

CUV_INLINE bool
any (__m256 mask)
{
  return _mm256_movemask_ps (mask) != 0;
}

CUV_INLINE __m256
less (__m256 a, __m256 b)
{
  return _mm256_cmp_ps (a, b, _CMP_LT_OQ);
}

CUV_INLINE __m256
choose (__m256 other, __m256 value, __m256 mask)
{
  return _mm256_blendv_ps (other, value, mask);
}

CUV_INLINE __m256
more_modes_than (__m256i n, int i)
{
  return _mm256_castsi256_ps (_mm256_cmpgt_epi32 (n, _mm256_set1_epi32 (i)));
}

CUV_INLINE __m256
equal (__m256i values, int i)
{
  return _mm256_castsi256_ps (
      _mm256_cmpeq_epi32 (values, _mm256_set1_epi32 (i)));
}

CUV_INLINE float *
field (const Work *work, int mode, int i)
{
  return work->fields
      + (size_t) (mode * (2 + work->n_channels) + i) * (size_t) work->stride;
}

/* Loads variance and means. */
CUV_INLINE void
load_rest (const Work *work, Pixels *pixels, int i)
{
  Mode *mode = &pixels->modes[i];

  mode->variance = _mm256_loadu_ps (field (work, i, 1));
  for (int c = 0; c < work->n_channels; c++)
    mode->mean[c] = _mm256_loadu_ps (field (work, i, 2 + c));
  pixels->loaded[i] = true;
}

CUV_INLINE void
store_modes (const Work *work, const Pixels *pixels, int n)
{
  for (int i = 0; i < n; i++) {
    const Mode *mode = &pixels->modes[i];

    _mm256_storeu_ps (field (work, i, 0), mode->weight);
    if (!pixels->changed[i])
      continue;
    _mm256_storeu_ps (field (work, i, 1), mode->variance);
    for (int c = 0; c < work->n_channels; c++)
      _mm256_storeu_ps (field (work, i, 2 + c), mode->mean[c]);
  }
}

CUV_INLINE void
exchange (__m256 *a, __m256 *b, __m256 mask)
{
  const __m256 old = *a;

  *a = choose (*a, *b, mask);
  *b = choose (*b, old, mask);
}

/* Exchanges mode i with the one before, for the pixels of a mask. */
CUV_INLINE void
exchange_modes (Pixels *pixels, int i, int n_channels, __m256 mask)
{
  Mode *a = &pixels->modes[i - 1], *b = &pixels->modes[i];

  exchange (&a->weight, &b->weight, mask);
  exchange (&a->variance, &b->variance, mask);
  for (int c = 0; c < n_channels; c++)
    exchange (&a->mean[c], &b->mean[c], mask);
  pixels->changed[i - 1] = pixels->changed[i] = true;
}

CUV_INLINE void
learn (const Work *work, Pixels *pixels, int i, const __m256 *difference,
    __m256 distance, __m256 weight, __m256 hit)
{
  const CuvMog2Params *params = work->params;
  const __m256 k = _mm256_div_ps (all (work->rate->rate), weight);
  Mode *mode = &pixels->modes[i];
  __m256 variance = _mm256_add_ps (mode->variance,
      _mm256_mul_ps (k, _mm256_sub_ps (distance, mode->variance)));

  variance =
      _mm256_min_ps (_mm256_max_ps (variance, all (params->min_variance)),
          all (params->max_variance));
  mode->variance = choose (mode->variance, variance, hit);
  for (int c = 0; c < work->n_channels; c++)
    mode->mean[c] = choose (mode->mean[c],
        _mm256_sub_ps (mode->mean[c], _mm256_mul_ps (k, difference[c])), hit);
  pixels->changed[i] = true;
}

/* Looks for pixels whose value mode i has, among those of a mask; it learns the
 * value. Returns these pixels and increases their weight. */
CUV_INLINE __m256
match (const Work *work, Pixels *pixels, int i, __m256 among, __m256 total,
    __m256 *weight)
{
  const CuvMog2Params *params = work->params;
  Mode *mode = &pixels->modes[i];
  __m256 difference[CUV_MOTION_MAX_CHANNELS], distance, hit, background;

  load_rest (work, pixels, i);
  for (int c = 0; c < work->n_channels; c++) {
    const __m256 d = _mm256_sub_ps (mode->mean[c], pixels->value[c]);

    difference[c] = d;
    distance = c == 0 ? _mm256_mul_ps (d, d)
                      : _mm256_add_ps (distance, _mm256_mul_ps (d, d));
  }
  background = _mm256_and_ps (less (total, all (params->background_ratio)),
      less (distance, _mm256_mul_ps (all (params->threshold), mode->variance)));
  pixels->background =
      _mm256_or_ps (pixels->background, _mm256_and_ps (among, background));
  hit = _mm256_and_ps (among,
      less (distance,
          _mm256_mul_ps (all (params->new_threshold), mode->variance)));
  *weight =
      _mm256_add_ps (*weight, _mm256_and_ps (hit, all (work->rate->rate)));
  if (any (hit))
    learn (work, pixels, i, difference, distance, *weight, hit);
  pixels->found = _mm256_or_ps (pixels->found, hit);
  return hit;
}

CUV_INLINE void
sort_mode (Pixels *pixels, int i, int n_channels, __m256 weight, __m256 moving)
{
  for (; i > 0; i--) {
    moving = _mm256_and_ps (moving,
        _mm256_cmp_ps (weight, pixels->modes[i - 1].weight, _CMP_GE_OQ));
    if (!any (moving))
      return;
    exchange_modes (pixels, i, n_channels, moving);
  }
}

CUV_INLINE void
update_modes (const Work *work, Pixels *pixels, int n)
{
  const __m256 keep = all (work->rate->keep), prune = all (work->rate->prune);
  __m256 total = _mm256_setzero_ps (), scale;

  for (int i = 0; i < n; i++) {
    const __m256 active = more_modes_than (pixels->n, i);
    const __m256 among = _mm256_andnot_ps (pixels->found, active);
    __m256 weight, sorted, gone, hit = _mm256_setzero_ps ();

    weight = _mm256_add_ps (
        _mm256_mul_ps (keep, _mm256_loadu_ps (field (work, i, 0))), prune);
    if (any (among))
      hit = match (work, pixels, i, among, total, &weight);
    sorted = weight;
    gone = _mm256_and_ps (active, less (weight, all (-work->rate->prune)));
    weight = _mm256_andnot_ps (gone, weight);
    pixels->n = _mm256_add_epi32 (pixels->n, _mm256_castps_si256 (gone));
    total = _mm256_add_ps (total, _mm256_and_ps (active, weight));
    pixels->modes[i].weight = weight;
    if (any (hit))
      sort_mode (pixels, i, work->n_channels, sorted, hit);
  }
  scale = _mm256_and_ps (_mm256_cmp_ps (_mm256_andnot_ps (all (-0.f), total),
                             all (FLT_EPSILON), _CMP_GT_OQ),
      _mm256_div_ps (all (1), total));
  for (int i = 0; i < n; i++)
    pixels->modes[i].weight = _mm256_mul_ps (pixels->modes[i].weight, scale);
}

/* Sets mode i of the pixels of a mask to their values. */
CUV_INLINE void
set_mode (const Work *work, Pixels *pixels, int i, __m256 mask)
{
  Mode *mode = &pixels->modes[i];

  if (!pixels->loaded[i])
    load_rest (work, pixels, i);
  mode->weight =
      choose (mode->weight, all (i == 0 ? 1 : work->rate->rate), mask);
  mode->variance =
      choose (mode->variance, all (work->params->first_variance), mask);
  for (int c = 0; c < work->n_channels; c++)
    mode->mean[c] = choose (mode->mean[c], pixels->value[c], mask);
  pixels->changed[i] = true;
}

/* Sorts the modes of the pixels of a mask, whose last one is new. */
CUV_INLINE void
sort_modes (
    const Work *work, Pixels *pixels, int end, __m256 adding, __m256i last)
{
  for (int i = end - 1; i > 0; i--) {
    const __m256 moving =
        _mm256_and_ps (_mm256_and_ps (adding, equal (last, i)),
            _mm256_cmp_ps (all (work->rate->rate), pixels->modes[i - 1].weight,
                _CMP_GE_OQ));

    exchange_modes (pixels, i, work->n_channels, moving);
    last = _mm256_add_epi32 (last, _mm256_castps_si256 (moving));
  }
}

/* Adds a mode to the pixels of a mask, in place of the last one if all are
 * used. */
CUV_INLINE void
add_modes (const Work *work, Pixels *pixels, int n, __m256 adding)
{
  const __m256i last =
      _mm256_min_epi32 (pixels->n, _mm256_set1_epi32 (CUV_MOG2_MAX_MODES - 1));
  const int end = n < CUV_MOG2_MAX_MODES ? n + 1 : n;

  for (int i = 0; i < end; i++) {
    Mode *mode = &pixels->modes[i];
    const __m256 before = _mm256_and_ps (adding, more_modes_than (last, i));
    const __m256 is_last = _mm256_and_ps (adding, equal (last, i));

    if (i == n)
      mode->weight = all (0);
    mode->weight = choose (mode->weight,
        _mm256_mul_ps (mode->weight, all (work->rate->keep)), before);
    set_mode (work, pixels, i, is_last);
  }
  sort_modes (work, pixels, end, adding, last);
  pixels->n = _mm256_blendv_epi8 (pixels->n,
      _mm256_add_epi32 (last, _mm256_set1_epi32 (1)),
      _mm256_castps_si256 (adding));
}

/* Returns which pixels of a mask are shadows of mode i, and removes from the
 * mask those that are no shadows of any further mode. */
CUV_INLINE __m256
match_shadows (const Work *work, const Pixels *pixels, int i, __m256 *among)
{
  const CuvMog2Params *params = work->params;
  const Mode *mode = &pixels->modes[i];
  __m256 product = all (0), square = all (0), distance = all (0);
  __m256 brightness, similar, near;

  for (int c = 0; c < work->n_channels; c++) {
    product = _mm256_add_ps (
        product, _mm256_mul_ps (pixels->value[c], mode->mean[c]));
    square =
        _mm256_add_ps (square, _mm256_mul_ps (mode->mean[c], mode->mean[c]));
  }
  *among =
      _mm256_andnot_ps (_mm256_cmp_ps (square, all (0), _CMP_EQ_OQ), *among);
  similar = _mm256_and_ps (_mm256_cmp_ps (product, square, _CMP_LE_OQ),
      _mm256_cmp_ps (product,
          _mm256_mul_ps (all (params->shadow_threshold), square), _CMP_GE_OQ));
  if (!any (_mm256_and_ps (*among, similar)))
    return all (0);
  brightness = _mm256_div_ps (product, square);
  for (int c = 0; c < work->n_channels; c++) {
    const __m256 d = _mm256_sub_ps (
        _mm256_mul_ps (brightness, mode->mean[c]), pixels->value[c]);

    distance = _mm256_add_ps (distance, _mm256_mul_ps (d, d));
  }
  near = less (distance,
      _mm256_mul_ps (_mm256_mul_ps (_mm256_mul_ps (all (params->threshold),
                                        mode->variance),
                         brightness),
          brightness));
  return _mm256_and_ps (*among, _mm256_and_ps (similar, near));
}

/* Returns which pixels of a mask are shadows. */
CUV_INLINE __m256
find_shadows (const Work *work, const Pixels *pixels, int n, __m256 among)
{
  const __m256 ratio = all (work->params->background_ratio);
  __m256 shadows = all (0), weights = all (0);

  for (int i = 0; i < n; i++) {
    __m256 found;

    among = _mm256_and_ps (among,
        _mm256_and_ps (more_modes_than (pixels->n, i),
            _mm256_cmp_ps (weights, ratio, _CMP_LE_OQ)));
    if (!any (among))
      break;
    found = match_shadows (work, pixels, i, &among);
    shadows = _mm256_or_ps (shadows, found);
    among = _mm256_andnot_ps (found, among);
    weights = _mm256_add_ps (weights, pixels->modes[i].weight);
  }
  return shadows;
}

/* Packs eight integers of 0 .. 255. */
CUV_INLINE void
store_bytes (uint8_t *to, __m256i values)
{
  const __m128i shorts = _mm_packs_epi32 (
      _mm256_castsi256_si128 (values), _mm256_extracti128_si256 (values, 1));

  _mm_storel_epi64 ((__m128i *) to, _mm_packus_epi16 (shorts, shorts));
}

CUV_INLINE __m256i
load_eight (const uint8_t *from)
{
  return _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) from));
}

CUV_INLINE __m256i
mask_values (const Work *work, const Pixels *pixels, int n)
{
  const __m256 moving = _mm256_andnot_ps (
      pixels->background, _mm256_castsi256_ps (_mm256_set1_epi32 (-1)));
  __m256i values = _mm256_and_si256 (
      _mm256_castps_si256 (moving), _mm256_set1_epi32 (CUV_MOTION_MOVING));

  if (work->params->shadows && any (moving))
    values = _mm256_blendv_epi8 (values, _mm256_set1_epi32 (CUV_MOTION_SHADOW),
        _mm256_castps_si256 (find_shadows (work, pixels, n, moving)));
  return values;
}

/* Runs eight pixels of which none has more than n modes. */
CUV_INLINE void
run_pixels (
    const Work *work, Pixels *pixels, int n, uint8_t *n_modes, uint8_t *mask)
{
  const int end = n < CUV_MOG2_MAX_MODES ? n + 1 : n;
  __m256 adding;

  for (int i = 0; i < end; i++)
    pixels->loaded[i] = pixels->changed[i] = false;
  pixels->found = pixels->background = all (0);
  update_modes (work, pixels, n);
  adding = _mm256_andnot_ps (
      pixels->found, _mm256_castsi256_ps (_mm256_set1_epi32 (-1)));
  if (any (adding) && work->rate->rate > 0) {
    add_modes (work, pixels, n, adding);
    store_bytes (mask, mask_values (work, pixels, end));
    store_modes (work, pixels, end);
  } else {
    store_bytes (mask, mask_values (work, pixels, n));
    store_modes (work, pixels, n);
  }
  store_bytes (n_modes, pixels->n);
}

/* Returns the largest of eight bytes below 8: each sets a bit of its own. */
CUV_INLINE int
largest (__m256i values)
{
  const __m256i bits = _mm256_sllv_epi32 (_mm256_set1_epi32 (1), values);
  __m128i all = _mm_or_si128 (
      _mm256_castsi256_si128 (bits), _mm256_extracti128_si256 (bits, 1));

  all = _mm_or_si128 (all, _mm_srli_si128 (all, 8));
  all = _mm_or_si128 (all, _mm_srli_si128 (all, 4));
  return 31 - __builtin_clz ((unsigned) _mm_cvtsi128_si32 (all));
}

CUV_INLINE void
run (const CuvMog2Row *row, const uint8_t *const *values, int n, int n_channels,
    const CuvMog2Params *params, const CuvMog2Rate *rate, uint8_t *mask)
{
  for (int x = 0; x < n; x += 8) {
    const Work work = { row->fields + x, row->stride, n_channels, params,
      rate };
    uint8_t *n_modes = row->n_modes + x;
    Pixels pixels;

    for (int c = 0; c < n_channels; c++)
      pixels.value[c] =
          _mm256_cvtepi32_ps (_mm256_sub_epi32 (load_eight (values[c] + x),
              _mm256_set1_epi32 (c > 0 ? row->zero : 0)));
    pixels.n = load_eight (n_modes);
    switch (largest (pixels.n)) {
      case 0:
        run_pixels (&work, &pixels, 0, n_modes, mask + x);
        break;
      case 1:
        run_pixels (&work, &pixels, 1, n_modes, mask + x);
        break;
      case 2:
        run_pixels (&work, &pixels, 2, n_modes, mask + x);
        break;
      case 3:
        run_pixels (&work, &pixels, 3, n_modes, mask + x);
        break;
      case 4:
        run_pixels (&work, &pixels, 4, n_modes, mask + x);
        break;
      default:
        run_pixels (&work, &pixels, 5, n_modes, mask + x);
    }
  }
}

void
cuv_mog2_avx2 (const CuvMog2Row *row, const uint8_t *const *values, int n,
    const CuvMog2Params *params, const CuvMog2Rate *rate, uint8_t *mask)
{
  if (row->n_channels == 1)
    run (row, values, n, 1, params, rate, mask);
  else
    run (row, values, n, CUV_MOTION_MAX_CHANNELS, params, rate, mask);
}
