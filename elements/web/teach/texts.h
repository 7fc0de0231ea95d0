/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pages are sent about teaching, as JSON texts to be freed:
 *
 *   {"type": "teach", "detector": "detect", "labels": [{"label": "cup",
 *     "pictures": 34, "boxes": 34, "model": true}], "counterexamples": 3,
 *     "report": "report/TICKET/index.html"}
 *   {"type": "training", "label": "cup", "state": "running", "text": ...,
 *     "seconds": 12}
 *   {"type": "training", "label": "cup", "state": "done", "recall": 0.95,
 *     "false_positives": 0.05, "objects": 30, "seconds": 31}
 *   {"type": "training", "label": "cup", "state": "failed", "reason": ...}
 *   {"type": "training", "label": "cup", "state": "stopped"} */
#ifndef CUV_TEACH_TEXTS_H
#define CUV_TEACH_TEXTS_H

#include "teach/dataset.h"

G_BEGIN_DECLS

typedef enum {
  CUV_TRAINING_NONE,
  CUV_TRAINING_RUNNING,
  CUV_TRAINING_DONE,
  CUV_TRAINING_FAILED,
  CUV_TRAINING_STOPPED,
} CuvTrainingState;

/* The last training. */
typedef struct {
  CuvTrainingState state;
  gchar *label;
  gchar *text;                     /* what it does, or why it failed */
  gint64 start;                    /* monotonic time */
  gint64 seconds;                  /* that it took */
  gdouble recall, false_positives; /* NAN: not known */
  gint64 objects;
} CuvTraining;

/* folder: has the models. detector: NULL if none was named. report: address of
 * the last report, relative to the page; NULL if there is none. */
gchar *cuv_teach_text_state (const CuvTeachDataset *dataset, gint folder,
    const gchar *detector, const gchar *report);
/* NULL if nothing was trained yet. */
gchar *cuv_teach_text_training (const CuvTraining *training);
/* The request was carried out; value below 0: none. */
gchar *cuv_teach_text_done (gint64 id, gint64 value);

G_END_DECLS

#endif
