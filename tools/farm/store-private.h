/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FARM_STORE_PRIVATE_H
#define FARM_STORE_PRIVATE_H

#include "connection.h"
#include "store.h"

/* What the server told of a bucket's stream. */
typedef struct {
  gint64 created; /* when, by the server's clock */
  gint64 age;     /* microseconds, 0: none */
  guint64 last;   /* sequence of the last message */
  gboolean empty;
} BucketInfo;

/* A bucket and its watch; of the keeper's thread, but for what is under `lock`:
 * the number of the watch, the messages that came by it and the revision of the
 * last of them. */
typedef struct {
  gint64 created; /* 0: not known yet */
  natsSubscription *watch;
  guint number;
  guint64 n, seen;
  guint64 n_before;
  gboolean complete; /* what there was when the watch began has come */
  guint64 last;      /* revision then */
  guint n_stuck;     /* checks in which nothing came although there was more */
} Bucket;

struct _Store {
  const FarmConfig *config;
  Connection *connection; /* under `lock`; NULL: none yet */
  GMutex lock;
  gint n_disconnects; /* atomic */
  gint64 lease_age;   /* under `lock` */

  /* of store_start() */
  const StoreEvents *events;
  gpointer data;
  GAsyncQueue *queue; /* of Event, for the main context */
  GSource *source;    /* that calls the events */
  ConnectionEvents connection_events;
  GThread *keeper;
  GCond wake;
  gboolean stop, stale; /* under `lock`; stale: was connected again */
  gboolean ready;       /* reported last */
  gchar *problem;       /* logged last */
  Bucket buckets[STORE_N_BUCKETS];
};

/* NULL if there is none. */
Connection *store_get_connection (Store *self);
const gchar *store_bucket_name (const Store *self, StoreBucket bucket);
/* message: NULL: there is none. */
StoreEntry *store_entry_new (
    StoreBucket bucket, const gchar *key, natsMsg *message, guint64 revision);
/* Makes it if there is none. */
gboolean store_ensure_bucket (Store *self, Connection *connection,
    StoreBucket bucket, BucketInfo *info, GError **error);

/* The rest is keeper.c's. */
gpointer store_keep (gpointer store);
void store_wake (Store *self);
GSource *store_source_new (Store *self);
void store_queue_free (GAsyncQueue *queue);

#endif
