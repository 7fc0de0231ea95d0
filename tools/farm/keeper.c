/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that keeps the connection, the buckets and their watches. */
#include <gio/gio.h>
#include <string.h>

#include "store-private.h"

#define CHECK_MS 1000
#define HURRY_MS 200
/* After so many checks a watch that brings nothing is made anew. */
#define MAX_STUCK 3

typedef struct {
  StoreEntry *entry; /* or: */
  gboolean is_ready, ready, is_lost;
  StoreBucket bucket;
} Event;

static void
event_free (Event *self)
{
  if (self->entry != NULL)
    store_entry_free (self->entry);
  g_free (self);
}

/* ---- to the main context ---- */

static gboolean
has_events (GSource *source, gint *timeout)
{
  Store *const *self = (Store *const *) (source + 1);

  *timeout = -1;
  return g_async_queue_length ((*self)->queue) > 0;
}

static gboolean
check_events (GSource *source)
{
  gint timeout;

  return has_events (source, &timeout);
}

static gboolean
dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  Store *self = *(Store **) (source + 1);
  Event *event = g_async_queue_try_pop (self->queue);

  if (event == NULL)
    return G_SOURCE_CONTINUE;
  if (event->entry != NULL)
    self->events->entry (self->data, event->entry);
  else if (event->is_ready)
    self->events->ready (self->data, event->ready);
  else
    self->events->lost (self->data, event->bucket);
  event_free (event);
  return G_SOURCE_CONTINUE;
}

GSource *
store_source_new (Store *self)
{
  static GSourceFuncs functions = { has_events, check_events, dispatch, NULL,
    NULL, NULL };
  GSource *source =
      g_source_new (&functions, sizeof (GSource) + sizeof (Store *));

  *(Store **) (source + 1) = self;
  self->queue = g_async_queue_new_full ((GDestroyNotify) event_free);
  g_source_attach (source, NULL);
  return source;
}

void
store_queue_free (GAsyncQueue *queue)
{
  g_async_queue_unref (queue);
}

static void
post (Store *self, Event *event)
{
  g_async_queue_push (self->queue, event);
  g_main_context_wakeup (NULL);
}

static void
post_ready (Store *self, gboolean ready)
{
  Event *event;

  if (ready == self->ready)
    return;
  self->ready = ready;
  event = g_new0 (Event, 1);
  event->is_ready = TRUE;
  event->ready = ready;
  post (self, event);
}

static void
post_lost (Store *self, StoreBucket bucket)
{
  Event *event = g_new0 (Event, 1);

  event->is_lost = TRUE;
  event->bucket = bucket;
  post (self, event);
}

void
store_wake (Store *self)
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
  guint number; /* of this watch */
  guint64 n;    /* messages that came */
} Watch;

static gchar *
key_of (const Watch *self, natsMsg *message)
{
  const gchar *subject = natsMsg_GetSubject (message);
  const gsize prefix =
      strlen ("$KV..") + strlen (store_bucket_name (self->store, self->bucket));

  return strlen (subject) > prefix ? g_strdup (subject + prefix) : NULL;
}

/* Nothing for what is left of a watch that was stopped. */
static void
note_place (const Watch *self, guint64 revision)
{
  Bucket *bucket = &self->store->buckets[self->bucket];

  g_mutex_lock (&self->store->lock);
  if (bucket->number == self->number) {
    bucket->seen = revision;
    bucket->n = self->n;
  }
  g_mutex_unlock (&self->store->lock);
}

static void
handle_message (Watch *self, natsMsg *message, const jsSequencePair *sequence)
{
  Store *store = self->store;
  gchar *key = key_of (self, message);
  Event *event;

  /* one was lost: all have to come again */
  if (sequence->Consumer != ++self->n)
    store_wake (store);
  if (key == NULL)
    return;
  event = g_new0 (Event, 1);
  event->entry = store_entry_new (self->bucket, key, message, sequence->Stream);
  g_free (key);
  post (store, event);
  note_place (self, sequence->Stream);
}

