/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker: acquires leases of cameras and runs a pipeline for each camera that
 * it holds. And a map of this folder.
 *
 * The program
 *   cuvision-farm.c   main(): reads the options and runs a worker or a command
 *   commands.c        the commands put, get, remove and list
 *   farm-config.c     the configuration file
 *   key-file.c        reads groups and keys of that file
 *   farm-util.c       valid names, time, the log, JSON values, hiding passwords
 * The worker
 *   worker.c          its cameras and peers, and the tick that drives the rest
 *   worker-private.h  Worker and Camera, which the files of the worker share
 *   balance.c         decides which leases to acquire and which to release
 *   lease.c           the state of a lease: acquired, renewed, released, lost
 *   requests.c        writes leases and announcements, in a pool of threads
 *   job.c             runs a camera's pipeline; restarts it if it fails, stalls
 *   pipeline-text.c   fills in a camera's values; hides its password in errors
 *   watchdog.c        ends the pipelines of a worker that no longer runs
 *   metrics.c         the worker's numbers in Prometheus' format
 *   http.c            serves them
 * NATS
 *   store.c           the two buckets: get, put, delete, list
 *   keeper.c          keeps connection, buckets and watches; reports changes
 *   events.c          carries these reports to the main context
 *   store-private.h   Store and Bucket, which these three files share
 *   connection.c      a connection with the configuration's options
 * Elsewhere
 *   ../line/          a gst-launch pipeline in a process of its own
 *
 * Data: the keys of the two buckets, with their default names
 *   cameras        CAMERA        the user's JSON object: the pipeline's values
 *   camera-leases  lease.CAMERA  the worker that runs the camera, state and
 *                                counts of its pipeline, its last error
 *                  worker.NAME   the capacity of a worker
 * A worker writes its keys of camera-leases four times per lease-age. Keys that
 * are not written for a lease-age vanish: a dead worker's cameras become free.
 * A lease is acquired by creating its key, which NATS grants to one worker.
 *
 * Control: who calls whom
 *   watches -> keeper.c -> events.c
 *     -> on_entry(), on_ready(), on_lost()                         worker.c
 *   worker_tick(), five times a second
 *     -> lease_tick() of each camera: renews; notices a lost lease lease.c
 *          -> job_tick(): next attempt; ends a stalled pipeline    job.c
 *     -> watchdog_feed()                                           watchdog.c
 *     -> worker_take_cameras() -> lease_take()                     balance.c
 *     -> worker_rebalance() -> lease_release()                     balance.c
 *   lease.c -> request_lease() -> store_put() or store_delete() in a thread
 *     -> lease_answered() in the main context -> job_new()
 *   job.c -> pipeline_text_new(), cuv_line_start(), cuv_line_stop()
 *
 * Threads
 *   main context      all state of Worker, Camera and Job, without locks
 *   pool, requests.c  up to 256 requests that wait for the server's answer
 *   "nats", keeper.c  checks the buckets each second; queues events for the
 *                     main context, as do the threads of the library nats.c
 *   processes         one for each pipeline, with a thread of watchdog.c */
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

/* Returns the metrics in Prometheus' text format. */
gchar *worker_metrics (Worker *self);
/* Whether the worker can take cameras: it is connected to NATS and not
 * stopping. */
gboolean worker_is_ready (Worker *self);

#endif
