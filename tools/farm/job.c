/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera's job, by its states:
 *
 *   STARTING  job_start(): a process is starting the pipeline
 *   PLAYING   it reported that it plays
 *   WAITING   the process failed, ended or was ended because it stalled;
 *             job_tick() starts the next one after a pause
 *   INVALID   the camera's value makes no pipeline; until job_change()
 *   STOPPING  job_stop() was called: no further process is started */
#include "job.h"

#include <gio/gio.h>

#include "farm-util.h"
#include "line.h"
#include "pipeline-text.h"

#define REPORT_MS 1000
/* Grace period for a stalled or reconfigured pipeline to close its files. */
#define RESTART_GRACE_MS 2000
/* Minimum time between two warnings in the log. */
#define WARNING_PAUSE (10 * G_USEC_PER_SEC)

struct _Job {
  const FarmConfig *config;
  gchar *camera;
  gchar *value;
  CuvLine *process; /* process that runs the pipeline; NULL: none */
  JobState state;
  gint64 started;       /* when the process was started */
  gint64 progressed;    /* time of the last buffer, or when it began to play */
  gint64 play_time;     /* when it began to play; 0: not yet */
  gint64 next_attempt;  /* in JOB_WAITING */
  gboolean stopping;    /* the process was asked to end */
  gboolean restart_now; /* the value changed: restart once the process has
                         * ended */
  gboolean unable;      /* the process could not be started */
  gchar *stall_reason;  /* why we ended it */
  guint n_failures;     /* failures in a row */
  guint restarts;
  guint64 buffers, buffers_before; /* buffers of this process; of earlier
                                    * ones */
  gchar *error;
  gint64 log_time; /* when the last error was logged */
  JsonObject *stats;
  void (*ended) (gpointer data); /* argument of job_stop(); NULL: not called */
  gpointer data;
};

const gchar *
job_state_name (JobState state)
{
  static const gchar *const names[] = { [JOB_STARTING] = "starting",
    [JOB_PLAYING] = "playing",
    [JOB_WAITING] = "waiting",
    [JOB_INVALID] = "invalid",
    [JOB_STOPPING] = "stopping" };

  return names[state];
}

/* ---- errors ---- */

/* Logs an error unless it equals the last one. pause: minimum time since the
 * last log entry, for warnings that contain a changing number. */
static void
job_set_error (Job *self, const gchar *text, gint64 pause)
{
  gchar *redacted = pipeline_redact (self->value, text);

  if (g_strcmp0 (redacted, self->error) != 0
      && farm_now () - self->log_time >= pause) {
    self->log_time = farm_now ();
    farm_log ("camera %s: %s", self->camera, redacted);
  }
  g_free (self->error);
  self->error = redacted;
}

/* ---- the process ---- */

static void
on_progress (Job *self, JsonObject *report)
{
  const guint64 buffers =
      (guint64) json_object_get_int_member_with_default (report, "buffers", 0);

  if (buffers != self->buffers)
    self->progressed = farm_now ();
  self->buffers = buffers;
  if (!json_object_has_member (report, "stats"))
    return;
  g_clear_pointer (&self->stats, json_object_unref);
  self->stats =
      json_object_ref (json_object_get_object_member (report, "stats"));
}

static void
job_on_report (gpointer data, JsonObject *report)
{
  Job *self = data;
  const gchar *warning =
      json_object_get_string_member_with_default (report, "warning", NULL);

  if (json_object_has_member (report, "buffers"))
    on_progress (self, report);
  if (warning != NULL)
    job_set_error (self, warning, WARNING_PAUSE);
  if (self->state != JOB_STARTING
      || g_strcmp0 (
             json_object_get_string_member_with_default (report, "state", NULL),
             "playing")
          != 0)
    return;
  self->state = JOB_PLAYING;
  self->play_time = self->progressed = farm_now ();
}

/* Returns the pause before the next attempt. It doubles with each failure and
 * is partly random, so that cameras that fail together do not all restart
 * together. */
static gint64
next_pause (const Job *self)
{
  const gdouble factor = (gdouble) (1u << MIN (self->n_failures - 1, 20u));
  const gdouble pause = MIN ((gdouble) self->config->pause * factor,
      (gdouble) self->config->max_pause);

  return (gint64) (pause * g_random_double_range (0.75, 1.0));
}

