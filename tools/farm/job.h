/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a camera's line, again and again, in a process of its own. */
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

const gchar *job_state_name (JobState state);

typedef struct _Job Job;

typedef struct {
  JobState state;
  gboolean unable; /* this worker cannot start a process */
  guint restarts;
  guint64 buffers;    /* that arrived at sinks, in all processes */
  const gchar *error; /* the last one, without passwords; NULL: none yet */
  JsonObject *stats;  /* element -> its `stats`, or NULL; of the process */
} JobInfo;

/* value: the camera's JSON object. */
Job *job_new (
    const FarmConfig *config, const gchar *camera, const gchar *value);
/* With another value: ends the line and starts it anew. */
void job_change (Job *self, const gchar *value);
/* Stops the line, which has `grace` microseconds for it, and then calls
 * `ended`; before it returns where there is no line. */
void job_stop (
    Job *self, gint64 grace, void (*ended) (gpointer data), gpointer data);
/* Call a few times a second: a line that stalls is ended here. */
void job_tick (Job *self);
JobInfo job_get_info (const Job *self);
/* Only when no line runs: in ended(), or later. */
void job_free (Job *self);

#endif
