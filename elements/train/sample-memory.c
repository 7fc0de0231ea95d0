/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void
cuv_train_memory_init (CuvTrainMemory *self, const char *folder)
{
  *self = (CuvTrainMemory){ .folder = folder, .file = -1 };
}

void
cuv_train_memory_clear (CuvTrainMemory *self)
{
  if (self->folder == NULL)
    free (self->bytes);
  else if (self->bytes != NULL)
    munmap (self->bytes, self->size);
  if (self->file >= 0)
    close (self->file);
  cuv_train_memory_init (self, self->folder);
}

/* Returns a file descriptor; on failure -1, and sets errno. */
static int
open_unnamed_file (const char *folder)
{
  char *path;
  int file;

  if (asprintf (&path, "%s/cuvision-train-XXXXXX", folder) < 0)
    return -1;
  file = mkostemp (path, O_CLOEXEC);
  if (file >= 0)
    unlink (path);
  free (path);
  return file;
}

static bool
extend_file (const CuvTrainMemory *self, size_t size)
{
  int problem;

  do
    problem = posix_fallocate (
        self->file, (off_t) self->size, (off_t) (size - self->size));
  while (problem == EINTR);
  return problem == 0;
}

static uint8_t *
grow_file (CuvTrainMemory *self, size_t size)
{
  uint8_t *bytes;

  if (self->file < 0)
    self->file = open_unnamed_file (self->folder);
  if (self->file < 0 || !extend_file (self, size)) {
    self->is_full = true;
    return NULL;
  }
  bytes = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, 0);
  if (bytes == MAP_FAILED)
    return NULL;
  if (self->bytes != NULL)
    munmap (self->bytes, self->size);
  return bytes;
}

bool
cuv_train_memory_grow (CuvTrainMemory *self, size_t size)
{
  uint8_t *bytes;

  if (size <= self->size)
    return true;
  bytes = self->folder != NULL ? grow_file (self, size)
                               : realloc (self->bytes, size);
  if (bytes == NULL)
    return false;
  self->bytes = bytes;
  self->size = size;
  return true;
}

void
cuv_train_memory_expect (CuvTrainMemory *self, bool random)
{
  if (self->file >= 0)
    posix_madvise (self->bytes, self->size,
        random ? POSIX_MADV_RANDOM : POSIX_MADV_NORMAL);
}
