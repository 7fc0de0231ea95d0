/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worker: its cameras and peers, as the store reports them, and the tick
 * that drives leases, pipelines and balance. */
#include "worker.h"

#include <gio/gio.h>
#include <string.h>

#include "farm-util.h"
#include "worker-private.h"

#define TICK_MS 200
/* Pause before a camera that could not be restored is tried again. */
#define RETRY G_USEC_PER_SEC
/* Time for the server to answer the last requests, after stop-timeout. */
#define CLOSE_TIME (3 * G_USEC_PER_SEC)

/* ---- cameras ---- */

static void
camera_free (gpointer data)
{
  Camera *self = data;

  g_free (self->name);
  g_free (self->value);
  g_free (self->holder);
  g_free (self->since);
  g_free (self);
}

static Camera *
camera_get (Worker *self, const gchar *name)
{
  Camera *camera = g_hash_table_lookup (self->cameras, name);

  if (camera != NULL)
    return camera;
  camera = g_new0 (Camera, 1);
  camera->worker = self;
  camera->name = g_strdup (name);
  camera->holder_seen = farm_now ();
  g_hash_table_insert (self->cameras, camera->name, camera);
  return camera;
}

static void
camera_apply_value (Camera *self)
{
  if (self->lease != LEASE_HELD)
    return;
  if (self->value == NULL)
    lease_release (self);
  else if (self->job != NULL)
    job_change (self->job, self->value);
}

static void
on_camera (Worker *self, const StoreEntry *entry)
{
  Camera *camera;

  if (!farm_is_name (entry->key)) {
    farm_log ("ignored camera '%s': a name has " FARM_NAME_RULE, entry->key);
    return;
  }
  if (entry->value == NULL
      && !g_hash_table_contains (self->cameras, entry->key))
    return;
  camera = camera_get (self, entry->key);
  if (g_strcmp0 (camera->value, entry->value) == 0)
    return; /* the watch was recreated */
  g_free (camera->value);
  camera->value = g_strdup (entry->value);
  camera_apply_value (camera);
}

static void
for_each_camera (Worker *self, void (*function) (Camera *camera))
{
  GHashTableIter iter;
  gpointer camera;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &camera))
    function (camera);
}

/* ---- leases and workers ---- */

/* Sets `worker`, `id` and `capacity` of a lease or an announcement. */
static gboolean
parse_holder (const gchar *value, gchar **worker, gchar **id, guint *capacity)
{
  JsonObject *object = value != NULL ? farm_parse_object (value, NULL) : NULL;

  if (object == NULL)
    return FALSE;
  *worker = g_strdup (farm_member (object, "worker", ""));
  *id = g_strdup (farm_member (object, "id", ""));
  *capacity = (guint) CLAMP (
      farm_int_member (object, "capacity", G_MAXUINT), 0, G_MAXUINT);
  json_object_unref (object);
  return TRUE;
}

static void
on_lease (Worker *self, const gchar *name, const StoreEntry *entry)
{
  Camera *camera = g_hash_table_lookup (self->cameras, name);
  gchar *id = NULL;
  guint capacity;

  if (camera == NULL)
    return;
  g_clear_pointer (&camera->holder, g_free);
  parse_holder (entry->value, &camera->holder, &id, &capacity);
  camera->holder_seen = farm_now ();
  g_free (id);
}

static void
add_peer (Worker *self, const gchar *name, const gchar *id, guint capacity)
{
  Peer *peer;

  if (g_str_equal (id, self->id))
    return;
  if (g_str_equal (name, self->config->name)) {
    if (!self->warned_name)
      farm_log ("another worker also has the name '%s': give each its own, or "
                "they cannot share the cameras evenly",
          name);
    self->warned_name = TRUE;
    return;
  }
  peer = g_hash_table_lookup (self->peers, name);
  if (peer == NULL) {
    peer = g_new0 (Peer, 1);
    g_hash_table_insert (self->peers, g_strdup (name), peer);
  }
  peer->seen = farm_now ();
  peer->capacity = capacity;
}

static void
on_peer (Worker *self, const gchar *name, const StoreEntry *entry)
{
  gchar *worker = NULL, *id = NULL;
  guint capacity;

  if (!parse_holder (entry->value, &worker, &id, &capacity))
    g_hash_table_remove (self->peers, name);
  else
    add_peer (self, name, id, capacity);
  g_free (worker);
  g_free (id);
}

/* ---- events of the store ---- */

static void
on_entry (gpointer data, const StoreEntry *entry)
{
  Worker *self = data;

  if (entry->bucket == STORE_CAMERAS)
    on_camera (self, entry);
  else if (g_str_has_prefix (entry->key, "lease."))
    on_lease (self, entry->key + strlen ("lease."), entry);
  else if (g_str_has_prefix (entry->key, "worker."))
    on_peer (self, entry->key + strlen ("worker."), entry);
}

