/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the writer share.
 *
 *   writer.c         the owner's side: push, finish, stop
 *   writer-thread.c  the thread: opens the target and writes the queue */
#ifndef CUV_WRITER_PRIVATE_H
#define CUV_WRITER_PRIVATE_H

#include "output/warning.h"
#include "output/writer.h"

G_BEGIN_DECLS

struct _CuvWriter {
  gint references; /* the owner's and the thread's */
  GThread *thread;
  CuvTarget *target;
  const CuvFraming *framing;

  GMutex lock;  /* protects all fields down to "of the thread" */
  GCond work;   /* wakes the thread */
  GCond done;   /* wakes the owner */
  GQueue queue; /* records, GBytes */
  gsize queue_bytes;
  gboolean busy;        /* writing a record that was taken from the queue */
  gboolean finish;      /* write the end of the framing once the queue is
                         * empty */
  gboolean hurry;       /* try again now rather than later */
  gboolean reopen;      /* check whether the target has moved */
  gboolean absent;      /* the target has no reader */
  gboolean interrupted; /* finish() must not wait */
  gboolean timed_out;   /* the last finish() timed out */
  gboolean quit, gone;  /* stop() was called; the thread has ended */
  gint64 deadline;      /* monotonic time, if quit */
  guint failures;       /* failures of the target so far */
  CuvWriterCounts counts;
  gchar *warning;
  CuvWarning warned; /* reset when the queue was written completely */

  /* used by the thread only */
  gboolean begun, ended; /* framing written to this connection */
  guint64 n_records;     /* written to this connection */
  GString *out;          /* bytes being written */
  gsize sent;            /* number of these bytes that are written */
};

void cuv_writer_unref (CuvWriter *self);

/* Call these two with the lock held. */
/* Sets the warning, unless it was set since the queue was last written
 * completely. */
void cuv_writer_warn (CuvWriter *self, const gchar *cause);
/* Counts the queue as dropped. */
void cuv_writer_drop_queue (CuvWriter *self);

/* ---- writer-thread.c ---- */

/* A GThreadFunc; drops a reference at its end. */
gpointer cuv_writer_run (gpointer writer);

G_END_DECLS

#endif
