/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-train as a child process, which ends with this one. For one thread,
 * which outlives the child and iterates its default main context. Problems are
 * texts to be freed. */
#ifndef CUV_TEACH_TRAINER_H
#define CUV_TEACH_TRAINER_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _CuvTeachTrainer CuvTeachTrainer;

typedef struct {
  /* A line of its progress. */
  void (*progress) (gpointer data, const gchar *line);
  /* It has ended: reason is NULL if LABEL.xml was written. Frees the trainer
   * afterwards. */
  void (*ended) (gpointer data, const gchar *reason);
} CuvTeachTrainerCalls;

/* Trains from this text of annotations. Returns NULL and the problem, or the
 * trainer. calls: constant. */
CuvTeachTrainer *cuv_teach_trainer_start (gint folder, const gchar *label,
    const gchar *annotations, const CuvTeachTrainerCalls *calls, gpointer data,
    gchar **problem);
/* Kills the process, waits for its end and removes its files; ended() is not
 * called. */
void cuv_teach_trainer_stop (CuvTeachTrainer *self);

G_END_DECLS

#endif
