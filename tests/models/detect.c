/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector as a program, for tests that compare it with others.
 *
 *   detect run MODEL PICTURE.ppm|.pgm FACTOR NEIGHBOURS MINW MINH MAXW MAXH
 *       prints a line for each box: x y width height neighbours score
 *   detect time MODEL PICTURE FACTOR THREADS ROUNDS
 *       prints the milliseconds of each round
 *   detect parse FILE...
 *       prints for each file "ok window stages weak" or the error
 *   detect prefixes FILE, detect flips FILE
 *       parses each prefix of the file, or the file with each bit flipped, and
 *       prints "length: outcome" or "bit: outcome"
 *   detect load FILE ROUNDS
 *       prints the milliseconds of each parse
 *   detect group NEIGHBOURS < lists
 *       reads lists "n x y w h x y w h ..", prints "n x y w h count .." for
 * each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "model.h"
#include "waldboost.h"

static void
die (const char *what)
{
  fprintf (stderr, "%s\n", what);
  exit (1);
}

static char *
read_file (const char *path, size_t *size)
{
  FILE *file = fopen (path, "rb");
  char *bytes;
  long length;

  if (file == NULL || fseek (file, 0, SEEK_END) != 0
      || (length = ftell (file)) < 0)
    die (path);
  rewind (file);
  bytes = malloc ((size_t) length + 1);
  if (bytes == NULL || fread (bytes, 1, length, file) != (size_t) length)
    die (path);
  fclose (file);
  bytes[length] = '\0'; /* for sscanf */
  *size = (size_t) length;
  return bytes;
}

/* A PGM, or a PPM whose bytes are B, G, R. */
static CuvFrame
read_picture (const char *path, char **bytes)
{
  size_t size;
  int width, height, start = 0, channels;
  CuvFrame frame;
  uint8_t *pixels;

  *bytes = read_file (path, &size);
  channels = size > 2 && (*bytes)[1] == '6' ? 3 : 1;
  if (sscanf (*bytes, "P%*1[56] %d %d 255%n", &width, &height, &start) != 2
      || size < start + 1 + (size_t) width * height * channels)
    die (path);
  pixels = (uint8_t *) *bytes + start + 1;
  frame = (CuvFrame){ channels == 3 ? CUV_MODEL_RGB : CUV_MODEL_GREY, width,
    height, channels, { { 0 } } };
  for (int c = 0; c < channels; c++)
    frame.component[c] = (CuvComponent){ pixels + (channels - 1 - c),
      width * channels, channels, 0, 0 };
  return frame;
}

static const CuvWaldboostModel *
read_model (const char *path)
{
  size_t size;
  char *bytes = read_file (path, &size), *error;
  const CuvWaldboostModel *model = cuv_model_parse (bytes, size, NULL, &error);

  if (model == NULL)
    die (error);
  free (bytes);
  return model;
}

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostPlan *plan;
  CuvWaldboostCpu *cpu;
  CuvWaldboostGrouper *grouper;
} Detector;

static Detector
detector_new (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvFrame *frame)
{
  Detector self = { .model = model };

  self.plan =
      cuv_waldboost_plan_new (model, params, frame->width, frame->height);
  if (self.plan == NULL)
    die ("no plan");
  self.cpu = cuv_waldboost_cpu_new (model, self.plan);
  self.grouper = cuv_waldboost_grouper_new ();
  if (self.cpu == NULL || self.grouper == NULL)
    die ("no memory");
  return self;
}

static int
detector_run (Detector *self, const CuvFrame *frame, int n_threads,
    int min_neighbours, const CuvWaldboostBox **boxes)
{
  CuvWaldboostResult result;

  cuv_waldboost_cpu_run (self->cpu, frame, n_threads, &result);
  if (result.overflow > 0)
    die ("too many hits");
  return cuv_waldboost_group (self->grouper, self->plan,
      &(CuvGrouping){ .min_neighbours = min_neighbours }, result.hits,
      result.n_hits, boxes);
}

static void
detector_free (Detector *self)
{
  cuv_waldboost_grouper_free (self->grouper);
  cuv_waldboost_cpu_free (self->cpu);
  cuv_waldboost_plan_free (self->plan);
  cuv_model_unref (self->model);
}

static void
run (char **args)
{
  CuvWaldboostParams params = { .scale_factor = atof (args[2]),
    .min_width = atoi (args[4]),
    .min_height = atoi (args[5]),
    .max_width = atoi (args[6]),
    .max_height = atoi (args[7]) };
  char *bytes;
  CuvFrame frame = read_picture (args[1], &bytes);
  Detector detector = detector_new (read_model (args[0]), &params, &frame);
  const CuvWaldboostBox *boxes;
  int n = detector_run (&detector, &frame, 0, atoi (args[3]), &boxes);

  for (int i = 0; i < n; i++)
    printf ("%d %d %d %d %d %.9g\n", boxes[i].x, boxes[i].y, boxes[i].width,
        boxes[i].height, boxes[i].neighbours, boxes[i].score);
  detector_free (&detector);
  free (bytes);
}

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void
load (const char *path, int n)
{
  size_t size;
  char *bytes = read_file (path, &size), *error;

  for (int i = 0; i < n; i++) {
    double start = now ();
    const CuvWaldboostModel *model =
        cuv_model_parse (bytes, size, NULL, &error);

    printf ("%.3f\n", now () - start);
    if (model == NULL)
      die (error);
    cuv_model_unref (model);
  }
  free (bytes);
}

