/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns a classifier; prints a line for each weak classifier and writes the
 * model.
 * usage: learn MODEL FEATURE WIDTH HEIGHT WEAK NEGATIVES FEATURES POSITIVES
 * PGM... FEATURE: lbp, lrd or lrp; opencv: a cascade of LBP stumps. POSITIVES:
 * a file of windows. Every fifth one, and every fourth picture, is for
 * calibration. */
#include "cuvcheck.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PICTURES = 1024 }; /* to learn from, and to calibrate with */

typedef struct {
  CuvFrame frames[MAX_PICTURES];
  int n;
} Pictures;

/* Reads a file; if it is not a picture, it is left out later. */
static void
add_picture (Pictures *self, const char *path)
{
  int width = 0, height = 0;
  uint8_t *pixels = cuv_check_read_pgm (path, &width, &height);

  self->frames[self->n++] = (CuvFrame){ .model = CUV_MODEL_GREY,
    .width = width,
    .height = height,
    .n_components = 1,
    .component = { { .data = pixels, .stride = width, .step = 1 } } };
}

static bool
load (void *data, int32_t i, CuvTrainPicture *picture)
{
  const Pictures *self = data;

  *picture = (CuvTrainPicture){ .frame = self->frames[i] };
  return picture->frame.component[0].data != NULL;
}

static void
add_positives (CuvTrainer *trainer, const char *path, size_t size)
{
  uint8_t *pixels = malloc (size);
  FILE *file = fopen (path, "rb");

  for (int i = 0; file != NULL && fread (pixels, 1, size, file) == size; i++)
    cuv_trainer_add_positive (trainer,
        i % 5 == 4 ? CUV_TRAIN_CALIBRATION : CUV_TRAIN_LEARNING, pixels);
  if (file != NULL)
    fclose (file);
  free (pixels);
}

static bool
save (const CuvTrainer *trainer, const char *path)
{
  const CuvGridClassifier classifier = cuv_trainer_classifier (trainer);
  char *text = cuv_model_write (&classifier, "made by learn.c");
  FILE *file = fopen (path, "w");
  bool ok = text != NULL && file != NULL && fputs (text, file) >= 0;

  free (text);
  return file != NULL && fclose (file) == 0 && ok;
}

/* Returns the number of weak classifiers with a threshold: in a cascade the
 * last of each stage. */
static int
count_tests (const CuvTrainer *trainer)
{
  const CuvGridClassifier classifier = cuv_trainer_classifier (trainer);
  int n = 0;

  for (int32_t k = 0; k < classifier.n_weak; k++)
    n += isfinite (classifier.thresholds[k]);
  return n;
}

int
main (int argc, char **argv)
{
  CuvTrainParams params = { .alpha = 0.02, .refill = 0.5, .seed = 1 };
  static Pictures pictures[CUV_TRAIN_N_PARTS];
  CuvTrainer *trainer;
  CuvTrainState state;

  if (argc < 10)
    return 2;
  params.feature = strcmp (argv[2], "lrd") == 0 ? CUV_FEATURE_LRD
      : strcmp (argv[2], "lrp") == 0            ? CUV_FEATURE_LRP
                                                : CUV_FEATURE_LBP;
  params.cascade = strcmp (argv[2], "opencv") == 0;
  params.window_width = atoi (argv[3]);
  params.window_height = atoi (argv[4]);
  params.n_weak = atoi (argv[5]);
  params.n_negatives = atoi (argv[6]);
  params.n_features = atoi (argv[7]);
  trainer = cuv_trainer_new (&params);
  add_positives (
      trainer, argv[8], (size_t) (params.window_width * params.window_height));
  for (int i = 9; i < argc && i < MAX_PICTURES; i++)
    add_picture (
        &pictures[i % 4 == 0 ? CUV_TRAIN_CALIBRATION : CUV_TRAIN_LEARNING],
        argv[i]);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    cuv_trainer_set_negatives (
        trainer, p, &(CuvTrainPictures){ pictures[p].n, load, &pictures[p] });
  while ((state = cuv_trainer_step (trainer)) == CUV_TRAIN_CONTINUE) {
    CuvTrainProgress at = cuv_trainer_progress (trainer);

    printf ("%d learning %d+%d calibration %d+%d rate %.3g recall %.3f tests "
            "%d\n",
        at.n_weak, at.alive[0][1], at.alive[0][0], at.alive[1][1],
        at.alive[1][0], at.rate, at.recall, count_tests (trainer));
    fflush (stdout);
  }
  printf ("state %d\n", state);
  if (!save (trainer, argv[1]))
    return 1;
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    for (int i = 0; i < pictures[p].n; i++)
      free (pictures[p].frames[i].component[0].data);
  }
  cuv_trainer_free (trainer);
  return 0;
}
