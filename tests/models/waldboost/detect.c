/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector as a program, for comparisons with other detectors.
 *
 *   detect run MODEL PICTURE.ppm|.pgm FACTOR NEIGHBOURS MINW MINH MAXW MAXH
 *       prints a line for each box: x y width height neighbours score rotation
 *   detect hits MODEL PICTURE
 *       prints for each scanned level "level NUMBER WIDTH HEIGHT STEP ACROSS
 *       DOWN", for each accepted window "hit NUMBER X Y SCORE" with the score
 *       in hex, and "windows N", "weak N", "survivors N N .."
 *   detect time MODEL PICTURE FACTOR THREADS ROUNDS
 *       prints the milliseconds of each round
 *   detect parse FILE...
 *       prints for each file "ok window stages weak" or the error
 *   detect prefixes FILE, detect flips FILE STEP
 *       parses each prefix of the file, or the file with every STEPth bit
 *       flipped, and prints "length: outcome" or "bit: outcome"
 *   detect load FILE ROUNDS
 *       prints the milliseconds of processor time of each parse
 *   detect group NEIGHBOURS < lists
 *       reads lists "n x y w h x y w h ..", prints "n x y w h count .." for
 *       each
 *
 * Arguments NAME=VALUE, in any position, are settings: see OPTIONS. Settings
 * that are properties of the element have the same names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpu/waldboost-cpu.h"
#include "model/model.h"
#include "waldboost.h"

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "detect: %s\n", what);
  exit (1);
}

/* ---- settings ---- */

#define MAX_ROTATIONS 4

typedef struct {
  CuvModelOptions model;
  CuvWaldboostParams params;
  CuvGrouping grouping;
  int n_threads, n_rotations, rotations[MAX_ROTATIONS];
} Settings;

static Settings settings = { .params.scale_factor = 1.1,
  .grouping.nms_iou = 0.3,
  .grouping.nms_inside = 0.65,
  .n_rotations = 1 };

static const char *const SCANS[] = { "auto", "opencv", "wbd", "dense", NULL };
static const char *const GROUPINGS[] = { "auto", "none", "neighbors", "wbd",
  "nms", NULL };
static const char *const ARITHMETICS[] = { "auto", "fixed", "float", NULL };
static const char *const BLOCK_VALUES[] = { "sum", "mean-trunc", "mean-round",
  NULL };
static const char *const LRP_ORDERS[] = { "a10b", "10ab", NULL };

static int
index_of (const char *const *names, const char *name)
{
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp (names[i], name) == 0)
      return i;
  }
  die (name);
}

static void
set_segments (const char *list)
{
  CuvWaldboostParams *params = &settings.params;

  params->n_segments = 0;
  for (char *end; *list != '\0'; list = *end == ',' ? end + 1 : end) {
    int value = (int) strtol (list, &end, 10);

    if (end == list || params->n_segments == CUV_WALDBOOST_MAX_SEGMENTS)
      die (list);
    params->segment_end[params->n_segments++] = value;
  }
}

static void
set_rotations (const char *list)
{
  settings.n_rotations = 0;
  for (char *end; *list != '\0'; list = *end == ',' ? end + 1 : end) {
    int value = (int) strtol (list, &end, 10);

    if (end == list || settings.n_rotations == MAX_ROTATIONS)
      die (list);
    settings.rotations[settings.n_rotations++] = value;
  }
}

/* OPTIONS */
static void
set_option (const char *key, size_t length, const char *value)
{
  CuvWaldboostParams *params = &settings.params;
  const struct {
    const char *key;
    int *number;
    const char *const *names; /* names of an enum's values; NULL: a number */
  } integers[] = {
    { "scan", (int *) &params->scan, SCANS },
    { "octaves", &params->octaves, NULL },
    { "levels-per-octave", &params->levels_per_octave, NULL },
    { "min-width", &params->min_width, NULL },
    { "min-height", &params->min_height, NULL },
    { "max-width", &params->max_width, NULL },
    { "max-height", &params->max_height, NULL },
    { "grouping", (int *) &settings.grouping.method, GROUPINGS },
    { "min-neighbors", &settings.grouping.min_neighbours, NULL },
    { "arithmetic", (int *) &settings.model.arithmetic, ARITHMETICS },
    { "block-value", (int *) &settings.model.block_value, BLOCK_VALUES },
    { "lrp-order", &settings.model.lrp_order_10ab, LRP_ORDERS },
    { "threads", &settings.n_threads, NULL },
  };

  for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
    if (strncmp (integers[i].key, key, length) == 0
        && integers[i].key[length] == '\0') {
      *integers[i].number = integers[i].names != NULL
          ? index_of (integers[i].names, value)
          : atoi (value);
      return;
    }
  }
  if (strncmp (key, "scale-factor=", length + 1) == 0)
    params->scale_factor = atof (value);
  else if (strncmp (key, "upscale=", length + 1) == 0)
    params->upscale = atof (value);
  else if (strncmp (key, "rotations=", length + 1) == 0)
    set_rotations (value);
  else if (strncmp (key, "nms-iou=", length + 1) == 0)
    settings.grouping.nms_iou = atof (value);
  else if (strncmp (key, "nms-inside=", length + 1) == 0)
    settings.grouping.nms_inside = atof (value);
  else if (strncmp (key, "final-threshold=", length + 1) == 0)
    settings.model.final_threshold = (float) atof (value);
  else if (strncmp (key, "segments=", length + 1) == 0)
    set_segments (value);
  else
    die (key);
}

