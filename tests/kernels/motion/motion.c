/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks and parts of short films, C, SIMD and CUDA against the C reference;
 * times. */
#include "cpu/bits.h"
#include "cpu/motion-cpu.h"
#include "cuvcheck.h"
#if HAVE_CUDA
#include "motion/motion.h" /* cuda/motion/motion.h, not elements/motion/ */
#endif

#include <stdlib.h>
#include <string.h>

#define FRAMES 12

/* The reference's memory, and what it found in the last frame. */
typedef struct {
  CuvMotionConfig config;
  CuvMotionParams params;
  int width, height, n_channels;
  CuvMog2Mode (*modes)[CUV_MOG2_MAX_MODES];
  int *n_modes;
  uint16_t *averages;
  uint8_t *mask, *cleaned, *scratch;
  uint64_t *unmasked;
  int32_t *queue;
  CuvMotionPart *parts;
  int n_parts;
  int64_t n_moving;
} Reference;

static void
reference_init (
    Reference *self, const CuvMotionConfig *config, const CuvFrame *frame)
{
  const int width = cuv_motion_n_values (config, frame->width);
  const int height = cuv_motion_n_values (config, frame->height);
  const size_t n = (size_t) width * (size_t) height;

  *self = (Reference){ .config = *config,
    .width = width,
    .height = height,
    .n_channels = cuv_motion_n_channels (config, frame) };
  self->modes = calloc (n, sizeof *self->modes);
  self->n_modes = calloc (n, sizeof *self->n_modes);
  self->averages = calloc (n, sizeof *self->averages);
  self->mask = malloc (n);
  self->cleaned = malloc (n);
  self->scratch = malloc (n);
  self->unmasked = calloc (
      (size_t) cuv_motion_n_words (width) * (size_t) height, sizeof (uint64_t));
  self->queue = malloc (n * sizeof *self->queue);
  self->parts = malloc (CUV_MOTION_MAX_PARTS * sizeof *self->parts);
}

static void
reference_clear (Reference *self)
{
  free (self->modes);
  free (self->n_modes);
  free (self->averages);
  free (self->mask);
  free (self->cleaned);
  free (self->scratch);
  free (self->unmasked);
  free (self->queue);
  free (self->parts);
}

static uint8_t
reference_pixel (
    Reference *self, const CuvFrame *frame, int x, int y, bool first)
{
  const int at = y * self->width + x;
  float value[CUV_MOTION_MAX_CHANNELS];
  uint8_t grey = cuv_motion_value (&self->config, frame, 0, x, y);

  if (self->config.method == CUV_MOTION_AVERAGE) {
    if (first)
      self->averages[at] = (uint16_t) (grey << 8);
    return cuv_average_pixel (&self->averages[at], grey, &self->params.average);
  }
  for (int c = 0; c < self->n_channels; c++)
    value[c] = (float) (cuv_motion_value (&self->config, frame, c, x, y)
        - cuv_motion_zero (frame, c));
  return cuv_mog2_pixel (self->modes[at], &self->n_modes[at], value,
      self->n_channels, &self->params.mog2, &self->params.mog2_rate);
}

static int64_t
count_moving (const uint8_t *mask, int n_values)
{
  int64_t n = 0;

  for (int i = 0; i < n_values; i++)
    n += mask[i] == CUV_MOTION_MOVING;
  return n;
}

static void
reference_hide (Reference *self)
{
  if (self->params.unmasked != NULL)
    cuv_motion_hide (
        self->cleaned, self->width, self->height, self->params.unmasked);
}

static void
reference_run (Reference *self, const CuvFrame *frame, bool first)
{
  const int width = self->width, height = self->height;

  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++)
      self->mask[y * width + x] = reference_pixel (self, frame, x, y, first);
  }
  memcpy (self->cleaned, self->mask, (size_t) width * (size_t) height);
  reference_hide (self);
  self->n_moving = count_moving (self->cleaned, width * height);
  cuv_motion_open (
      self->cleaned, width, height, self->params.opening, self->scratch);
  cuv_motion_close (
      self->cleaned, width, height, self->params.closing, self->scratch);
  reference_hide (self);
  self->n_parts = cuv_motion_min (CUV_MOTION_MAX_PARTS,
      cuv_motion_parts (self->cleaned, width, height, self->queue,
          self->scratch, self->parts, CUV_MOTION_MAX_PARTS));
}

