/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of local derivative patterns on the CPU, at several sizes and
 * orders. */
#include "cuvcheck.h"
#include "cuvcpu.h"
#include "cpu/ldp-cpu.h"

typedef struct {
  CuvCheckFrame frame;
  CuvLdpRect rect;
  CuvLdpCpu *cpu;
  int n_threads;
} Bench;

static void
run (void *data)
{
  Bench *self = data;

  cuv_ldp_cpu_run (self->cpu, &self->frame.frame, &self->rect, self->n_threads);
}

static void
bench (const char *what, CuvCheckFill fill, int width, int height, int order,
    int n_threads)
{
  const CuvLdpParams params = { .order = order, .block = 16, .directions = 15 };
  const double pixels = (double) width * height;
  CuvLdpLayout layout;
  Bench self = { .frame = cuv_check_frame_new ("GRAY8", width, height, fill),
    .rect = { 0, 0, width, height },
    .n_threads = n_threads };

  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, width, height) == NULL);
  self.cpu = cuv_ldp_cpu_new (&layout);
  cuv_check_report (cuv_check_time (run, &self), pixels,
      pixels + 2 * (double) cuv_ldp_n_counts (&layout),
      "ldp %s %dx%d, order %d, %d threads", what, width, height, order,
      n_threads);
  cuv_ldp_cpu_free (self.cpu);
  cuv_check_frame_free (&self.frame);
}

/* A 1080p frame resized to 256 x 256. */
static void
bench_resized (void)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  CuvLdpLayout layout;
  Bench self = { .frame = cuv_check_frame_new (
                     "NV12", 1920, 1080, CUV_CHECK_TEXTURE),
    .rect = { 0, 0, 1920, 1080 } };

  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, 256, 256) == NULL);
  self.cpu = cuv_ldp_cpu_new (&layout);
  cuv_check_report (cuv_check_time (run, &self), 1920 * 1080, 0,
      "ldp 1920x1080 as 256x256, order 3");
  cuv_ldp_cpu_free (self.cpu);
  cuv_check_frame_free (&self.frame);
}

CUV_BENCH_CPU (bench_ldp)
{
  for (int order = 2; order <= 4; order++)
    bench ("picture", CUV_CHECK_TEXTURE, 1920, 1080, order, 0);
  bench ("picture", CUV_CHECK_TEXTURE, 1920, 1080, 3, 1);
  bench ("picture", CUV_CHECK_TEXTURE, 4096, 4096, 3, 0);
  bench ("noise", CUV_CHECK_NOISE, 4096, 4096, 3, 0);
  bench ("flat", CUV_CHECK_BLACK, 4096, 4096, 3, 0);
  bench_resized ();
  cuv_cpu_set_mask (0);
  bench ("picture, C", CUV_CHECK_TEXTURE, 1920, 1080, 3, 0);
  cuv_cpu_set_mask (~0u);
}
