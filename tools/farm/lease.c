/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of each lease: acquired, renewed, released or lost, and with it the
 * job that runs the camera's pipeline.
 *
 *   NONE       lease_take() asks for it           -> TAKING
 *   TAKING     granted: starts the job            -> HELD
 *              refused                            -> NONE
 *   HELD       renewed by lease_tick(), until lease_release(), which ends the
 *              job                                -> RELEASING
 *   RELEASING  renewed until the job has ended    -> DELETING
 *   DELETING   answered                           -> NONE
 *   LOST       from HELD or RELEASING: another worker has it, or it was not
 *              renewed in time; until the job has ended -> NONE */
#include <gio/gio.h>

#include "farm-util.h"
#include "worker-private.h"

/* Time a pipeline gets to close its files after its lease was lost. */
#define LOST_GRACE (2 * G_USEC_PER_SEC)
/* How long we do not retry a lease that we released or lost; and one that we
 * failed to acquire. */
#define RELEASED_PAUSE (2 * G_USEC_PER_SEC)
#define RETRY (G_USEC_PER_SEC / 2)
/* How long a worker that cannot start processes takes no lease. */
#define UNABLE (10 * G_USEC_PER_SEC)
/* Minimum time between two renewals that report a changed state. */
#define STATE_INTERVAL (G_USEC_PER_SEC / 4)

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

/* ---- the end ---- */

static void
lease_reset (Camera *camera)
{
  camera->lease = LEASE_NONE;
  camera->holder_seen = farm_now ();
  camera->retry = camera->holder_seen + RELEASED_PAUSE;
  g_clear_pointer (&camera->holder, g_free);
}

/* Takes the next step of a lease that ends, once the pipeline has ended and no
 * request is pending. */
static void
lease_end_step (Camera *camera)
{
  if (camera->job != NULL || camera->busy)
    return;
  if (camera->lease == LEASE_LOST) {
    lease_reset (camera);
  } else if (camera->lease == LEASE_RELEASING) {
    camera->lease = LEASE_DELETING;
    request_lease (camera, REQUEST_DELETE);
  }
}

static void
job_ended (gpointer data)
{
  Camera *camera = data;

  g_clear_pointer (&camera->job, job_free);
  lease_end_step (camera);
}

static void
end_job (Camera *camera, gint64 grace)
{
  if (camera->job != NULL)
    job_stop (camera->job, grace, job_ended, camera);
  else
    lease_end_step (camera);
}

void
lease_release (Camera *camera)
{
  camera->lease = LEASE_RELEASING;
  end_job (camera, camera->worker->config->stop_timeout);
}

/* Leaves the camera to workers that can run it. */
static void
release_unable (Camera *camera)
{
  Worker *worker = camera->worker;

  farm_log ("camera %s: lease released: this worker cannot start a process",
      camera->name);
  worker->unable_until = farm_now () + UNABLE;
  lease_release (camera);
  worker_announce (worker);
}

static void
lease_lose (Camera *camera, const gchar *why)
{
  farm_log ("camera %s: lost the lease: %s", camera->name, why);
  camera->worker->n_lost++;
  camera->lease = LEASE_LOST;
  end_job (camera, lease_end_time (camera->worker));
}

/* ---- taking a lease ---- */

/* An answer that comes later than lease-age may be about a lease that has run
 * out: it is released. */
static void
take_answered (
    Camera *camera, StoreResult result, gint64 sent, guint64 revision)
{
  if (result != STORE_OK) {
    camera->lease = LEASE_NONE;
    camera->retry = farm_now () + RETRY;
    return;
  }
  camera->worker->n_taken++;
  camera->lease_revision = revision;
  camera->renewed = camera->taken = sent;
  camera->lease = LEASE_HELD;
  if (camera->value == NULL || camera->worker->stopped != NULL
      || farm_now () - sent > store_lease_age (camera->worker->store))
    lease_release (camera);
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
  request_lease (camera, REQUEST_TAKE);
}

/* ---- renewing ---- */

static void
renewal_answered (
    Camera *camera, StoreResult result, gint64 sent, guint64 revision)
{
  Worker *worker = camera->worker;

  if (result == STORE_OK) {
    worker->n_renewals++;
    camera->lease_revision = revision;
    camera->renewed = sent;
  } else {
    worker->n_failures++;
    if (result == STORE_CONFLICT && camera->lease != LEASE_LOST)
      lease_lose (camera, "another worker has it");
  }
  lease_end_step (camera);
}

void
lease_answered (Camera *camera, RequestKind kind, StoreResult result,
    gint64 sent, guint64 revision)
{
  if (kind == REQUEST_TAKE)
    take_answered (camera, result, sent, revision);
  else if (kind == REQUEST_RENEW)
    renewal_answered (camera, result, sent, revision);
  else
    lease_reset (camera);
}

/* Returns the time of the next renewal, which is earlier if `cuvision-farm
 * list` would show an old state. */
static gint64
next_renewal (const Camera *camera)
{
  const gint64 interval = lease_interval (camera->worker);
  const gboolean changed = camera->job != NULL
      && (gint) job_get_info (camera->job).state != camera->reported_state;

  return changed ? MIN (interval, STATE_INTERVAL) : interval;
}

void
lease_renew_now (Camera *camera)
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
    lease_lose (camera, "it could not be renewed in time");
    return;
  }
  if (camera->job != NULL)
    job_tick (camera->job);
  if (camera->lease == LEASE_HELD && camera->job != NULL
      && job_get_info (camera->job).unable) {
    release_unable (camera);
    return;
  }
  if (!camera->busy && now - camera->tried >= next_renewal (camera))
    request_lease (camera, REQUEST_RENEW);
}
