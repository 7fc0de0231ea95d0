/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvcheck.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

#define GUARD 64
#define GUARD_BYTE 0xa5

CuvCheckOptions cuv_check_options;
static uint64_t state;
static char case_name[256] = "start";
static unsigned n_passed, n_failed;
static CuvCheckPart *parts;

const char *const cuv_check_formats[] = { "NV12", "I420", "YV12", "NV21",
  "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8", NULL };

/* ---- cases ---- */

void
cuv_check_case (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (case_name, sizeof case_name, format, args);
  va_end (args);
}

bool
cuv_check_that (bool ok, const char *file, int line, const char *format, ...)
{
  va_list args;

  if (ok) {
    n_passed++;
    return true;
  }
  if (++n_failed > 20) /* print only the first ones */
    return false;
  printf ("%s:%d: case '%s', --seed %llu: failed: ", file, line, case_name,
      (unsigned long long) cuv_check_options.seed);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  printf ("\n");
  return false;
}

uint32_t
cuv_check_random (void)
{
  uint64_t z = (state += 0x9e3779b97f4a7c15u); /* splitmix64 */

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t) ((z ^ (z >> 31)) >> 16);
}

uint32_t
cuv_check_below (uint32_t n)
{
  return cuv_check_random () % n;
}

static bool
have_device (void)
{
#if HAVE_CUDA
  int n = 0;

  return cudaGetDeviceCount (&n) == cudaSuccess && n > 0;
#else
  return false;
#endif
}

void
cuv_check_register (CuvCheckPart *part)
{
  CuvCheckPart **end = &parts;

  while (*end != NULL)
    end = &(*end)->next;
  *end = part;
}

static void
run_parts (const char *only)
{
  const CuvCheckOptions *options = &cuv_check_options;

  for (const CuvCheckPart *part = parts; part != NULL; part = part->next) {
    state = options->seed;
    if (part->bench == options->bench
        && (only == NULL || strcmp (part->name, only) == 0)
        && ((part->cpu && options->cpu) || (part->cuda && options->cuda)))
      part->run ();
  }
}