/* ---- inputs ---- */

/* Adds noise of a few levels, and puts noise into some rectangles. */
static void
next_frame (CuvCheckFrame *frame, const CuvCheckFrame *first, int levels)
{
  const int width = first->frame.width, height = first->frame.height;

  memcpy (frame->memory, first->memory, first->size);
  for (int i = 0; i < first->frame.n_components; i++) {
    const CuvComponent *c = &frame->frame.component[i];

    for (int y = 0; y < height >> c->ysub; y++) {
      for (int x = 0; x < width >> c->xsub; x++) {
        uint8_t *at = c->data + (int64_t) y * c->stride + (int64_t) x * c->step;
        const int moved = *at + (int) cuv_check_below ((unsigned) levels);

        *at = x / 7 % 5 == 0 && y / 5 % 4 == 0
            ? (uint8_t) cuv_check_random ()
            : (uint8_t) cuv_motion_min (moved, 255);
      }
    }
  }
}

/* Some settings are those of the frame before. */
static void
random_params (CuvMotionParams *params, int frame)
{
  if (frame == 0 || cuv_check_below (4) == 0)
    params->opening = 1 + 2 * (int) cuv_check_below (4);
  if (frame == 0 || cuv_check_below (4) == 0)
    params->closing = 1 + 2 * (int) cuv_check_below (16);
  params->average = (CuvAverageParams){ (int) cuv_check_below (60),
    (int) cuv_check_below (65537) };
  cuv_mog2_params_init (&params->mog2);
  params->mog2.shadows = (int) cuv_check_below (2);
  params->mog2_rate = cuv_mog2_rate (
      &params->mog2, cuv_check_below (6) == 0 ? 0 : 1. / (2 * (frame + 1)));
}

/* Masks nothing, or random spans, in odd frames those of the one before. */
static void
random_mask (Reference *wanted, int frame)
{
  const int stride = cuv_motion_n_words (wanted->width);
  CuvMotionParams *params = &wanted->params;

  if (cuv_check_below (3) == 0)
    params->unmasked = params->unmasked == NULL ? wanted->unmasked : NULL;
  params->mask_serial = 1 + frame / 2;
  if (frame % 2 != 0)
    return;
  memset (wanted->unmasked, 0,
      (size_t) stride * (size_t) wanted->height * sizeof (uint64_t));
  for (int y = 0, shown = 1; y < wanted->height; y++) {
    for (int x = 0; x < wanted->width; x++) {
      shown ^= cuv_check_below (9) == 0;
      wanted->unmasked[y * stride + x / 64] |= (uint64_t) shown << x % 64;
    }
  }
}

/* ---- checks ---- */

/* A version of the detector, and what it found in the last frame. */
typedef struct {
  CuvCheckVersion version;
  void *state; /* a CuvMotionCpu or CuvMotionCuda */
  CuvMotionRuns runs;
  CuvMotionResult found;
  uint8_t *mask;
  CuvMotionPart *parts;
} Run;

static void
run_init (Run *self, const Reference *wanted, const CuvFrame *frame,
    const CuvCheckVersion *version)
{
  *self = (Run){ .version = *version };
  self->state =
      CUV_CHECK_ON ((void *) cuv_motion_cuda_new (&wanted->config, frame),
          cuv_motion_cpu_new (&wanted->config, frame));
  self->mask = malloc ((size_t) wanted->width * (size_t) wanted->height);
  self->parts = malloc (CUV_MOTION_MAX_PARTS * sizeof *self->parts);
  cuv_motion_runs_init (&self->runs, wanted->width, wanted->height);
  CUV_CHECK (self->state != NULL, ": %s", cuv_check_error ());
}

static void
run_clear (Run *self)
{
  CUV_CHECK_ON (
      cuv_motion_cuda_free (self->state), cuv_motion_cpu_free (self->state));
  cuv_motion_runs_clear (&self->runs);
  free (self->mask);
  free (self->parts);
}

