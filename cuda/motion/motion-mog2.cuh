// SPDX-License-Identifier: LGPL-2.1-or-later
// The mixture of one value, as elements/motion/reference/mog2.c defines it.
// Weights are in registers, the rest of a mode stays in memory: mostly one mode
// of a value is read and written. That is the first one, which is read before
// the number of modes is known, so that memory is waited for once.
#ifndef CUV_MOTION_MOG2_CUH
#define CUV_MOTION_MOG2_CUH

#include <cfloat>
#include "cuv-cuda.cuh"
#include "motion/motion-types.h"

// The modes of all values. Those of 32 values, a warp's, are together: 32
// numbers for each field of each mode. Field 0 of a mode is the weight, 1 the
// variance, then means follow.
struct CuvMog2Models {
  float *fields;
  uint8_t *n_modes;
};

// What is read of a value before all else.
template <int N_CHANNELS> struct CuvMog2Input {
  float *fields;
  int n;
  float first[2 + N_CHANNELS]; // fields of mode 0
  float value[N_CHANNELS];

  __device__ float &
  at (int mode, int field) const
  {
    return fields[(mode * (2 + N_CHANNELS) + field) * 32];
  }

  __device__ void
  read (const CuvMog2Models &models, size_t index)
  {
    fields = models.fields + index % 32
        + index / 32 * (CUV_MOG2_MAX_MODES * (2 + N_CHANNELS) * 32);
    n = models.n_modes[index];
#pragma unroll
    for (int field = 0; field < 2 + N_CHANNELS; field++)
      first[field] = at (0, field);
  }
};

// The modes of one value. At first there are fewer than MAX_MODES, unless that
// is CUV_MOG2_MAX_MODES: loops over few modes are fast.
template <int N_CHANNELS, int MAX_MODES> struct CuvMog2Value {
  CuvMog2Input<N_CHANNELS> in;
  float weights[MAX_MODES];

  __device__ float &
  at (int mode, int field) const
  {
    return in.at (mode, field);
  }

  // Returns a field of a mode that was not updated yet.
  __device__ float
  old (int mode, int field) const
  {
    return mode == 0 ? in.first[field] : at (mode, field);
  }

  __device__ float
  squared_distance (int mode) const
  {
    float sum = 0;

#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++) {
      const float difference = old (mode, 2 + c) - in.value[c];

      sum += difference * difference;
    }
    return sum;
  }

  __device__ void
  set_weight (int mode, float weight)
  {
#pragma unroll
    for (int i = 0; i < MAX_MODES; i++)
      weights[i] = i == mode ? weight : weights[i];
  }

  // Makes room for a mode of this weight before those whose weight does not
  // exceed it, by moving those to where the mode was; returns its new index.
  __device__ int
  move_forward (int mode, float weight)
  {
#pragma unroll
    for (int i = MAX_MODES - 1; i > 0; i--) {
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
    const float k = rate / weight, before = old (mode, 1);
    const float variance = before + k * (distance - before);
    float means[N_CHANNELS];

#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++) {
      means[c] = old (mode, 2 + c);
      means[c] -= k * (means[c] - in.value[c]);
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
    for (int i = 0; i < MAX_MODES; i++) {
      if (i >= in.n)
        break;
      float weight = rate.keep * old (i, 0) + rate.prune;
      int index = i;

      if (!found) {
        const float distance = squared_distance (i), variance = old (i, 1);

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
        in.n--;
      }
      set_weight (index, weight);
      total += weight;
    }
    const float scale = fabsf (total) > FLT_EPSILON ? 1 / total : 0;
#pragma unroll
    for (int i = 0; i < MAX_MODES; i++)
      weights[i] *= scale;
    return found;
  }

  // Adds a mode of the value, in place of the last one if all are used.
  __device__ void
  add (const CuvMog2Params &params, const CuvMog2Rate &rate)
  {
    const int last = in.n < MAX_MODES ? in.n++ : in.n - 1;

#pragma unroll
    for (int i = 0; i < MAX_MODES; i++)
      weights[i] *= i < last ? rate.keep : 1;
    const int mode = last == 0 ? 0 : move_forward (last, rate.rate);
    set_weight (mode, last == 0 ? 1 : rate.rate);
    at (mode, 1) = params.first_variance;
#pragma unroll
    for (int c = 0; c < N_CHANNELS; c++)
      at (mode, 2 + c) = in.value[c];
  }

  __device__ void
  store_weights () const
  {
#pragma unroll
    for (int i = 0; i < MAX_MODES; i++) {
      if (i < in.n)
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
      const float difference = brightness * at (mode, 2 + c) - in.value[c];

      distance += difference * difference;
    }
    return distance < params.threshold * at (mode, 1) * brightness * brightness;
  }

  __device__ bool
  is_shadow (const CuvMog2Params &params) const
  {
    float sum = 0;

    for (int i = 0; i < in.n && sum <= params.background_ratio; i++) {
      float product = 0, square = 0;

#pragma unroll
      for (int c = 0; c < N_CHANNELS; c++) {
        const float mean = at (i, 2 + c);

        product += in.value[c] * mean;
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