int
cuv_check_main (int argc, char **argv)
{
  CuvCheckOptions *options = &cuv_check_options;
  const char *only = NULL;

  options->seed = (uint64_t) time (NULL);
  options->few = getenv ("CUV_CHECK_FEW") != NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--cpu") == 0)
      options->cpu = true;
    else if (strcmp (argv[i], "--cuda") == 0)
      options->cuda = true;
    else if (strcmp (argv[i], "--bench") == 0)
      options->bench = true;
    else if (strcmp (argv[i], "--seed") == 0 && i + 1 < argc)
      options->seed = strtoull (argv[++i], NULL, 0);
    else if (strcmp (argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else {
      fprintf (stderr,
          "usage: %s --cpu|--cuda [--bench] [--seed N] [--only PART]\n", *argv);
      return 2;
    }
  }
  if (options->cpu == options->cuda) {
    fprintf (stderr, "either --cpu or --cuda\n");
    return 2;
  }
  if (options->cuda && !have_device ()) {
    printf ("no CUDA device\n");
    return 77;
  }
  printf ("seed %llu\n", (unsigned long long) options->seed);
#if HAVE_CUDA
  if (options->cuda)
    cuv_check_stream = cuv_check_stream_new ();
#endif
  run_parts (only);
  printf ("%u checks passed, %u failed\n", n_passed, n_failed);
  return n_failed > 0 || (n_passed == 0 && !options->bench);
}

/* ---- frames ---- */

typedef struct {
  int plane, step, offset, xsub, ysub;
} Layout;

typedef struct {
  const char *name;
  CuvModel model;
  int n_components, n_planes;
  Layout component[4];
} Format;

#define PLANAR(name, u, v)                                                     \
  {                                                                            \
    name, CUV_MODEL_YUV, 3, 3,                                                 \
    {                                                                          \
      { 0, 1, 0, 0, 0 }, { u, 1, 0, 1, 1 }, { v, 1, 0, 1, 1 },                 \
    }                                                                          \
  }
#define SEMI(name, u, v)                                                       \
  {                                                                            \
    name, CUV_MODEL_YUV, 3, 2,                                                 \
    {                                                                          \
      { 0, 1, 0, 0, 0 }, { 1, 2, u, 1, 1 }, { 1, 2, v, 1, 1 },                 \
    }                                                                          \
  }
#define PACKED(name, y, u, v)                                                  \
  {                                                                            \
    name, CUV_MODEL_YUV, 3, 1,                                                 \
    {                                                                          \
      { 0, 2, y, 0, 0 }, { 0, 4, u, 1, 0 }, { 0, 4, v, 1, 0 },                 \
    }                                                                          \
  }
#define RGB(name, n, step, r, g, b)                                            \
  {                                                                            \
    name, CUV_MODEL_RGB, n, 1,                                                 \
    {                                                                          \
      { 0, step, r, 0, 0 }, { 0, step, g, 0, 0 }, { 0, step, b, 0, 0 },        \
          { 0, step, 3, 0, 0 },                                                \
    }                                                                          \
  }

static const Format formats[] = {
  SEMI ("NV12", 0, 1),
  PLANAR ("I420", 1, 2),
  PLANAR ("YV12", 2, 1),
  SEMI ("NV21", 1, 0),
  PACKED ("YUY2", 0, 1, 3),
  PACKED ("UYVY", 1, 0, 2),
  RGB ("RGB", 3, 3, 0, 1, 2),
  RGB ("BGR", 3, 3, 2, 1, 0),
  RGB ("RGBx", 3, 4, 0, 1, 2),
  RGB ("BGRx", 3, 4, 2, 1, 0),
  RGB ("RGBA", 4, 4, 0, 1, 2),
  RGB ("BGRA", 4, 4, 2, 1, 0),
  { "GRAY8", CUV_MODEL_GREY, 1, 1, { { 0, 1, 0, 0, 0 } } },
};

static const Format *
find_format (const char *name)
{
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp (formats[i].name, name) == 0)
      return &formats[i];
  }
  fprintf (stderr, "no format %s\n", name);
  abort ();
}

static uint8_t
fill_value (CuvCheckFill fill, int x, int y, const uint8_t *grid)
{
  int sum = 0;

  switch (fill) {
    case CUV_CHECK_BLACK:
      return 0;
    case CUV_CHECK_WHITE:
      return 255;
    case CUV_CHECK_TEXTURE:
      for (int octave = 0; octave < 5; octave++)
        sum += grid[((y >> octave) * 37 + (x >> octave) + 101 * octave) & 4095]
            << octave;
      return (uint8_t) (sum / 31);
    default:
      return (uint8_t) cuv_check_random ();
  }
}

/* Returns the number of bytes from the start of a plane's row to the end of its
 * last sample. */
static int
row_bytes (const Format *format, int plane, int width)
{
  int bytes = 0;

  for (int c = 0; c < format->n_components; c++) {
    const Layout *l = &format->component[c];
    int n = (width + (1 << l->xsub) - 1) >> l->xsub;

    if (l->plane == plane && l->offset + (n - 1) * l->step + 1 > bytes)
      bytes = l->offset + (n - 1) * l->step + 1;
  }
  return format->n_components == 3 && format->component[0].step == 4
      ? width * 4 /* includes the x of RGBx */
      : bytes;
}

static void
fill_component (const CuvComponent *c, int width, int height, CuvCheckFill fill,
    const uint8_t *grid)
{
  int w = (width + (1 << c->xsub) - 1) >> c->xsub;
  int h = (height + (1 << c->ysub) - 1) >> c->ysub;

  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++)
      c->data[(size_t) y * c->stride + (size_t) x * c->step] =
          fill_value (fill, x, y, grid);
  }
}

