/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The header of a saved training, which identifies the training's input, so
 * that it is only continued with the same input. Numbers are in this machine's
 * byte order, because other machines may round differently and would continue
 * differently. */
#ifndef CUV_TRAIN_IDENTITY_H
#define CUV_TRAIN_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUV_TRAIN_MAX_ITEMS = 32 };

/* How a value is shown in an error message. */
typedef enum {
  CUV_TRAIN_COUNT,
  CUV_TRAIN_SHARE, /* the bits of a double */
  CUV_TRAIN_CHECKSUM,
} CuvTrainItemKind;

typedef struct {
  const char *name; /* including the article */
  CuvTrainItemKind kind;
} CuvTrainItem;

typedef struct {
  uint64_t magic; /* identifies the kind of training */
  const CuvTrainItem *items;
  int n; /* at most CUV_TRAIN_MAX_ITEMS */
  uint64_t values[CUV_TRAIN_MAX_ITEMS];
} CuvTrainIdentity;

/* Returns the CRC-32 of bytes. before: the CRC-32 of the preceding bytes, or 0
 * to start. */
uint32_t cuv_train_checksum (uint32_t before, const void *bytes, size_t size);

uint64_t cuv_train_bits_of (double share);

static inline size_t
cuv_train_identity_size (int n)
{
  return (size_t) (n + 2) * sizeof (uint64_t);
}

/* Writes cuv_train_identity_size() bytes. */
void cuv_train_identity_write (const CuvTrainIdentity *self, uint8_t *bytes);

/* Returns whether the bytes begin with this identity; if not, writes the reason
 * to problem, which has CUV_TRAIN_PROBLEM bytes. */
bool cuv_train_identity_check (const CuvTrainIdentity *self,
    const uint8_t *bytes, size_t size, char *problem);

#endif