#if HAVE_CUDA
static int
run_on_gpu (Run *self, const CuvFrame *frame, const CuvMotionParams *params)
{
  CuvMotionResult *found = &self->found;
  const CuvMotionMark *marks;
  CuvMotionBits bits;

  if (cuv_motion_cuda_submit (self->state, frame, params, cuv_check_stream) != 0
      || cuv_motion_cuda_collect (self->state, &bits, &marks, &found->n_moving)
          != 0
      || cuv_motion_cuda_get_mask (self->state, self->mask) != 0)
    return -1;
  found->mask = self->mask;
  found->stride = bits.width;
  found->parts = self->parts;
  found->n_parts = cuv_motion_min (CUV_MOTION_MAX_PARTS,
      cuv_motion_bits_parts (
          &bits, marks, &self->runs, self->parts, CUV_MOTION_MAX_PARTS));
  return 0;
}
#endif

static void
run_frame (Run *self, const CuvCheckFrame *frame, const CuvMotionParams *params)
{
  void *memory;
  const CuvFrame lent = cuv_check_lend (frame, &memory);

  CUV_CHECK_RUN (run_on_gpu (self, &lent, params),
      cuv_motion_cpu_run (
          self->state, &lent, params, self->version.n_threads, &self->found));
  cuv_check_device_free (memory);
}

static int
count_wrong_rows (const Reference *wanted, const CuvMotionResult *found)
{
  int wrong = 0;

  for (int y = 0; y < wanted->height; y++)
    wrong += memcmp (wanted->mask + (size_t) y * (size_t) wanted->width,
                 found->mask + (size_t) y * (size_t) found->stride,
                 (size_t) wanted->width)
        != 0;
  return wrong;
}

static void
check_frame (const Reference *wanted, const Run *run, int frame)
{
  const CuvMotionResult *found = &run->found;
  const char *name = run->version.name;
  const int wrong = count_wrong_rows (wanted, found);

  CUV_CHECK (wrong == 0, ": %s, frame %d: %d rows", name, frame, wrong);
  CUV_CHECK (found->n_moving == wanted->n_moving, ": %s, frame %d: %d", name,
      frame, (int) found->n_moving);
  CUV_CHECK (found->n_parts == wanted->n_parts
          && memcmp (found->parts, wanted->parts,
                 (size_t) wanted->n_parts * sizeof *wanted->parts)
              == 0,
      ": %s, frame %d: %d parts, not %d", name, frame, found->n_parts,
      wanted->n_parts);
}

/* Some frames after the middle the background is forgotten. */
static void
reset (Reference *wanted, Run *runs, int n)
{
  memset (wanted->n_modes, 0,
      (size_t) wanted->width * (size_t) wanted->height
          * sizeof *wanted->n_modes);
  for (int i = 0; i < n; i++)
    CUV_CHECK_ON (cuv_motion_cuda_reset (runs[i].state),
        cuv_motion_cpu_reset (runs[i].state));
}

static void
check_film (const CuvMotionConfig *config, const CuvCheckFrame *first)
{
  CuvCheckFrame frame = cuv_check_frame_copy (first);
  Run runs[CUV_CHECK_MAX_VERSIONS];
  Reference wanted;
  int n = 0;

  reference_init (&wanted, config, &first->frame);
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);)
    run_init (&runs[n++], &wanted, &first->frame, &v);
  for (int i = 0; i < FRAMES; i++) {
    const bool again = i == FRAMES * 3 / 4;

    if (again)
      reset (&wanted, runs, n);
    next_frame (&frame, first, 1 + i % 3 * 8);
    random_params (&wanted.params, i);
    random_mask (&wanted, i);
    cuv_gpu_set_busy (cuv_check_below (4) > 0); /* kernels are replayed */
    reference_run (&wanted, &frame.frame, i == 0 || again);
    for (int k = 0; k < n; k++) {
      run_frame (&runs[k], &frame, &wanted.params);
      check_frame (&wanted, &runs[k], i);
    }
  }
  cuv_gpu_set_busy (false);
  while (n > 0)
    run_clear (&runs[--n]);
  reference_clear (&wanted);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS (films)
{
  static const int sizes[][2] = { { 1, 1 }, { 3, 3 }, { 17, 33 }, { 64, 40 },
    { 129, 31 }, { 191, 108 }, { 1100, 20 } };

  for (int i = 0; i < 7; i++) {
    for (int f = 0; cuv_check_formats[f] != NULL; f++) {
      const CuvMotionConfig config = { (CuvMotionMethod) cuv_check_below (2),
        (int) cuv_check_below (2), 1 + (int) cuv_check_below (4) };
      CuvCheckFrame first = cuv_check_frame_new (
          cuv_check_formats[f], sizes[i][0], sizes[i][1], CUV_CHECK_TEXTURE);

      cuv_check_case ("%s %dx%d, method %d, color %d, scale %d",
          cuv_check_formats[f], sizes[i][0], sizes[i][1], config.method,
          config.color, config.scale);
      check_film (&config, &first);
      cuv_check_frame_free (&first);
    }
  }
}

