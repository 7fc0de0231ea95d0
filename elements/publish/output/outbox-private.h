/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the outbox share.
 *
 *   outbox.c          the owner's side: push, finish, stop
 *   outbox-thread.c   the thread: connects, sends, waits for the broker
 *   outbox-answers.c  what a broker reports while the thread runs it:
 *                     connections, acknowledgements, problems
 *   outbox-retained.c messages that the broker retains */
#ifndef CUV_OUTBOX_PRIVATE_H
#define CUV_OUTBOX_PRIVATE_H

#include "output/outbox.h"
#include "output/retained.h"
#include "output/warning.h"

G_BEGIN_DECLS

/* What happens to records during a problem, for the warning. */
typedef enum {
  CUV_OUTBOX_WAITING,
  CUV_OUTBOX_DROPPING,
  CUV_OUTBOX_REFUSING, /* of messages to be retained */
  CUV_OUTBOX_N_PROBLEMS
} CuvOutboxProblem;

typedef enum {
  CUV_SLOT_FREE,
  CUV_SLOT_IN_FLIGHT,
  CUV_SLOT_ACKNOWLEDGED,
  CUV_SLOT_REFUSED
} CuvSlotState;

/* A message has a slot from when it is sent until it is answered and removed,
 * or, if it is dropped in flight, until the answer comes. */
typedef struct {
  CuvSlotState state;
  gsize bytes;
} CuvOutboxSlot;

struct _CuvOutbox {
  gint references; /* the owner's and the thread's */
  GThread *thread;
  CuvBroker *broker;
  int wake_fd;

  GMutex lock;     /* protects all fields down to "of the thread" */
  GCond changed;   /* wakes threads that wait for the outbox's thread */
  CuvSpool *spool; /* NULL: stopped */
  CuvRetained *retained;
  CuvFull on_full;
  gboolean interrupted; /* the owner must not wait */
  gboolean quit, gone;  /* stop() was called; the thread has ended */
  gint64 deadline;      /* monotonic time, if quit */
  gboolean was_connected;
  CuvOutboxCounts counts;
  gchar *warning;
  CuvWarning warnings[CUV_OUTBOX_N_PROBLEMS]; /* warnings given since the
                                               * spool was last empty */
  gboolean hurry;                             /* attempt to connect now rather
                                               * than later */
  gboolean flush; /* finish() waits: send retained messages at once */

  /* used by the thread, under the lock: messages first .. next - 1 are in
   * flight */
  guint64 next;
  gsize unanswered_bytes;
  CuvOutboxSlot *slots; /* [number % window] */

  /* used by the thread only */
  gint pause_ms; /* pause before the last attempt; 0 if a message was answered
                  * since */
};

void cuv_outbox_unref (CuvOutbox *self);

/* ---- outbox-answers.c; call with the lock held ---- */

/* Sets last_error and, if one is due, the warning. */
void cuv_outbox_warn (
    CuvOutbox *self, CuvOutboxProblem problem, const gchar *cause);
guint64 cuv_outbox_n_queued (CuvOutbox *self);
CuvOutboxSlot *cuv_outbox_slot (CuvOutbox *self, guint64 number);
/* Removes the first message, or all if the spool's file is damaged. */
void cuv_outbox_remove_first (CuvOutbox *self, gboolean acknowledged);
/* Removes the answered messages from the front. */
void cuv_outbox_remove_answered (CuvOutbox *self);
/* Whether the broker has acknowledged or refused everything. */
gboolean cuv_outbox_is_empty (CuvOutbox *self);

/* ---- outbox-retained.c ---- */

/* Returns FALSE if the connection is lost. */
gboolean cuv_outbox_send_retained (CuvOutbox *self, GError **error);
/* Call with the lock held. */
void cuv_outbox_retained_answered (
    CuvOutbox *self, guint64 number, const gchar *problem);

/* ---- outbox-thread.c ---- */

/* A GThreadFunc; drops a reference at its end. */
gpointer cuv_outbox_run (gpointer outbox);

G_END_DECLS

#endif
