/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "identity.h"
#include "train.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Does not call crc32_z() without bytes, because crc32_z() restarts if bytes is
 * NULL. */
uint32_t
cuv_train_checksum (uint32_t before, const void *bytes, size_t size)
{
  return size > 0 ? (uint32_t) crc32_z (before, bytes, size) : before;
}

uint64_t
cuv_train_bits_of (double share)
{
  uint64_t bits;

  memcpy (&bits, &share, sizeof bits);
  return bits;
}

/* Writes the magic number, the values and their checksum. */
void
cuv_train_identity_write (const CuvTrainIdentity *self, uint8_t *bytes)
{
  const size_t n = (size_t) self->n * sizeof *self->values;
  uint64_t sum;

  memcpy (bytes, &self->magic, sizeof self->magic);
  memcpy (bytes + sizeof self->magic, self->values, n);
  sum = cuv_train_checksum (0, bytes, sizeof self->magic + n);
  memcpy (bytes + sizeof self->magic + n, &sum, sizeof sum);
}

static void
tell_difference (
    const CuvTrainItem *item, uint64_t now, uint64_t saved, char *problem)
{
  double shares[2];

  memcpy (&shares[0], &now, sizeof now);
  memcpy (&shares[1], &saved, sizeof saved);
  if (item->kind == CUV_TRAIN_CHECKSUM)
    snprintf (problem, CUV_TRAIN_PROBLEM,
        "%s differ from those of the saved state", item->name);
  else if (item->kind == CUV_TRAIN_SHARE)
    snprintf (problem, CUV_TRAIN_PROBLEM, "%s is %g, but %g in the saved state",
        item->name, shares[0], shares[1]);
  else
    snprintf (problem, CUV_TRAIN_PROBLEM,
        "%s is %" PRIi64 ", but %" PRIi64 " in the saved state", item->name,
        (int64_t) now, (int64_t) saved);
}

static bool
is_damaged (const CuvTrainIdentity *self, const uint8_t *bytes)
{
  const size_t n = cuv_train_identity_size (self->n) - sizeof (uint64_t);
  uint64_t sum;

  memcpy (&sum, bytes + n, sizeof sum);
  return sum != cuv_train_checksum (0, bytes, n);
}

bool
cuv_train_identity_check (const CuvTrainIdentity *self, const uint8_t *bytes,
    size_t size, char *problem)
{
  uint64_t saved = 0;

  memcpy (&saved, bytes, size < sizeof saved ? size : sizeof saved);
  if (size < cuv_train_identity_size (self->n) || saved != self->magic) {
    snprintf (problem, CUV_TRAIN_PROBLEM,
        "this is not the saved state of a training run");
    return false;
  }
  if (is_damaged (self, bytes)) {
    snprintf (problem, CUV_TRAIN_PROBLEM, "the saved state is damaged");
    return false;
  }
  for (int i = 0; i < self->n; i++) {
    memcpy (&saved, bytes + (size_t) (i + 1) * sizeof saved, sizeof saved);
    if (saved != self->values[i]) {
      tell_difference (&self->items[i], self->values[i], saved, problem);
      return false;
    }
  }
  return true;
}
