/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fast run on any number of threads, with AVX2 and without, against the C
 * reference. */
#include "cuvcheck.h"
#include "cuvcpu.h"
#include "ldp-cpu.h"
#include "ldp-tests.h"

#include <stdlib.h>
#include <string.h>

static CuvLdpParams
random_params (int width, int height)
{
  const uint32_t side = (uint32_t) (width < height ? width : height);
  CuvLdpParams params = { .order = 2 + (int) cuv_check_below (8),
    .grid = 1 + (int) cuv_check_below (side < 9 ? side : 9),
    .directions = 1 + (int) cuv_check_below (15),
    .is_merged = cuv_check_below (3) == 0,
    .border = cuv_check_below (2) ? CUV_LDP_VALID : CUV_LDP_REPLICATE,
    .bins = (CuvLdpBins) cuv_check_below (3),
    .levels = 2 + (int) cuv_check_below (255) };

  if (cuv_check_below (2))
    params.block = 1 + (int) cuv_check_below (40);
  if (cuv_check_below (2))
    params.order = 2 + (int) cuv_check_below (3);
  return params;
}

/* Counts of either size against those of the reference. */
static bool
are_same (const CuvLdpShape *shape, const void *counts, const uint32_t *wanted)
{
  const bool wide = cuv_ldp_count_size (shape) == 4;
  const size_t n = cuv_ldp_n_counts (shape);

  for (size_t i = 0; i < n; i++) {
    const uint32_t count =
        wide ? ((const uint32_t *) counts)[i] : ((const uint16_t *) counts)[i];

    if (count != wanted[i])
      return CUV_CHECK (
          count == wanted[i], ": %zu: %u, not %u", i, count, wanted[i]);
  }
  return true;
}

static void
check_run (const CuvLdpShape *shape, const CuvFrame *frame,
    const CuvLdpRect *rect, const uint32_t *wanted)
{
  static const struct {
    unsigned mask;
    int n_threads;
  } versions[] = { { 0, 1 }, { ~0u, 1 }, { ~0u, 3 } };

  for (int i = 0; i < 3; i++) {
    CuvLdpCpu *cpu;

    cuv_cpu_set_mask (versions[i].mask);
    cpu = cuv_ldp_cpu_new (shape);
    for (int run = 0; run < 2; run++)
      CUV_CHECK (are_same (shape,
                     cuv_ldp_cpu_run (cpu, frame, rect, versions[i].n_threads),
                     wanted),
          ": version %d", i);
    cuv_ldp_cpu_free (cpu);
  }
  cuv_cpu_set_mask (~0u);
}

/* A rectangle of the frame, as it is or made another size. */
static void
check_frame (const char *format, CuvCheckFill fill, int width, int height)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, width, height, fill);
  CuvLdpRect rect = { 0, 0, width, height };
  CuvLdpParams params;
  CuvLdpShape shape;
  uint8_t *picture;
  uint32_t *wanted;
  int to[2];

  if (cuv_check_below (2)) {
    rect.x = (int) cuv_check_below ((uint32_t) width);
    rect.y = (int) cuv_check_below ((uint32_t) height);
    rect.width = 1 + (int) cuv_check_below ((uint32_t) (width - rect.x));
    rect.height = 1 + (int) cuv_check_below ((uint32_t) (height - rect.y));
  }
  to[0] = cuv_check_below (2) ? rect.width : 1 + (int) cuv_check_below (70);
  to[1] = cuv_check_below (2) ? rect.height : 1 + (int) cuv_check_below (70);
  params = random_params (to[0], to[1]);
  cuv_check_case ("%s %dx%d, %dx%d+%d+%d as %dx%d, order %d, block %d, grid %d",
      format, width, height, rect.width, rect.height, rect.x, rect.y, to[0],
      to[1], params.order, params.block, params.grid);
  CUV_CHECK (cuv_ldp_shape_init (&shape, &params, to[0], to[1]) == NULL);
  picture = malloc ((size_t) to[0] * (size_t) to[1]);
  wanted = malloc (cuv_ldp_n_counts (&shape) * sizeof *wanted);
  cuv_ldp_picture (&frame.frame, &rect, to[0], to[1], picture);
  cuv_ldp_describe (&shape, picture, wanted);
  check_run (&shape, &frame.frame, &rect, wanted);
  CUV_CHECK (cuv_check_guards_intact (&frame));
  free (picture);
  free (wanted);
  cuv_check_frame_free (&frame);
}

/* More codes of one kind in a block than two bytes count. */
static void
check_many (void)
{
  const CuvLdpParams params = { .order = 2, .grid = 1, .directions = 15 };
  const CuvLdpRect rect = { 0, 0, 300, 300 };
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", 300, 300, CUV_CHECK_BLACK);
  CuvLdpShape shape;
  CuvLdpCpu *cpu;
  const uint32_t *counts;

  cuv_check_case ("a flat block of 296 x 296");
  CUV_CHECK (cuv_ldp_shape_init (&shape, &params, 300, 300) == NULL);
  CUV_CHECK (cuv_ldp_count_size (&shape) == 4);
  cpu = cuv_ldp_cpu_new (&shape);
  counts = cuv_ldp_cpu_run (cpu, &frame.frame, &rect, 0);
  for (int h = 0; h < 4; h++)
    CUV_CHECK (counts[256 * h + 255] == 296 * 296 && counts[256 * h] == 0);
  cuv_ldp_cpu_free (cpu);
  cuv_check_frame_free (&frame);
}

void
check_ldp_versions (void)
{
  static const int sizes[][2] = { { 1, 1 }, { 2, 1 }, { 1, 7 }, { 3, 3 },
    { 17, 33 }, { 31, 9 }, { 64, 48 }, { 97, 61 } };
  const int rounds = cuv_check_options.few ? 1 : 3;

  for (int round = 0; round < rounds; round++) {
    for (int i = 0; cuv_check_formats[i] != NULL; i++) {
      for (int s = 0; s < 8; s++)
        check_frame (cuv_check_formats[i],
            (CuvCheckFill) cuv_check_below (CUV_CHECK_N_FILLS), sizes[s][0],
            sizes[s][1]);
    }
  }
  check_many ();
}
