/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends messages to a broker on a thread of its own.
 *
 * Messages wait in a spool until the broker has acknowledged them. If the
 * connection is lost, those that were not acknowledged are sent again, in
 * order: at least once. */
#ifndef CUV_OUTBOX_H
#define CUV_OUTBOX_H

#include "output/broker.h"

G_BEGIN_DECLS

/* What cuv_outbox_push() does with a message for which there is no room. */
typedef enum {
  CUV_FULL_DROP_OLDEST,
  CUV_FULL_DROP_NEWEST,
  CUV_FULL_BLOCK, /* waits for room */
} CuvFull;

typedef struct {
  guint64 sent; /* to the broker, repetitions included */
  guint64 acknowledged;
  guint64 dropped; /* never acknowledged, and not in the spool any more */
  guint64 bytes;   /* of what was sent */
  guint64 queued;  /* in the spool */
  guint64 spooled; /* in the spool when it was opened */
  guint64 reconnects;
  gboolean connected;
  gchar last_error[256]; /* "": none so far */
} CuvOutboxCounts;

/* How long the ends of a stream wait for a broker that is not connected. */
#define CUV_OUTBOX_ABSENT_MS 2000

/* Takes ownership of both and starts the thread. */
CuvOutbox *cuv_outbox_new (
    CuvBroker *broker, CuvSpool *spool, CuvFull on_full, GError **error);

/* FALSE with an error if the time is over before there is a connection. */
gboolean cuv_outbox_wait_connected (
    CuvOutbox *self, guint milliseconds, GError **error);

/* FALSE: with CUV_FULL_BLOCK there was no room for CUV_OUTBOX_BLOCK_MS; call it
 * again. */
#define CUV_OUTBOX_BLOCK_MS 200
gboolean cuv_outbox_push (CuvOutbox *self, const CuvMessage *message);

/* Waits until the spool is empty: for at most the given time,
 * CUV_OUTBOX_ABSENT_MS while there is no connection, which is tried at once. */
gboolean cuv_outbox_finish (CuvOutbox *self, guint milliseconds);

/* From any thread: TRUE ends all waiting of the streaming thread, also that
 * for room, until FALSE is set. */
void cuv_outbox_interrupt (CuvOutbox *self, gboolean interrupt);

/* A message for the user, once each time that sending begins to fail; NULL if
 * there is none. The caller frees it. */
gchar *cuv_outbox_take_warning (CuvOutbox *self);

void cuv_outbox_get_counts (CuvOutbox *self, CuvOutboxCounts *counts);

/* Sends what is left within the given time if there is a connection, and frees
 * the outbox. What is left then stays in a file, and counts as dropped
 * otherwise. A thread that is still connecting is left behind, and ends when
 * that does. */
void cuv_outbox_stop (CuvOutbox *self, guint milliseconds,
    CuvOutboxCounts *counts, gchar **warning);

G_END_DECLS

#endif
