/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures of a folder and their boxes: annotations.json, and
 * images/LABEL-NUMBER.jpg. For one thread. Problems are texts to be freed. */
#ifndef CUV_TEACH_DATASET_H
#define CUV_TEACH_DATASET_H

#include "teach/coco.h"
#include "teach/ring.h"

G_BEGIN_DECLS

#define CUV_TEACH_MAX_PICTURES 5000
#define CUV_TEACH_MAX_GB 4
#define CUV_TEACH_ALL_BOXES 50000 /* of all pictures */

typedef struct _CuvTeachDataset CuvTeachDataset;

/* Reads annotations.json in the open folder, if it exists. Returns NULL and the
 * problem if it is not COCO. */
CuvTeachDataset *cuv_teach_dataset_open (gint folder, gchar **problem);
void cuv_teach_dataset_free (CuvTeachDataset *self);

const CuvCoco *cuv_teach_dataset_coco (const CuvTeachDataset *self);

/* Keeps the picture of a frame, which may be NULL if this example was kept
 * before: then the boxes replace those. Clips the example. Sets *n to the
 * number of pictures with boxes of the label. */
gchar *cuv_teach_dataset_keep (CuvTeachDataset *self, CuvTeachExample *example,
    const CuvRingFrame *frame, guint *n);
/* Call when frames are numbered from 0 again. */
void cuv_teach_dataset_restart (CuvTeachDataset *self);
/* Removes the newest picture that was kept for the label. Sets *n as above. */
gchar *cuv_teach_dataset_forget (
    CuvTeachDataset *self, const gchar *label, guint *n);

/* Returns COCO of the pictures to train a label with, to be freed: those kept
 * for it, and those of other programs. */
gchar *cuv_teach_dataset_select (
    const CuvTeachDataset *self, const gchar *label);

G_END_DECLS

#endif
