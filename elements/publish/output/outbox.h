/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends messages to a broker on a thread of its own; for files there is
 * CuvWriter. Beside messages that are all sent, in order, there are those that
 * the broker retains, of which only the newest counts (retained.h).
 *
 * Messages stay in a spool until the broker has acknowledged them. After a lost
 * connection, unacknowledged messages are sent again, in order: each arrives at
 * least once. */
#ifndef CUV_OUTBOX_H
#define CUV_OUTBOX_H

#include "output/broker.h"

G_BEGIN_DECLS

/* What cuv_outbox_push() does if there is no room for a message. */
typedef enum {
  CUV_FULL_DROP_OLDEST,
  CUV_FULL_DROP_NEWEST,
  CUV_FULL_BLOCK, /* waits for room */
} CuvFull;

typedef struct {
  guint64 sent; /* sent to the broker, repetitions included */
  guint64 acknowledged;
  guint64 dropped; /* messages not acknowledged, and no longer in the spool */
  guint64 bytes;   /* bytes sent */
  guint64 queued;  /* messages in the spool */
  guint64 spooled; /* messages in the spool when it was opened */
  guint64 reconnects;
  guint64 retained;      /* topics that the broker retains */
  guint64 retained_sent; /* messages sent for them, repetitions included */
  gboolean connected;
  gchar last_error[256]; /* "": none so far */
} CuvOutboxCounts;

/* How long cuv_outbox_finish() waits for a connection. */
#define CUV_OUTBOX_ABSENT_MS 2000

/* Takes ownership of both and starts the thread. */
CuvOutbox *cuv_outbox_new (
    CuvBroker *broker, CuvSpool *spool, CuvFull on_full, GError **error);

/* Returns FALSE with an error if the broker cannot be reached in this time. */
gboolean cuv_outbox_wait_connected (
    CuvOutbox *self, guint milliseconds, GError **error);

#define CUV_OUTBOX_BLOCK_MS 200
/* Queues a copy of a message. Returns FALSE if, with CUV_FULL_BLOCK, there was
 * no room within CUV_OUTBOX_BLOCK_MS; call it again. */
gboolean cuv_outbox_push (CuvOutbox *self, const CuvMessage *message);

/* Sets the text that the broker retains for a topic; "": none. It is sent
 * when interval, in microseconds, has passed since the topic's last message. */
void cuv_outbox_retain (
    CuvOutbox *self, const gchar *topic, const gchar *text, gint64 interval);

/* Waits until everything is sent, for at most the given time. Without a
 * connection it tries to connect at once, and waits for at most
 * CUV_OUTBOX_ABSENT_MS. Returns whether the spool is empty. */
gboolean cuv_outbox_finish (CuvOutbox *self, guint milliseconds);

/* May be called from any thread. TRUE ends all waits of the streaming thread,
 * including those for room, and prevents new ones until FALSE is set. */
void cuv_outbox_interrupt (CuvOutbox *self, gboolean interrupt);

/* Returns the pending warning for the user, or NULL; there is one each time
 * that sending begins to fail. The caller frees it. */
gchar *cuv_outbox_take_warning (CuvOutbox *self);

void cuv_outbox_get_counts (CuvOutbox *self, CuvOutboxCounts *counts);

/* If there is a connection, sends what is left within the given time; then
 * frees the outbox. Messages that are still left stay in the spool's file, and
 * without a file count as dropped. A thread that is still connecting is
 * detached; it ends when its attempt to connect ends. */
void cuv_outbox_stop (CuvOutbox *self, guint milliseconds,
    CuvOutboxCounts *counts, gchar **warning);

G_END_DECLS

#endif
