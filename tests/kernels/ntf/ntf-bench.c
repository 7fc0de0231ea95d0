/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvcheck.h"
#include "cpu/ntf-cpu.h"
#include "ntf-tests.h"

#include <stdlib.h>

typedef struct {
  CuvNtfCpu *cpu;
  CuvNtfParams params;
} Run;

/* CUV_NTF_TEST_EVERY iterations and one convergence test. */
static void
run_iterations (void *data)
{
  Run *self = data;

  cuv_ntf_cpu_start (self->cpu, &self->params, 0);
  cuv_ntf_cpu_step (self->cpu, 0);
}

static void
bench_size (const char *name, int height, int width, int depth, int rank,
    CuvNtfAlgorithm algorithm, CuvNtfSchedule schedule)
{
  const size_t n = (size_t) height * (size_t) width * (size_t) depth;
  uint8_t *samples = malloc (n);
  CuvCube cube = { samples, CUV_CUBE_U8, width, height, depth, depth,
    (int64_t) width * depth, 1 };
  int32_t cancel = 0;
  Run self = { cuv_ntf_cpu_new (height, width, depth, rank, &cancel),
    { algorithm, schedule, CUV_NTF_RANDOM, 1, CUV_NTF_TEST_EVERY, 0, 0, false,
        false } };
  double us;

  for (size_t i = 0; i < n; i++)
    samples[i] = (uint8_t) cuv_check_random ();
  cuv_ntf_cpu_load (self.cpu, &cube, NULL, 0, 256, 0);
  us = cuv_check_time (run_iterations, &self);
  cuv_check_report (
      name, us / CUV_NTF_TEST_EVERY, (double) height * width, (double) n * 8);
  cuv_ntf_cpu_free (self.cpu);
  free (samples);
}

void
bench_ntf (void)
{
  bench_size ("ntf 512x512x31, K=16, mu, an iteration", 512, 512, 31, 16,
      CUV_NTF_MU, CUV_NTF_GS);
  bench_size ("ntf 512x512x31, K=16, jacobi, an iteration", 512, 512, 31, 16,
      CUV_NTF_MU, CUV_NTF_JACOBI);
  bench_size ("ntf 512x512x31, K=16, hals, an iteration", 512, 512, 31, 16,
      CUV_NTF_HALS, CUV_NTF_GS);
  bench_size ("ntf 256x256x64, K=16, mu, an iteration", 256, 256, 64, 16,
      CUV_NTF_MU, CUV_NTF_GS);
  bench_size ("ntf 256x256x64, K=64, mu, an iteration", 256, 256, 64, 64,
      CUV_NTF_MU, CUV_NTF_GS);
}
