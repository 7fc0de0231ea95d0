/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Worker and Camera, and the functions of worker.c, balance.c, lease.c,
 * requests.c and metrics.c that other files call. All of it belongs to the main
 * context. Times are those of farm_now(). */
#ifndef FARM_WORKER_PRIVATE_H
#define FARM_WORKER_PRIVATE_H

#include "job.h"
#include "store.h"
#include "watchdog.h"
#include "worker.h"

typedef enum {
  LEASE_NONE,
  LEASE_TAKING,
  LEASE_HELD,
  LEASE_RELEASING, /* deleted once the pipeline has ended */
  LEASE_LOST,      /* reset once the pipeline has ended */
  LEASE_DELETING,
} LeaseState;

typedef struct {
  Worker *worker;
  gchar *name;
  gchar *value;      /* JSON; NULL: the camera was removed */
  gint64 restore_at; /* when to restore it to a lost bucket; 0: never */

  /* the lease according to the bucket */
  gchar *holder;      /* a worker's name; NULL: nobody */
  gint64 holder_seen; /* when the holder changed or renewed the lease */
  gint64 retry;       /* earliest time to take it */

  /* our lease */
  LeaseState lease;
  gboolean busy; /* waiting for the answer to a request */
  guint64 lease_revision;
  gint64 renewed; /* when the last successful renewal was sent */
  gint64 tried;   /* when the last request was sent */
  gint64 taken;
  gchar *since; /* `taken` as text, UTC */

  Job *job;            /* NULL: no pipeline */
  gint reported_state; /* JobState that was written last; -1: none */
} Camera;

/* Another worker. */
typedef struct {
  gint64 seen;
  guint capacity;
} Peer;

struct _Worker {
  const FarmConfig *config;
  gchar *id; /* identifies this process: a later one may have the same name */
  Store *store;
  Watchdog *watchdog;
  GHashTable *cameras; /* name -> Camera */
  GHashTable *peers;   /* name -> Peer */
  gboolean ready;      /* the store is ready: see StoreEvents */
  gint64 ready_since;
  guint n_ready;       /* how often the store became ready */
  gint64 announced;    /* when this worker was announced last */
  gint64 released;     /* when a camera was released last to balance */
  gint64 unable_until; /* until then processes probably cannot be started */
  gboolean warned_name;
  guint tick;                      /* id of the timer source */
  gint64 stopping;                 /* time since which the worker has been
                                    * stopping */
  void (*stopped) (gpointer data); /* argument of worker_stop(); NULL: not
                                    * stopping */
  gpointer data;
  GThreadPool *requests;
  guint n_requests; /* queued or waiting for an answer */
  guint64 n_taken, n_lost, n_renewals, n_failures;
};

/* ---- worker.c ---- */

/* Retries later to restore a camera to a lost bucket. */
void worker_restore_failed (Worker *self, const gchar *camera);

/* ---- lease.c ---- */

typedef enum {
  REQUEST_TAKE,
  REQUEST_RENEW,
  REQUEST_DELETE,
  REQUEST_OTHER, /* not about a camera's lease */
} RequestKind;

/* Asks for the lease; starts the pipeline if it is granted. */
void lease_take (Camera *camera);
/* Ends the pipeline, which may close its files, then deletes the lease. */
void lease_release (Camera *camera);
/* Renews the lease if it is time, or ends the pipeline of one that is lost.
 * Call a few times a second. */
void lease_tick (Camera *camera);
/* Makes the next tick renew the lease, so that after an outage others do not
 * take it. */
void lease_renew_now (Camera *camera);
/* Handles the answer to request_lease(). sent: time at which the request was
 * sent; revision: that of the lease if the result is STORE_OK. */
void lease_answered (Camera *camera, RequestKind kind, StoreResult result,
    gint64 sent, guint64 revision);
/* Returns the time between renewals of a lease, in microseconds. */
gint64 lease_interval (const Worker *self);
/* Return the age of a lease at which its pipeline has to end, and how long
 * ending it may take. Without outage-grace the sum of both is lease-age: the
 * pipeline is over before others may take the lease. */
gint64 lease_limit (const Worker *self);
gint64 lease_end_time (const Worker *self);

/* ---- requests.c ---- */

/* Makes the threads that wait for the server; called by worker_new(). */
GThreadPool *request_pool_new (void);
/* Writes or deletes the camera's lease; lease_answered() gets the result. */
void request_lease (Camera *camera, RequestKind kind);
/* Writes that this worker runs or, when it stops, that it is gone. */
void worker_announce (Worker *self);
/* Restores a camera to a lost bucket, unless it is there already. */
void camera_restore (Camera *self);

/* ---- balance.c ---- */

/* Whether this worker or another one holds the camera. */
gboolean camera_is_held (const Camera *self);
/* Returns the number of cameras that this worker holds or is taking. */
guint worker_count_held (const Worker *self);
/* Returns the number of workers that are alive, this one included. */
guint worker_count_workers (const Worker *self);
/* Returns the number of cameras in the bucket. unassigned: count only those
 * that nobody holds. */
guint worker_count_cameras (const Worker *self, gboolean unassigned);
/* Returns the configured capacity or, while processes cannot be started, at
 * most the number of cameras held. */
guint worker_current_capacity (const Worker *self);
/* A GHRFunc: whether a peer is gone. */
gboolean worker_is_gone (gpointer name, gpointer peer, gpointer worker);
/* Takes free cameras, up to this worker's share. */
void worker_take_cameras (Worker *self);
/* Releases cameras if another worker has at least two fewer. */
void worker_rebalance (Worker *self);

#endif
