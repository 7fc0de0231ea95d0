/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tiles and runs of the fast versions, with threads, against the C reference.
 */
#include "cuvcpu.h"
#include "cpu/pca-cpu.h"
#include "pca-inputs.h"
#include "pca-runs.h"
#include "cpu/pca-dsp.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>

static const int bands[] = { 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 50, 81,
  256, 285, 512 };
enum { N_BANDS = 17 };

/* ---- tiles ---- */

static bool
same_samples (const CuvPcaTile *a, const CuvPcaTile *b)
{
  for (int i = 0; i < (a->n + 1) * CUV_PCA_TILE; i++) {
    if (a->rows[i] != (b->is_narrow ? (double) b->narrow[i] : b->rows[i]))
      return false;
  }
  return a->count == b->count && a->n_left_out == b->n_left_out
      && memcmp (a->left_out, b->left_out, sizeof a->left_out) == 0;
}

static bool
same_sums (const CuvPcaSum *a, const CuvPcaSum *b, int n)
{
  for (int i = 0; i <= n; i++) {
    const int at = i * CUV_PCA_STRIDE (n) + i;

    if (memcmp (a + at, b + at, (size_t) (n + 1 - i) * sizeof *a) != 0)
      return false;
  }
  return true;
}

static void
random_gains (CuvPcaGains *gains, int n)
{
  const bool counts = cuv_check_below (2);

  *gains = (CuvPcaGains){
    .n = n, .top = counts ? CUV_PCA_BINS - 1 : 255, .bias = counts ? 0.0 : 0.5
  };
  for (int c = 0; c < CUV_PCA_SHOWN; c++) {
    gains->offset[c] = 200.0 * pca_random ();
    for (int b = 0; b < n; b++)
      gains->gain[c][b] = pca_random ();
  }
}

static void
check_tile (const PcaInput *input, const CuvPcaDsp *dsp, int64_t at,
    CuvPcaTile tiles[2], CuvPcaSum *sums[2])
{
  const int n = input->bands.n;
  int32_t values[2][CUV_PCA_SHOWN * CUV_PCA_TILE];
  uint8_t pixels[2][4 * CUV_PCA_TILE] = { { 0 } };
  CuvPcaGains gains;

  cuv_pca_load (&input->cube, &input->bands, at, &tiles[0]);
  dsp->load (&input->cube, &input->bands, at, &tiles[1]);
  CUV_CHECK (same_samples (&tiles[0], &tiles[1]), ": tile %d", (int) at);
  cuv_pca_add (&tiles[0], sums[0]);
  dsp->add (&tiles[1], sums[1]);
  CUV_CHECK (same_sums (sums[0], sums[1], n), ": tile %d", (int) at);
  random_gains (&gains, n);
  cuv_pca_project (&tiles[0], &gains, values[0]);
  dsp->project (&tiles[1], &gains, values[1]);
  CUV_CHECK (memcmp (values[0], values[1], sizeof values[0]) == 0, ": tile %d",
      (int) at);
  if (gains.top > 255)
    return;
  cuv_pca_paint (&tiles[0], values[0], pixels[0]);
  dsp->paint (&tiles[1], values[1], pixels[1]);
  CUV_CHECK (memcmp (pixels[0], pixels[1], sizeof pixels[0]) == 0, ": tile %d",
      (int) at);
}

static void
check_input (const PcaInput *input)
{
  const size_t n_sums = (size_t) CUV_PCA_SUMS (input->bands.n);
  CuvPcaSum *sums[2] = { calloc (n_sums, sizeof **sums),
    calloc (n_sums, sizeof **sums) };
  CuvPcaTile tiles[2];
  CuvPcaDsp dsp;

  cuv_pca_dsp_init (&dsp);
  for (int i = 0; i < 2; i++)
    CUV_CHECK (cuv_pca_tile_init (&tiles[i], input->bands.n));
  for (int64_t t = 0; t < cuv_pca_n_tiles (&input->cube); t++)
    check_tile (input, &dsp, t, tiles, sums);
  for (int i = 0; i < 2; i++) {
    cuv_pca_tile_clear (&tiles[i]);
    free (sums[i]);
  }
}