static void
on_message (
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
  bucket->n_stuck = 0;
  bucket->complete = FALSE;
  g_mutex_lock (&self->lock);
  bucket->number++;
  bucket->seen = bucket->n = bucket->n_before = 0;
  g_mutex_unlock (&self->lock);
}

/* Not an ordered consumer: those of nats.c 3.4 make themselves anew in threads
 * that free the name which unsubscribing reads. */
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
  status = js_Subscribe (
      sub, connection->js, subject, on_message, watch, NULL, &options, &code);
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

/* The revision of the last message does not tell where that one was erased. */
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

/* Whether everything that the bucket held when the watch began has come. */
static gboolean
is_complete (Store *self, Bucket *bucket, const BucketInfo *info)
{
  guint64 seen, n;

  g_mutex_lock (&self->lock);
  seen = bucket->seen;
  n = bucket->n;
  g_mutex_unlock (&self->lock);
  if (info->empty || seen >= info->last || has_all (bucket, n)) {
    bucket->n_stuck = 0;
    bucket->complete = TRUE;
  } else {
    bucket->n_stuck = n != bucket->n_before ? 0 : bucket->n_stuck + 1;
    bucket->complete |= seen >= bucket->last;
  }
  bucket->n_before = n;
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
    farm_log ("the bucket '%s' has an age of %g s: its cameras vanish after "
              "that; remove it and let a worker make it",
        name, age);
  else if (bucket == STORE_LEASES && info->age != self->config->lease_age)
    farm_log ("lease-age is %g s, as the bucket '%s' was made with, and not %g "
              "as configured",
        age, name, (gdouble) self->config->lease_age / G_USEC_PER_SEC);
}

/* Complete or not; sets the error if the server has to be asked again. */
static gboolean
keep_bucket (
    Store *self, Connection *connection, StoreBucket which, GError **error)
{
  Bucket *bucket = &self->buckets[which];
  BucketInfo info;

  if (!store_ensure_bucket (self, connection, which, &info, error))
    return FALSE;
  if (bucket->created != 0 && bucket->created != info.created) {
    farm_log ("the server lost the bucket '%s'; it was made anew",
        store_bucket_name (self, which));
    stop_watch (self, bucket);
    post_lost (self, which);
  }
  if (bucket->created != info.created)
    log_age (self, which, &info);
  bucket->created = info.created;
  if (bucket->n_stuck >= MAX_STUCK)
    stop_watch (self, bucket);
  if (bucket->watch == NULL) {
    bucket->last = info.last;
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
on_lost (gpointer data)
{
  Store *self = data;

  g_atomic_int_inc (&self->n_disconnects);
  store_wake (self);
}

static void
on_back (gpointer data)
{
  store_wake (data);
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

/* stale: there was another connection since. Nothing would come any more by the
 * watches of a server that was restarted. */
static gboolean
keep (Store *self, Connection *connection, gboolean *stale, GError **error)
{
  if (!connection_is_up (connection)) {
    g_set_error_literal (
        error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "lost the NATS server");
    return FALSE;
  }
  if (*stale)
    stop_watches (self);
  *stale = FALSE;
  return keep_buckets (self, connection, error);
}

static void
keep_all (Store *self, gboolean *stale)
{
  GError *error = NULL;
  Connection *connection = keep_connection (self, &error);

  post_ready (
      self, connection != NULL && keep (self, connection, stale, &error));
  log_problem (self, error != NULL ? error->message : NULL);
  g_clear_error (&error);
  if (connection != NULL)
    connection_unref (connection);
}

gpointer
store_keep (gpointer data)
{
  Store *self = data;
  gboolean stale = FALSE;

  self->connection_events = (ConnectionEvents){ on_lost, on_back, self };
  g_mutex_lock (&self->lock);
  while (!self->stop) {
    stale |= self->stale;
    self->stale = FALSE;
    g_mutex_unlock (&self->lock);
    keep_all (self, &stale);
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
