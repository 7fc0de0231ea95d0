/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU against the C reference. */
#include "config.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"

#if HAVE_CUDA
#include <stdlib.h>
#include "ldp/ldp.h"

static void
check_drawing (const LdpInput *input, CuvLdpCuda *cuda)
{
  void *memory;
  CuvCheckFrame found = cuv_check_frame_copy (&input->frame);

  for (int d = 0; d < CUV_LDP_DIRECTIONS; d += 3) {
    CuvCheckFrame wanted = ldp_input_draw (input, d);
    const CuvFrame frame = cuv_check_to_device (&input->frame, &memory);

    CUV_CHECK (
        cuv_ldp_cuda_submit (cuda, &frame, &input->rect, cuv_check_stream) == 0
            && cuv_ldp_cuda_draw (cuda, d) == 0
            && cuv_ldp_cuda_wait (cuda) == 0,
        ": %s", cuv_cuda_error ());
    cuv_check_from_device (&found, memory);
    CUV_CHECK (ldp_frames_equal (&found, &wanted), ": direction %d", d);
    cuv_check_device_free (memory);
    cuv_check_frame_free (&wanted);
  }
  cuv_check_frame_free (&found);
}

static void
check_turned (const LdpInput *input, CuvLdpCuda *cuda)
{
  for (int i = 0; i < 2; i++) {
    const int orientation = (int) cuv_check_below (8);
    uint32_t *wanted = ldp_input_turn (input, orientation);
    CuvLdpCuda *turned = cuv_ldp_cuda_submit_turned (cuda, orientation);
    const void *counts = turned != NULL ? cuv_ldp_cuda_collect (turned) : NULL;

    CUV_CHECK (counts != NULL, ": %s", cuv_cuda_error ());
    CUV_CHECK (
        counts != NULL && ldp_counts_equal (&input->layout, counts, wanted),
        ": orientation %d", orientation);
    free (wanted);
  }
}

static void
check_run (const LdpInput *input)
{
  const CuvLdpLayout *layout = &input->layout;
  CuvLdpCuda *cuda = cuv_ldp_cuda_new (layout);
  const void *counts = NULL;
  void *memory;
  const CuvFrame frame = cuv_check_to_device (&input->frame, &memory);

  for (int run = 0; run < 2; run++) {
    CUV_CHECK (
        cuv_ldp_cuda_submit (cuda, &frame, &input->rect, cuv_check_stream) == 0
            && (counts = cuv_ldp_cuda_collect (cuda)) != NULL,
        ": %s", cuv_cuda_error ());
    ldp_counts_equal (layout, counts, input->wanted);
  }
  check_turned (input, cuda);
  check_drawing (input, cuda);
  cuv_ldp_cuda_free (cuda);
  cuv_check_device_free (memory);
}

/* Blocks of the picture split over many tiles, with adjacent two-byte counts,
 * and with empty tiles. */
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

CUV_CHECKS_CUDA (check_ldp_cuda)
{
  ldp_each_input (check_run);
  check_all_large ();
}

typedef struct {
  CuvLdpCuda *cuda;
  CuvFrame frame;
  CuvLdpRect rect;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_ldp_cuda_submit (self->cuda, &self->frame, &self->rect, cuv_check_stream);
}

static void
bench (const char *what, CuvCheckFill fill, int width, int height, int order,
    int block, int grid)
{
  const CuvLdpParams params = {
    .order = order, .block = block, .grid = grid, .directions = 15
  };
  const double pixels = (double) width * height;
  CuvCheckFrame host = cuv_check_frame_new ("GRAY8", width, height, fill);
  CuvLdpLayout layout;
  Bench self = { .rect = { 0, 0, width, height } };
  void *memory;

  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, width, height) == NULL);
  self.frame = cuv_check_to_device (&host, &memory);
  self.cuda = cuv_ldp_cuda_new (&layout);
  for (int alone = 0; alone < 2; alone++) {
    cuv_check_report (alone
            ? cuv_check_time_device (run, &self, cuv_check_stream)
            : cuv_check_time_stream (run, &self, cuv_check_stream),
        pixels,
        pixels
            + (double) cuv_ldp_n_counts (&layout)
                * cuv_ldp_count_size (&layout),
        "ldp cuda, %s %dx%d, order %d, %s %d, %s", what, width, height, order,
        block > 0 ? "blocks of" : "grid", block > 0 ? block : grid,
        alone ? "alone" : "in a row");
  }
  cuv_ldp_cuda_free (self.cuda);
  cuv_check_device_free (memory);
  cuv_check_frame_free (&host);
}

CUV_BENCH_CUDA (bench_ldp_cuda)
{
  for (int order = 2; order <= 5; order++)
    bench ("picture", CUV_CHECK_TEXTURE, 4096, 4096, order, 16, 0);
  bench ("noise", CUV_CHECK_NOISE, 4096, 4096, 3, 16, 0);
  bench ("flat", CUV_CHECK_BLACK, 4096, 4096, 3, 16, 0);
  bench ("picture", CUV_CHECK_TEXTURE, 4096, 4096, 3, 0, 16);
  bench ("picture", CUV_CHECK_TEXTURE, 1920, 1080, 3, 16, 0);
  bench ("flat", CUV_CHECK_BLACK, 1920, 1080, 3, 16, 0);
  bench ("picture", CUV_CHECK_TEXTURE, 1920, 1080, 3, 0, 8);
}

#endif
