/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Store and Bucket, and the functions of store.c, keeper.c and events.c that
 * the other two call. */
#ifndef FARM_STORE_PRIVATE_H
#define FARM_STORE_PRIVATE_H

#include "connection.h"
#include "store.h"

/* A bucket's stream as the server describes it. */
typedef struct {
  gint64 created; /* time, by the server's clock */
  gint64 age;     /* microseconds, 0: none */
  guint64 last;   /* sequence of the last message */
  gboolean empty;
} BucketInfo;

/* A bucket and its watch. Belongs to the keeper's thread, except the three
 * fields that the threads of nats.c write and that are under Store.lock. */
typedef struct {
  gint64 created; /* BucketInfo.created; 0: not known yet */
  natsSubscription *watch;
  guint number;       /* under Store.lock; number of the watch: old ones may
                       * send late messages */
  guint64 n_messages; /* under Store.lock; messages received from the watch */
  guint64 last_seen;  /* under Store.lock; revision of the last message */
  guint64 n_checked;  /* n_messages at the last check */
  gboolean complete; /* the watch has delivered all that existed at its start */
  guint64 last_at_start; /* the bucket's last revision when the watch started */
  guint n_silent; /* checks without a new message, though some are missing */
} Bucket;

struct _Store {
  const FarmConfig *config;
  Connection *connection; /* under `lock`; NULL: none yet */
  GMutex lock;
  gint n_disconnects; /* atomic */
  gint64 lease_age;   /* under `lock` */

  /* arguments of store_start() */
  const StoreEvents *events;
  gpointer data;
  GAsyncQueue *queue; /* of Event, for the main context */
  GSource *source;    /* calls the events from the queue */
  ConnectionEvents connection_events;
  GThread *keeper;
  GCond wake;
  /* under `lock`; stale: watches may have missed messages, since the connection
   * was lost or a message did not arrive */
  gboolean stop, stale;
  gboolean ready; /* state that was reported last */
  gchar *problem; /* problem that was logged last */
  Bucket buckets[STORE_N_BUCKETS];
};

/* Returns a reference to the connection, NULL if there is none. */
Connection *store_get_connection (Store *self);
const gchar *store_bucket_name (const Store *self, StoreBucket bucket);
/* Makes an entry from a message, or, if message is NULL, for an absent key. */
StoreEntry *store_entry_new (
    StoreBucket bucket, const gchar *key, natsMsg *message, guint64 revision);
/* Creates the bucket if it does not exist. */
gboolean store_ensure_bucket (Store *self, Connection *connection,
    StoreBucket bucket, BucketInfo *info, GError **error);

/* ---- keeper.c ---- */

/* The thread's function; runs until `stop`. */
gpointer keeper_run (gpointer store);
/* Makes the keeper recreate the watches; may be called from any thread. */
void keeper_wake (Store *self);

/* ---- events.c ---- */

/* Creates the queue, and the source that calls StoreEvents from it in the main
 * context. */
void events_open (Store *self);
void events_close (Store *self);
/* Queue an event; may be called from any thread. events_post_entry() takes
 * ownership of entry. */
void events_post_entry (Store *self, StoreEntry *entry);
void events_post_ready (Store *self, gboolean ready);
void events_post_lost (Store *self, StoreBucket bucket);

#endif
