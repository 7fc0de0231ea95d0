/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training that was stopped and resumed, compared with training that was not
 * stopped. */
#include "learner.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>

enum {
  SIDE = 12,
  N_WEAK = 9,
  N_PICTURES = 6, /* per part */
  N_POSITIVES = 40,
};

static const CuvTrainParams default_params = { .feature = CUV_FEATURE_LRP,
  .window_width = SIDE,
  .window_height = SIDE,
  .n_features = 200,
  .n_weak = N_WEAK,
  .n_negatives = 300,
  .alpha = 0.05,
  .refill = 0.8, /* negatives are drawn often */
  .seed = 1 };

/* ---- what is learnt ---- */

typedef struct {
  CuvCheckFrame frames[CUV_TRAIN_N_PARTS][N_PICTURES];
  CuvTrainBox box;
  uint8_t positives[N_POSITIVES][SIDE * SIDE];
} Inputs;

static Inputs inputs;

static bool
load (void *data, int32_t i, CuvTrainPicture *picture)
{
  const CuvCheckFrame *frames = data;

  *picture =
      (CuvTrainPicture){ frames[i].frame, i == 3 ? &inputs.box : NULL, i == 3 };
  return i != 2;
}

static void
fill_inputs (void)
{
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    for (int i = 0; i < N_PICTURES; i++)
      inputs.frames[p][i] = cuv_check_frame_new (
          i == 1 ? "RGB" : "GRAY8", 70, 50, CUV_CHECK_TEXTURE);
  }
  inputs.box = (CuvTrainBox){ 10, 10, 20, 20 };
  for (int i = 0; i < N_POSITIVES; i++) {
    for (int at = 0; at < SIDE * SIDE; at++) {
      const bool inside = at % SIDE > 3 && at % SIDE < 8;

      inputs.positives[i][at] =
          (uint8_t) (cuv_check_below (60) + (inside ? 50 : 20));
    }
  }
}

static void
free_inputs (void)
{
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++) {
    for (int i = 0; i < N_PICTURES; i++)
      cuv_check_frame_free (&inputs.frames[p][i]);
  }
}

static CuvTrainer *
trainer_new (const CuvTrainParams *params)
{
  CuvTrainer *self = cuv_trainer_new (params);

  for (int i = 0; i < N_POSITIVES; i++)
    cuv_trainer_add_positive (self,
        i % 3 == 0 ? CUV_TRAIN_CALIBRATION : CUV_TRAIN_LEARNING,
        inputs.positives[i]);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    cuv_trainer_set_negatives (self, (CuvTrainPart) p,
        &(CuvTrainPictures){ N_PICTURES, load, inputs.frames[p] });
  return self;
}

/* ---- states ---- */

typedef struct {
  const CuvTrainParams *params;
  uint8_t *bytes;
  size_t size, record; /* bytes of the whole state, and of a record */
  char *model;
} State;

/* Trains to the end, step by step. */
static State
finish (CuvTrainer *trainer, const CuvTrainParams *params)
{
  const size_t record = cuv_trainer_record_size (trainer);
  State self = { params, malloc (CUV_TRAIN_HEADER + N_WEAK * record),
    CUV_TRAIN_HEADER, record, NULL };
  CuvGridClassifier classifier;

  cuv_trainer_save_header (trainer, self.bytes);
  while (cuv_trainer_step (trainer) == CUV_TRAIN_CONTINUE)
    continue;
  classifier = cuv_trainer_classifier (trainer);
  CUV_CHECK (classifier.n_weak == N_WEAK, ": %d", classifier.n_weak);
  self.model = cuv_model_write (&classifier, "a comment");
  CUV_CHECK (cuv_trainer_progress_after (trainer, N_WEAK).rate
      == cuv_trainer_progress (trainer).rate);
  for (int32_t k = 0; k < classifier.n_weak; k++, self.size += record)
    cuv_trainer_save_record (trainer, k, self.bytes + self.size);
  return self;
}

static void
state_free (State *self)
{
  free (self->bytes);
  free (self->model);
}

