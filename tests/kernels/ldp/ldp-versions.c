/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU version, threaded, with AVX2 and without, against the C reference. */
#include "cuvcpu.h"
#include "cpu/ldp-cpu.h"
#include "ldp-inputs.h"
#include "cuvcheck.h"

#include <stdlib.h>

static void
check_drawing (const LdpInput *input, CuvLdpCpu *cpu, int n_threads)
{
  for (int d = 0; d < CUV_LDP_DIRECTIONS; d += 3) {
    CuvCheckFrame found = cuv_check_frame_copy (&input->frame);
    CuvCheckFrame wanted = ldp_input_draw (input, d);

    CuvFrame frame = found.frame;
    CuvLdpRect rect = input->rect;

    cuv_ldp_cpu_run (cpu, &frame, &rect, n_threads);
    frame = (CuvFrame){ 0 }; /* must not be used after the run */
    rect = (CuvLdpRect){ 0 };
    cuv_ldp_cpu_draw (cpu, d, n_threads);
    CUV_CHECK (ldp_frames_equal (&found, &wanted), ": direction %d", d);
    cuv_check_frame_free (&wanted);
    cuv_check_frame_free (&found);
  }
}

static void
check_turned (const LdpInput *input, CuvLdpCpu *cpu, int n_threads)
{
  for (int i = 0; i < 2; i++) {
    const int orientation = (int) cuv_check_below (8);
    uint32_t *wanted = ldp_input_turn (input, orientation);

    cuv_ldp_cpu_run (cpu, &input->frame.frame, &input->rect, n_threads);
    CUV_CHECK (
        ldp_counts_equal (&input->layout,
            cuv_ldp_cpu_run_turned (cpu, orientation, n_threads), wanted),
        ": orientation %d", orientation);
    free (wanted);
  }
}

static void
check_run (const LdpInput *input)
{
  static const struct {
    unsigned mask;
    int n_threads;
  } versions[] = { { 0, 1 }, { ~0u, 1 }, { ~0u, 3 } };

  for (int i = 0; i < 3; i++) {
    CuvLdpCpu *cpu;

    cuv_cpu_set_mask (versions[i].mask);
    cpu = cuv_ldp_cpu_new (&input->layout);
    for (int run = 0; run < 2; run++)
      CUV_CHECK (ldp_counts_equal (&input->layout,
                     cuv_ldp_cpu_run (cpu, &input->frame.frame, &input->rect,
                         versions[i].n_threads),
                     input->wanted),
          ": version %d", i);
    check_turned (input, cpu, versions[i].n_threads);
    check_drawing (input, cpu, versions[i].n_threads);
    cuv_ldp_cpu_free (cpu);
  }
  cuv_cpu_set_mask (~0u);
}

/* More equal codes in a block than two bytes can count. */
static void
check_many (void)
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

CUV_CHECKS_CPU (check_ldp_versions)
{
  const int rounds = cuv_check_options.few ? 1 : 3;

  for (int round = 0; round < rounds; round++)
    ldp_each_input (check_run);
  check_many ();
}