CUV_CHECKS_CPU (check_pca_tiles)
{
  const int rounds = cuv_check_options.few ? 1 : 3;

  for (int i = 0; i < rounds * N_BANDS * 3 * PCA_N_LAYOUTS; i++) {
    const PcaLayout layout = (PcaLayout) (i % PCA_N_LAYOUTS);
    const CuvCubeFormat format = (CuvCubeFormat) (i / PCA_N_LAYOUTS % 3);
    const int n = bands[i / PCA_N_LAYOUTS / 3 % N_BANDS];
    const PcaFill fill = (PcaFill) cuv_check_below (PCA_N_FILLS);
    const int width = 1 + (int) cuv_check_below (n < 50 ? 300 : 40);
    PcaInput input;

    pca_input_init (
        &input, format, layout, width, 1 + (int) cuv_check_below (5), n, fill);
    if (cuv_check_below (2))
      pca_input_exclude_some (&input);
    pca_input_name (&input, layout, fill);
    check_input (&input);
    pca_input_clear (&input);
  }
}

/* ---- runs ---- */

static void
check_basis (const CuvPcaBasis *a, const CuvPcaBasis *b)
{
  const size_t n = (size_t) a->n;

  CUV_CHECK (a->is_known == b->is_known);
  CUV_CHECK (memcmp (a->values, b->values, n * sizeof (double)) == 0);
  CUV_CHECK (memcmp (a->vectors, b->vectors, n * n * sizeof (double)) == 0);
}

static void
check_run (const PcaRun *run, const PcaReference *reference, int n_threads)
{
  const size_t size = (size_t) (run->stride * run->height);
  CuvPcaCpu *cpu = cuv_pca_cpu_new (run->n);
  uint8_t *picture = malloc (size);

  for (int i = 0; i < PCA_RUN_FRAMES; i++) {
    CuvPcaResult result;

    memset (picture, 0x55, size);
    cuv_pca_cpu_run (cpu, &run->frames[i].cube, &run->frames[i].bands,
        &run->params, picture, run->stride, n_threads, &result);
    CUV_CHECK (
        result.pixels + result.left_out == (int64_t) run->width * run->height);
    CUV_CHECK (memcmp (picture, run->pictures[i], size) == 0,
        ": frame %d, %d threads", i, n_threads);
  }
  check_basis (&cuv_pca_cpu_track (cpu)->basis, &reference->track.basis);
  cuv_pca_cpu_free (cpu);
  free (picture);
}

static void
check_random_run (CuvCubeFormat format, PcaLayout layout, int n)
{
  PcaReference *reference = calloc (1, sizeof *reference);
  PcaRun run;

  pca_run_init (&run, format, layout, n);
  pca_reference_run (&run, reference);
  check_run (&run, reference, 1);
  check_run (&run, reference, 3);
  check_run (&run, reference, 0);
  cuv_cpu_set_mask (0);
  check_run (&run, reference, 2);
  cuv_cpu_set_mask (~0u);
  pca_reference_clear (reference);
  pca_run_clear (&run);
  free (reference);
}

/* A frozen basis does not change, and its frames cost no sums. */
static void
check_frozen (void)
{
  CuvPcaResult result;
  CuvPcaCpu *cpu;
  double value;
  PcaRun run;

  pca_run_init (&run, CUV_CUBE_U8, PCA_BIL, 5);
  cuv_check_case ("frozen");
  cpu = cuv_pca_cpu_new (run.n);
  run.params.is_frozen = true;
  for (int i = 0; i < 2; i++) {
    run.frames[i].bands.has_ignore = false; /* all pixels may be ignored */
    cuv_pca_cpu_run (cpu, &run.frames[i].cube, &run.frames[i].bands,
        &run.params, run.pictures[i], run.stride, 0, &result);
    if (i == 0)
      value = cuv_pca_cpu_track (cpu)->basis.values[0];
  }
  CUV_CHECK (cuv_pca_cpu_track (cpu)->basis.is_known && result.sums_us == 0);
  CUV_CHECK (cuv_pca_cpu_track (cpu)->basis.values[0] == value);
  run.params.is_frozen = false;
  run.params.learning.smoothing = 1.0;
  cuv_pca_cpu_run (cpu, &run.frames[2].cube, &run.frames[2].bands, &run.params,
      run.pictures[2], run.stride, 0, &result);
  CUV_CHECK (result.sums_us > 0);
  cuv_pca_cpu_free (cpu);
  pca_run_clear (&run);
}

CUV_CHECKS_CPU (check_pca_runs)
{
  const int rounds = cuv_check_options.few ? 1 : 3;

  for (int i = 0; i < rounds * 3 * PCA_N_LAYOUTS; i++)
    check_random_run ((CuvCubeFormat) (i % 3),
        (PcaLayout) (i / 3 % PCA_N_LAYOUTS),
        bands[cuv_check_below (N_BANDS - 4)]);
  check_frozen ();
}
