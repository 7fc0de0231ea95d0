/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two key-value buckets of NATS JetStream: the cameras and the leases. */
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
  STORE_FAILED,   /* no answer: it may have been done, or may be done yet */
} StoreResult;

/* Expected revisions of store_put() and store_delete(). */
#define STORE_ANY G_MAXUINT64
#define STORE_ABSENT 0                /* or deleted */
#define STORE_NEVER (G_MAXUINT64 - 1) /* and not deleted either */

typedef struct {
  StoreBucket bucket;
  gchar *key;
  gchar *value; /* NULL: deleted */
  guint64 revision;
} StoreEntry;

void store_entry_free (StoreEntry *self);

typedef struct _Store Store;

typedef struct {
  /* Each value as it is, then each change. */
  void (*entry) (gpointer data, const StoreEntry *entry);
  /* Connected, with buckets that are watched and whose present values entry()
   * has been called with; or not. */
  void (*ready) (gpointer data, gboolean ready);
  /* The bucket was lost by the server and has been made anew, empty. */
  void (*lost) (gpointer data, StoreBucket bucket);
} StoreEvents;

/* Connects or fails. For commands; leases: that need those, too. */
Store *store_open (const FarmConfig *config, gboolean leases, GError **error);
/* Connects, and goes on trying; calls `events` in the default main context. */
Store *store_start (
    const FarmConfig *config, const StoreEvents *events, gpointer data);
void store_free (Store *self);

gboolean store_is_connected (Store *self);
/* How often the connection was lost. */
guint store_n_disconnects (Store *self);
/* The bucket's, which an earlier worker may have made with another
 * configuration; that of the configuration before it is known. */
gint64 store_lease_age (Store *self);

/* The following wait for the server, from any thread. revision: of the new
 * value, may be NULL. */
StoreResult store_put (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, guint64 expected, guint64 *revision, GError **error);
/* The same with STORE_ANY, for commands: some seconds, until the server
 * answers. value: NULL: deletes. */
StoreResult store_put_again (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, GError **error);
StoreResult store_delete (Store *self, StoreBucket bucket, const gchar *key,
    guint64 expected, GError **error);
/* STORE_OK with an entry that has no value if the key is absent or deleted. */
StoreResult store_get (Store *self, StoreBucket bucket, const gchar *key,
    StoreEntry **entry, GError **error);
/* All entries, of StoreEntry; NULL on failure. */
GPtrArray *store_list (Store *self, StoreBucket bucket, GError **error);

#endif