static void
on_ready (gpointer data, gboolean ready)
{
  Worker *self = data;
  guint n;

  self->ready = ready;
  self->ready_since = farm_now ();
  if (!ready)
    return;
  self->n_ready++;
  for_each_camera (self, lease_renew_now);
  n = worker_count_cameras (self, FALSE);
  farm_log ("connected to NATS; %u camera%s", n, n == 1 ? "" : "s");
}

static void
restore_soon (Camera *camera)
{
  camera->restore_at = farm_now ();
}

void
worker_restore_failed (Worker *self, const gchar *camera)
{
  Camera *found = g_hash_table_lookup (self->cameras, camera);

  if (found != NULL)
    found->restore_at = farm_now () + RETRY;
}

/* Restores lost cameras, which the workers still have: the server kept them in
 * memory, or its disk was replaced. */
static void
on_lost (gpointer data, StoreBucket bucket)
{
  if (bucket == STORE_CAMERAS)
    for_each_camera (data, restore_soon);
}

/* ---- ticks ---- */

static gboolean
camera_is_over (gpointer key, gpointer value, gpointer data)
{
  const Camera *camera = value;

  return camera->value == NULL && camera->lease == LEASE_NONE && !camera->busy;
}

/* Without leases there are no pipelines either: see lease_release(). */
static void
finish_stop (Worker *self)
{
  const gint64 limit = self->config->stop_timeout + CLOSE_TIME;

  if (farm_now () - self->stopping > limit
      || (worker_count_held (self) == 0 && self->n_requests == 0))
    self->stopped (self->data);
}

static void
tick_camera (Camera *camera)
{
  lease_tick (camera);
  if (camera->restore_at != 0 && camera->restore_at <= farm_now ()
      && camera->value != NULL && camera->worker->ready)
    camera_restore (camera);
}

/* If this worker does not feed it again, the watchdog ends all pipelines when
 * the oldest of their leases reaches the limit at which lease_tick() would. */
static void
feed_watchdog (Worker *self, gint64 now)
{
  gint64 until = now + lease_limit (self) + lease_end_time (self);
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &data)) {
    const Camera *camera = data;
    const gint64 end =
        camera->renewed + lease_limit (self) + lease_end_time (self);

    if (camera->job != NULL && end > now)
      until = MIN (until, end);
  }
  watchdog_feed (self->watchdog, until);
}

static gboolean
worker_tick (gpointer data)
{
  Worker *self = data;
  const gint64 now = farm_now ();

  for_each_camera (self, tick_camera);
  feed_watchdog (self, now);
  g_hash_table_foreach_remove (self->cameras, camera_is_over, NULL);
  if (self->stopped != NULL) {
    finish_stop (self);
    return G_SOURCE_CONTINUE;
  }
  g_hash_table_foreach_remove (self->peers, worker_is_gone, self);
  if (self->ready && now - self->announced >= lease_interval (self))
    worker_announce (self);
  worker_take_cameras (self);
  worker_rebalance (self);
  return G_SOURCE_CONTINUE;
}

/* ---- the worker ---- */

Worker *
worker_new (const FarmConfig *config, GError **error)
{
  static const StoreEvents events = { on_entry, on_ready, on_lost };
  Watchdog *watchdog = watchdog_new (error);
  Worker *self;

  if (watchdog == NULL)
    return NULL;
  self = g_new0 (Worker, 1);
  self->config = config;
  self->watchdog = watchdog;
  self->id = g_uuid_string_random ();
  self->cameras =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, camera_free);
  self->peers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->requests = request_pool_new ();
  self->store = store_start (config, &events, self);
  self->tick = g_timeout_add (TICK_MS, worker_tick, self);
  return self;
}

static void
release_if_held (Camera *camera)
{
  if (camera->lease == LEASE_HELD)
    lease_release (camera);
}

void
worker_stop (Worker *self, void (*stopped) (gpointer data), gpointer data)
{
  if (self->stopped != NULL)
    return;
  self->stopped = stopped;
  self->data = data;
  self->stopping = farm_now ();
  if (self->ready)
    worker_announce (self);
  for_each_camera (self, release_if_held);
}

void
worker_free (Worker *self)
{
  g_source_remove (self->tick);
  if (self->n_requests > 0)
    return; /* threads still use it; the process ends now */
  g_thread_pool_free (self->requests, FALSE, TRUE);
  store_free (self->store);
  watchdog_free (self->watchdog);
  g_hash_table_unref (self->cameras);
  g_hash_table_unref (self->peers);
  g_free (self->id);
  g_free (self);
}
