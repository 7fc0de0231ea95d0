/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The factorisation as a program.
 *
 * usage: factorise HEIGHT WIDTH DEPTH RANK ALGORITHM SCHEDULE INIT SEED
 *                  ITERATIONS TOLERANCE NORMALISE N_THREADS FACTORISATION
 *                  SUM_TO_ONE
 *
 * Enums are numbers. stdin has HEIGHT x WIDTH x DEPTH floats, pixel after
 * pixel. Writes to stdout, as doubles: wall and CPU seconds of the run,
 * iterations, effective rank, the number of errors, the errors; u, v, w, row
 * after row. */
#include "cpu/ntf-cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  HEIGHT = 1,
  WIDTH,
  DEPTH,
  RANK,
  ALGORITHM,
  SCHEDULE,
  INIT,
  SEED,
  ITERATIONS,
  TOLERANCE,
  NORMALISE,
  N_THREADS,
  FACTORISATION,
  SUM_TO_ONE,
  N_ARGUMENTS
};

static double
seconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static void
put (double value)
{
  fwrite (&value, sizeof value, 1, stdout);
}

static void
put_result (const CuvNtfCpu *cpu)
{
  const CuvNtfResult *result = cuv_ntf_cpu_result (cpu);
  const CuvNtfFactors *f = cuv_ntf_cpu_factors (cpu);

  put (result->iterations);
  put (result->effective_rank);
  put (result->n_errors);
  for (int i = 0; i < result->n_errors; i++)
    put (result->errors[i]);
  for (int mode = 0; mode < CUV_NTF_MODES; mode++) {
    for (int i = 0; i < f->size[mode]; i++) {
      for (int k = 0; k < f->rank; k++)
        put ((double) f->mode[mode][i * f->stride + k]);
    }
  }
}

static bool
run (CuvNtfCpu *cpu, const CuvCube *cube, const CuvNtfParams *params,
    int n_threads)
{
  CuvNtfStatus status = CUV_NTF_RUNNING;
  CuvNtfScan scan;

  if (!cuv_ntf_cpu_scan (cpu, cube, NULL, n_threads, &scan)
      || !cuv_ntf_cpu_load (cpu, cube, NULL, 0,
          cuv_ntf_scale (cube->format, scan.largest), n_threads)
      || !cuv_ntf_cpu_start (cpu, params, n_threads))
    return false;
  while (status == CUV_NTF_RUNNING)
    status = cuv_ntf_cpu_step (cpu, n_threads);
  return status == CUV_NTF_DONE;
}

static int
factorise (float *values, const double *a)
{
  const int depth = (int) a[DEPTH], width = (int) a[WIDTH];
  const CuvCube cube = { (const uint8_t *) values, CUV_CUBE_F32, width,
    (int) a[HEIGHT], depth, 4 * depth, (int64_t) 4 * depth * width, 4 };
  const CuvNtfParams params = { (CuvNtfAlgorithm) a[ALGORITHM],
    (CuvNtfSchedule) a[SCHEDULE], (CuvNtfInit) a[INIT], (uint32_t) a[SEED],
    (int) a[ITERATIONS], a[TOLERANCE], 0, a[NORMALISE] != 0, false,
    a[SUM_TO_ONE] != 0, (CuvNtfFactorisation) a[FACTORISATION] };
  int32_t cancel = 0;
  CuvNtfCpu *cpu = cuv_ntf_cpu_new (
      cube.height, width, depth, (int) a[RANK], params.factorisation, &cancel);
  double clock = seconds (CLOCK_MONOTONIC);
  double work = seconds (CLOCK_PROCESS_CPUTIME_ID);

  if (cpu == NULL || !run (cpu, &cube, &params, (int) a[N_THREADS]))
    return 1;
  put (seconds (CLOCK_MONOTONIC) - clock);
  put (seconds (CLOCK_PROCESS_CPUTIME_ID) - work);
  put_result (cpu);
  cuv_ntf_cpu_free (cpu);
  return 0;
}

int
main (int argc, char **argv)
{
  double a[N_ARGUMENTS];
  float *values;
  size_t n;
  int status = 1;

  if (argc != N_ARGUMENTS)
    return 2;
  for (int i = 1; i < argc; i++)
    a[i] = atof (argv[i]);
  n = (size_t) (a[HEIGHT] * a[WIDTH] * a[DEPTH]);
  values = malloc (n * sizeof *values);
  if (values != NULL && fread (values, sizeof *values, n, stdin) == n)
    status = factorise (values, a);
  free (values);
  return status;
}
