// SPDX-License-Identifier: LGPL-2.1-or-later
// The mixture of one value, as elements/motion/reference/mog2.c defines it.
// Weights are in registers, the rest of a mode stays in memory, in planes:
// mostly one mode of a value is read and written.
#ifndef CUV_MOTION_MOG2_CUH
#define CUV_MOTION_MOG2_CUH

#include <cfloat>
#include "cuv-cuda.cuh"
#include "motion/motion-types.h"

// The modes of one value; field 0 of a mode is the weight, 1 the variance, then
// means follow.
template <int N_CHANNELS> struct CuvMog2Value {
  float *fields;
  size_t plane; // numbers of a plane
  float value[N_CHANNELS];
  float weights[CUV_MOG2_MAX_MODES];
  int n;

  __device__ float &
  at (int mode, int field) const
  {
    return fields[(size_t) (mode * (2 + N_CHANNELS) + field) * plane];
  }

  __device__ float
  squared_distance (int mode) const
  {
    float sum = 0;

#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++) {
      const float difference = at (mode, 2 + c) - value[c];

      sum += difference * difference;
    }
    return sum;
  }

  __device__ void
  set_weight (int mode, float weight)
  {
#pragma unroll
    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++)
      weights[i] = i == mode ? weight : weights[i];
  }

  // Makes room for a mode of this weight before those whose weight does not
  // exceed it, by moving those to where the mode was; returns its new index.
  __device__ int
  move_forward (int mode, float weight)
  {
#pragma unroll
    for (int i = CUV_MOG2_MAX_MODES - 1; i > 0; i--) {
      if (i != mode || weight < weights[i - 1])
        continue;
      weights[i] = weights[i - 1];
      for (int field = 1; field < 2 + N_CHANNELS; field++)
        at (i, field) = at (i - 1, field);
      mode--;
    }
    return mode;
  }

  // Has a mode learn the value; returns its new index.
  __device__ int
  learn (int mode, float distance, float weight, const CuvMog2Params &params,
      float rate)
  {
    const float k = rate / weight, old = at (mode, 1);
    const float variance = old + k * (distance - old);
    float means[N_CHANNELS];

#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++) {
      means[c] = at (mode, 2 + c);
      means[c] -= k * (means[c] - value[c]);
    }
    mode = move_forward (mode, weight);
    at (mode, 1) =
        fminf (fmaxf (variance, params.min_variance), params.max_variance);
#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++)
      at (mode, 2 + c) = means[c];
    return mode;
  }

  // Updates the modes; sets whether one of the background has the value.
  // Returns whether any has it.
  __device__ bool
  update (
      const CuvMog2Params &params, const CuvMog2Rate &rate, bool *background)
  {
    bool found = false;
    float total = 0;

#pragma unroll
    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++) {
      if (i >= n)
        break;
      float weight = rate.keep * at (i, 0) + rate.prune;
      int index = i;

      if (!found) {
        const float distance = squared_distance (i), variance = at (i, 1);

        if (total < params.background_ratio
            && distance < params.threshold * variance)
          *background = true;
        if (distance < params.new_threshold * variance) {
          found = true;
          weight += rate.rate;
          index = learn (i, distance, weight, params, rate.rate);
        }
      }
      if (weight < -rate.prune) {
        weight = 0;
        n--;
      }
      set_weight (index, weight);
      total += weight;
    }
    const float scale = fabsf (total) > FLT_EPSILON ? 1 / total : 0;
#pragma unroll
    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++)
      weights[i] *= scale;
    return found;
  }

  // Adds a mode of the value, in place of the last one if all are used.
  __device__ void
  add (const CuvMog2Params &params, const CuvMog2Rate &rate)
  {
    const int last = n < CUV_MOG2_MAX_MODES ? n++ : n - 1;

#pragma unroll
    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++)
      weights[i] *= i < last ? rate.keep : 1;
    const int mode = last == 0 ? 0 : move_forward (last, rate.rate);
    set_weight (mode, last == 0 ? 1 : rate.rate);
    at (mode, 1) = params.first_variance;
#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++)
      at (mode, 2 + c) = value[c];
  }

  __device__ void
  store_weights () const
  {
#pragma unroll
    for (int i = 0; i < CUV_MOG2_MAX_MODES; i++) {
      if (i < n)
        at (i, 0) = weights[i];
    }
  }

  // Whether the value is a darker one of the same colour as a mode, which has
  // this product with the value, and with itself this square.
  __device__ bool
  is_darker (
      int mode, float product, float square, const CuvMog2Params &params) const
  {
    const float brightness = product / square;
    float distance = 0;

    if (product > square || product < params.shadow_threshold * square)
      return false;
#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++) {
      const float difference = brightness * at (mode, 2 + c) - value[c];

      distance += difference * difference;
    }
    return distance < params.threshold * at (mode, 1) * brightness * brightness;
  }

  __device__ bool
  is_shadow (const CuvMog2Params &params) const
  {
    float sum = 0;

    for (int i = 0; i < n && sum <= params.background_ratio; i++) {
      float product = 0, square = 0;

#pragma unroll
      for (int c = 0; c < N_CHANNELS; c++) {
        const float mean = at (i, 2 + c);

        product += value[c] * mean;
        square += mean * mean;
      }
      if (square == 0)
        return false;
      if (is_darker (i, product, square, params))
        return true;
      sum += at (i, 0);
    }
    return false;
  }
};

#endif
