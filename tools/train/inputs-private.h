/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inputs of a training, which inputs-files.c finds and inputs.c decodes. */
#ifndef CUV_TRAIN_INPUTS_PRIVATE_H
#define CUV_TRAIN_INPUTS_PRIVATE_H

#include "train-tool.h"

/* A picture or video. */
typedef struct {
  gchar *path;
  GHashTable
      *frames;     /* number -> GPtrArray of CuvAnnotated; NULL: a negative */
  guint64 n_taken; /* frames added to the data set */
} File;

typedef struct {
  const InputOptions *options;
  CuvStoreKeep keep; /* what is kept of decoded pictures */
  CuvDataset *dataset;
  Classes *classes;
  GPtrArray *annotations; /* of CuvAnnotations */
  GHashTable *annotated;  /* path with links resolved -> File */
  GPtrArray *files;       /* of File, in the order in which they are read */
  GHashTable *seen;       /* labels that occurred */
  GHashTable *searched;   /* lists of places that were printed already */
  GPtrArray *skipped;
} Reader;

/* Prints that a file or box is skipped, and records it for the report. */
void inputs_skip (Reader *self, const gchar *path, const gchar *why);

/* ---- inputs-files.c ---- */

void inputs_file_free (gpointer file);

/* Reads a file of annotations or a .vec, or a folder of annotations. Returns
 * FALSE with an error. */
gboolean inputs_read_positives (
    Reader *self, const gchar *path, GError **error);

/* Adds a picture or video, or those of a folder or a list. Returns FALSE with
 * an error. */
gboolean inputs_read_negatives (
    Reader *self, const gchar *path, GError **error);

#endif
