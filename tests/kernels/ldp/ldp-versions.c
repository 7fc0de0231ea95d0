/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C with threads, AVX2 and CUDA against the C reference, and their times. */
#include "cpu/ldp-cpu.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"
#if HAVE_CUDA
#include "ldp/ldp.h"
#endif

#include <stdlib.h>

typedef struct {
  const LdpInput *input;
  CuvCheckVersion version;
  void *state;    /* a CuvLdpCpu or CuvLdpCuda */
  CuvFrame frame; /* where the version finds the input's frame */
  void *memory;
  const void *counts;
} Run;

static void
run_init (Run *self, const LdpInput *input, const CuvCheckVersion *version)
{
  *self = (Run){ .input = input, .version = *version };
  self->state = CUV_CHECK_ON ((void *) cuv_ldp_cuda_new (&input->layout),
      cuv_ldp_cpu_new (&input->layout));
  self->frame = cuv_check_lend (&input->frame, &self->memory);
  CUV_CHECK (self->state != NULL, ": %s", cuv_check_error ());
}

static void
run_clear (Run *self)
{
  CUV_CHECK_ON (
      cuv_ldp_cuda_free (self->state), cuv_ldp_cpu_free (self->state));
  cuv_check_device_free (self->memory);
}

static void
submit (void *data)
{
  Run *self = data;
  /* copies, cleared below: both arguments may be gone after the call */
  CuvFrame frame = self->frame;
  CuvLdpRect rect = self->input->rect;

  CUV_CHECK_RUN (
      cuv_ldp_cuda_submit (self->state, &frame, &rect, cuv_check_stream),
      self->counts = cuv_ldp_cpu_run (
          self->state, &frame, &rect, self->version.n_threads));
  frame = (CuvFrame){ 0 };
  rect = (CuvLdpRect){ 0 };
}

static void
check_counts (Run *self)
{
  submit (self);
  self->counts =
      CUV_CHECK_ON (cuv_ldp_cuda_collect (self->state), self->counts);
  CUV_CHECK (self->counts != NULL, ": %s", cuv_check_error ());
  CUV_CHECK (ldp_counts_equal (
                 &self->input->layout, self->counts, self->input->wanted),
      ": %s", self->version.name);
}

static void
check_turned (Run *self)
{
  for (int i = 0; i < 2; i++) {
    const int orientation = (int) cuv_check_below (8);
    uint32_t *wanted = ldp_input_turn (self->input, orientation);
    const void *counts;

    submit (self);
    counts = CUV_CHECK_ON (cuv_ldp_cuda_collect (cuv_ldp_cuda_submit_turned (
                               self->state, orientation)),
        cuv_ldp_cpu_run_turned (
            self->state, orientation, self->version.n_threads));
    CUV_CHECK (counts != NULL, ": %s", cuv_check_error ());
    CUV_CHECK (ldp_counts_equal (&self->input->layout, counts, wanted),
        ": %s, orientation %d", self->version.name, orientation);
    free (wanted);
  }
}

/* Checks what is drawn on a copy of the frame. */
static void
check_drawing (Run *self)
{
  const CuvFrame frame = self->frame;

  for (int d = 0; d < CUV_LDP_DIRECTIONS; d += 3) {
    CuvCheckFrame found = cuv_check_frame_copy (&self->input->frame);
    CuvCheckFrame wanted = ldp_input_draw (self->input, d);
    void *memory;

    self->frame = cuv_check_lend (&found, &memory);
    submit (self);
    CUV_CHECK_RUN (
        cuv_ldp_cuda_draw (self->state, d) || cuv_ldp_cuda_wait (self->state),
        cuv_ldp_cpu_draw (self->state, d, self->version.n_threads));
    cuv_check_take_back (&found, memory);
    CUV_CHECK (ldp_frames_equal (&found, &wanted), ": %s, direction %d",
        self->version.name, d);
    cuv_check_frame_free (&wanted);
    cuv_check_frame_free (&found);
  }
  self->frame = frame;
}

static void
check_run (const LdpInput *input)
{
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    Run self;

    run_init (&self, input, &v);
    check_counts (&self);
    check_counts (&self);
    check_turned (&self);
    check_drawing (&self);
    run_clear (&self);
  }
}

/* Checks blocks that are split over many tiles, adjacent two-byte counts, and
 * empty tiles. */
static void
check_large (const CuvLdpParams *params, CuvCheckFill fill)
{
  LdpInput input = { .frame = cuv_check_frame_new ("GRAY8", 300, 290, fill),
    .rect = { 0, 0, 300, 290 } };
  uint8_t *picture = malloc (300 * 290);

  cuv_check_case ("a grid of %d, blocks of %d, merged %d, fill %d",
      params->grid, params->block, params->is_merged, fill);
  CUV_CHECK (cuv_ldp_layout_init (&input.layout, params, 300, 290) == NULL);
  input.wanted =
      malloc (cuv_ldp_n_counts (&input.layout) * sizeof *input.wanted);
  cuv_ldp_resize (&input.frame.frame, &input.rect, 300, 290, picture);
  cuv_ldp_describe (&input.layout, picture, input.wanted);
  check_run (&input);
  free (picture);
  ldp_input_clear (&input);
}

