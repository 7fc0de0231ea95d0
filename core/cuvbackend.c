/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvbackend.h"

const char *
cuv_backend_open (CuvBackend *self, const CuvBackendClasses *classes,
    const void *config, const CuvFrame *frame, const CuvProcessor *processor)
{
  const char *error;

  self->klass = processor->on_device ? classes->cuda : classes->cpu;
  self->state = NULL;
  self->on_device = processor->on_device;
  if (self->klass == NULL)
    return "this build has no CUDA kernels: put cudadownload before this "
           "element";
  error = self->klass->open != NULL
      ? self->klass->open (&self->state, config, frame, processor)
      : NULL;
  if (error != NULL)
    cuv_backend_close (self);
  return error;
}

void
cuv_backend_close (CuvBackend *self)
{
  if (self->klass != NULL && self->state != NULL)
    self->klass->close (self->state);
  *self = (CuvBackend){ 0 };
}

const char *
cuv_backend_run (CuvBackend *self, void *job, const CuvProcessor *processor)
{
  return self->klass->run (self->state, job, processor);
}
