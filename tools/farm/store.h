/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two key-value buckets of NATS JetStream: the cameras and the leases. The
 * map in worker.h says what they hold. */
#ifndef FARM_STORE_H
#define FARM_STORE_H

#include "farm-config.h"

typedef enum {
  STORE_CAMERAS,
  STORE_LEASES,
  STORE_N_BUCKETS,
} StoreBucket;

typedef enum {
  STORE_OK,
  STORE_CONFLICT, /* the key has another revision than the one expected */
  STORE_FAILED,   /* no answer: it may have been done, or may still be */
} StoreResult;

/* Expected revisions of store_put() and store_delete(): any, that of a key
 * which does not exist, and that of a key which never existed. */
#define STORE_ANY G_MAXUINT64
#define STORE_ABSENT 0                /* never written, or deleted */
#define STORE_NEVER (G_MAXUINT64 - 1) /* never written, nor deleted */

typedef struct {
  StoreBucket bucket;
  gchar *key;
  gchar *value; /* NULL: deleted */
  guint64 revision;
} StoreEntry;

void store_entry_free (StoreEntry *self);

typedef struct _Store Store;

typedef struct {
  /* Called for each present value of both buckets, then for each change. */
  void (*entry) (gpointer data, const StoreEntry *entry);
  /* TRUE: connected, and entry() was called for all present values. FALSE: the
   * connection was lost. */
  void (*ready) (gpointer data, gboolean ready);
  /* The server lost the bucket, which was recreated empty. */
  void (*lost) (gpointer data, StoreBucket bucket);
} StoreEvents;

/* For commands: connects or fails. leases: whether the bucket of leases is
 * needed. */
Store *store_open (const FarmConfig *config, gboolean leases, GError **error);
/* For workers: connects, and reconnects for ever; calls `events` in the default
 * main context. */
Store *store_start (
    const FarmConfig *config, const StoreEvents *events, gpointer data);
void store_free (Store *self);

gboolean store_is_connected (Store *self);
/* Returns how often the connection was lost. */
guint store_n_disconnects (Store *self);
/* Returns the lease-age in microseconds: that of the bucket, which may differ
 * from the configured one if another worker created it, or the configured one
 * until the bucket's is known. */
gint64 store_lease_age (Store *self);

/* The following functions wait for the server; call them from any thread. */

/* Writes a value if the key has the expected revision. revision: that of the
 * new value; may be NULL. */
StoreResult store_put (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, guint64 expected, guint64 *revision, GError **error);
/* For commands: writes a value with STORE_ANY, or deletes the key if value is
 * NULL. Retries for 10 seconds while the server does not answer. */
StoreResult store_put_again (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, GError **error);
StoreResult store_delete (Store *self, StoreBucket bucket, const gchar *key,
    guint64 expected, GError **error);
/* Reads a value. For an absent or deleted key returns STORE_OK and an entry
 * whose value is NULL. */
StoreResult store_get (Store *self, StoreBucket bucket, const gchar *key,
    StoreEntry **entry, GError **error);
/* Returns all entries, as StoreEntry, or NULL with an error. */
GPtrArray *store_list (Store *self, StoreBucket bucket, GError **error);

#endif