static void
check_all_large (void)
{
  static const CuvLdpParams params[] = {
    { .order = 3, .grid = 1, .directions = 15 },
    { .order = 3, .grid = 2, .directions = 15, .is_merged = 1 },
    { .order = 2, .grid = 3, .directions = 15 },
    { .order = 3, .grid = 3, .directions = 1, .bins = CUV_LDP_BINS_UNIFORM },
    { .order = 4, .grid = 3, .directions = 7, .bins = CUV_LDP_BINS_UNIFORM },
    { .order = 3, .block = 130, .directions = 11 },
    { .order = 3, .grid = 1, .directions = 15, .scales = 4 },
    { .order = 6,
        .block = 131,
        .directions = 4,
        .border = CUV_LDP_REPLICATE,
        .bins = CUV_LDP_BINS_LEVELS,
        .levels = 7 },
  };

  for (int i = 0; i < 8; i++) {
    check_large (&params[i], CUV_CHECK_TEXTURE);
    check_large (&params[i], CUV_CHECK_BLACK);
  }
}

CUV_CHECKS (check_ldp_versions)
{
  const int rounds = cuv_check_options.few || cuv_check_options.cuda ? 1 : 3;

  for (int round = 0; round < rounds; round++)
    ldp_each_input (check_run);
  check_all_large ();
}

/* A block with more equal codes than two bytes can count. */
CUV_CHECKS_CPU (check_many)
{
  const CuvLdpParams params = { .order = 2, .grid = 1, .directions = 15 };
  const CuvLdpRect rect = { 0, 0, 300, 300 };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 300, 300, CUV_CHECK_BLACK);
  CuvLdpLayout layout;
  CuvLdpCpu *cpu;
  const uint32_t *counts;

  cuv_check_case ("a flat block of 296 x 296");
  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, 300, 300) == NULL);
  CUV_CHECK (cuv_ldp_count_size (&layout) == 4);
  cpu = cuv_ldp_cpu_new (&layout);
  counts = cuv_ldp_cpu_run (cpu, &frame.frame, &rect, 0);
  for (int h = 0; h < 4; h++)
    CUV_CHECK (counts[256 * h + 255] == 296 * 296 && counts[256 * h] == 0);
  cuv_ldp_cpu_free (cpu);
  cuv_check_frame_free (&frame);
}

/* ---- times ---- */

typedef struct {
  const char *what;
  CuvCheckFill fill;
  int width, height, order, block, grid;
} Bench;

static void
bench_case (const Bench *c, const char *version, int n_threads)
{
  const CuvLdpParams params = {
    .order = c->order, .block = c->block, .grid = c->grid, .directions = 15
  };
  const double pixels = (double) c->width * c->height;
  LdpInput input = {
    .frame = cuv_check_frame_new ("GRAY8", c->width, c->height, c->fill),
    .rect = { 0, 0, c->width, c->height },
  };
  double bytes;
  char name[80];
  Run self;

  CUV_CHECK (cuv_ldp_layout_init (&input.layout, &params, c->width, c->height)
      == NULL);
  bytes = pixels
      + (double) cuv_ldp_n_counts (&input.layout)
          * cuv_ldp_count_size (&input.layout);
  run_init (&self, &input, &(CuvCheckVersion){ "", n_threads });
  snprintf (name, sizeof name, "ldp %s, %s %dx%d, order %d, %s %d", version,
      c->what, c->width, c->height, c->order,
      c->block > 0 ? "blocks of" : "grid", c->block > 0 ? c->block : c->grid);
  if (cuv_check_options.cuda)
    cuv_check_report (cuv_check_time_stream (submit, &self, cuv_check_stream),
        pixels, bytes, "%s, in a row", name);
  cuv_check_bench (
      submit, &self, pixels, bytes, "%s%s", name, CUV_CHECK_ON (", alone", ""));
  run_clear (&self);
  cuv_check_frame_free (&input.frame);
}

/* Times a 1080p frame that is resized to 256 x 256. */
static void
bench_resized (void)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  LdpInput input = {
    .frame = cuv_check_frame_new ("NV12", 1920, 1080, CUV_CHECK_TEXTURE),
    .rect = { 0, 0, 1920, 1080 },
  };
  Run self;

  CUV_CHECK (cuv_ldp_layout_init (&input.layout, &params, 256, 256) == NULL);
  run_init (&self, &input, &(CuvCheckVersion){ 0 });
  cuv_check_bench (submit, &self, 1920 * 1080, 0,
      "ldp %s, 1920x1080 as 256x256, order 3", CUV_CHECK_ON ("cuda", "cpu"));
  run_clear (&self);
  cuv_check_frame_free (&input.frame);
}

CUV_BENCH (bench_ldp)
{
  static const Bench cases[] = {
    { "picture", CUV_CHECK_TEXTURE, 1920, 1080, 3, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 1920, 1080, 2, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 1920, 1080, 4, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 1920, 1080, 3, 0, 8 },
    { "flat", CUV_CHECK_BLACK, 1920, 1080, 3, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 4096, 4096, 2, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 4096, 4096, 3, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 4096, 4096, 4, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 4096, 4096, 5, 16, 0 },
    { "noise", CUV_CHECK_NOISE, 4096, 4096, 3, 16, 0 },
    { "flat", CUV_CHECK_BLACK, 4096, 4096, 3, 16, 0 },
    { "picture", CUV_CHECK_TEXTURE, 4096, 4096, 3, 0, 16 },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    bench_case (&cases[i], CUV_CHECK_ON ("cuda", "cpu"), 0);
  bench_resized ();
  if (cuv_check_options.cuda)
    return;
  bench_case (&cases[0], "cpu, 1 thread", 1);
  cuv_cpu_set_mask (0);
  bench_case (&cases[0], "cpu, C", 0);
  cuv_cpu_set_mask (~0u);
}