/* Resumes after k weak classifiers, with `tail` bytes of an incomplete record
 * after them. */
static void
check_resumed (const State *straight, int k, size_t tail)
{
  const size_t whole = CUV_TRAIN_HEADER + (size_t) k * straight->record;
  CuvTrainParams params = *straight->params;
  CuvTrainer *trainer;
  char problem[CUV_TRAIN_PROBLEM] = "";
  State resumed;

  params.folder = k % 2 ? "." : NULL; /* samples in files */
  trainer = trainer_new (&params);
  cuv_check_case ("going on after %d weak classifiers", k);
  CUV_CHECK (
      cuv_trainer_restore (trainer, straight->bytes, whole + tail, problem)
          == whole,
      ": %s", problem);
  CUV_CHECK (cuv_trainer_classifier (trainer).n_weak == k);
  resumed = finish (trainer, straight->params);
  CUV_CHECK (strcmp (resumed.model, straight->model) == 0);
  CUV_CHECK (resumed.size == straight->size
      && memcmp (resumed.bytes, straight->bytes, resumed.size) == 0);
  state_free (&resumed);
  cuv_trainer_free (trainer);
}

/* Flips a bit of a byte, and checks where the state ends for the trainer. */
static void
check_damaged (const State *straight, size_t byte)
{
  const size_t end = byte < CUV_TRAIN_HEADER
      ? 0
      : byte - (byte - CUV_TRAIN_HEADER) % straight->record;
  CuvTrainer *trainer = trainer_new (&default_params);
  char problem[CUV_TRAIN_PROBLEM] = "";

  straight->bytes[byte] ^= (uint8_t) (1 << cuv_check_below (8));
  cuv_check_case ("byte %zu is damaged", byte);
  CUV_CHECK (
      cuv_trainer_restore (trainer, straight->bytes, straight->size, problem)
      == end);
  CUV_CHECK ((problem[0] != '\0') == (end == 0));
  cuv_trainer_free (trainer);
}

static void
check_damages (const State *straight)
{
  uint8_t *copy = malloc (straight->size);

  memcpy (copy, straight->bytes, straight->size);
  for (int i = 0; i < 300; i++) {
    check_damaged (straight,
        i < CUV_TRAIN_HEADER ? (size_t) i
                             : cuv_check_below ((uint32_t) straight->size));
    memcpy (straight->bytes, copy, straight->size);
  }
  free (copy);
}

/* ---- other trainings ---- */

static void
check_refused (const State *straight, const CuvTrainParams *params, size_t size,
    const char *expected)
{
  CuvTrainer *trainer = trainer_new (params);
  char problem[CUV_TRAIN_PROBLEM] = "";

  cuv_check_case ("%s", expected);
  CUV_CHECK (
      cuv_trainer_restore (trainer, straight->bytes, size, problem) == 0);
  CUV_CHECK (strcmp (problem, expected) == 0, ": %s", problem);
  CUV_CHECK (cuv_trainer_classifier (trainer).n_weak == 0);
  cuv_trainer_free (trainer);
}

static void
check_other_params (const State *straight)
{
  CuvTrainParams params = default_params;

  params.seed = 2;
  check_refused (straight, &params, straight->size,
      "the seed is 2, but 1 in the saved state");
  params = default_params;
  params.alpha = 0.1;
  check_refused (straight, &params, straight->size,
      "alpha is 0.1, but 0.05 in the saved state");
  params = default_params;
  params.n_weak++;
  check_refused (straight, &params, straight->size,
      "the number of weak classifiers is 10, but 9 in the saved state");
}

static void
check_other_inputs (const State *straight)
{
  uint8_t *pixel = &inputs.frames[1][4].frame.component[0].data[7];

  ++*pixel;
  check_refused (straight, &default_params, straight->size,
      "the pictures to calibrate with differ from those of the saved state");
  --*pixel;
  inputs.box.x++;
  check_refused (straight, &default_params, straight->size,
      "the pictures to learn from differ from those of the saved state");
  inputs.box.x--;
  inputs.positives[1][5]++;
  check_refused (straight, &default_params, straight->size,
      "the windows to learn from differ from those of the saved state");
  inputs.positives[1][5]--;
  check_refused (straight, &default_params, CUV_TRAIN_HEADER - 1,
      "this is not the saved state of a training run");
}