/* Removes the settings from the arguments; returns the number left. */
static int
take_options (int n, char **words)
{
  int left = 0;

  for (int i = 0; i < n; i++) {
    const char *sign = strchr (words[i], '=');

    if (sign != NULL)
      set_option (words[i], (size_t) (sign - words[i]), sign + 1);
    else
      words[left++] = words[i];
  }
  return left;
}

/* ---- files ---- */

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
  bytes[length] = '\0'; /* sscanf() needs a string */
  *size = (size_t) length;
  return bytes;
}

/* Reads a PGM, or a PPM whose bytes are B, G, R. */
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
  const CuvWaldboostModel *model =
      cuv_model_parse (bytes, size, &settings.model, &error);

  if (model == NULL)
    die (error);
  free (bytes);
  return model;
}

/* ---- detecting ---- */

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostPlan *plan; /* plan of the first rotation */
  CuvWaldboostCpu *cpu;
  CuvWaldboostPlan *plans[MAX_ROTATIONS];
  CuvWaldboostCpu *cpus[MAX_ROTATIONS];
  CuvWaldboostGrouper *grouper;
} Detector;

static Detector
detector_new (const CuvWaldboostModel *model, const CuvFrame *frame)
{
  Detector self = { .model = model };

  for (int i = 0; i < settings.n_rotations; i++) {
    settings.params.rotation = settings.rotations[i];
    self.plans[i] = cuv_waldboost_plan_new (
        model, &settings.params, frame->width, frame->height);
    if (self.plans[i] == NULL)
      die ("invalid settings");
    self.cpus[i] = cuv_waldboost_cpu_new (model, self.plans[i]);
    if (self.cpus[i] == NULL)
      die ("no memory");
  }
  self.plan = self.plans[0];
  self.cpu = self.cpus[0];
  self.grouper = cuv_waldboost_grouper_new ();
  if (self.grouper == NULL)
    die ("no memory");
  return self;
}

static CuvWaldboostResult
scan (CuvWaldboostCpu *cpu, const CuvFrame *frame)
{
  CuvWaldboostResult result;

  cuv_waldboost_cpu_run (cpu, frame, settings.n_threads, &result);
  if (result.overflow > 0)
    die ("too many hits");
  return result;
}

static int
detector_run (
    Detector *self, const CuvFrame *frame, const CuvWaldboostBox **boxes)
{
  CuvWaldboostHits scans[MAX_ROTATIONS];

  for (int i = 0; i < settings.n_rotations; i++) {
    CuvWaldboostResult result = scan (self->cpus[i], frame);

    scans[i] =
        (CuvWaldboostHits){ self->plans[i], result.hits, result.n_hits, NULL };
  }
  return cuv_waldboost_group_scans (
      self->grouper, &settings.grouping, scans, settings.n_rotations, boxes);
}

static void
detector_free (Detector *self)
{
  cuv_waldboost_grouper_free (self->grouper);
  for (int i = 0; i < settings.n_rotations; i++) {
    cuv_waldboost_cpu_free (self->cpus[i]);
    cuv_waldboost_plan_free (self->plans[i]);
  }
  cuv_model_unref (self->model);
}

static void
run (char **args)
{
  CuvWaldboostParams *params = &settings.params;
  char *bytes;
  CuvFrame frame = read_picture (args[1], &bytes);
  Detector detector;
  const CuvWaldboostBox *boxes;
  int n;

  params->scale_factor = atof (args[2]);
  settings.grouping.min_neighbours = atoi (args[3]);
  params->min_width = atoi (args[4]);
  params->min_height = atoi (args[5]);
  params->max_width = atoi (args[6]);
  params->max_height = atoi (args[7]);
  detector = detector_new (read_model (args[0]), &frame);
  n = detector_run (&detector, &frame, &boxes);
  for (int i = 0; i < n; i++)
    printf ("%d %d %d %d %d %.9g %d\n", boxes[i].x, boxes[i].y, boxes[i].width,
        boxes[i].height, boxes[i].neighbours, boxes[i].score,
        boxes[i].rotation);
  detector_free (&detector);
  free (bytes);
}

static void
list_levels (const CuvWaldboostPlan *plan)
{
  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    if (level->n_x > 0 && level->n_y > 0)
      printf ("level %d %d %d %d %d %d\n", i, level->width, level->height,
          level->step, level->n_x, level->n_y);
  }
}