/* ---- times ---- */

typedef struct {
  void *state;
  CuvCheckFrame frames[4];
  CuvFrame lent[4];
  void *memory[4];
  CuvMotionParams params;
  int next;
} Timed;

static void
run_timed (void *data)
{
  Timed *self = data;
  const CuvFrame *frame = &self->lent[self->next++ % 4];
  CuvMotionResult result;

  CUV_CHECK_RUN (cuv_motion_cuda_submit (
                     self->state, frame, &self->params, cuv_check_stream),
      cuv_motion_cpu_run (self->state, frame, &self->params, 1, &result));
}

static void
timed_init (Timed *self, const CuvMotionConfig *config, int levels)
{
  CuvCheckFrame first = config->color
      ? cuv_check_frame_new ("NV12", 1920, 1080, CUV_CHECK_TEXTURE)
      : cuv_check_bench_picture ();

  *self = (Timed){ .params = {
                       .average = { 25, 3277 }, .opening = 3, .closing = 5 } };
  cuv_mog2_params_init (&self->params.mog2);
  self->params.mog2_rate = cuv_mog2_rate (&self->params.mog2, 0.002);
  self->state =
      CUV_CHECK_ON ((void *) cuv_motion_cuda_new (config, &first.frame),
          cuv_motion_cpu_new (config, &first.frame));
  for (int i = 0; i < 4; i++) {
    self->frames[i] = cuv_check_frame_copy (&first);
    next_frame (&self->frames[i], &first, levels);
    self->lent[i] = cuv_check_lend (&self->frames[i], &self->memory[i]);
  }
  cuv_check_frame_free (&first);
}

static void
timed_clear (Timed *self)
{
  for (int i = 0; i < 4; i++) {
    cuv_check_device_free (self->memory[i]);
    cuv_check_frame_free (&self->frames[i]);
  }
  CUV_CHECK_ON (
      cuv_motion_cuda_free (self->state), cuv_motion_cpu_free (self->state));
}

/* Bytes that each value reads and writes at least: itself, its bit, and one
 * mode with the number of modes, or the average; three means with colour. */
static void
time_config (const char *name, const CuvMotionConfig *config, int levels)
{
  Timed timed;
  double pixels, values, bytes;

  timed_init (&timed, config, levels);
  pixels = (double) timed.lent[0].width * timed.lent[0].height;
  values = pixels / (config->scale * config->scale);
  bytes = (config->color ? 1.5 : 1) * pixels
      + values
          * (config->method == CUV_MOTION_AVERAGE ? 5
                  : config->color                 ? 43
                                                  : 27);
  cuv_check_bench (run_timed, &timed, pixels, bytes, "%s", name);
  timed_clear (&timed);
}

CUV_BENCH (times)
{
  const CuvMotionConfig mog2 = { CUV_MOTION_MOG2, 0, 1 };
  const CuvMotionConfig color = { CUV_MOTION_MOG2, 1, 1 };
  const CuvMotionConfig average = { CUV_MOTION_AVERAGE, 0, 1 };
  const CuvMotionConfig small = { CUV_MOTION_AVERAGE, 0, 4 };

  time_config ("mog2", &mog2, 3);
  time_config ("mog2, noise", &mog2, 200);
  time_config ("mog2, colour", &color, 3);
  time_config ("average", &average, 3);
  time_config ("average, scale 4", &small, 3);
}