/* ---- on the GPU ---- */

/* Trains on the GPU, with max_bytes of its memory for codes. If n_allocations
 * is not -1, all further allocations fail, and training continues on the CPU.
 */
static void
check_device (const State *straight, const CuvTrainParams *params,
    size_t max_bytes, int n_allocations)
{
  CuvTrainer *trainer = trainer_new (params);
  const CuvProcessor gpu = { .on_device = true };
  State state;

  cuv_check_case ("%zu bytes of codes on the GPU, %d allocations", max_bytes,
      n_allocations);
  trainer->max_bytes = max_bytes;
  cuv_trainer_set_processor (trainer, &gpu);
  cuv_cuda_fail_allocation (n_allocations);
  for (int i = 0; i < 3; i++)
    CUV_CHECK (cuv_trainer_step (trainer)
            == (n_allocations < 0 ? CUV_TRAIN_CONTINUE : CUV_TRAIN_NO_DEVICE),
        ": %s", cuv_trainer_problem (trainer));
  cuv_cuda_fail_allocation (-1);
  if (n_allocations >= 0) {
    CUV_CHECK (strstr (cuv_trainer_problem (trainer), "out of memory") != NULL,
        ": %s", cuv_trainer_problem (trainer));
    cuv_trainer_set_processor (trainer, &(CuvProcessor){ 0 });
  }
  state = finish (trainer, params);
  CUV_CHECK (state.size == straight->size
      && memcmp (state.bytes, straight->bytes, state.size) == 0);
  CUV_CHECK (strcmp (state.model, straight->model) == 0);
  state_free (&state);
  cuv_trainer_free (trainer);
}

/* Checks that the result is the same as without a GPU. */
static void
check_on_device (const CuvTrainParams *params)
{
  CuvTrainer *trainer;
  State straight;

  cuv_check_case ("training without a GPU");
  trainer = trainer_new (params);
  straight = finish (trainer, params);
  cuv_trainer_free (trainer);
  check_device (&straight, params, 4000, -1);
  if (!params->cascade) {
    check_device (&straight, params, 0, -1);
    for (int n = 0; n < 5; n++)
      check_device (&straight, params, 4000, n);
  }
  state_free (&straight);
}

CUV_CHECKS_CUDA (check_devices)
{
  CuvTrainParams params = default_params;

  fill_inputs ();
  params.n_features = 40;
  check_on_device (&params);
  params.feature = CUV_FEATURE_LBP;
  params.cascade = true;
  params.alpha = 0.4; /* stages end soon */
  check_on_device (&params);
  free_inputs ();
}

static State
check_all_resumed (const CuvTrainParams *params)
{
  CuvTrainer *trainer = trainer_new (params);
  State straight;

  cuv_check_case ("training that is not stopped");
  straight = finish (trainer, params);
  for (int p = 0; p < CUV_TRAIN_N_PARTS; p++)
    CUV_CHECK (trainer->pools[p].n_draws > (params->cascade ? 1 : 2),
        ": negatives are drawn %d times", trainer->pools[p].n_draws);
  cuv_trainer_free (trainer);
  for (int k = 0; k <= N_WEAK; k++)
    check_resumed (&straight, k,
        k < N_WEAK ? cuv_check_below ((uint32_t) straight.record) : 0);
  return straight;
}

CUV_CHECKS_CPU (check_states)
{
  CuvTrainParams cascade = default_params;
  State straight;

  fill_inputs ();
  cascade.feature = CUV_FEATURE_LBP;
  cascade.cascade = true;
  cascade.alpha = 0.4; /* stages end soon */
  straight = check_all_resumed (&cascade);
  state_free (&straight);
  straight = check_all_resumed (&default_params);
  check_damages (&straight);
  check_other_params (&straight);
  check_other_inputs (&straight);
  state_free (&straight);
  free_inputs ();
}
