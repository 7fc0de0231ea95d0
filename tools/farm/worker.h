/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker: acquires leases of cameras and runs a pipeline for each camera that
 * it holds. And a map of this folder.
 *
 *   cuvision-farm.c   main(): reads the options and runs a worker or a command
 *   commands.c        the commands put, get, remove and list
 *   farm-config.c     the configuration file; key-file.c reads its values
 *   farm-util.c       valid names, time, the log, JSON values, hiding passwords
 *
 *   worker.c          the worker's cameras and peers, as the store reports
 * them, and the tick, five times a second, that drives all below
 *   worker-private.h  Worker and Camera, which the files of the worker share
 *   balance.c         decides which leases to acquire and which to release
 *   lease.c           the state of each lease: acquired, renewed, released,
 * lost requests.c        writes leases and announcements, in a pool of threads
 *   job.c             a camera's pipeline: restarts it when it fails or stalls
 *   pipeline-text.c   fills in a camera's values; hides its password in errors
 *   watchdog.c        ends the pipelines of a worker that no longer runs
 *   metrics.c, http.c the worker's numbers, for Prometheus
 *
 *   store.c           the two buckets of NATS: get, put, delete, list
 *   store-private.h   Store and Bucket, which store.c and keeper.c share
 *   keeper.c          keeps connection, buckets and watches; reports changes
 *   connection.c      a connection to NATS, with the configuration's options
 *   ../line/          a gst-launch pipeline in a process of its own
 *
 * What the buckets hold (names as configured by default):
 *
 *   cameras        CAMERA        the user's JSON object: the pipeline's values
 *   camera-leases  lease.CAMERA  the worker that runs the camera, the state of
 *                                its pipeline, its counts and last error
 *                  worker.NAME   a worker's capacity, written as often as
 * leases
 *
 * Keys of camera-leases vanish when they are not written again within
 * lease-age: so a dead worker's cameras become free. A key is acquired by
 * creating it, which NATS grants to one worker only.
 *
 * Who calls whom:
 *
 *   watch -> keeper.c -> on_entry(), on_ready(), on_lost() in worker.c
 *   tick, worker.c -> lease_tick() -> job_tick()         each camera
 *                  -> worker_take_cameras(), worker_rebalance()   balance.c
 *                       -> lease_take(), lease_release()
 *   lease.c -> request_lease() -> store_put(), store_delete()  in a thread
 *           <- lease_answered()                     in the main context
 *   lease.c -> job_new(), job_stop() -> cuv_line_start(), cuv_line_stop()
 *
 * Threads: all state of Worker, Camera and Job belongs to the main context and
 * has no lock. The pool of requests.c waits for the server's answers; the
 * keeper's thread and those of nats.c only queue events for the main context.
 * Each pipeline is a process of its own, with a thread for the watchdog. */
#ifndef FARM_WORKER_H
#define FARM_WORKER_H

#include "farm-config.h"

typedef struct _Worker Worker;

/* Starts a worker in the default main context. The configuration must outlive
 * it. */
Worker *worker_new (const FarmConfig *config, GError **error);
/* Ends all pipelines and releases all leases, then calls `stopped`; after
 * stop-timeout and 3 seconds in any case. */
void worker_stop (Worker *self, void (*stopped) (gpointer data), gpointer data);
void worker_free (Worker *self);

/* ---- metrics.c ---- */

/* In Prometheus' text format. */
gchar *worker_metrics (Worker *self);
/* Whether it can take cameras: connected to NATS and not stopping. */
gboolean worker_is_ready (Worker *self);

#endif
