/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of operations is that of OpenCV's CPU code, whose masks are equal.
 */
#include "motion.h"

#include <float.h>
#include <math.h>

void
cuv_mog2_params_init (CuvMog2Params *params)
{
  *params = (CuvMog2Params){ .threshold = 16,
    .new_threshold = 9,
    .background_ratio = 0.9f,
    .first_variance = 15,
    .min_variance = 4,
    .max_variance = 75,
    .complexity = 0.05f,
    .shadow_threshold = 0.5f,
    .shadows = 1 };
}

CuvMog2Rate
cuv_mog2_rate (const CuvMog2Params *params, double weight)
{
  const float rate = (float) weight;

  return (CuvMog2Rate){ rate, 1.f - rate,
    (float) (-weight * (double) params->complexity) };
}

static float
squared_distance (const CuvMog2Mode *mode, const float *value, int n_channels)
{
  float sum = 0;

  for (int c = 0; c < n_channels; c++) {
    const float difference = mode->mean[c] - value[c];

    sum += difference * difference;
  }
  return sum;
}

static void
learn_value (CuvMog2Mode *mode, const float *value, int n_channels,
    float distance, float weight, const CuvMog2Params *params)
{
  const float variance = mode->variance + weight * (distance - mode->variance);

  for (int c = 0; c < n_channels; c++)
    mode->mean[c] -= weight * (mode->mean[c] - value[c]);
  mode->variance =
      fminf (fmaxf (variance, params->min_variance), params->max_variance);
}

/* Moves mode i before those whose weight does not exceed its own; returns its
 * new index. */
static int
move_forward (CuvMog2Mode *modes, int i, float weight)
{
  const CuvMog2Mode moved = modes[i];

  for (; i > 0 && weight >= modes[i - 1].weight; i--)
    modes[i] = modes[i - 1];
  modes[i] = moved;
  return i;
}

/* Adds a mode of the value, in place of the last one if all are used. */
static void
add_mode (CuvMog2Mode *modes, int *n, const float *value, int n_channels,
    const CuvMog2Params *params, const CuvMog2Rate *rate)
{
  const int last = *n < CUV_MOG2_MAX_MODES ? (*n)++ : *n - 1;

  for (int i = 0; i < last; i++)
    modes[i].weight *= rate->keep;
  modes[last].weight = last == 0 ? 1 : rate->rate;
  modes[last].variance = params->first_variance;
  for (int c = 0; c < n_channels; c++)
    modes[last].mean[c] = value[c];
  move_forward (modes, last, rate->rate);
}

/* Whether the value is a darker one of the same colour as a mode of the
 * background. */
static bool
is_shadow (const CuvMog2Mode *modes, int n, const float *value, int n_channels,
    const CuvMog2Params *params)
{
  float weights = 0;

  for (int i = 0; i < n && weights <= params->background_ratio; i++) {
    const CuvMog2Mode *mode = &modes[i];
    float product = 0, square = 0, distance = 0;

    for (int c = 0; c < n_channels; c++) {
      product += value[c] * mode->mean[c];
      square += mode->mean[c] * mode->mean[c];
    }
    if (square == 0)
      return false;
    if (product <= square && product >= params->shadow_threshold * square) {
      const float brightness = product / square;

      for (int c = 0; c < n_channels; c++) {
        const float difference = brightness * mode->mean[c] - value[c];

        distance += difference * difference;
      }
      if (distance
          < params->threshold * mode->variance * brightness * brightness)
        return true;
    }
    weights += mode->weight;
  }
  return false;
}

/* Updates the modes; sets whether one of them is the background and has the
 * value. Returns whether any has it. */
static bool
update_modes (CuvMog2Mode *modes, int *n_modes, const float *value,
    int n_channels, const CuvMog2Params *params, const CuvMog2Rate *rate,
    bool *background)
{
  bool found = false;
  float total = 0, scale;
  int n = *n_modes;

  for (int i = 0; i < n; i++) {
    float weight = rate->keep * modes[i].weight + rate->prune;
    int at = i;

    if (!found) {
      const float distance = squared_distance (&modes[i], value, n_channels);

      if (total < params->background_ratio
          && distance < params->threshold * modes[i].variance)
        *background = true;
      if (distance < params->new_threshold * modes[i].variance) {
        found = true;
        weight += rate->rate;
        learn_value (&modes[i], value, n_channels, distance,
            rate->rate / weight, params);
        at = move_forward (modes, i, weight);
      }
    }
    if (weight < -rate->prune) {
      weight = 0;
      n--;
    }
    modes[at].weight = weight;
    total += weight;
  }
  scale = fabsf (total) > FLT_EPSILON ? 1 / total : 0;
  for (int i = 0; i < n; i++)
    modes[i].weight *= scale;
  *n_modes = n;
  return found;
}

uint8_t
cuv_mog2_pixel (CuvMog2Mode *modes, int *n_modes, const float *value,
    int n_channels, const CuvMog2Params *params, const CuvMog2Rate *rate)
{
  bool background = false;

  if (!update_modes (
          modes, n_modes, value, n_channels, params, rate, &background)
      && rate->rate > 0)
    add_mode (modes, n_modes, value, n_channels, params, rate);
  if (background)
    return CUV_MOTION_STILL;
  return params->shadows
          && is_shadow (modes, *n_modes, value, n_channels, params)
      ? CUV_MOTION_SHADOW
      : CUV_MOTION_MOVING;
}
