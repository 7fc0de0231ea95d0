/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for samples, which may be more than the machine has: in a file without
 * a name, which the system keeps in memory as far as there is room. */
#ifndef CUV_TRAIN_MEMORY_H
#define CUV_TRAIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *folder; /* of the file; NULL: in memory */
  uint8_t *bytes;
  size_t size;
  int file;
  bool is_full; /* the folder has no space left, or cannot be written to */
} CuvTrainMemory;

/* Empty at first. folder must outlive it. */
void cuv_train_memory_init (CuvTrainMemory *self, const char *folder);
void cuv_train_memory_clear (CuvTrainMemory *self);

/* Grows to at least that many bytes, and keeps what is there; bytes may move.
 * The space is there when it is written to. False, and nothing changes, if
 * there is not enough. */
bool cuv_train_memory_grow (CuvTrainMemory *self, size_t size);

/* Whether the next accesses jump from page to page: the system then does not
 * read what is around them. */
void cuv_train_memory_expect (CuvTrainMemory *self, bool random);

#endif
