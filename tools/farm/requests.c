/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes to the buckets: each request waits for the server in a thread of a
 * pool, and its answer is handled in the main context. */
#include <gio/gio.h>
#include <string.h>

#include "farm-util.h"
#include "worker-private.h"

/* Maximum number of requests at a time. nats.c 3.4 reports a missing reply only
 * to a thread that waits for it; docs/cuvision-farm.md says how many cameras
 * that allows. */
#define MAX_REQUESTS 256

typedef struct {
  Worker *worker;
  Camera *camera; /* NULL with REQUEST_OTHER */
  RequestKind kind;
  StoreBucket bucket;
  gchar *key, *value; /* a NULL value deletes the key */
  guint64 revision;   /* expected revision; after success that of the new
                       * value */
  gint64 sent;
  StoreResult result;
} Request;

/* ---- in threads ---- */

static gboolean
is_ours (const Worker *self, const gchar *value)
{
  return value != NULL && strstr (value, self->id) != NULL;
}

/* A renewal finds another revision if the answer to the last one got lost, if
 * the server lost the lease, or if another worker took it. Only the last is a
 * conflict. */
static StoreResult
renew_changed (Request *self)
{
  StoreEntry *entry;
  StoreResult result =
      store_get (self->worker->store, STORE_LEASES, self->key, &entry, NULL);

  if (result != STORE_OK)
    return result;
  if (entry->value == NULL || is_ours (self->worker, entry->value))
    result = store_put (self->worker->store, STORE_LEASES, self->key,
        self->value, entry->revision, &self->revision, NULL);
  else
    result = STORE_CONFLICT;
  store_entry_free (entry);
  return result;
}

static gboolean request_done (gpointer data);

static void
run_request (gpointer data, gpointer user_data)
{
  Request *self = data;
  Store *store = self->worker->store;

  if (self->value == NULL)
    self->result =
        store_delete (store, self->bucket, self->key, self->revision, NULL);
  else
    self->result = store_put (store, self->bucket, self->key, self->value,
        self->revision, &self->revision, NULL);
  if (self->result == STORE_CONFLICT && self->kind == REQUEST_RENEW)
    self->result = renew_changed (self);
  g_idle_add_full (G_PRIORITY_DEFAULT, request_done, self, NULL);
}

/* Renewals first: leases that we hold must not run out. */
static gint
compare_requests (gconstpointer a, gconstpointer b, gpointer data)
{
  return (((const Request *) a)->kind != REQUEST_RENEW)
      - (((const Request *) b)->kind != REQUEST_RENEW);
}

GThreadPool *
request_pool_new (void)
{
  GThreadPool *pool =
      g_thread_pool_new (run_request, NULL, MAX_REQUESTS, FALSE, NULL);

  g_thread_pool_set_sort_function (pool, compare_requests, NULL);
  return pool;
}

/* ---- in the main context ---- */

static void
request_free (Request *self)
{
  g_free (self->key);
  g_free (self->value);
  g_free (self);
}

static gboolean
request_done (gpointer data)
{
  Request *self = data;

  self->worker->n_requests--;
  if (self->camera == NULL) {
    if (self->bucket == STORE_CAMERAS && self->result == STORE_FAILED)
      worker_restore_failed (self->worker, self->key);
  } else {
    self->camera->busy = FALSE;
    lease_answered (
        self->camera, self->kind, self->result, self->sent, self->revision);
  }
  request_free (self);
  return G_SOURCE_REMOVE;
}

static void
send_request (Request *self)
{
  self->worker->n_requests++;
  self->sent = farm_now ();
  if (self->camera != NULL) {
    self->camera->busy = TRUE;
    self->camera->tried = self->sent;
  }
  g_thread_pool_push (self->worker->requests, self, NULL);
}

/* ---- values ---- */

static JsonObject *
begin_value (const Worker *worker)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "worker", worker->config->name);
  json_object_set_string_member (object, "id", worker->id);
  return object;
}

static gchar *
end_value (JsonObject *object)
{
  JsonNode *node = json_node_alloc ();
  gchar *text;

  json_node_init_object (node, object);
  text = json_to_string (node, FALSE);
  json_node_unref (node);
  json_object_unref (object);
  return text;
}

/* Returns a lease, as `cuvision-farm list` shows it. */
static gchar *
lease_value (Camera *camera)
{
  JsonObject *object = begin_value (camera->worker);

  json_object_set_string_member (object, "since", camera->since);
  camera->reported_state = -1;
  if (camera->job != NULL) {
    const JobInfo info = job_get_info (camera->job);

    camera->reported_state = (gint) info.state;
    json_object_set_string_member (
        object, "state", job_state_name (info.state));
    json_object_set_int_member (object, "restarts", info.restarts);
    json_object_set_int_member (object, "buffers", (gint64) info.buffers);
    if (info.error != NULL)
      json_object_set_string_member (object, "error", info.error);
  }
  return end_value (object);
}

/* ---- requests ---- */

void
request_lease (Camera *camera, RequestKind kind)
{
  Request *self = g_new0 (Request, 1);

  self->worker = camera->worker;
  self->camera = camera;
  self->kind = kind;
  self->bucket = STORE_LEASES;
  self->key = g_strconcat ("lease.", camera->name, NULL);
  self->value = kind == REQUEST_DELETE ? NULL : lease_value (camera);
  self->revision = kind == REQUEST_TAKE ? STORE_ABSENT : camera->lease_revision;
  send_request (self);
}

static void
request_other (Worker *worker, StoreBucket bucket, gchar *key, gchar *value,
    guint64 revision)
{
  Request *self = g_new0 (Request, 1);

  self->worker = worker;
  self->kind = REQUEST_OTHER;
  self->bucket = bucket;
  self->key = key;
  self->value = value;
  self->revision = revision;
  send_request (self);
}

void
worker_announce (Worker *worker)
{
  gchar *value = NULL;

  if (worker->stopped == NULL) {
    JsonObject *object = begin_value (worker);

    json_object_set_int_member (
        object, "capacity", worker_current_capacity (worker));
    value = end_value (object);
  }
  worker->announced = farm_now ();
  request_other (worker, STORE_LEASES,
      g_strconcat ("worker.", worker->config->name, NULL), value, STORE_ANY);
}

/* Expects STORE_NEVER, so that nothing is written if another worker restored
 * the camera first or the user has removed it since. */
void
camera_restore (Camera *camera)
{
  camera->restore_at = 0;
  request_other (camera->worker, STORE_CAMERAS, g_strdup (camera->name),
      g_strdup (camera->value), STORE_NEVER);
}
