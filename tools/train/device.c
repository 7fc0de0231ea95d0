/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains on the CPU or the GPU. */
#include "train-tool.h"

static const CuvProcessor gpu = { .on_device = true };

gboolean
device_check (DeviceOption device, GError **error)
{
  const char *problem = device == DEVICE_CUDA ? cuv_train_probe_cuda () : NULL;

  if (problem != NULL)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NODEV,
        "--device=cuda: %s; --device=cpu writes the same model", problem);
  return problem == NULL;
}

void
device_choose (DeviceOption device, CuvTrainer *trainer)
{
  if (device == DEVICE_CUDA
      || (device == DEVICE_AUTO && cuv_train_probe_cuda () == NULL))
    cuv_trainer_set_processor (trainer, &gpu);
}

CuvTrainState
device_step (DeviceOption device, CuvTrainer *trainer)
{
  CuvTrainState state = cuv_trainer_step (trainer);

  if (state != CUV_TRAIN_NO_DEVICE || device == DEVICE_CUDA)
    return state;
  g_printerr ("continuing on the CPU because the GPU failed: %s\n",
      cuv_trainer_problem (trainer));
  cuv_trainer_set_processor (trainer, &(CuvProcessor){ 0 });
  return cuv_trainer_step (trainer);
}
