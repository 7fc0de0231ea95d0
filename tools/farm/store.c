/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store.h"

#include <gio/gio.h>
#include <string.h>

#include "store-private.h"

#define OPERATION "KV-Operation"
/* JSStreamWrongLastSequenceErr of servers from 2.11 on. */
#define WRONG_SEQUENCE ((jsErrCode) 10164)
#define LIST_MS 5000
#define CLOSE_MS 2000
/* How long commands retry while the server does not answer. */
#define PATIENCE (10 * G_USEC_PER_SEC)

void
store_entry_free (StoreEntry *self)
{
  g_free (self->key);
  g_free (self->value);
  g_free (self);
}

const gchar *
store_bucket_name (const Store *self, StoreBucket bucket)
{
  const NatsConfig *config = &self->config->nats;

  return bucket == STORE_CAMERAS ? config->cameras : config->leases;
}

Connection *
store_get_connection (Store *self)
{
  Connection *connection;

  g_mutex_lock (&self->lock);
  connection =
      self->connection != NULL ? connection_ref (self->connection) : NULL;
  g_mutex_unlock (&self->lock);
  return connection;
}

gboolean
store_is_connected (Store *self)
{
  Connection *connection = store_get_connection (self);
  const gboolean up = connection != NULL && connection_is_up (connection);

  if (connection != NULL)
    connection_unref (connection);
  return up;
}

guint
store_n_disconnects (Store *self)
{
  return (guint) g_atomic_int_get (&self->n_disconnects);
}

gint64
store_lease_age (Store *self)
{
  gint64 age;

  g_mutex_lock (&self->lock);
  age = self->lease_age;
  g_mutex_unlock (&self->lock);
  return age;
}

/* ---- buckets ---- */

static natsStatus
read_bucket_info (Connection *connection, const gchar *stream, BucketInfo *info,
    jsErrCode *code)
{
  jsStreamInfo *found = NULL;
  natsStatus status =
      js_GetStreamInfo (&found, connection->js, stream, NULL, code);

  if (status != NATS_OK)
    return status;
  info->created = found->Created;
  info->age = found->Config->MaxAge / 1000;
  info->last = found->State.LastSeq;
  info->empty = found->State.Msgs == 0;
  jsStreamInfo_Destroy (found);
  return NATS_OK;
}

static natsStatus
make_bucket (Store *self, Connection *connection, StoreBucket bucket)
{
  kvStore *made = NULL;
  kvConfig config;
  natsStatus status;

  kvConfig_Init (&config);
  config.Bucket = store_bucket_name (self, bucket);
  config.Description = bucket == STORE_CAMERAS
      ? "cameras of cuvision-farm, a JSON object each"
      : "which worker of cuvision-farm runs which camera";
  config.History = 1;
  /* A single server keeps leases in memory: they are written all the time, and
   * their holders renew those that a restart loses. In a cluster they are
   * files, so that no server restarts empty. */
  config.StorageType =
      bucket == STORE_CAMERAS || self->config->nats.replicas > 1
      ? js_FileStorage
      : js_MemoryStorage;
  config.Replicas = self->config->nats.replicas;
  if (bucket == STORE_LEASES)
    config.TTL = self->config->lease_age * 1000;
  status = js_CreateKeyValue (&made, connection->js, &config);
  kvStore_Destroy (made);
  return status;
}

gboolean
store_ensure_bucket (Store *self, Connection *connection, StoreBucket bucket,
    BucketInfo *info, GError **error)
{
  const gchar *name = store_bucket_name (self, bucket);
  gchar *stream = g_strconcat ("KV_", name, NULL);
  gchar *what = g_strdup_printf ("bucket '%s'", name);
  jsErrCode code = 0;
  natsStatus status = read_bucket_info (connection, stream, info, &code);

  if (status == NATS_NOT_FOUND) {
    /* a failure does not matter: another worker may have been faster */
    make_bucket (self, connection, bucket);
    status = read_bucket_info (connection, stream, info, &code);
  }
  if (status != NATS_OK)
    connection_set_error (error, status, code, what);
  else if (bucket == STORE_LEASES && info->age == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "%s has no TTL, so its leases would never run out: remove it, or "
        "set leases-bucket to another name",
        what);
  g_free (stream);
  g_free (what);
  if (error != NULL && *error != NULL)
    return FALSE;
  if (bucket == STORE_LEASES) {
    g_mutex_lock (&self->lock);
    self->lease_age = info->age;
    g_mutex_unlock (&self->lock);
  }
  return TRUE;
}

/* ---- values ---- */

static gchar *
subject_of (const Store *self, StoreBucket bucket, const gchar *key)
{
  return g_strdup_printf ("$KV.%s.%s", store_bucket_name (self, bucket), key);
}

