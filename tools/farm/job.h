/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a camera's pipeline, each time in a new process, and restarts it when it
 * fails, ends or stalls. */
#ifndef FARM_JOB_H
#define FARM_JOB_H

#include <json-glib/json-glib.h>

#include "farm-config.h"

typedef enum {
  JOB_STARTING,
  JOB_PLAYING,
  JOB_WAITING, /* for the next attempt */
  JOB_INVALID, /* until the camera's value changes */
  JOB_STOPPING,
} JobState;

/* Returns the name of a state, as `cuvision-farm list` and the metrics show
 * it. */
const gchar *job_state_name (JobState state);

typedef struct _Job Job;

typedef struct {
  JobState state;
  gboolean unable; /* this worker cannot start a process */
  guint restarts;
  guint64 buffers;    /* arrived at sinks, in all processes of the job */
  const gchar *error; /* the last one, without passwords; NULL: none yet */
  JsonObject *stats;  /* element -> its `stats`, in this process; or NULL */
} JobInfo;

/* Makes a camera's job and starts its pipeline. value: the camera's JSON
 * object. */
Job *job_new (
    const FarmConfig *config, const gchar *camera, const gchar *value);
/* Restarts the pipeline with another value. */
void job_change (Job *self, const gchar *value);
/* Stops the pipeline, kills it if it still runs after `grace` microseconds, and
 * then calls `ended`: before this returns if no pipeline runs. */
void job_stop (
    Job *self, gint64 grace, void (*ended) (gpointer data), gpointer data);
/* Starts the next attempt if it is time, and ends a pipeline that stalls. Call
 * a few times a second. */
void job_tick (Job *self);
JobInfo job_get_info (const Job *self);
/* Call only when no pipeline runs: in ended(), or later. */
void job_free (Job *self);

#endif
