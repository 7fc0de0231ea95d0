/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixtures of eight pixels at a time. Mostly all find their first mode, and
 * only weights of others are touched. Apart from that, few branches depend on
 * pixels: in noise they would be mispredicted, which costs more than the work
 * that they avoid. */
#include "cpu/x86/motion-avx2.h"

#include <float.h>

typedef struct {
  __m256 weight, variance, mean[CUV_MOTION_MAX_CHANNELS];
} Mode;

/* Eight pixels. A mask has all bits of a pixel's lane set or none. At most one
 * mode of a pixel changes its place: the one that has the value, or a new one.
 */
typedef struct {
  __m256 weight[CUV_MOG2_MAX_MODES];
  __m256 order[CUV_MOG2_MAX_MODES]; /* weights that `moved` is compared with */
  __m256 is_moved[CUV_MOG2_MAX_MODES];
  Mode moved;
  __m256 moved_order;
  __m256 value[CUV_MOTION_MAX_CHANNELS];
  __m256i n; /* modes of each pixel */
  __m256 found, background;
  bool rest; /* whether modes after the first are compared and may change */
} Pixels;

typedef struct {
  float *modes[CUV_MOG2_MAX_MODES];
  ptrdiff_t stride;
  int n_channels;
  CuvMog2Params params;
  CuvMog2Rate rate;
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
invert (__m256 mask)
{
  return _mm256_andnot_ps (mask, _mm256_castsi256_ps (_mm256_set1_epi32 (-1)));
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
  return work->modes[mode] + i * work->stride;
}

/* Looks for pixels whose value mode i has, among those of a mask. Returns these
 * pixels and increases their weight. */
CUV_INLINE __m256
match (const Work *work, Pixels *pixels, int i, __m256 among, __m256 total,
    __m256 *weight)
{
  const CuvMog2Params *params = &work->params;
  const __m256 variance = _mm256_loadu_ps (field (work, i, 1));
  __m256 mean[CUV_MOTION_MAX_CHANNELS], distance = all (0), hit, background;
  Mode *moved = &pixels->moved;

  for (int c = 0; c < work->n_channels; c++) {
    __m256 d;

    mean[c] = _mm256_loadu_ps (field (work, i, 2 + c));
    d = _mm256_sub_ps (mean[c], pixels->value[c]);
    distance = _mm256_add_ps (distance, _mm256_mul_ps (d, d));
  }
  background = _mm256_and_ps (less (total, all (params->background_ratio)),
      less (distance, _mm256_mul_ps (all (params->threshold), variance)));
  pixels->background =
      _mm256_or_ps (pixels->background, _mm256_and_ps (among, background));
  hit = _mm256_and_ps (among,
      less (distance, _mm256_mul_ps (all (params->new_threshold), variance)));
  *weight = _mm256_add_ps (*weight, _mm256_and_ps (hit, all (work->rate.rate)));
  moved->weight = choose (moved->weight, *weight, hit);
  moved->variance = choose (moved->variance, variance, hit);
  for (int c = 0; c < work->n_channels; c++)
    moved->mean[c] = choose (moved->mean[c], mean[c], hit);
  pixels->found = _mm256_or_ps (pixels->found, hit);
  return hit;
}

/* Updates the weights, and finds the mode of each pixel that has its value. */
CUV_INLINE void
find_modes (const Work *work, Pixels *pixels, int n)
{
  const __m256 keep = all (work->rate.keep), prune = all (work->rate.prune);
  __m256 total = all (0), scale;

  for (int i = 0; i < n; i++) {
    const __m256 active = more_modes_than (pixels->n, i);
    const __m256 among = _mm256_andnot_ps (pixels->found, active);
    __m256 gone,
        weight = _mm256_add_ps (
            _mm256_mul_ps (keep, _mm256_loadu_ps (field (work, i, 0))), prune);

    pixels->is_moved[i] = i == 0 || pixels->rest
        ? match (work, pixels, i, among, total, &weight)
        : all (0);
    if (i == 0)
      pixels->rest = any (invert (pixels->found));
    gone = _mm256_and_ps (active, less (weight, all (-work->rate.prune)));
    weight = _mm256_andnot_ps (gone, weight);
    pixels->n = _mm256_add_epi32 (pixels->n, _mm256_castps_si256 (gone));
    total = _mm256_add_ps (total, _mm256_and_ps (active, weight));
    pixels->order[i] = weight;
  }
  scale = _mm256_and_ps (_mm256_cmp_ps (_mm256_andnot_ps (all (-0.f), total),
                             all (FLT_EPSILON), _CMP_GT_OQ),
      _mm256_div_ps (all (1), total));
  for (int i = 0; i < n; i++)
    pixels->weight[i] = _mm256_mul_ps (pixels->order[i], scale);
  pixels->moved_order = pixels->moved.weight;
  pixels->moved.weight = _mm256_mul_ps (scale,
      _mm256_andnot_ps (less (pixels->moved.weight, all (-work->rate.prune)),
          pixels->moved.weight));
}

/* The mode that has the value learns it. */
CUV_INLINE void
learn (const Work *work, Pixels *pixels)
{
  const CuvMog2Params *params = &work->params;
  const __m256 k = _mm256_div_ps (all (work->rate.rate), pixels->moved_order);
  Mode *mode = &pixels->moved;
  __m256 distance = all (0), variance;

  for (int c = 0; c < work->n_channels; c++) {
    const __m256 d = _mm256_sub_ps (mode->mean[c], pixels->value[c]);

    distance = _mm256_add_ps (distance, _mm256_mul_ps (d, d));
    mode->mean[c] = _mm256_sub_ps (mode->mean[c], _mm256_mul_ps (k, d));
  }
  variance = _mm256_add_ps (mode->variance,
      _mm256_mul_ps (k, _mm256_sub_ps (distance, mode->variance)));
  mode->variance =
      _mm256_min_ps (_mm256_max_ps (variance, all (params->min_variance)),
          all (params->max_variance));
}

/* Adds a mode to the pixels of a mask, in place of the last one if all are
 * used. */
CUV_INLINE void
add_modes (const Work *work, Pixels *pixels, int end, __m256 adding)
{
  const __m256 rate = all (work->rate.rate);
  const __m256i last =
      _mm256_min_epi32 (pixels->n, _mm256_set1_epi32 (CUV_MOG2_MAX_MODES - 1));
  Mode *moved = &pixels->moved;

  for (int i = 0; i < end; i++) {
    pixels->weight[i] = choose (pixels->weight[i],
        _mm256_mul_ps (pixels->weight[i], all (work->rate.keep)), adding);
    pixels->order[i] = choose (pixels->order[i], pixels->weight[i], adding);
    pixels->is_moved[i] = _mm256_or_ps (
        pixels->is_moved[i], _mm256_and_ps (adding, equal (last, i)));
  }
  moved->weight =
      choose (moved->weight, choose (rate, all (1), equal (last, 0)), adding);
  moved->variance =
      choose (moved->variance, all (work->params.first_variance), adding);
  for (int c = 0; c < work->n_channels; c++)
    moved->mean[c] = choose (moved->mean[c], pixels->value[c], adding);
  pixels->moved_order = choose (pixels->moved_order, rate, adding);
  pixels->n = _mm256_blendv_epi8 (pixels->n,
      _mm256_add_epi32 (last, _mm256_set1_epi32 (1)),
      _mm256_castps_si256 (adding));
}

/* Writes a field of mode i: that of the moved mode, of the mode before for
 * pixels where it makes room, or its own. */
CUV_INLINE void
store_field (
    const Work *work, int i, int f, __m256 moved, __m256 here, __m256 shifted)
{
  __m256 value = choose (_mm256_loadu_ps (field (work, i, f)), moved, here);

  if (i > 0)
    value = choose (value, _mm256_loadu_ps (field (work, i - 1, f)), shifted);
  _mm256_storeu_ps (field (work, i, f), value);
}

/* Moves a mode of each pixel before those whose weight does not exceed its own,
 * and writes what changed. */
CUV_INLINE void
store_modes (const Work *work, Pixels *pixels, int end)
{
  __m256 shifted = all (0);

  for (int i = end - 1; i >= 0; i--) {
    const __m256 arrived = _mm256_or_ps (shifted, pixels->is_moved[i]);
    __m256 here;

    shifted = i == 0 ? all (0)
                     : _mm256_and_ps (arrived,
                         _mm256_cmp_ps (pixels->moved_order,
                             pixels->order[i - 1], _CMP_GE_OQ));
    here = _mm256_andnot_ps (shifted, arrived);
    pixels->weight[i] = choose (pixels->weight[i], pixels->moved.weight, here);
    if (i > 0)
      pixels->weight[i] =
          choose (pixels->weight[i], pixels->weight[i - 1], shifted);
    _mm256_storeu_ps (field (work, i, 0), pixels->weight[i]);
    if (i > 0 && !pixels->rest)
      continue;
    store_field (work, i, 1, pixels->moved.variance, here, shifted);
    for (int c = 0; c < work->n_channels; c++)
      store_field (work, i, 2 + c, pixels->moved.mean[c], here, shifted);
  }
}

/* Returns which pixels of a mask are shadows of mode i, and removes from the
 * mask those that are no shadows of any further mode. */
CUV_INLINE __m256
match_shadows (const Work *work, const Pixels *pixels, int i, __m256 *among)
{
  const CuvMog2Params *params = &work->params;
  __m256 product = all (0), square = all (0), distance = all (0);
  __m256 mean[CUV_MOTION_MAX_CHANNELS], brightness, similar, near;

  for (int c = 0; c < work->n_channels; c++) {
    mean[c] = _mm256_loadu_ps (field (work, i, 2 + c));
    product =
        _mm256_add_ps (product, _mm256_mul_ps (pixels->value[c], mean[c]));
    square = _mm256_add_ps (square, _mm256_mul_ps (mean[c], mean[c]));
  }
  *among =
      _mm256_andnot_ps (_mm256_cmp_ps (square, all (0), _CMP_EQ_OQ), *among);
  similar = _mm256_and_ps (_mm256_cmp_ps (product, square, _CMP_LE_OQ),
      _mm256_cmp_ps (product,
          _mm256_mul_ps (all (params->shadow_threshold), square), _CMP_GE_OQ));
  brightness = _mm256_div_ps (product, square);
  for (int c = 0; c < work->n_channels; c++) {
    const __m256 d =
        _mm256_sub_ps (_mm256_mul_ps (brightness, mean[c]), pixels->value[c]);

    distance = _mm256_add_ps (distance, _mm256_mul_ps (d, d));
  }
  near = less (distance,
      _mm256_mul_ps (_mm256_mul_ps (_mm256_mul_ps (all (params->threshold),
                                        _mm256_loadu_ps (field (work, i, 1))),
                         brightness),
          brightness));
  return _mm256_and_ps (*among, _mm256_and_ps (similar, near));
}

/* Returns which pixels of a mask are shadows. */
CUV_INLINE __m256
find_shadows (const Work *work, const Pixels *pixels, int n, __m256 among)
{
  const __m256 ratio = all (work->params.background_ratio);
  __m256 shadows = all (0), weights = all (0);

  for (int i = 0; i < n; i++) {
    __m256 found;

    among = _mm256_and_ps (among,
        _mm256_and_ps (more_modes_than (pixels->n, i),
            _mm256_cmp_ps (weights, ratio, _CMP_LE_OQ)));
    found = match_shadows (work, pixels, i, &among);
    shadows = _mm256_or_ps (shadows, found);
    among = _mm256_andnot_ps (found, among);
    weights = _mm256_add_ps (weights, pixels->weight[i]);
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
  const __m256 moving = invert (pixels->background);
  __m256i values = _mm256_and_si256 (
      _mm256_castps_si256 (moving), _mm256_set1_epi32 (CUV_MOTION_MOVING));

  if (work->params.shadows && any (moving))
    values = _mm256_blendv_epi8 (values, _mm256_set1_epi32 (CUV_MOTION_SHADOW),
        _mm256_castps_si256 (find_shadows (work, pixels, n, moving)));
  return values;
}

/* Runs eight pixels of which none has more than n modes. */
CUV_INLINE void
run_pixels (
    const Work *work, Pixels *pixels, int n, uint8_t *n_modes, uint8_t *mask)
{
  int end = n;
  __m256 adding;

  pixels->found = pixels->background = all (0);
  pixels->moved = (Mode){ 0 };
  pixels->rest = true;
  find_modes (work, pixels, n);
  learn (work, pixels);
  adding = invert (pixels->found);
  if (any (adding) && work->rate.rate > 0) {
    if (n < CUV_MOG2_MAX_MODES) {
      pixels->weight[n] = pixels->order[n] = pixels->is_moved[n] = all (0);
      end = n + 1;
    }
    add_modes (work, pixels, end, adding);
    store_modes (work, pixels, end);
  } else { /* apart, so that the compiler knows `end` here */
    store_modes (work, pixels, end);
  }
  store_bytes (mask, mask_values (work, pixels, end));
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
  Work work = { { NULL }, row->stride, n_channels, *params, *rate };

  for (int x = 0; x < n; x += 8) {
    uint8_t *n_modes = row->n_modes + x;
    Pixels pixels;

    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++)
      work.modes[i] =
          row->fields + x + (ptrdiff_t) i * (2 + n_channels) * row->stride;
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
