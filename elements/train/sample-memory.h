/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for samples, which may be larger than the machine's memory: an unnamed
 * temporary file, which the page cache keeps in memory as far as there is
 * space. */
#ifndef CUV_TRAIN_MEMORY_H
#define CUV_TRAIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *folder; /* folder of the file; NULL: in memory */
  uint8_t *bytes;
  size_t size;
  int file;
  bool is_full; /* the folder has no space left, or is not writable */
} CuvTrainMemory;

/* Makes it empty. folder must outlive it. */
void cuv_train_memory_init (CuvTrainMemory *self, const char *folder);
void cuv_train_memory_clear (CuvTrainMemory *self);

/* Grows to at least size bytes and keeps the content; bytes may move. Disk
 * space is allocated immediately. If there is not enough memory or disk space,
 * returns false and changes nothing. */
bool cuv_train_memory_grow (CuvTrainMemory *self, size_t size);

/* Advises the system whether the next accesses jump from page to page; if they
 * do, it does not read ahead. */
void cuv_train_memory_expect (CuvTrainMemory *self, bool random);

#endif