static void
list_hits (char **args)
{
  char *bytes;
  CuvFrame frame = read_picture (args[1], &bytes);
  Detector detector = detector_new (read_model (args[0]), &frame);
  CuvWaldboostResult result = scan (detector.cpu, &frame);

  list_levels (detector.plan);
  for (int i = 0; i < result.n_hits; i++)
    printf ("hit %d %d %d %a\n", result.hits[i].level, result.hits[i].x,
        result.hits[i].y, result.hits[i].score);
  printf ("windows %" PRIu64 "\nweak %" PRIu64 "\nsurvivors", result.windows,
      result.weak);
  for (int i = 0; i < detector.plan->n_segments; i++)
    printf (" %" PRIu64, result.survivors[i]);
  printf ("\n");
  detector_free (&detector);
  free (bytes);
}

/* ---- times ---- */

static double
now (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void
load (const char *path, int n)
{
  size_t size;
  char *bytes = read_file (path, &size), *error;

  for (int i = 0; i < n; i++) {
    double start = now (CLOCK_PROCESS_CPUTIME_ID);
    const CuvWaldboostModel *model =
        cuv_model_parse (bytes, size, &settings.model, &error);

    printf ("%.3f\n", now (CLOCK_PROCESS_CPUTIME_ID) - start);
    if (model == NULL)
      die (error);
    cuv_model_unref (model);
  }
  free (bytes);
}

static void
run_timed (char **args)
{
  char *bytes;
  CuvFrame frame = read_picture (args[1], &bytes);
  Detector detector;
  const CuvWaldboostBox *boxes;

  settings.params.scale_factor = atof (args[2]);
  settings.n_threads = atoi (args[3]);
  settings.grouping.min_neighbours = 3;
  detector = detector_new (read_model (args[0]), &frame);
  for (int i = 0; i < atoi (args[4]); i++) {
    double start = now (CLOCK_MONOTONIC);

    detector_run (&detector, &frame, &boxes);
    printf ("%.3f\n", now (CLOCK_MONOTONIC) - start);
  }
  detector_free (&detector);
  free (bytes);
}

/* ---- parsing ---- */

/* A model that parses must read valid memory only, whatever its numbers. */
static void
try_model (const CuvWaldboostModel *model)
{
  static uint8_t pixels[48 * 48];
  CuvFrame frame = { CUV_MODEL_GREY, 48, 48, 1, { { pixels, 48, 1, 0, 0 } } };
  Detector detector;
  const CuvWaldboostBox *boxes;

  for (int i = 0; i < 48 * 48; i++)
    pixels[i] = (uint8_t) (i * i >> 3);
  settings.params.scale_factor = 1.3;
  settings.n_threads = 1;
  settings.grouping.min_neighbours = 3;
  detector = detector_new (model, &frame);
  detector_run (&detector, &frame, &boxes);
  detector_free (&detector);
}

static void
parse (const char *name, const char *bytes, size_t size)
{
  char *error;
  const CuvWaldboostModel *model =
      cuv_model_parse (bytes, size, &settings.model, &error);

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

/* Parses an exact-size copy, so that sanitizers detect reads beyond it. */
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
parse_flips (const char *path, size_t step)
{
  size_t size;
  char *bytes = read_file (path, &size);

  for (size_t i = 0; i < 8 * size; i += step) {
    bytes[i / 8] ^= (char) (1 << i % 8);
    parse_copy (i, bytes, size);
    bytes[i / 8] ^= (char) (1 << i % 8);
  }
  free (bytes);
}

/* ---- grouping ---- */

static void
group (int min_neighbours)
{
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  int n;

  settings.grouping.min_neighbours = min_neighbours;
  while (scanf ("%d", &n) == 1) {
    CuvWaldboostBox *in = calloc (n + 1, sizeof *in);
    const CuvWaldboostBox *out;
    int n_out;

    for (int i = 0; i < n; i++) {
      if (scanf ("%d %d %d %d", &in[i].x, &in[i].y, &in[i].width, &in[i].height)
          != 4)
        die ("invalid list");
    }
    n_out =
        cuv_waldboost_group_boxes (grouper, &settings.grouping, in, n, &out);
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
  const char *what;

  argc = take_options (argc, argv);
  what = argc > 1 ? argv[1] : "";
  if (strcmp (what, "run") == 0 && argc == 10)
    run (argv + 2);
  else if (strcmp (what, "hits") == 0 && argc == 4)
    list_hits (argv + 2);
  else if (strcmp (what, "time") == 0 && argc == 7)
    run_timed (argv + 2);
  else if (strcmp (what, "load") == 0 && argc == 4)
    load (argv[2], atoi (argv[3]));
  else if (strcmp (what, "parse") == 0)
    parse_files (argc - 2, argv + 2);
  else if (strcmp (what, "prefixes") == 0 && argc == 3)
    parse_prefixes (argv[2]);
  else if (strcmp (what, "flips") == 0 && argc == 4)
    parse_flips (argv[2], (size_t) atol (argv[3]));
  else if (strcmp (what, "group") == 0 && argc == 3)
    group (atoi (argv[2]));
  else
    die ("usage: see the top of detect.c");
  return 0;
}