CuvCheckFrame
cuv_check_frame_new (const char *name, int width, int height, CuvCheckFill fill)
{
  const Format *format = find_format (name);
  CuvCheckFrame self = { .frame = { format->model, width, height,
                             format->n_components, { { 0 } } } };
  size_t at = GUARD, offset[3];
  int stride[3];
  uint8_t grid[4096];

  for (int p = 0; p < format->n_planes; p++) {
    int rows = p == 0 ? height : (height + 1) / 2;

    stride[p] = row_bytes (format, p, width) + 1 + (int) cuv_check_below (40);
    if (cuv_check_options.bench && cuv_check_options.cuda)
      /* as in GStreamer's CUDA memory */
      stride[p] = (stride[p] + 255) / 256 * 256;
    offset[p] = at;
    at += (size_t) stride[p] * rows + GUARD;
  }
  self.size = at;
  self.memory = malloc (at);
  memset (self.memory, GUARD_BYTE, at);
  for (size_t i = 0; i < sizeof grid; i++)
    grid[i] = (uint8_t) cuv_check_random ();
  for (int c = 0; c < format->n_components; c++) {
    const Layout *l = &format->component[c];

    self.frame.component[c] =
        (CuvComponent){ self.memory + offset[l->plane] + l->offset,
          stride[l->plane], l->step, l->xsub, l->ysub };
    fill_component (&self.frame.component[c], width, height, fill, grid);
  }
  return self;
}

CuvCheckFrame
cuv_check_frame_copy (const CuvCheckFrame *self)
{
  CuvCheckFrame copy = *self;

  copy.memory = malloc (self->size);
  memcpy (copy.memory, self->memory, self->size);
  for (int c = 0; c < copy.frame.n_components; c++)
    copy.frame.component[c].data =
        copy.memory + (self->frame.component[c].data - self->memory);
  return copy;
}

bool
cuv_check_wants (const char *shape)
{
  const char *only = getenv ("CUV_BENCH_SHAPE");

  return only == NULL || strcmp (only, shape) == 0;
}

CuvCheckFrame
cuv_check_bench_picture (void)
{
  const char *path = getenv ("CUV_BENCH_PICTURE");
  int width, height;
  uint8_t *pixels;
  CuvCheckFrame frame;

  if (path == NULL)
    return cuv_check_frame_new ("GRAY8", 1920, 1080, CUV_CHECK_TEXTURE);
  pixels = cuv_check_read_pgm (path, &width, &height);
  if (pixels == NULL)
    exit (1);
  frame = cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  for (int y = 0; y < height; y++)
    memcpy (frame.frame.component[0].data
            + (size_t) y * (size_t) frame.frame.component[0].stride,
        pixels + (size_t) y * (size_t) width, (size_t) width);
  free (pixels);
  return frame;
}

bool
cuv_check_guards_intact (const CuvCheckFrame *self)
{
  uint8_t *pixel = calloc (1, self->size);
  bool ok = true;

  for (int c = 0; c < self->frame.n_components; c++) {
    CuvComponent k = self->frame.component[c];

    k.data = pixel + (k.data - self->memory);
    fill_component (
        &k, self->frame.width, self->frame.height, CUV_CHECK_WHITE, NULL);
  }
  for (size_t i = 0; i < self->size; i++)
    ok = ok && (pixel[i] != 0 || self->memory[i] == GUARD_BYTE);
  free (pixel);
  return ok;
}

void
cuv_check_frame_free (CuvCheckFrame *self)
{
  free (self->memory);
  self->memory = NULL;
}

uint8_t *
cuv_check_read_pgm (const char *path, int *width, int *height)
{
  FILE *file = fopen (path, "rb");
  uint8_t *pixels = NULL;
  size_t size = 0;
  int max = 0;

  if (file != NULL && fscanf (file, "P5 %d %d %d", width, height, &max) == 3
      && max == 255 && *width > 0 && *height > 0 && fgetc (file) != EOF) {
    size = (size_t) *width * (size_t) *height;
    pixels = malloc (size);
    if (fread (pixels, 1, size, file) != size) {
      free (pixels);
      pixels = NULL;
    }
  }
  if (file != NULL)
    fclose (file);
  CUV_CHECK (pixels != NULL, ": %s is not a binary 8-bit PGM", path);
  return pixels;
}
