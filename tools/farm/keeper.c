/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that keeps the connection, the buckets and their watches, and
 * queues what the watches deliver for the main context. Each check
 * (keeper_check()) connects if needed, creates missing buckets, starts missing
 * watches, and reports the store ready when the watches have delivered all
 * values. */
#include <gio/gio.h>
#include <string.h>

#include "farm-util.h"
#include "store-private.h"

/* Time between two checks of the server: if the store is ready, and if not. */
#define CHECK_MS 1000
#define HURRY_MS 200
/* Recreate a watch that has been silent for this many checks. */
#define MAX_SILENT 3

void
keeper_wake (Store *self)
{
  g_mutex_lock (&self->lock);
  self->stale = TRUE;
  g_cond_signal (&self->wake);
  g_mutex_unlock (&self->lock);
}

/* ---- watches ---- */

typedef struct {
  Store *store;
  StoreBucket bucket;
  guint number; /* Bucket.number when it was started */
  guint64 n;    /* messages that it delivered */
} Watch;

/* Returns the key, which follows "$KV.BUCKET." in the subject. */
static gchar *
key_of (const Watch *self, natsMsg *message)
{
  const gchar *subject = natsMsg_GetSubject (message);
  const gsize prefix =
      strlen ("$KV..") + strlen (store_bucket_name (self->store, self->bucket));

  return strlen (subject) > prefix ? g_strdup (subject + prefix) : NULL;
}

/* Ignores late messages of a watch that was stopped. */
static void
note_progress (const Watch *self, guint64 revision)
{
  Bucket *bucket = &self->store->buckets[self->bucket];

  g_mutex_lock (&self->store->lock);
  if (bucket->number == self->number) {
    bucket->last_seen = revision;
    bucket->n_messages = self->n;
  }
  g_mutex_unlock (&self->store->lock);
}

static void
handle_message (Watch *self, natsMsg *message, const jsSequencePair *sequence)
{
  Store *store = self->store;
  gchar *key = key_of (self, message);

  /* a message was lost: the watches have to start again */
  if (sequence->Consumer != ++self->n)
    keeper_wake (store);
  if (key == NULL)
    return;
  events_post_entry (
      store, store_entry_new (self->bucket, key, message, sequence->Stream));
  g_free (key);
  note_progress (self, sequence->Stream);
}

static void
watch_on_message (
    natsConnection *nats, natsSubscription *sub, natsMsg *message, void *data)
{
  jsMsgMetaData *meta = NULL;

  if (natsMsg_GetMetaData (&meta, message) == NATS_OK)
    handle_message (data, message, &meta->Sequence);
  jsMsgMetaData_Destroy (meta);
  natsMsg_Destroy (message);
}

static void
stop_watch (Store *self, Bucket *bucket)
{
  if (bucket->watch == NULL)
    return;
  natsSubscription_Unsubscribe (bucket->watch);
  natsSubscription_Destroy (bucket->watch);
  bucket->watch = NULL;
  bucket->n_silent = 0;
  bucket->complete = FALSE;
  g_mutex_lock (&self->lock);
  bucket->number++;
  bucket->last_seen = bucket->n_messages = bucket->n_checked = 0;
  g_mutex_unlock (&self->lock);
}

/* Not an ordered consumer: nats.c 3.4 recreates those in threads of its own,
 * which free the name that unsubscribing reads. */
static gboolean
start_watch (
    Store *self, Connection *connection, StoreBucket bucket, GError **error)
{
  gchar *subject =
      g_strdup_printf ("$KV.%s.>", store_bucket_name (self, bucket));
  natsSubscription **sub = &self->buckets[bucket].watch;
  Watch *watch = g_new0 (Watch, 1);
  jsSubOptions options;
  jsErrCode code = 0;
  natsStatus status;

  watch->store = self;
  watch->bucket = bucket;
  watch->number = self->buckets[bucket].number;
  jsSubOptions_Init (&options);
  options.Config.DeliverPolicy = js_DeliverLastPerSubject;
  options.Config.AckPolicy = js_AckNone;
  options.Config.MaxDeliver = 1;
  status = js_Subscribe (sub, connection->js, subject, watch_on_message, watch,
      NULL, &options, &code);
  g_free (subject);
  if (status == NATS_OK) {
    natsSubscription_SetPendingLimits (*sub, -1, -1);
    natsSubscription_SetOnCompleteCB (*sub, g_free, watch);
    return TRUE;
  }
  *sub = NULL;
  g_free (watch);
  connection_set_error (error, status, code, "cannot watch a bucket");
  return FALSE;
}

/* Asks the server whether all messages were delivered: the last one may have
 * been erased, so that the watch never reaches its revision. */
static gboolean
has_all (const Bucket *self, guint64 n)
{
  jsConsumerInfo *info = NULL;
  const natsStatus status =
      natsSubscription_GetConsumerInfo (&info, self->watch, NULL, NULL);
  const gboolean all = status == NATS_OK && info->NumPending == 0
      && info->Delivered.Consumer <= n;

  jsConsumerInfo_Destroy (info);
  return all;
}

/* Whether the watch has delivered all that the bucket held when it started. */
static gboolean
is_complete (Store *self, Bucket *bucket, const BucketInfo *info)
{
  guint64 seen, n;

  g_mutex_lock (&self->lock);
  seen = bucket->last_seen;
  n = bucket->n_messages;
  g_mutex_unlock (&self->lock);
  if (info->empty || seen >= info->last || has_all (bucket, n)) {
    bucket->n_silent = 0;
    bucket->complete = TRUE;
  } else {
    bucket->n_silent = n != bucket->n_checked ? 0 : bucket->n_silent + 1;
    bucket->complete |= seen >= bucket->last_at_start;
  }
  bucket->n_checked = n;
  return bucket->complete;
}