static Connection *
need_connection (Store *self, GError **error)
{
  Connection *connection = store_get_connection (self);

  if (connection != NULL && connection_is_up (connection))
    return connection;
  if (connection != NULL)
    connection_unref (connection);
  g_set_error_literal (
      error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "not connected to NATS");
  return NULL;
}

static StoreResult
publish (Connection *connection, natsMsg *message, guint64 expected,
    guint64 *revision, GError **error)
{
  jsPubOptions options;
  jsPubAck *ack = NULL;
  jsErrCode code = 0;
  natsStatus status;

  jsPubOptions_Init (&options);
  options.ExpectNoMessage = expected == STORE_ABSENT || expected == STORE_NEVER;
  if (expected != STORE_ANY && expected != STORE_NEVER)
    options.ExpectLastSubjectSeq = expected;
  status = js_PublishMsg (&ack, connection->js, message, &options, &code);
  if (status == NATS_OK && revision != NULL)
    *revision = ack->Sequence;
  jsPubAck_Destroy (ack);
  if (status == NATS_OK)
    return STORE_OK;
  connection_set_error (error, status, code, "cannot write to NATS");
  return code == JSStreamWrongLastSequenceErr || code == WRONG_SEQUENCE
      ? STORE_CONFLICT
      : STORE_FAILED;
}

/* Writes a value or, if value is NULL, NATS' deletion marker. */
static StoreResult
write_value (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, guint64 expected, guint64 *revision, GError **error)
{
  Connection *connection = need_connection (self, error);
  StoreResult result = STORE_FAILED;
  natsMsg *message = NULL;
  natsStatus status;
  gchar *subject;

  if (connection == NULL)
    return STORE_FAILED;
  subject = subject_of (self, bucket, key);
  status = natsMsg_Create (
      &message, subject, NULL, value, value != NULL ? (int) strlen (value) : 0);
  if (status == NATS_OK && value == NULL)
    status = natsMsgHeader_Set (message, OPERATION, "DEL");
  if (status == NATS_OK)
    result = publish (connection, message, expected, revision, error);
  else
    connection_set_error (error, status, 0, "cannot write to NATS");
  natsMsg_Destroy (message);
  g_free (subject);
  connection_unref (connection);
  return result;
}

/* Writes to a key that was deleted, which has its deletion marker's revision.
 */
static StoreResult
put_over_marker (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, guint64 *revision, GError **error)
{
  StoreEntry *entry;
  StoreResult result = store_get (self, bucket, key, &entry, error);

  if (result != STORE_OK)
    return result;
  if (entry->value != NULL) {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_EXISTS, "'%s' exists already", key);
    result = STORE_CONFLICT;
  } else {
    result = write_value (
        self, bucket, key, value, entry->revision, revision, error);
  }
  store_entry_free (entry);
  return result;
}

static gboolean
is_timeout (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

StoreResult
store_put_again (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, GError **error)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  GError *problem = NULL;
  StoreResult result;

  do {
    g_clear_error (&problem);
    result = write_value (self, bucket, key, value, STORE_ANY, NULL, &problem);
  } while (is_timeout (problem) && g_get_monotonic_time () < end);
  if (problem != NULL)
    g_propagate_error (error, problem);
  return result;
}

StoreResult
store_put (Store *self, StoreBucket bucket, const gchar *key,
    const gchar *value, guint64 expected, guint64 *revision, GError **error)
{
  GError *problem = NULL;
  StoreResult result =
      write_value (self, bucket, key, value, expected, revision, &problem);

  if (result == STORE_CONFLICT && expected == STORE_ABSENT) {
    g_clear_error (&problem);
    result = put_over_marker (self, bucket, key, value, revision, &problem);
  }
  if (problem != NULL)
    g_propagate_error (error, problem);
  return result;
}

StoreResult
store_delete (Store *self, StoreBucket bucket, const gchar *key,
    guint64 expected, GError **error)
{
  return write_value (self, bucket, key, NULL, expected, NULL, error);
}

static gchar *
value_of (natsMsg *message)
{
  const char *operation = NULL;

  if (natsMsgHeader_Get (message, OPERATION, &operation) == NATS_OK)
    return NULL;
  return g_strndup (
      natsMsg_GetData (message), (gsize) natsMsg_GetDataLength (message));
}

StoreEntry *
store_entry_new (
    StoreBucket bucket, const gchar *key, natsMsg *message, guint64 revision)
{
  StoreEntry *self = g_new0 (StoreEntry, 1);

  self->bucket = bucket;
  self->key = g_strdup (key);
  self->revision = revision;
  if (message != NULL)
    self->value = value_of (message);
  return self;
}

