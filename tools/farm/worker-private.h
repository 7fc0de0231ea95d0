/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
  LEASE_RELEASING, /* deleted when the line has ended */
  LEASE_LOST,      /* forgotten when the line has ended */
  LEASE_DELETING,
} LeaseState;

typedef struct {
  Worker *worker;
  gchar *name;
  gchar *value;   /* JSON; NULL: the camera was removed */
  gint64 missing; /* to be put back, from then on; 0: it is not */

  /* the lease as the bucket has it */
  gchar *holder; /* worker's name; NULL: nobody */
  gint64 seen;   /* when that changed, or the lease was renewed */
  gint64 retry;  /* not to be taken before */

  /* the lease that we have */
  LeaseState lease;
  gboolean busy; /* a request is on its way */
  guint64 lease_revision;
  gint64 renewed; /* when the request was sent that renewed it last */
  gint64 tried;   /* when the last request was */
  gint64 taken;
  gchar *since; /* the same by the wall clock */

  Job *job;  /* NULL: no line */
  gint told; /* JobState that the lease has; -1: none */
} Camera;

/* Another worker. */
typedef struct {
  gint64 seen;
  guint capacity;
} Peer;

struct _Worker {
  const FarmConfig *config;
  gchar *id; /* of this process: names may be used again */
  Store *store;
  Watchdog *watchdog;
  GHashTable *cameras; /* name -> Camera */
  GHashTable *peers;   /* name -> Peer */
  gboolean ready;      /* the store */
  gint64 ready_since;
  guint n_ready;       /* how often it became ready */
  gint64 announced;    /* this worker, when */
  gint64 released;     /* a camera, to balance */
  gint64 unable_until; /* processes cannot be started, probably */
  gboolean warned_name;
  guint tick;                      /* source */
  gint64 stopping;                 /* since when */
  void (*stopped) (gpointer data); /* NULL: runs */
  gpointer data;
  GThreadPool *requests;
  guint n_requests;
  guint64 n_taken, n_lost, n_renewals, n_failures;
};

/* ---- lease.c ---- */

void lease_take (Camera *camera);
/* With a line that ends in order first. */
void lease_release (Camera *camera);
/* Renews the lease, or ends the line of one that is lost; goes on where a line
 * has ended. Call a few times a second. */
void lease_tick (Camera *camera);
/* Renews it with the next tick: after an outage, before others may take it. */
void lease_hurry (Camera *camera);
/* Writes that this worker is there or, when it stops, that it is not. */
void worker_announce (Worker *self);
/* Into a bucket that was lost. */
void camera_put_back (Camera *self);
/* Worker.c's: that failed and is tried again. */
void worker_missed (Worker *self, const gchar *camera);
/* That runs requests. */
GThreadPool *lease_pool_new (void);
/* How often leases are renewed, microseconds. */
gint64 lease_interval (const Worker *self);
/* How old a lease may be before its line is told to end, and how long that may
 * take. Without outage-grace it is over when others may take the lease. */
gint64 lease_limit (const Worker *self);
gint64 lease_end_time (const Worker *self);

/* ---- balance.c ---- */

/* Whether this worker or another one holds the camera. */
gboolean camera_is_held (const Camera *self);
/* Cameras that this worker holds or takes. */
guint worker_count_held (const Worker *self);
/* This one, too. */
guint worker_count_workers (const Worker *self);
guint worker_count_cameras (const Worker *self, gboolean unassigned);
/* The configured one; while processes cannot be started no more than it holds.
 */
guint worker_current_capacity (const Worker *self);
/* A GHRFunc of `peers`. */
gboolean worker_is_gone (gpointer name, gpointer peer, gpointer worker);
void worker_take_cameras (Worker *self);
void worker_rebalance (Worker *self);

#endif
