/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What teach.c and service.c share. */
#ifndef CUV_TEACH_PRIVATE_H
#define CUV_TEACH_PRIVATE_H

#include "teach/ring.h"
#include "teach/teach.h"
#include "teach/texts.h"
#include "teach/trainer.h"

G_BEGIN_DECLS

struct _CuvTeach {
  /* constant */
  gint folder; /* file descriptor */
  gchar *path; /* absolute */
  gchar *detector;
  CuvRing ring; /* thread-safe */
  GMainContext *context;

  /* valid while the thread runs */
  CuvWebStream *stream;
  CuvControls *controls;
  GMainLoop *loop;
  GThread *thread;

  gint n_requests; /* atomic: that wait for the thread */

  GMutex lock;
  GBytes *report[2]; /* index.html, report.json; NULL: none */

  /* used by the thread only, while it runs */
  CuvTeachDataset *dataset;
  CuvTeachTrainer *trainer; /* NULL: no training runs */
  CuvTraining training;
  gboolean state_changed, training_changed; /* pages need the text */
  GSource *sending;                         /* sends it soon, or NULL */
  gint64 last_sent;                         /* monotonic time */
};

typedef struct {
  CuvTeach *teach;
  CuvControlAction action;
  gboolean joined, restarted; /* instead of an action */
  guint64 client;
  gint64 id;
  CuvTeachExample *example; /* of keep */
  CuvRingFrame frame;       /* its frame is NULL if it is not in the ring */
  gchar *label;             /* of forget, train and use */
} CuvTeachRequest;

/* ---- service.c; all in the thread ---- */

/* Carries out a request; a GSourceFunc. */
gboolean cuv_teach_serve (gpointer request);
/* Reads the report of the last training. */
void cuv_teach_load_report (CuvTeach *self);
/* Ends the training; pages get no text. */
void cuv_teach_end_training (CuvTeach *self);

G_END_DECLS

#endif
