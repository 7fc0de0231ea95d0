/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains on the CPU or the GPU. */
#include "train-tool.h"

gboolean
device_check (DeviceOption device, GError **error)
{
  const char *problem = device == DEVICE_CUDA ? cuv_train_probe_cuda () : NULL;

  if (problem != NULL)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NODEV,
        "--device=cuda: %s; --device=cpu writes the same model", problem);
  return problem == NULL;
}

CuvProcessor
device_processor (DeviceOption device)
{
  return (CuvProcessor){ .on_device = device == DEVICE_CUDA
        || (device == DEVICE_AUTO && cuv_train_probe_cuda () == NULL) };
}

void
device_set_error (const char *problem, GError **error)
{
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NODEV,
      "%s; use --resume --device=cpu to continue on the CPU", problem);
}

gboolean
device_may_leave (DeviceOption device, const char *problem)
{
  if (device == DEVICE_CUDA)
    return FALSE;
  g_printerr ("continuing on the CPU because the GPU failed: %s\n", problem);
  return TRUE;
}

CuvTrainState
device_step (DeviceOption device, CuvTrainer *trainer)
{
  CuvTrainState state = cuv_trainer_step (trainer);

  if (state != CUV_TRAIN_NO_DEVICE
      || !device_may_leave (device, cuv_trainer_problem (trainer)))
    return state;
  cuv_trainer_set_processor (trainer, &(CuvProcessor){ 0 });
  return cuv_trainer_step (trainer);
}
