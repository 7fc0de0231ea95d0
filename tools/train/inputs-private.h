/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inputs.c decodes what inputs-files.c has found. */
#ifndef CUV_TRAIN_INPUTS_PRIVATE_H
#define CUV_TRAIN_INPUTS_PRIVATE_H

#include "train-tool.h"

/* A picture or film. */
typedef struct {
  gchar *path;
  GHashTable
      *frames;     /* number -> GPtrArray of CuvAnnotated; NULL: a negative */
  guint64 n_taken; /* frames */
} File;

typedef struct {
  const InputOptions *options;
  CuvDataset *dataset;
  Classes *classes;
  GPtrArray *annotations; /* of CuvAnnotations */
  GHashTable *annotated;  /* path without links -> File */
  GPtrArray *files;       /* of File, in the order in which they are read */
  GHashTable *seen;       /* labels of annotations */
  GHashTable *searched;   /* lists of places that were printed */
  GPtrArray *skipped;
} Reader;

void inputs_skip (Reader *self, const gchar *path, const gchar *why);

/* ---- inputs-files.c ---- */

void inputs_file_free (gpointer file);

/* A file of annotations or .vec, or a folder of annotations. FALSE with an
 * error. */
gboolean inputs_read_positives (
    Reader *self, const gchar *path, GError **error);

/* A picture or film, a folder or a list of them. FALSE with an error. */
gboolean inputs_read_negatives (
    Reader *self, const gchar *path, GError **error);

#endif