static void
wait_for_next (Job *self)
{
  const gboolean lasted = self->play_time > 0
      && farm_now () - self->play_time >= self->config->max_pause;

  self->n_failures = lasted ? 1 : self->n_failures + 1;
  self->state = JOB_WAITING;
  self->next_attempt =
      farm_now () + (self->restart_now ? 0 : next_pause (self));
  self->restart_now = FALSE;
}

static void
job_on_done (gpointer data, const gchar *problem)
{
  Job *self = data;

  self->process = NULL;
  self->buffers_before += self->buffers;
  self->buffers = 0;
  if (self->stall_reason != NULL)
    job_set_error (self, self->stall_reason, 0);
  else if (!self->stopping)
    job_set_error (self, problem != NULL ? problem : "the stream ended", 0);
  g_clear_pointer (&self->stall_reason, g_free);
  if (self->ended != NULL) {
    self->ended (self->data);
    return;
  }
  wait_for_next (self);
}

static void
job_start (Job *self)
{
  GError *error = NULL;
  gchar *text =
      pipeline_text_new (self->config, self->camera, self->value, &error);

  self->stopping = FALSE;
  self->play_time = 0;
  self->started = self->progressed = farm_now ();
  if (text == NULL) {
    self->state = JOB_INVALID;
  } else {
    self->state = JOB_STARTING;
    self->process = cuv_line_start (
        text, REPORT_MS, job_on_report, job_on_done, self, &error);
    self->unable = self->process == NULL;
    if (self->unable)
      wait_for_next (self);
  }
  g_free (text);
  if (error != NULL)
    job_set_error (self, error->message, 0);
  g_clear_error (&error);
}

Job *
job_new (const FarmConfig *config, const gchar *camera, const gchar *value)
{
  Job *self = g_new0 (Job, 1);

  self->config = config;
  self->camera = g_strdup (camera);
  self->value = g_strdup (value);
  job_start (self);
  return self;
}

static void
end_process (Job *self, guint grace_ms)
{
  self->stopping = TRUE;
  cuv_line_stop (self->process, grace_ms);
}

void
job_change (Job *self, const gchar *value)
{
  g_free (self->value);
  self->value = g_strdup (value);
  if (self->ended != NULL)
    return;
  self->n_failures = 0;
  if (self->process == NULL) {
    job_start (self);
    return;
  }
  self->restart_now = TRUE;
  end_process (self, RESTART_GRACE_MS);
}

void
job_stop (Job *self, gint64 grace, void (*ended) (gpointer data), gpointer data)
{
  self->state = JOB_STOPPING;
  self->ended = ended;
  self->data = data;
  if (self->process == NULL)
    ended (data);
  else
    end_process (self, (guint) (grace / 1000));
}

static void
check_stall (Job *self)
{
  const FarmConfig *config = self->config;
  const gint64 now = farm_now ();

  if (self->state == JOB_STARTING
      && now - self->started > config->start_timeout)
    self->stall_reason = g_strdup_printf ("not playing after %g seconds",
        (gdouble) config->start_timeout / G_USEC_PER_SEC);
  else if (self->state == JOB_PLAYING
      && now - self->progressed > config->stall_timeout)
    self->stall_reason = g_strdup_printf ("no buffers for %g seconds",
        (gdouble) config->stall_timeout / G_USEC_PER_SEC);
  if (self->stall_reason != NULL)
    end_process (self, RESTART_GRACE_MS);
}

void
job_tick (Job *self)
{
  if (self->state == JOB_WAITING && farm_now () >= self->next_attempt) {
    self->restarts++;
    job_start (self);
  } else if (self->process != NULL && !self->stopping) {
    check_stall (self);
  }
}

JobInfo
job_get_info (const Job *self)
{
  return (JobInfo){ .state = self->state,
    .unable = self->unable,
    .restarts = self->restarts,
    .buffers = self->buffers_before + self->buffers,
    .error = self->error,
    .stats = self->stats };
}

void
job_free (Job *self)
{
  g_clear_pointer (&self->stats, json_object_unref);
  g_free (self->camera);
  g_free (self->value);
  g_free (self->stall_reason);
  g_free (self->error);
  g_free (self);
}
