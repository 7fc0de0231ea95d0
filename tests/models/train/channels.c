/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains a model of trees on channels from a file of pictures, for
 * channels.py.
 *
 *   channels PICTURES WIDTH HEIGHT DEPTH TREES THREADS MODEL.xml
 *
 * PICTURES has the number of pictures, and for each picture its width, height
 * and number of boxes, the boxes (x, y, width and height as floats, 1 for an
 * object to learn and 2 for others), and the pixels, three bytes each. Numbers
 * have 4 bytes. Every fourth picture is for calibration. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trees/trainer.h"

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "channels: %s\n", what);
  exit (1);
}

static void
read_bytes (FILE *file, void *to, size_t size)
{
  if (fread (to, 1, size, file) != size)
    die ("the file is too short");
}

static uint8_t *
read_planes (FILE *file, size_t n)
{
  uint8_t *pixels = malloc (3 * n), *planes = malloc (3 * n);

  read_bytes (file, pixels, 3 * n);
  for (size_t i = 0; i < 3 * n; i++)
    planes[i % 3 * n + i / 3] = pixels[i];
  free (pixels);
  return planes;
}

static CuvTrainScene
read_scene (FILE *file)
{
  CuvTrainScene self = { .n_objects = 0 };
  int32_t size[3];
  CuvTrainBox *objects;
  uint8_t *planes;

  read_bytes (file, size, sizeof size);
  objects = calloc ((size_t) size[2] + 1, sizeof *objects);
  for (int i = 0; i < size[2]; i++) {
    float box[4];
    int32_t kind;

    read_bytes (file, box, sizeof box);
    read_bytes (file, &kind, sizeof kind);
    if (kind == 1)
      objects[self.n_objects++] = (CuvTrainBox){ (double) box[0],
        (double) box[1], (double) box[2], (double) box[3] };
  }
  planes = read_planes (file, (size_t) size[0] * (size_t) size[1]);
  self.objects = self.boxes = objects;
  self.n_boxes = self.n_objects;
  self.picture =
      (CuvChannelsPicture){ { planes, planes, planes }, size[0], size[1] };
  for (size_t i = 1; i < 3; i++)
    self.picture.plane[i] = planes + i * (size_t) size[0] * (size_t) size[1];
  return self;
}

int
main (int argc, char **argv)
{
  FILE *file = argc == 8 ? fopen (argv[1], "rb") : NULL;
  CuvProcessor processor = { 0 };
  CuvTrainChannelsParams params = {
    .trees = { .share = 1. / 16, .alpha = 0.005, .seed = 1 },
    .n_copies = 8,
    .n_negatives = 5000
  };
  CuvTrainScene *scenes[CUV_TRAIN_N_PARTS];
  CuvTrainScenes parts[CUV_TRAIN_N_PARTS];
  CuvTrainChannelsState state;
  CuvChannelsModel *model;
  int32_t n, n_of[CUV_TRAIN_N_PARTS] = { 0 };
  char *text;

  if (file == NULL)
    die ("bad arguments");
  read_bytes (file, &n, sizeof n);
  for (int part = 0; part < CUV_TRAIN_N_PARTS; part++)
    scenes[part] = calloc ((size_t) n + 1, sizeof **scenes);
  for (int i = 0; i < n; i++) {
    const int part = i % 4 == 3;

    scenes[part][n_of[part]++] = read_scene (file);
  }
  fclose (file);
  cuv_train_channels_shape (&params.shape, atoi (argv[2]), atoi (argv[3]));
  params.trees.depth = atoi (argv[4]);
  params.trees.n_trees = atoi (argv[5]);
  processor.n_threads = atoi (argv[6]);
  params.trees.processor = &processor;
  for (int part = 0; part < CUV_TRAIN_N_PARTS; part++)
    parts[part] = (CuvTrainScenes){ n_of[part], scenes[part] };
  state = cuv_train_channels (&parts[0], &parts[1], &params, &model);
  if (state != CUV_TRAIN_CHANNELS_DONE)
    die ("no model");
  text = cuv_channels_model_write (model, "made by a test");
  if (!g_file_set_contents (argv[7], text, -1, NULL))
    die ("cannot write the model");
  free (text);
  cuv_channels_model_free (model);
  for (int part = 0; part < CUV_TRAIN_N_PARTS; part++) {
    for (int i = 0; i < n_of[part]; i++) {
      free ((void *) scenes[part][i].objects);
      free ((void *) scenes[part][i].picture.plane[0]);
    }
    free (scenes[part]);
  }
  return 0;
}