/* ---- the thread ---- */

static void
log_problem (Store *self, const gchar *text)
{
  if (text != NULL && g_strcmp0 (text, self->problem) != 0)
    farm_log ("%s", text);
  g_free (self->problem);
  self->problem = g_strdup (text);
}

static void
log_age (Store *self, StoreBucket bucket, const BucketInfo *info)
{
  const gchar *name = store_bucket_name (self, bucket);
  const gdouble age = (gdouble) info->age / G_USEC_PER_SEC;

  if (bucket == STORE_CAMERAS && info->age != 0)
    farm_log ("bucket '%s' has a TTL of %g s, after which cameras are deleted: "
              "remove the bucket; a worker then creates it without a TTL",
        name, age);
  else if (bucket == STORE_LEASES && info->age != self->config->lease_age)
    farm_log ("bucket '%s' was created with a lease-age of %g s, which is used "
              "instead of the configured %g s: to change it, stop the workers "
              "and remove the bucket",
        name, age, (gdouble) self->config->lease_age / G_USEC_PER_SEC);
}

/* Creates the bucket and its watch as needed. Returns whether the watch is
 * complete; FALSE without an error: not yet. */
static gboolean
keep_bucket (
    Store *self, Connection *connection, StoreBucket which, GError **error)
{
  Bucket *bucket = &self->buckets[which];
  BucketInfo info;

  if (!store_ensure_bucket (self, connection, which, &info, error))
    return FALSE;
  if (bucket->created != 0 && bucket->created != info.created) {
    farm_log ("the server lost bucket '%s'; recreated it",
        store_bucket_name (self, which));
    stop_watch (self, bucket);
    events_post_lost (self, which);
  }
  if (bucket->created != info.created)
    log_age (self, which, &info);
  bucket->created = info.created;
  if (bucket->n_silent >= MAX_SILENT)
    stop_watch (self, bucket);
  if (bucket->watch == NULL) {
    bucket->last_at_start = info.last;
    if (!start_watch (self, connection, which, error))
      return FALSE;
  }
  return is_complete (self, bucket, &info);
}

static gboolean
keep_buckets (Store *self, Connection *connection, GError **error)
{
  gboolean complete = TRUE;

  for (guint i = 0; i < STORE_N_BUCKETS && *error == NULL; i++)
    if (!keep_bucket (self, connection, (StoreBucket) i, error))
      complete = FALSE;
  return complete && *error == NULL;
}

static void
stop_watches (Store *self)
{
  for (guint i = 0; i < STORE_N_BUCKETS; i++)
    stop_watch (self, &self->buckets[i]);
}

static void
keeper_on_lost (gpointer data)
{
  Store *self = data;

  g_atomic_int_inc (&self->n_disconnects);
  keeper_wake (self);
}

static void
keeper_on_back (gpointer data)
{
  keeper_wake (data);
}

static Connection *
keep_connection (Store *self, GError **error)
{
  Connection *connection = store_get_connection (self);

  if (connection != NULL
      && natsConnection_Status (connection->nats) != NATS_CONN_STATUS_CLOSED)
    return connection;
  if (connection != NULL) {
    stop_watches (self);
    connection_unref (connection);
  }
  connection = connection_new (self->config, &self->connection_events, error);
  if (connection == NULL)
    return NULL;
  g_mutex_lock (&self->lock);
  if (self->connection != NULL)
    connection_unref (self->connection);
  self->connection = connection_ref (connection);
  g_mutex_unlock (&self->lock);
  return connection;
}

/* Recreates stale watches: those of a server that was restarted would stay
 * silent for ever. */
static gboolean
keeper_check_connected (
    Store *self, Connection *connection, gboolean *stale, GError **error)
{
  if (!connection_is_up (connection)) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED,
        "lost the connection to NATS");
    return FALSE;
  }
  if (*stale)
    stop_watches (self);
  *stale = FALSE;
  return keep_buckets (self, connection, error);
}

/* Reports whether the store is ready, if that changed. */
static void
set_ready (Store *self, gboolean ready)
{
  if (ready == self->ready)
    return;
  self->ready = ready;
  events_post_ready (self, ready);
}

static void
keeper_check (Store *self, gboolean *stale)
{
  GError *error = NULL;
  Connection *connection = keep_connection (self, &error);

  set_ready (self,
      connection != NULL
          && keeper_check_connected (self, connection, stale, &error));
  log_problem (self, error != NULL ? error->message : NULL);
  g_clear_error (&error);
  if (connection != NULL)
    connection_unref (connection);
}

gpointer
keeper_run (gpointer data)
{
  Store *self = data;
  gboolean stale = FALSE;

  self->connection_events =
      (ConnectionEvents){ keeper_on_lost, keeper_on_back, self };
  g_mutex_lock (&self->lock);
  while (!self->stop) {
    stale |= self->stale;
    self->stale = FALSE;
    g_mutex_unlock (&self->lock);
    keeper_check (self, &stale);
    g_mutex_lock (&self->lock);
    if (!self->stop && !self->stale)
      g_cond_wait_until (&self->wake, &self->lock,
          g_get_monotonic_time ()
              + (self->ready ? CHECK_MS : HURRY_MS) * G_TIME_SPAN_MILLISECOND);
  }
  g_mutex_unlock (&self->lock);
  stop_watches (self);
  return NULL;
}
