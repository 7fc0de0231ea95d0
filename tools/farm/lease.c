/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a lease. Requests wait for the server in threads; all else is in
 * the main context. */
#include <gio/gio.h>
#include <string.h>

#include "worker-private.h"

/* A lost lease's line has so long to end its files. */
#define LOST_GRACE (2 * G_USEC_PER_SEC)
/* What we gave up or could not take is left to others for so long. */
#define GIVEN_UP (2 * G_USEC_PER_SEC)
#define RETRY (G_USEC_PER_SEC / 2)
/* How long a worker that cannot start processes takes no lease. */
#define UNABLE (10 * G_USEC_PER_SEC)
#define NEWS (G_USEC_PER_SEC / 4)
/* At a time. nats.c 3.4 tells of no answer but to a thread that waits for it;
 * docs/cuvision-farm.md says what this limits. */
#define MAX_REQUESTS 256

typedef enum {
  TAKE,
  RENEW,
  DELETE,
  OTHER, /* not of a camera's lease */
} Kind;

typedef struct {
  Worker *worker;
  Camera *camera; /* NULL with OTHER */
  Kind kind;
  StoreBucket bucket;
  gchar *key, *value; /* NULL: to be deleted */
  guint64 revision;   /* before and after */
  gint64 sent;
  StoreResult result;
} Request;

gint64
lease_interval (const Worker *self)
{
  return store_lease_age (self->store) / 4;
}

gint64
lease_end_time (const Worker *self)
{
  return self->config->outage_grace > 0
      ? LOST_GRACE
      : MIN (LOST_GRACE, store_lease_age (self->store) / 2);
}

gint64
lease_limit (const Worker *self)
{
  const gint64 grace = self->config->outage_grace;

  return store_lease_age (self->store)
      + (grace > 0 ? grace : -lease_end_time (self));
}

/* ---- in threads ---- */

static gboolean
is_ours (const Worker *self, const gchar *value)
{
  return value != NULL && strstr (value, self->id) != NULL;
}

/* Where an answer got lost, or the server lost the lease in an outage, it can
 * be renewed still; not if another worker took it. */
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
  if (self->result == STORE_CONFLICT && self->kind == RENEW)
    self->result = renew_changed (self);
  g_idle_add_full (G_PRIORITY_DEFAULT, request_done, self, NULL);
}

/* What keeps the leases that we have comes before all else. */
static gint
compare_requests (gconstpointer a, gconstpointer b, gpointer data)
{
  return (((const Request *) a)->kind != RENEW)
      - (((const Request *) b)->kind != RENEW);
}

GThreadPool *
lease_pool_new (void)
{
  GThreadPool *pool =
      g_thread_pool_new (run_request, NULL, MAX_REQUESTS, FALSE, NULL);

  g_thread_pool_set_sort_function (pool, compare_requests, NULL);
  return pool;
}

/* ---- requests ---- */

static void
request_free (Request *self)
{
  g_free (self->key);
  g_free (self->value);
  g_free (self);
}

static void handle_answer (Camera *camera, const Request *answer);

