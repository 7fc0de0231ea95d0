/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of the factorisation on the CPU: iterations and a convergence
 * test. */
#include "cuvcheck.h"
#include "cpu/ntf-cpu.h"

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
    CuvNtfParams params)
{
  const size_t n = (size_t) height * (size_t) width * (size_t) depth;
  uint8_t *samples = malloc (n);
  CuvCube cube = { samples, CUV_CUBE_U8, width, height, depth, depth,
    (int64_t) width * depth, 1 };
  int32_t cancel = 0;
  Run self = { cuv_ntf_cpu_new (
                   height, width, depth, rank, params.factorisation, &cancel),
    params };
  double us;

  self.params.seed = 1;
  self.params.iterations = CUV_NTF_TEST_EVERY;
  for (size_t i = 0; i < n; i++)
    samples[i] = (uint8_t) cuv_check_random ();
  cuv_ntf_cpu_load (self.cpu, &cube, NULL, 0, 256, 0);
  us = cuv_check_time (run_iterations, &self);
  cuv_check_report (us / CUV_NTF_TEST_EVERY, (double) height * width,
      (double) n * 8, "%s", name);
  cuv_ntf_cpu_free (self.cpu);
  free (samples);
}

CUV_BENCH_CPU (bench_ntf)
{
  const CuvNtfParams mu = { .algorithm = CUV_NTF_MU };
  const CuvNtfParams jacobi = { .schedule = CUV_NTF_JACOBI };
  const CuvNtfParams hals = { .algorithm = CUV_NTF_HALS };
  const CuvNtfParams matrix = { .algorithm = CUV_NTF_HALS,
    .factorisation = CUV_NTF_MATRIX };
  const CuvNtfParams shares = { .sum_to_one = true,
    .factorisation = CUV_NTF_MATRIX };

  bench_size ("ntf 512x512x31, K=16, mu, an iteration", 512, 512, 31, 16, mu);
  bench_size (
      "ntf 512x512x31, K=16, jacobi, an iteration", 512, 512, 31, 16, jacobi);
  bench_size (
      "ntf 512x512x31, K=16, hals, an iteration", 512, 512, 31, 16, hals);
  bench_size ("ntf 256x256x64, K=16, mu, an iteration", 256, 256, 64, 16, mu);
  bench_size ("ntf 256x256x64, K=64, mu, an iteration", 256, 256, 64, 64, mu);
  bench_size (
      "nmf 256x256x64, K=8, hals, an iteration", 256, 256, 64, 8, matrix);
  bench_size (
      "nmf 256x256x64, K=8, sum to one, an iteration", 256, 256, 64, 8, shares);
}
