/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks and their parts as a program, for compare.py.
 *
 * usage: masks reference|cpu WIDTH HEIGHT CHANNELS HISTORY THRESHOLD SHADOWS
 *              OPENING CLOSING < frames
 *   reads raw frames, BGR with 3 channels, grey with 1, and writes for each the
 *   mask, the number of parts, and for each part left, top, right, bottom and
 *   area, all int32. "reference" is the definition: it needs CUV_CPU_MASK=0 to
 *   apply to the mask, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/motion-cpu.h"

typedef struct {
  CuvFrame frame;
  CuvMotionCpu *cpu;
  CuvMotionParams params;
  int history;
  size_t size; /* bytes of a frame */
  uint8_t *pixels, *mask, *scratch;
  int32_t *queue;
  CuvMotionPart *parts;
} Program;

static void *
allocate (size_t size)
{
  void *memory = malloc (size);

  if (memory == NULL)
    abort ();
  return memory;
}

static void
set_up (Program *self, char **words)
{
  const int width = atoi (words[0]), height = atoi (words[1]);
  const int n_channels = atoi (words[2]);
  const CuvMotionConfig config = { CUV_MOTION_MOG2, n_channels == 3, 1 };
  const size_t n = (size_t) width * (size_t) height;

  self->size = n * (size_t) n_channels;
  self->pixels = allocate (self->size);
  self->mask = allocate (n);
  self->scratch = allocate (n);
  self->queue = allocate (n * sizeof *self->queue);
  self->parts = allocate (CUV_MOTION_MAX_PARTS * sizeof *self->parts);
  self->frame = (CuvFrame){ .width = width,
    .height = height,
    .model = n_channels == 3 ? CUV_MODEL_RGB : CUV_MODEL_GREY,
    .n_components = n_channels };
  for (int c = 0; c < n_channels; c++)
    self->frame.component[c] =
        (CuvComponent){ self->pixels + n_channels - 1 - c, width * n_channels,
          n_channels, 0, 0 };
  self->cpu = cuv_motion_cpu_new (&config, &self->frame);
  self->history = atoi (words[3]);
  cuv_mog2_params_init (&self->params.mog2);
  self->params.mog2.threshold = (float) atof (words[4]);
  self->params.mog2.shadows = atoi (words[5]);
  self->params.opening = atoi (words[6]);
  self->params.closing = atoi (words[7]);
}

/* Finds the parts as the reference does. */
static void
find_parts (Program *self, CuvMotionResult *result)
{
  const int width = result->width, height = result->height;

  cuv_motion_open (
      self->mask, width, height, self->params.opening, self->scratch);
  cuv_motion_close (
      self->mask, width, height, self->params.closing, self->scratch);
  result->n_parts = cuv_motion_parts (self->mask, width, height, self->queue,
      self->scratch, self->parts, CUV_MOTION_MAX_PARTS);
  result->parts = self->parts;
}

static void
write_all (const void *data, size_t size)
{
  if (fwrite (data, 1, size, stdout) != size)
    abort ();
}

static void
run (Program *self, int n, bool reference)
{
  const int last = 2 * n < self->history ? 2 * n : self->history;
  const size_t width = (size_t) self->frame.width;
  CuvMotionResult result;

  self->params.mog2_rate = cuv_mog2_rate (&self->params.mog2, 1. / last);
  cuv_motion_cpu_run (self->cpu, &self->frame, &self->params, 1, &result);
  for (int y = 0; y < result.height; y++)
    memcpy (self->mask + (size_t) y * width,
        result.mask + (size_t) y * (size_t) result.stride, width);
  write_all (self->mask, width * (size_t) result.height);
  if (reference)
    find_parts (self, &result);
  write_all (&(int32_t){ result.n_parts }, sizeof (int32_t));
  write_all (result.parts, (size_t) result.n_parts * sizeof *result.parts);
}

static void
clear (Program *self)
{
  cuv_motion_cpu_free (self->cpu);
  free (self->pixels);
  free (self->mask);
  free (self->scratch);
  free (self->queue);
  free (self->parts);
}

int
main (int argc, char **argv)
{
  Program program = { 0 };

  if (argc != 10) {
    fprintf (stderr,
        "usage: masks reference|cpu WIDTH HEIGHT CHANNELS HISTORY THRESHOLD "
        "SHADOWS OPENING CLOSING < frames\n");
    return 2;
  }
  set_up (&program, argv + 2);
  for (int n = 1; fread (program.pixels, program.size, 1, stdin) == 1; n++)
    run (&program, n, strcmp (argv[1], "reference") == 0);
  clear (&program);
  return 0;
}