static void
run_timed (char **args)
{
  CuvWaldboostParams params = { .scale_factor = atof (args[2]) };
  char *bytes;
  CuvFrame frame = read_picture (args[1], &bytes);
  Detector detector = detector_new (read_model (args[0]), &params, &frame);
  const CuvWaldboostBox *boxes;

  for (int i = 0; i < atoi (args[4]); i++) {
    double start = now ();

    detector_run (&detector, &frame, atoi (args[3]), 3, &boxes);
    printf ("%.3f\n", now () - start);
  }
  detector_free (&detector);
  free (bytes);
}

/* What parses must also work: whatever its numbers, it reads no memory that is
 * not its own. */
static void
try_model (const CuvWaldboostModel *model)
{
  static uint8_t pixels[64 * 64];
  CuvFrame frame = { CUV_MODEL_GREY, 64, 64, 1, { { pixels, 64, 1, 0, 0 } } };
  CuvWaldboostParams params = { .scale_factor = 1.3 };
  Detector detector;
  const CuvWaldboostBox *boxes;

  for (int i = 0; i < 64 * 64; i++)
    pixels[i] = (uint8_t) (i * i >> 3);
  detector = detector_new (model, &params, &frame);
  detector_run (&detector, &frame, 1, 3, &boxes);
  detector_free (&detector);
}

static void
parse (const char *name, const char *bytes, size_t size)
{
  char *error;
  const CuvWaldboostModel *model = cuv_model_parse (bytes, size, NULL, &error);

  if (model != NULL) {
    printf ("%s: ok %dx%d %d %d\n", name, model->window_width,
        model->window_height, model->n_stages, model->n_weak);
    try_model (model);
  } else {
    printf ("%s: %s\n", name, error);
    free (error);
  }
}

static void
parse_files (int n, char **paths)
{
  for (int i = 0; i < n; i++) {
    size_t size;
    char *bytes = read_file (paths[i], &size);

    parse (paths[i], bytes, size);
    free (bytes);
  }
}

/* In memory of its own size, so that a sanitizer sees each byte too far. */
static void
parse_copy (size_t number, const char *bytes, size_t size)
{
  char name[32], *copy = malloc (size + (size == 0));

  if (copy == NULL)
    die ("no memory");
  memcpy (copy, bytes, size);
  snprintf (name, sizeof name, "%zu", number);
  parse (name, copy, size);
  free (copy);
}

static void
parse_prefixes (const char *path)
{
  size_t size;
  char *bytes = read_file (path, &size);

  for (size_t i = 0; i <= size; i++)
    parse_copy (i, bytes, i);
  free (bytes);
}

static void
parse_flips (const char *path)
{
  size_t size;
  char *bytes = read_file (path, &size);

  for (size_t i = 0; i < 8 * size; i++) {
    bytes[i / 8] ^= (char) (1 << i % 8);
    parse_copy (i, bytes, size);
    bytes[i / 8] ^= (char) (1 << i % 8);
  }
  free (bytes);
}

static void
group (int min_neighbours)
{
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  int n;

  while (scanf ("%d", &n) == 1) {
    CuvWaldboostBox *in = calloc (n + 1, sizeof *in);
    const CuvWaldboostBox *out;
    int n_out;

    for (int i = 0; i < n; i++) {
      if (scanf ("%d %d %d %d", &in[i].x, &in[i].y, &in[i].width, &in[i].height)
          != 4)
        die ("bad list");
    }
    n_out = cuv_waldboost_group_boxes (grouper,
        &(CuvGrouping){ .min_neighbours = min_neighbours }, in, n, &out);
    printf ("%d", n_out);
    for (int i = 0; i < n_out; i++)
      printf (" %d %d %d %d %d", out[i].x, out[i].y, out[i].width,
          out[i].height, out[i].neighbours);
    printf ("\n");
    free (in);
  }
  cuv_waldboost_grouper_free (grouper);
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";

  if (strcmp (what, "run") == 0 && argc == 10)
    run (argv + 2);
  else if (strcmp (what, "time") == 0 && argc == 7)
    run_timed (argv + 2);
  else if (strcmp (what, "load") == 0 && argc == 4)
    load (argv[2], atoi (argv[3]));
  else if (strcmp (what, "parse") == 0)
    parse_files (argc - 2, argv + 2);
  else if (strcmp (what, "prefixes") == 0 && argc == 3)
    parse_prefixes (argv[2]);
  else if (strcmp (what, "flips") == 0 && argc == 3)
    parse_flips (argv[2]);
  else if (strcmp (what, "group") == 0 && argc == 3)
    group (atoi (argv[2]));
  else
    die ("usage: see the top of detect.c");
  return 0;
}
