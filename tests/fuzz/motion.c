/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of any size, format and content, and any parameters: C and SIMD find
 * the same, inside the frame. */
#include <stdlib.h>
#include <string.h>
#include "cpu/motion-cpu.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { MAX_WIDTH = 140, MAX_HEIGHT = 24, MAX_FRAMES = 6 };

/* The input, which is repeated as often as needed. */
typedef struct {
  const uint8_t *data;
  size_t size, at;
} Bytes;

static int
next_byte (Bytes *self)
{
  return self->data[self->at++ % self->size];
}

static int
next_below (Bytes *self, int n)
{
  return (next_byte (self) << 8 | next_byte (self)) % n;
}

/* Grey, RGB of three or four bytes, or planar YUV. *memory has the pixels. */
static CuvFrame
next_shape (Bytes *bytes, uint8_t **memory, size_t *size)
{
  CuvFrame frame = { .model = (CuvModel) next_below (bytes, 3),
    .width = 1 + next_below (bytes, MAX_WIDTH),
    .height = 1 + next_below (bytes, MAX_HEIGHT) };
  const int step = frame.model == CUV_MODEL_RGB ? 3 + next_below (bytes, 2) : 1;
  const int stride = frame.width * step + next_below (bytes, 9);
  const int xsub = next_below (bytes, 2), ysub = next_below (bytes, 2);

  frame.n_components = frame.model == CUV_MODEL_GREY ? 1 : 3;
  *size = (size_t) stride * (size_t) frame.height
      * (frame.model == CUV_MODEL_YUV ? 3 : 1);
  *memory = malloc (*size);
  for (int c = 0; c < frame.n_components; c++) {
    const int is_chroma = frame.model == CUV_MODEL_YUV && c > 0;

    frame.component[c] = (CuvComponent){ *memory
          + (frame.model == CUV_MODEL_YUV ? c * stride * frame.height : c),
      stride, step, is_chroma ? xsub : 0, is_chroma ? ysub : 0 };
  }
  return frame;
}

static CuvMotionParams
next_params (Bytes *bytes, const uint64_t *unmasked, int frame)
{
  CuvMotionParams params = { .opening = 1
        + 2 * next_below (bytes, CUV_MOTION_MAX_SIDE / 2),
    .closing = 1 + 2 * next_below (bytes, CUV_MOTION_MAX_SIDE / 2 + 1),
    .average = { 1 + next_below (bytes, 255), next_below (bytes, 65537) },
    .unmasked = next_below (bytes, 2) ? unmasked : NULL,
    .mask_serial = frame };

  cuv_mog2_params_init (&params.mog2);
  params.mog2.threshold = (float) next_byte (bytes);
  params.mog2.shadows = next_below (bytes, 2);
  params.mog2_rate =
      cuv_mog2_rate (&params.mog2, next_below (bytes, 1001) / 1000.);
  return params;
}

static void
check_same (const CuvMotionResult *a, const CuvMotionResult *b)
{
  if (a->n_moving != b->n_moving || a->n_parts != b->n_parts
      || memcmp (a->parts, b->parts, (size_t) a->n_parts * sizeof *a->parts)
          != 0)
    abort ();
  for (int y = 0; y < a->height; y++)
    if (memcmp (
            a->mask + y * a->stride, b->mask + y * b->stride, (size_t) a->width)
        != 0)
      abort ();
}

static void
check_boxes (Bytes *bytes, const CuvMotionResult *found)
{
  static CuvMotionBox boxes[CUV_MOTION_MAX_BOXES];
  int n = cuv_motion_boxes (found->parts, found->n_parts,
      next_below (bytes, 50), next_below (bytes, 20), boxes);

  n = cuv_motion_pad (boxes, n, next_below (bytes, CUV_MOTION_MAX_PADDING + 1),
      found->width, found->height);
  cuv_motion_ages (boxes, n, boxes, n);
  for (int i = 0; i < n; i++) {
    const CuvMotionPart *part = &boxes[i].part;

    if (part->left < 0 || part->top < 0 || part->right > found->width
        || part->bottom > found->height || part->left >= part->right
        || part->top >= part->bottom || part->area < 1
        || part->area > found->width * found->height)
      abort ();
  }
}

static void
run_frames (Bytes *bytes, const CuvMotionConfig *config, const CuvFrame *frame,
    uint8_t *memory, size_t size, uint64_t *unmasked, size_t n_words)
{
  CuvMotionCpu *versions[2];

  for (int i = 0; i < 2; i++) {
    setenv ("CUV_CPU_MASK", i == 0 ? "0" : "0xff", 1);
    versions[i] = cuv_motion_cpu_new (config, frame);
  }
  for (int f = 0; f < MAX_FRAMES; f++) {
    const CuvMotionParams params = next_params (bytes, unmasked, f);
    CuvMotionResult found[2];

    for (size_t i = 0; i < size; i++)
      memory[i] = (uint8_t) next_byte (bytes);
    for (size_t i = 0; i < n_words * sizeof *unmasked; i++)
      ((uint8_t *) unmasked)[i] = (uint8_t) next_byte (bytes);
    for (int i = 0; i < 2; i++) {
      if (f == MAX_FRAMES / 2)
        cuv_motion_cpu_reset (versions[i]);
      cuv_motion_cpu_run (versions[i], frame, &params, 1, &found[i]);
    }
    check_same (&found[0], &found[1]);
    check_boxes (bytes, &found[0]);
  }
  cuv_motion_cpu_free (versions[0]);
  cuv_motion_cpu_free (versions[1]);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Bytes bytes = { data, size, 0 };
  CuvMotionConfig config;
  CuvFrame frame;
  uint8_t *memory;
  uint64_t *unmasked;
  size_t n_words;

  if (size == 0)
    return 0;
  config = (CuvMotionConfig){ (CuvMotionMethod) next_below (&bytes, 2),
    next_below (&bytes, 2), 1 + next_below (&bytes, CUV_MOTION_MAX_SCALE) };
  frame = next_shape (&bytes, &memory, &size);
  n_words =
      (size_t) cuv_motion_n_words (cuv_motion_n_values (&config, frame.width))
      * (size_t) cuv_motion_n_values (&config, frame.height);
  unmasked = malloc (n_words * sizeof *unmasked);
  run_frames (&bytes, &config, &frame, memory, size, unmasked, n_words);
  free (unmasked);
  free (memory);
  return 0;
}
