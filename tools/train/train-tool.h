/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-train:
 *
 *   cuvision-train.c  options; one step after the other
 *   inputs.c          annotations and folders -> a data set */
#ifndef CUV_TRAIN_TOOL_H
#define CUV_TRAIN_TOOL_H

#include "train/dataset/dataset.h"

typedef struct {
  gchar **positives, **negatives; /* annotations or folders; folders, files */
  const gchar *label;             /* NULL: any */
  const gchar *names;             /* file of YOLO's names, or NULL */
  guint64 seed;
} InputOptions;

/* Prints what is skipped. NULL with an error. */
CuvDataset *inputs_read (const InputOptions *options, GError **error);

#endif
