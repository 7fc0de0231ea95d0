/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the components of a cube as JSON, and its picture as raw RGBx.
 *
 * usage: pca FORMAT INTERLEAVE WIDTH HEIGHT BANDS MODE CUBE PICTURE
 *        pca FORMAT INTERLEAVE WIDTH HEIGHT BANDS MODE CUBE --time THREADS
 *
 * FORMAT u8 u16 f32; INTERLEAVE bip bil bsq; MODE correlation covariance
 * pearson. --time prints milliseconds of CPU time, the minimum of 15 runs: to
 * learn (sums and components), to make a picture, and both with basis=lagged.
 */
#include "cpu/pca-cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_RUNS = 15 };

static int
index_of (const char *word, const char *const *words)
{
  for (int i = 0; i < 3; i++) {
    if (strcmp (word, words[i]) == 0)
      return i;
  }
  fprintf (stderr, "pca: invalid argument: %s\n", word);
  exit (2);
}

static void
set_steps (CuvCube *cube, int interleave)
{
  const int64_t size = cuv_cube_sample_size (cube->format);

  cube->pixel_step = interleave == 0 ? size * cube->bands : size;
  cube->band_step = interleave == 0 ? size
      : interleave == 1             ? size * cube->width
                                    : size * cube->width * cube->height;
  cube->row_step =
      interleave == 2 ? size * cube->width : size * cube->width * cube->bands;
}

static void
read_cube (CuvCube *cube, const char *path)
{
  const size_t size = (size_t) cube->width * (size_t) cube->height
      * (size_t) cube->bands * (size_t) cuv_cube_sample_size (cube->format);
  uint8_t *data = malloc (size);
  FILE *file = fopen (path, "rb");

  if (file == NULL || data == NULL || fread (data, 1, size, file) != size) {
    fprintf (stderr, "pca: cannot read %s\n", path);
    exit (2);
  }
  fclose (file);
  cube->data = data;
}

static void
print_row (const char *name, const double *values, int n, const char *end)
{
  printf ("\"%s\": [", name);
  for (int i = 0; i < n; i++)
    printf ("%s%.17g", i > 0 ? ", " : "", values[i]);
  printf ("]%s", end);
}

static void
print_result (const CuvPcaBasis *basis, const CuvPcaResult *result)
{
  printf ("{\"pixels\": %lld, \"left_out\": %lld, ", (long long) result->pixels,
      (long long) result->left_out);
  print_row ("mean", basis->mean, basis->n, ", ");
  print_row ("values", basis->values, basis->n, ", ");
  print_row ("vectors", basis->vectors, basis->n * basis->n, "}\n");
}

/* Returns the minimum CPU time of all threads: other load hardly affects it. */
static double
least_time (CuvPcaCpu *cpu, const CuvCube *cube, const CuvPcaBands *bands,
    const CuvPcaParams *params, uint8_t *picture, int n_threads)
{
  double least = 1e30;

  for (int i = 0; i < N_RUNS; i++) {
    const clock_t start = clock ();
    CuvPcaResult result;
    double ms;

    cuv_pca_cpu_run (
        cpu, cube, bands, params, picture, 4 * cube->width, n_threads, &result);
    ms = (double) (clock () - start) * 1e3 / CLOCKS_PER_SEC;
    least = ms < least ? ms : least;
  }
  return least;
}

/* Frozen runs make pictures only. */
static void
time_runs (CuvPcaCpu *cpu, const CuvCube *cube, const CuvPcaBands *bands,
    CuvPcaParams params, uint8_t *picture, int n_threads)
{
  double all, frozen, lagged;

  all = least_time (cpu, cube, bands, &params, picture, n_threads);
  params.timing = CUV_PCA_LAGGED;
  lagged = least_time (cpu, cube, bands, &params, picture, n_threads);
  params.is_frozen = true;
  frozen = least_time (cpu, cube, bands, &params, picture, n_threads);
  printf ("{\"learn_ms\": %.1f, \"picture_ms\": %.1f, \"lagged_ms\": %.1f}\n",
      all - frozen, frozen, lagged);
}

static void
write_picture (const char *path, const uint8_t *picture, size_t size)
{
  FILE *file = fopen (path, "wb");

  if (file == NULL || fwrite (picture, 1, size, file) != size
      || fclose (file) != 0) {
    fprintf (stderr, "pca: cannot write %s\n", path);
    exit (2);
  }
}

int
main (int argc, char **argv)
{
  static const char *const formats[] = { "u8", "u16", "f32" };
  static const char *const interleaves[] = { "bip", "bil", "bsq" };
  static const char *const modes[] = { "correlation", "covariance", "pearson" };
  CuvPcaParams params = { .learning = { .smoothing = 1.0 },
    .display = { { 1, 2, 3 }, CUV_PCA_SIGMA, 3.0, { 0, 1 }, 1 } };
  CuvPcaResult result;
  CuvPcaBands bands;
  CuvCube cube = { 0 };
  CuvPcaCpu *cpu;
  uint8_t *picture;
  size_t size;

  if (argc < 9)
    return 2;
  cube.format = (CuvCubeFormat) index_of (argv[1], formats);
  cube.width = atoi (argv[3]);
  cube.height = atoi (argv[4]);
  cube.bands = atoi (argv[5]);
  params.learning.mode = (CuvPcaMode) index_of (argv[6], modes);
  set_steps (&cube, index_of (argv[2], interleaves));
  read_cube (&cube, argv[7]);
  bands = cuv_pca_all_bands (cube.bands);
  size = (size_t) cube.width * (size_t) cube.height * 4;
  picture = malloc (size);
  cpu = cuv_pca_cpu_new (cube.bands);
  if (argc > 9) {
    time_runs (cpu, &cube, &bands, params, picture, atoi (argv[9]));
  } else {
    cuv_pca_cpu_run (
        cpu, &cube, &bands, &params, picture, 4 * cube.width, 0, &result);
    print_result (&cuv_pca_cpu_track (cpu)->basis, &result);
    write_picture (argv[8], picture, size);
  }
  cuv_pca_cpu_free (cpu);
  free ((void *) cube.data);
  free (picture);
  return 0;
}
