/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-train, in the order in which data passes through it:
 *
 *   cuvision-train.c  options; one step after the other
 *   inputs.c          annotations and folders -> pictures with objects
 *   store.c           grey pixels of all pictures, in a file that is mapped
 *   samples.c         objects -> windows to learn from
 *   rates.c           what the classifier finds and mistakes in pictures that
 *                     it has not seen */
#ifndef CUV_TRAIN_TOOL_H
#define CUV_TRAIN_TOOL_H

#include <glib.h>
#include "train/train.h"

/* ---- store.c ---- */

typedef struct _Store Store;

/* In a folder for temporary files; NULL with an error. */
Store *store_new (const gchar *folder, GError **error);
void store_free (Store *self); /* NULL is allowed */

/* Adds grey pixels, row by row. Returns the picture's number, or -1 with an
 * error if there is no space left. */
gint64 store_add (
    Store *self, gint width, gint height, const guint8 *grey, GError **error);

CuvFrame store_frame (const Store *self, gint64 number);

/* ---- inputs.c ---- */

/* What pictures are used for. */
typedef enum {
  ROLE_LEARNING,
  ROLE_CALIBRATION,
  ROLE_TEST,
  N_ROLES,
} Role;

typedef struct {
  gchar *path; /* for messages */
  const Store *store;
  gint64 number; /* in the store */
  gint width, height;
  GArray *objects; /* of CuvTrainBox: those to learn */
  GArray *boxes;   /* of CuvTrainBox: no negatives */
} Input;

typedef struct {
  Store *store;
  GPtrArray *roles[N_ROLES]; /* of Input */
  guint n_skipped;           /* pictures that cannot be read */
} Inputs;

typedef struct {
  gchar **positives, **negatives; /* annotations or folders; folders, files */
  const gchar *label;             /* NULL: any */
  const gchar *names;             /* file of YOLO's names, or NULL */
  guint64 seed;
} InputOptions;

/* Prints what is skipped. NULL with an error. */
Inputs *inputs_read (const InputOptions *options, GError **error);
void inputs_free (Inputs *self); /* NULL is allowed */

/* Of a role, for the trainer. */
CuvTrainPictures inputs_pictures (const Inputs *self, Role role);

/* ---- samples.c ---- */

typedef struct {
  gdouble margin; /* shares of the box that are added on either side */
  gint n_copies;  /* windows of an object, the first one as it is */
  gboolean mirror;
  guint64 seed;
} SampleOptions;

/* Adds windows of the objects of a role to a part. Returns the number of
 * objects that are smaller than the window, -1 if memory runs out. */
gint samples_add (const Inputs *inputs, Role role, CuvTrainer *trainer,
    CuvTrainPart part, const CuvTrainParams *params,
    const SampleOptions *options);

/* ---- rates.c ---- */

typedef struct {
  gdouble score, recall, false_positives; /* the latter: of a picture */
} Rate;

/* The rates at falling scores, and the mean number of weak classifiers that a
 * window took; NULL if memory runs out. */
GArray *rates_measure (const Inputs *inputs, const CuvWaldboostModel *model,
    gdouble *weak_per_window);

#endif
