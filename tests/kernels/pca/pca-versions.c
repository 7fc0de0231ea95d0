/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tiles of the SIMD version, and runs of C, SIMD and CUDA, against the C
 * reference. */
#include "cuvcpu.h"
#include "pca-inputs.h"
#include "pca-runs.h"
#include "cpu/pca-dsp.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>

static const int tile_bands[] = { 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 50,
  81, 256, 285, 512 };
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
    const int n = tile_bands[i / PCA_N_LAYOUTS / 3 % N_BANDS];
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
check_run_cpu (const PcaRun *run, const PcaReference *reference, int n_threads)
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

/* Checks a run. The CPU makes the pictures of the reference. The GPU rounds
 * differently, and is compared with the reference after each frame. */
static void
check_run (PcaRun *run)
{
  PcaReference *reference;

  if (cuv_check_options.cuda) {
    CUV_CHECK_ON (pca_check_run_cuda (run), (void) 0);
    return;
  }
  reference = calloc (1, sizeof *reference);
  pca_reference_run (run, reference);
  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    check_run_cpu (run, reference, v.n_threads);
    check_run_cpu (run, reference, 1 + v.n_threads);
  }
  pca_reference_clear (reference);
  free (reference);
}

/* Many bands are omitted on the CPU, where they take long. */
CUV_CHECKS (check_random_runs)
{
  static const int n_bands[] = { 3, 1, 31, 32, 2, 8, 17, 70, 4, 33, 7, 50, 16,
    15, 81, 100, 200, 64, 256 };
  const bool few = cuv_check_options.few, cuda = cuv_check_options.cuda;
  const int rounds = few ? 1 : cuda ? 6 : 3, most = few ? 8 : cuda ? 19 : 14;
  int at = (int) cuv_check_below (6);

  for (int i = 0; i < rounds * 3 * PCA_N_LAYOUTS; i++, at++) {
    PcaRun run;

    pca_run_init (&run, (CuvCubeFormat) (i % 3),
        (PcaLayout) (i / 3 % PCA_N_LAYOUTS), n_bands[at % most]);
    if (cuda)
      run.params.is_frozen = cuv_check_below (6) == 0;
    check_run (&run);
    pca_run_clear (&run);
  }
}

/* Three bands are in four bytes per pixel; the last pixel has only three bytes.
 */
CUV_CHECKS (check_video)
{
  for (int i = 0; i < 12; i++) {
    PcaRun run;

    pca_run_init (&run, CUV_CUBE_U8, PCA_BGRX, 3);
    check_run (&run);
    pca_run_clear (&run);
  }
}

/* Selects a quarter of the bands above 255, and the same ones in all frames. */
static void
keep_high_bands (PcaRun *run)
{
  CuvPcaBands bands = run->frames[0].bands;
  int n = 0;

  for (int i = 0; i < bands.n; i++)
    if (bands.index[i] > 255 && i % 4 == 0)
      bands.index[n++] = bands.index[i];
  bands.n = run->n = n;
  for (int i = 0; i < PCA_RUN_FRAMES; i++)
    run->frames[i].bands = bands;
}

/* There are more bands than a byte can count; with CUV_CHECK_FEW only some of
 * the highest are used. */
CUV_CHECKS_CUDA (check_many_bands)
{
  static const int bands[] = { 300, 285, 425, 512, 520 };

  for (int i = 0; i < (cuv_check_options.few ? 3 : 13); i++) {
    PcaRun run;

    pca_run_init (&run, (CuvCubeFormat) (i % 3),
        (PcaLayout) (i % PCA_N_LAYOUTS), bands[i / 3]);
    if (i < 3)
      keep_high_bands (&run);
    check_run (&run);
    pca_run_clear (&run);
  }
}

static void
fill_with_noise (PcaInput *input)
{
  const CuvCube *cube = &input->cube;
  const double most = cube->format == CUV_CUBE_U16 ? 65535.0 : 255.0;

  for (int i = 0; i < cube->width * cube->height * cube->bands; i++)
    pca_input_set (input, i % cube->width, i / cube->width % cube->height,
        i / cube->width / cube->height, most * (0.5 + 0.5 * pca_random ()));
}

/* Ranges from one that makes the picture nearly grey to one that makes it black
 * and white: gains must have enough digits. */
CUV_CHECKS (check_ranges)
{
  static const double ranges[] = { 300.0, 0.05, 1e-3 };

  for (int i = 0; i < 12; i++) {
    const double range = ranges[i / 4] * (i % 2 ? 257.0 : 1.0);
    PcaRun run;

    pca_run_init (&run, i % 2 ? CUV_CUBE_U16 : CUV_CUBE_U8,
        i / 2 % 2 ? PCA_BIP : PCA_BSQ, 9);
    run.params.learning.mode = CUV_PCA_COVARIANCE;
    run.params.display.mapping = CUV_PCA_RANGE;
    run.params.display.range[0] = -range;
    run.params.display.range[1] = 1.1 * range; /* 1.1: no ties at half levels */
    cuv_check_case (
        "range=%g, %d bytes, %dx%d", range, 1 + i % 2, run.width, run.height);
    for (int frame = 0; frame < PCA_RUN_FRAMES; frame++)
      fill_with_noise (&run.frames[frame]);
    check_run (&run);
    pca_run_clear (&run);
  }
}

/* A frozen basis does not change, and no sums are computed for its frames. */
CUV_CHECKS_CPU (check_frozen)
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
