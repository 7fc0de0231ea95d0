/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

static int
scaled (int length, int scale)
{
  return length < scale ? 1 : length / scale;
}

int
cuv_motion_values_width (const CuvMotionConfig *config, int width)
{
  return scaled (width, config->scale);
}

int
cuv_motion_values_height (const CuvMotionConfig *config, int height)
{
  return scaled (height, config->scale);
}

int
cuv_motion_n_channels (const CuvMotionConfig *config, const CuvFrame *frame)
{
  return config->color && frame->n_components >= 3 ? 3 : 1;
}

static int
sample (const CuvFrame *frame, int component, int x, int y)
{
  const CuvComponent *c = &frame->component[component];

  return c->data[(int64_t) (y >> c->ysub) * c->stride
      + (int64_t) (x >> c->xsub) * c->step];
}

uint8_t
cuv_motion_value (const CuvMotionConfig *config, const CuvFrame *frame,
    int channel, int x, int y)
{
  const bool color = cuv_motion_n_channels (config, frame) == 3;
  const int component =
      frame->model == CUV_MODEL_RGB ? 2 - channel : channel; /* blue first */
  const int width = cuv_motion_min (config->scale, frame->width);
  const int height = cuv_motion_min (config->scale, frame->height);
  int sum = width * height / 2;

  for (int j = y * height; j < (y + 1) * height; j++) {
    for (int i = x * width; i < (x + 1) * width; i++)
      sum += color ? sample (frame, component, i, j)
                   : cuv_frame_grey (frame, i, j);
  }
  return (uint8_t) (sum / (width * height));
}