static gboolean
request_done (gpointer data)
{
  Request *self = data;

  self->worker->n_requests--;
  if (self->camera == NULL) {
    if (self->bucket == STORE_CAMERAS && self->result == STORE_FAILED)
      worker_missed (self->worker, self->key);
  } else {
    self->camera->busy = FALSE;
    handle_answer (self->camera, self);
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

/* What `cuvision-farm list` shows. */
static gchar *
make_value (Camera *camera)
{
  JsonObject *object = begin_value (camera->worker);

  json_object_set_string_member (object, "since", camera->since);
  camera->told = -1;
  if (camera->job != NULL) {
    const JobInfo info = job_get_info (camera->job);

    camera->told = (gint) info.state;
    json_object_set_string_member (
        object, "state", job_state_name (info.state));
    json_object_set_int_member (object, "restarts", info.restarts);
    json_object_set_int_member (object, "buffers", (gint64) info.buffers);
    if (info.error != NULL)
      json_object_set_string_member (object, "error", info.error);
  }
  return end_value (object);
}

static void
request (Camera *camera, Kind kind)
{
  Request *self = g_new0 (Request, 1);

  self->worker = camera->worker;
  self->camera = camera;
  self->kind = kind;
  self->bucket = STORE_LEASES;
  self->key = g_strconcat ("lease.", camera->name, NULL);
  self->value = kind == DELETE ? NULL : make_value (camera);
  self->revision = kind == TAKE ? STORE_ABSENT : camera->lease_revision;
  send_request (self);
}

static void
request_other (Worker *worker, StoreBucket bucket, gchar *key, gchar *value,
    guint64 revision)
{
  Request *self = g_new0 (Request, 1);

  self->worker = worker;
  self->kind = OTHER;
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

/* Not where another worker did, or where it was removed meanwhile. */
void
camera_put_back (Camera *camera)
{
  camera->missing = 0;
  request_other (camera->worker, STORE_CAMERAS, g_strdup (camera->name),
      g_strdup (camera->value), STORE_NEVER);
}

/* ---- the end ---- */

static void
set_none (Camera *camera)
{
  camera->lease = LEASE_NONE;
  camera->seen = farm_now ();
  camera->retry = camera->seen + GIVEN_UP;
  g_clear_pointer (&camera->holder, g_free);
}

/* Where the line has ended and no request is on its way. */
static void
go_on (Camera *camera)
{
  if (camera->job != NULL || camera->busy)
    return;
  if (camera->lease == LEASE_LOST) {
    set_none (camera);
  } else if (camera->lease == LEASE_RELEASING) {
    camera->lease = LEASE_DELETING;
    request (camera, DELETE);
  }
}

static void
job_ended (gpointer data)
{
  Camera *camera = data;

  g_clear_pointer (&camera->job, job_free);
  go_on (camera);
}

static void
end_job (Camera *camera, gint64 grace)
{
  if (camera->job != NULL)
    job_stop (camera->job, grace, job_ended, camera);
  else
    go_on (camera);
}

void
lease_release (Camera *camera)
{
  camera->lease = LEASE_RELEASING;
  end_job (camera, camera->worker->config->stop_timeout);
}

/* It would keep the camera from workers that can run it. */
static void
give_up (Camera *camera)
{
  Worker *worker = camera->worker;

  farm_log (
      "camera %s: released: this worker cannot start a process", camera->name);
  worker->unable_until = farm_now () + UNABLE;
  lease_release (camera);
  worker_announce (worker);
}

static void
lose (Camera *camera, const gchar *why)
{
  farm_log ("camera %s: the lease is lost: %s", camera->name, why);
  camera->worker->n_lost++;
  camera->lease = LEASE_LOST;
  end_job (camera, lease_end_time (camera->worker));
}

/* ---- taking ---- */

static void
taken (Camera *camera, const Request *answer)
{
  if (answer->result != STORE_OK) {
    camera->lease = LEASE_NONE;
    camera->retry = farm_now () + RETRY;
    return;
  }
  camera->worker->n_taken++;
  camera->lease_revision = answer->revision;
  camera->renewed = camera->taken = answer->sent;
  camera->lease = LEASE_HELD;
  if (camera->value == NULL || camera->worker->stopped != NULL
      || farm_now () - answer->sent > store_lease_age (camera->worker->store))
    lease_release (camera); /* or the answer came so late that it may be over */
  else
    camera->job = job_new (camera->worker->config, camera->name, camera->value);
}

void
lease_take (Camera *camera)
{
  GDateTime *now = g_date_time_new_now_utc ();

  g_free (camera->since);
  camera->since = g_date_time_format_iso8601 (now);
  g_date_time_unref (now);
  camera->lease = LEASE_TAKING;
  request (camera, TAKE);
}

/* ---- renewing ---- */

static void
renewed (Camera *camera, const Request *answer)
{
  Worker *worker = camera->worker;

  if (answer->result == STORE_OK) {
    worker->n_renewals++;
    camera->lease_revision = answer->revision;
    camera->renewed = answer->sent;
  } else {
    worker->n_failures++;
    if (answer->result == STORE_CONFLICT && camera->lease != LEASE_LOST)
      lose (camera, "another worker has it");
  }
  go_on (camera);
}

static void
handle_answer (Camera *camera, const Request *answer)
{
  if (answer->kind == TAKE)
    taken (camera, answer);
  else if (answer->kind == RENEW)
    renewed (camera, answer);
  else
    set_none (camera);
}

/* Earlier where `cuvision-farm list` would show what is over. */
static gint64
next_renewal (const Camera *camera)
{
  const gint64 interval = lease_interval (camera->worker);
  const gboolean changed = camera->job != NULL
      && (gint) job_get_info (camera->job).state != camera->told;

  return changed ? MIN (interval, NEWS) : interval;
}

void
lease_hurry (Camera *camera)
{
  camera->tried = 0;
}

void
lease_tick (Camera *camera)
{
  Worker *worker = camera->worker;
  const gint64 now = farm_now ();

  if (camera->lease != LEASE_HELD && camera->lease != LEASE_RELEASING)
    return;
  if (now - camera->renewed > lease_limit (worker)) {
    lose (camera, "it could not be renewed in time");
    return;
  }
  if (camera->job != NULL)
    job_tick (camera->job);
  if (camera->lease == LEASE_HELD && camera->job != NULL
      && job_get_info (camera->job).unable) {
    give_up (camera);
    return;
  }
  if (!camera->busy && now - camera->tried >= next_renewal (camera))
    request (camera, RENEW);
}
