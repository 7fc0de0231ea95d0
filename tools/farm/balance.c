/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which cameras this worker takes and which it releases, so that all
 * workers have as many as their capacity allows: see docs/cuvision-farm.md. */
#include "farm-util.h"
#include "worker-private.h"

#define SECOND G_USEC_PER_SEC
/* Wait after a start, until the workers have announced themselves. */
#define SETTLE SECOND
/* Wait after an outage, until workers that still run a pipeline have renewed
 * its lease. */
#define SETTLE_AGAIN (2 * SECOND)
/* How long a worker that has its share leaves a free camera to others. */
#define PATIENCE (3 * SECOND / 2)
/* Minimum time between two steps of balancing. */
#define REBALANCE (2 * SECOND)

static gboolean
is_fresh (const Worker *self, gint64 seen)
{
  return farm_now () - seen <= store_lease_age (self->store);
}

/* A dead worker stops counting before its leases run out, so that the others'
 * shares are right when they take its cameras. */
static gboolean
is_alive (const Worker *self, const Peer *peer)
{
  return farm_now () - peer->seen <= store_lease_age (self->store) * 3 / 4;
}

gboolean
camera_is_held (const Camera *self)
{
  return self->lease != LEASE_NONE
      || (self->holder != NULL && is_fresh (self->worker, self->holder_seen));
}

guint
worker_count_held (const Worker *self)
{
  GHashTableIter iter;
  gpointer camera;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &camera))
    n += ((Camera *) camera)->lease != LEASE_NONE;
  return n;
}

guint
worker_current_capacity (const Worker *self)
{
  return farm_now () < self->unable_until
      ? MIN (worker_count_held (self), self->config->capacity)
      : self->config->capacity;
}

gboolean
worker_is_gone (gpointer name, gpointer peer, gpointer worker)
{
  return !is_fresh (worker, ((const Peer *) peer)->seen);
}

guint
worker_count_workers (const Worker *self)
{
  GHashTableIter iter;
  gpointer peer;
  guint n = 1;

  g_hash_table_iter_init (&iter, self->peers);
  while (g_hash_table_iter_next (&iter, NULL, &peer))
    n += is_alive (self, peer);
  return n;
}

guint
worker_count_cameras (const Worker *self, gboolean unassigned)
{
  GHashTableIter iter;
  gpointer data;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &data)) {
    const Camera *camera = data;

    n += camera->value != NULL && !(unassigned && camera_is_held (camera));
  }
  return n;
}

/* ---- taking cameras ---- */

static guint
fair_share (const Worker *self)
{
  const guint workers = worker_count_workers (self);

  return (worker_count_cameras (self, FALSE) + workers - 1) / workers;
}

static gint64
free_since (const Camera *self)
{
  return self->holder != NULL
      ? self->holder_seen + store_lease_age (self->worker->store)
      : self->holder_seen;
}

/* Lists the cameras that have been free for at least `patience`, in random
 * order, so that workers do not all ask for the same one. */
static GPtrArray *
list_free (const Worker *self, gint64 patience)
{
  GPtrArray *cameras = g_ptr_array_new ();
  const gint64 now = farm_now ();
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &data)) {
    Camera *camera = data;

    if (camera->value == NULL || camera->busy || camera_is_held (camera)
        || now < camera->retry || now - free_since (camera) < patience)
      continue;
    g_ptr_array_insert (
        cameras, g_random_int_range (0, (gint) cameras->len + 1), camera);
  }
  return cameras;
}

void
worker_take_cameras (Worker *self)
{
  const guint held = worker_count_held (self), share = fair_share (self);
  GPtrArray *cameras;
  guint most;

  if (!self->ready || held >= worker_current_capacity (self)
      || farm_now () - self->ready_since
          < (self->n_ready > 1 ? SETTLE_AGAIN : SETTLE))
    return;
  /* take half of what is missing, because other workers take cameras, too */
  most = held < share ? (share - held + 1) / 2 : 1;
  most = MIN (most, worker_current_capacity (self) - held);
  cameras = list_free (self, held < share ? 0 : PATIENCE);
  for (guint i = 0; i < MIN (most, cameras->len); i++)
    lease_take (cameras->pdata[i]);
  g_ptr_array_unref (cameras);
}

/* ---- releasing ---- */

static guint
count_peer_cameras (const Worker *self, const gchar *holder)
{
  GHashTableIter iter;
  gpointer data;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &data)) {
    const Camera *camera = data;

    n += camera->lease == LEASE_NONE && g_strcmp0 (camera->holder, holder) == 0
        && is_fresh (self, camera->holder_seen);
  }
  return n;
}

/* Returns how many cameras to release: 0 unless this worker has more than all
 * others, or is the first by name of several that have the most. Otherwise half
 * of what workers with at least two fewer could take, since other workers may
 * release some as well. */
static guint
count_surplus (const Worker *self, guint held)
{
  const guint share = fair_share (self);
  guint room = 0;
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, self->peers);
  while (g_hash_table_iter_next (&iter, &name, &data)) {
    const Peer *peer = data;
    const guint n =
        is_alive (self, peer) ? count_peer_cameras (self, name) : held - 1;

    if (n > held || (n == held && g_strcmp0 (name, self->config->name) < 0))
      return 0;
    if (n + 2 <= held && n < peer->capacity)
      room += MAX (MIN (share, peer->capacity), n + 1) - n;
  }
  if (room == 0)
    return 0;
  return held > share ? MAX (MIN (held - share, room) / 2, 1) : 1;
}

static gint
compare_taken (gconstpointer a, gconstpointer b)
{
  const gint64 x = (*(Camera *const *) a)->taken;
  const gint64 y = (*(Camera *const *) b)->taken;

  return (x < y) - (x > y);
}

/* Lists our leases, newest first. The list is empty while one is being taken or
 * released, or if one was taken within the last two lease-ages: no camera is
 * interrupted twice in a row. */
static GPtrArray *
list_held (const Worker *self)
{
  GPtrArray *cameras = g_ptr_array_new ();
  const gint64 young = farm_now () - 2 * store_lease_age (self->store);
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &data)) {
    const Camera *camera = data;

    if (camera->lease == LEASE_NONE)
      continue;
    if (camera->lease != LEASE_HELD || camera->taken > young) {
      g_ptr_array_set_size (cameras, 0);
      break;
    }
    g_ptr_array_add (cameras, data);
  }
  g_ptr_array_sort (cameras, compare_taken);
  return cameras;
}

void
worker_rebalance (Worker *self)
{
  const gint64 now = farm_now ();
  GPtrArray *cameras;
  guint n;

  if (!self->config->rebalance || !self->ready
      || now - self->ready_since < REBALANCE || now - self->released < REBALANCE
      || worker_count_cameras (self, TRUE) > 0)
    return;
  n = count_surplus (self, worker_count_held (self));
  if (n == 0)
    return;
  cameras = list_held (self);
  for (guint i = 0; i < MIN (n, cameras->len); i++) {
    Camera *camera = cameras->pdata[i];

    farm_log (
        "camera %s: handed over to a worker with fewer cameras", camera->name);
    self->released = now;
    lease_release (camera);
  }
  g_ptr_array_unref (cameras);
}
