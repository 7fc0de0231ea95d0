/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Channels of a picture as a program, for comparisons with NumPy.
 *
 *   channels planes SHRINK PICTURE.ppm
 *       writes the planes to stdout
 *   channels windows MODEL.xml PICTURE.ppm
 *       prints column, row, number of trees passed and score of each window
 *   channels detect MODEL.xml PICTURE.ppm
 *       prints level, column, row, score and box of accepted windows
 *   channels copy MODEL.xml
 *       prints the model
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "channels/detect.h"
#include "model/model.h"

enum { MAX_MODEL = 1 << 20, MAX_BOXES = 1 << 20 };

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "channels: %s\n", what);
  exit (1);
}

/* Splits red, green and blue of a file into three planes. */
static uint8_t *
read_planes (FILE *file, size_t n_pixels)
{
  uint8_t *planes = malloc (CUV_CHANNELS_COLORS * n_pixels);

  for (size_t i = 0; i < n_pixels; i++) {
    for (size_t color = 0; color < CUV_CHANNELS_COLORS; color++) {
      const int value = getc (file);

      if (value == EOF)
        die ("the picture is too short");
      planes[color * n_pixels + i] = (uint8_t) value;
    }
  }
  return planes;
}

static CuvChannelsPicture
read_picture (const char *path)
{
  FILE *file = fopen (path, "rb");
  CuvChannelsPicture self;
  size_t n_pixels;
  uint8_t *planes;

  /* a binary 8-bit PPM without comments */
  if (file == NULL
      || fscanf (file, "P6 %d %d 255%*1[\n]", &self.width, &self.height) != 2)
    die (path);
  n_pixels = (size_t) self.width * (size_t) self.height;
  planes = read_planes (file, n_pixels);
  for (size_t i = 0; i < CUV_CHANNELS_COLORS; i++)
    self.plane[i] = planes + i * n_pixels;
  fclose (file);
  return self;
}

static const CuvWaldboostModel *
read_model (const char *path)
{
  FILE *file = fopen (path, "rb");
  char *bytes = malloc (MAX_MODEL), *error = NULL;
  const CuvWaldboostModel *self;

  if (file == NULL)
    die (path);
  self =
      cuv_model_parse (bytes, fread (bytes, 1, MAX_MODEL, file), NULL, &error);
  if (self == NULL)
    die (error);
  fclose (file);
  free (bytes);
  return self;
}

static void
print_windows (const CuvChannelsTrees *trees, const CuvChannelsLevel *level)
{
  const int right = level->columns - trees->columns + trees->overhang;
  const int bottom = level->rows - trees->rows + trees->overhang;

  for (int y = -trees->overhang; y <= bottom; y++) {
    for (int x = -trees->overhang; x <= right; x++) {
      int32_t score = 0;
      const int passed = cuv_channels_evaluate (trees, level, x, y, &score);

      printf ("%d %d %d %d\n", x, y, passed, score);
    }
  }
}

static void
print_copy (const CuvChannelsModel *model)
{
  char *text = cuv_channels_model_write (model, "a copy");

  fputs (text, stdout);
  free (text);
}

/* Clips the interval first .. first + n - 1 to 0 .. n_picture - 1. */
static void
clip (int32_t *first, int32_t *n, int32_t n_picture)
{
  const int32_t end = *first + *n;

  *first = *first > 0 ? *first : 0;
  *n = (end < n_picture ? end : n_picture) - *first;
}

static void
print_box (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvWaldboostHit *hit)
{
  const int shrink = model->channels->trees.shrink;
  CuvWaldboostBox box = cuv_waldboost_box (plan, hit);

  clip (&box.x, &box.width, plan->width);
  clip (&box.y, &box.height, plan->height);
  printf ("%d %d %d %d %d %d %d %d\n", hit->level, hit->x / shrink,
      hit->y / shrink, (int) (hit->score * 256), box.x, box.y, box.width,
      box.height);
}

static void
print_boxes (const CuvWaldboostModel *model, const CuvChannelsPicture *picture)
{
  const CuvWaldboostParams params = { .scan = CUV_SCAN_AUTO };
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (model, &params, picture->width, picture->height);
  CuvHitList list = { .hits = malloc (MAX_BOXES * sizeof *list.hits),
    .capacity = MAX_BOXES,
    .survivors = calloc ((size_t) plan->n_segments, sizeof *list.survivors) };

  if (!cuv_channels_scan_plan (model->channels, plan, picture, &list)
      || list.lost > 0)
    die ("too many windows");
  for (int i = 0; i < list.n_hits; i++)
    print_box (model, plan, &list.hits[i]);
  free (list.hits);
  free (list.survivors);
  cuv_waldboost_plan_free (plan);
}

/* Prints windows of a model, or writes planes if model is NULL. */
static void
print_level (const CuvChannelsModel *model, const CuvChannelsPicture *picture,
    int32_t shrink)
{
  const int32_t columns = picture->width / shrink;
  const int32_t rows = picture->height / shrink;
  const size_t n_bytes = CUV_CHANNELS_N * (size_t) columns * (size_t) rows;
  uint8_t *channels = malloc (n_bytes + 1);
  const CuvChannelsLevel level = { channels, columns, rows };

  if (!cuv_channels_compute (picture, shrink, channels))
    die ("not enough memory");
  if (model != NULL)
    print_windows (&model->trees, &level);
  else
    fwrite (channels, 1, n_bytes, stdout);
  free (channels);
}

int
main (int argc, char **argv)
{
  const char *what = argc > 2 ? argv[1] : "";
  const CuvWaldboostModel *model =
      argc > 2 && strcmp (what, "planes") != 0 ? read_model (argv[2]) : NULL;
  CuvChannelsPicture picture = { .plane = { NULL }, .width = 0 };

  if (argc == 4)
    picture = read_picture (argv[3]);
  if (strcmp (what, "copy") == 0)
    print_copy (model->channels);
  else if (argc != 4)
    die ("bad arguments");
  else if (strcmp (what, "detect") == 0)
    print_boxes (model, &picture);
  else
    print_level (model != NULL ? model->channels : NULL, &picture,
        model != NULL ? model->channels->trees.shrink : atoi (argv[2]));
  free ((void *) picture.plane[0]);
  cuv_model_unref (model);
  return 0;
}