StoreResult
store_get (Store *self, StoreBucket bucket, const gchar *key,
    StoreEntry **entry, GError **error)
{
  Connection *connection = need_connection (self, error);
  natsMsg *message = NULL;
  jsErrCode code = 0;
  natsStatus status;
  gchar *subject, *stream;

  if (connection == NULL)
    return STORE_FAILED;
  subject = subject_of (self, bucket, key);
  stream = g_strconcat ("KV_", store_bucket_name (self, bucket), NULL);
  status =
      js_GetLastMsg (&message, connection->js, stream, subject, NULL, &code);
  if (status == NATS_OK || code == JSNoMessageFoundErr)
    *entry = store_entry_new (bucket, key, message,
        message != NULL ? natsMsg_GetSequence (message) : 0);
  else
    connection_set_error (error, status, code, "cannot read from NATS");
  natsMsg_Destroy (message);
  g_free (subject);
  g_free (stream);
  connection_unref (connection);
  return status == NATS_OK || code == JSNoMessageFoundErr ? STORE_OK
                                                          : STORE_FAILED;
}

/* ---- all values ---- */

static void
add_entry (GPtrArray *entries, StoreBucket bucket, kvEntry *found)
{
  StoreEntry *entry;

  if (kvEntry_Operation (found) != kvOp_Put)
    return;
  entry = g_new0 (StoreEntry, 1);
  entry->bucket = bucket;
  entry->key = g_strdup (kvEntry_Key (found));
  entry->value =
      g_strndup (kvEntry_Value (found), (gsize) kvEntry_ValueLen (found));
  entry->revision = kvEntry_Revision (found);
  g_ptr_array_add (entries, entry);
}

static natsStatus
add_entries (GPtrArray *entries, StoreBucket bucket, kvStore *store)
{
  kvWatchOptions options;
  kvWatcher *watcher = NULL;
  kvEntry *found = NULL;
  natsStatus status;

  kvWatchOptions_Init (&options);
  options.IgnoreDeletes = true;
  status = kvStore_WatchAll (&watcher, store, &options);
  while (status == NATS_OK) {
    status = kvWatcher_Next (&found, watcher, LIST_MS);
    if (status != NATS_OK || found == NULL)
      break; /* no entry: that was the last one */
    add_entry (entries, bucket, found);
    kvEntry_Destroy (found);
  }
  kvWatcher_Destroy (watcher);
  return status;
}

GPtrArray *
store_list (Store *self, StoreBucket bucket, GError **error)
{
  Connection *connection = need_connection (self, error);
  GPtrArray *entries;
  kvStore *store = NULL;
  natsStatus status;

  if (connection == NULL)
    return NULL;
  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) store_entry_free);
  status =
      js_KeyValue (&store, connection->js, store_bucket_name (self, bucket));
  if (status == NATS_OK)
    status = add_entries (entries, bucket, store);
  kvStore_Destroy (store);
  connection_unref (connection);
  if (status == NATS_OK)
    return entries;
  connection_set_error (error, status, 0, "cannot read from NATS");
  g_ptr_array_unref (entries);
  return NULL;
}

/* ---- the store ---- */

static Store *
store_new (const FarmConfig *config)
{
  Store *self = g_new0 (Store, 1);

  self->config = config;
  self->lease_age = config->lease_age;
  g_mutex_init (&self->lock);
  g_cond_init (&self->wake);
  return self;
}

/* Retries: a cluster that just lost a server has no leader for a second or
 * two. */
static void
ensure_bucket_patiently (Store *self, StoreBucket bucket, GError **error)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  BucketInfo info;

  while (!store_ensure_bucket (self, self->connection, bucket, &info, error)
      && is_timeout (*error) && g_get_monotonic_time () < end)
    g_clear_error (error);
}

Store *
store_open (const FarmConfig *config, gboolean leases, GError **error)
{
  Store *self = store_new (config);
  GError *problem = NULL;

  self->connection = connection_new (config, NULL, &problem);
  if (problem == NULL)
    ensure_bucket_patiently (self, STORE_CAMERAS, &problem);
  if (problem == NULL && leases)
    ensure_bucket_patiently (self, STORE_LEASES, &problem);
  if (problem == NULL)
    return self;
  g_propagate_error (error, problem);
  store_free (self);
  return NULL;
}

Store *
store_start (const FarmConfig *config, const StoreEvents *events, gpointer data)
{
  Store *self = store_new (config);

  self->events = events;
  self->data = data;
  events_open (self);
  self->keeper = g_thread_new ("nats", keeper_run, self);
  return self;
}

void
store_free (Store *self)
{
  if (self->keeper != NULL) {
    g_mutex_lock (&self->lock);
    self->stop = TRUE;
    g_cond_signal (&self->wake);
    g_mutex_unlock (&self->lock);
    g_thread_join (self->keeper);
  }
  if (self->connection != NULL)
    connection_unref (self->connection);
  nats_CloseAndWait (CLOSE_MS); /* no callbacks after this */
  if (self->source != NULL)
    events_close (self);
  g_free (self->problem);
  g_cond_clear (&self->wake);
  g_mutex_clear (&self->lock);
  g_free (self);
}
