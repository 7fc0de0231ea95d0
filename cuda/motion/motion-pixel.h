/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of a frame's pixels, and the average of one of them, on CPU and
 * GPU. */
#ifndef CUV_MOTION_PIXEL_H
#define CUV_MOTION_PIXEL_H

#include "cuv-frame.h"
#include "motion/motion-types.h"

CUV_HOST_DEVICE int
cuv_motion_min (int a, int b)
{
  return a < b ? a : b;
}

CUV_HOST_DEVICE int
cuv_motion_max (int a, int b)
{
  return a > b ? a : b;
}

/* Returns the number of values across a frame of this width, or down a frame of
 * this height. Partial squares at the end are left out, but a frame that is
 * smaller than a square has one value. */
CUV_HOST_DEVICE int
cuv_motion_n_values (const CuvMotionConfig *config, int length)
{
  return cuv_motion_max (length / config->scale, 1);
}

/* Returns the number of words for n bits. */
CUV_HOST_DEVICE int
cuv_motion_n_words (int n)
{
  return (n + 63) / 64;
}

CUV_HOST_DEVICE int
cuv_motion_n_marks (int stride)
{
  return (stride + CUV_MOTION_MARK_WORDS - 1) / CUV_MOTION_MARK_WORDS;
}

/* Number of channels: 1, or 3 with config->color if the frame has colours. */
CUV_HOST_DEVICE int
cuv_motion_n_channels (const CuvMotionConfig *config, const CuvFrame *frame)
{
  return config->color && frame->n_components >= 3 ? 3 : 1;
}

/* Returns the component of a channel: blue, green, red (OpenCV's order), or Y,
 * U, V. */
CUV_HOST_DEVICE int
cuv_motion_component (const CuvFrame *frame, int channel)
{
  return frame->model == CUV_MODEL_RGB ? 2 - channel : channel;
}

/* Returns the value of a channel that is subtracted from all others of it: what
 * U and V are without colour. A shadow scales the differences from it. */
CUV_HOST_DEVICE int
cuv_motion_zero (const CuvFrame *frame, int channel)
{
  return frame->model == CUV_MODEL_YUV && channel > 0 ? 128 : 0;
}

/* Whether values are grey made of three components, not a component as it is.
 */
CUV_HOST_DEVICE int
cuv_motion_is_mixed (const CuvMotionConfig *config, const CuvFrame *frame)
{
  return frame->model == CUV_MODEL_RGB
      && cuv_motion_n_channels (config, frame) == 1;
}

CUV_HOST_DEVICE int
cuv_motion_sample (const CuvComponent *c, int x, int y)
{
  return c->data[(int64_t) (y >> c->ysub) * c->stride
      + (int64_t) (x >> c->xsub) * c->step];
}

/* Returns the value at column x, row y: the average of a square of luma or of a
 * channel, rounded to nearest, halves up. */
CUV_HOST_DEVICE uint8_t
cuv_motion_value (const CuvMotionConfig *config, const CuvFrame *frame,
    int channel, int x, int y)
{
  const int is_mixed = cuv_motion_is_mixed (config, frame);
  const CuvComponent *c =
      &frame->component[cuv_motion_component (frame, channel)];
  const int across = cuv_motion_min (config->scale, frame->width);
  const int down = cuv_motion_min (config->scale, frame->height);
  int sum = across * down / 2;

  for (int j = y * down; j < (y + 1) * down; j++) {
    for (int i = x * across; i < (x + 1) * across; i++)
      sum +=
          is_mixed ? cuv_frame_grey (frame, i, j) : cuv_motion_sample (c, i, j);
  }
  return (uint8_t) (sum / (across * down));
}

/* Compares a value with a pixel's average, in 1/256 grey level, which then
 * learns it. Returns a value of a mask. */
CUV_HOST_DEVICE uint8_t
cuv_average_pixel (
    uint16_t *average, uint8_t value, const CuvAverageParams *params)
{
  const int difference = (value << 8) - *average;
  const int size = difference < 0 ? -difference : difference;

  *average =
      (uint16_t) (*average + (int64_t) difference * params->rate / 65536);
  return size >= params->threshold << 8 ? CUV_MOTION_MOVING : CUV_MOTION_STILL;
}

#endif
