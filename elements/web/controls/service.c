/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of controls. Properties are read, set and called without the lock,
 * as they may block. */
#include "config.h"
#include "controls/settings.h"
#include "controls/texts.h"

/* The thread works at most this often, so that a page that sends thousands of
 * values costs no more than one that sends fifty. */
#define ROUND_US (G_USEC_PER_SEC / 50)

typedef struct {
  CuvControl *control;
  CuvControlTarget *target;
  GArray *values;
  guint64 client;
  gint64 id;
} Request;

/* Sends a text, which it frees, unless the sink has stopped. client 0: all. */
static void
send_text (CuvControls *self, guint64 client, gchar *text)
{
  g_mutex_lock (&self->lock);
  if (self->stream != NULL && text != NULL)
    cuv_web_stream_send (self->stream, client, g_steal_pointer (&text));
  g_mutex_unlock (&self->lock);
  g_free (text);
}

/* ---- values ---- */

/* Reads the values of controls: of all, or those that have changed. Returns an
 * array of the size of the list. */
static GValue *
read_values (CuvControls *self, gboolean all)
{
  GValue *values = g_new0 (GValue, self->n);

  for (guint i = 0; i < self->n; i++) {
    CuvControl *control = &self->list[i];
    CuvControlTarget *target = NULL;

    g_mutex_lock (&self->lock);
    if ((all || control->changed) && control->target != NULL)
      target = cuv_control_target_ref (control->target);
    control->changed = control->changed && all;
    g_mutex_unlock (&self->lock);
    if (target == NULL)
      continue;
    cuv_control_target_get (target, &values[i]);
    cuv_control_target_unref (target);
  }
  return values;
}

static void
free_values (CuvControls *self, GValue *values)
{
  for (guint i = 0; i < self->n; i++)
    if (G_IS_VALUE (&values[i]))
      g_value_unset (&values[i]);
  g_free (values);
}

static void
send_values (CuvControls *self)
{
  GValue *values = read_values (self, FALSE);

  send_text (self, 0, cuv_control_text_values (self, values));
  free_values (self, values);
}

static gchar *
describe_controls (CuvControls *self)
{
  CuvControlTarget **targets = g_new0 (CuvControlTarget *, self->n);
  GValue *values = read_values (self, TRUE);
  gchar *text;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n; i++)
    if (self->list[i].target != NULL)
      targets[i] = cuv_control_target_ref (self->list[i].target);
  g_mutex_unlock (&self->lock);
  text = cuv_control_text_controls (self, targets, values);
  for (guint i = 0; i < self->n; i++)
    g_clear_pointer (&targets[i], cuv_control_target_unref);
  g_free (targets);
  free_values (self, values);
  return text;
}

/* Tells the controls to clients that have joined, or to all if an element has
 * come or gone. */
static void
send_controls (CuvControls *self)
{
  gboolean all;
  GArray *joined;
  gchar *text;

  g_mutex_lock (&self->lock);
  all = self->describe_all;
  self->describe_all = FALSE;
  joined = self->joined;
  self->joined = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_mutex_unlock (&self->lock);
  text = all || joined->len > 0 ? describe_controls (self) : NULL;
  if (all)
    send_text (self, 0, g_strdup (text));
  for (guint i = 0; i < joined->len && !all; i++)
    send_text (self, g_array_index (joined, guint64, i), g_strdup (text));
  g_free (text);
  g_array_unref (joined);
}

static void
send_warnings (CuvControls *self)
{
  gchar *text;

  do {
    g_mutex_lock (&self->lock);
    text = g_queue_pop_head (&self->warnings);
    g_mutex_unlock (&self->lock);
    send_text (self, 0, text);
  } while (text != NULL);
}

/* ---- requests ---- */

/* Takes the request of a control. Returns FALSE if it has none. */
static gboolean
take_request (CuvControls *self, CuvControl *control, Request *request)
{
  g_mutex_lock (&self->lock);
  *request = (Request){ .control = control,
    .values = g_steal_pointer (&control->values),
    .client = control->client,
    .id = control->id };
  if (request->values != NULL && control->target != NULL)
    request->target = cuv_control_target_ref (control->target);
  if (request->values != NULL)
    self->acting = control;
  g_mutex_unlock (&self->lock);
  return request->values != NULL;
}

/* Returns the warning that the element posted meanwhile, to be freed, or NULL.
 */
static gchar *
end_acting (CuvControls *self, CuvControl *control)
{
  gchar *reason;

  g_mutex_lock (&self->lock);
  self->acting = NULL;
  control->changed = TRUE;
  reason = g_steal_pointer (&self->reason);
  g_mutex_unlock (&self->lock);
  return reason;
}

/* Sets the property or calls the signal. Returns why that failed, to be freed,
 * or NULL. */
static gchar *
act (CuvControls *self, const Request *request, GValue *result)
{
  const gboolean alive = request->target != NULL
      && cuv_control_target_act (request->target, request->values, result);
  gchar *reason = end_acting (self, request->control);

  if (!alive)
    return g_strdup ("the element has gone");
  if (reason == NULL && request->target->property != NULL && G_IS_VALUE (result)
      && !cuv_control_value_equal (request->target->property,
          &g_array_index (request->values, GValue, 0), result))
    reason = g_strdup ("the element has set another value");
  return reason;
}

/* Whether the value is in force already. Elements may do much to set one. */
static gboolean
is_in_force (const Request *request)
{
  GValue value = G_VALUE_INIT;
  gboolean same;

  if (!cuv_control_target_get (request->target, &value))
    return FALSE;
  same = cuv_control_value_equal (request->target->property,
      &g_array_index (request->values, GValue, 0), &value);
  g_value_unset (&value);
  return same;
}

/* Ends a request of settings-file. Frees the reason. */
static void
end_loading (CuvControls *self, const Request *request, gchar *reason)
{
  gchar *problem = reason != NULL
      ? cuv_control_settings_problem (self, request->control, reason)
      : NULL;

  g_mutex_lock (&self->lock);
  self->n_loading--;
  if (!self->started && self->load_problem == NULL)
    self->load_problem = g_steal_pointer (&problem);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  if (problem != NULL)
    cuv_controls_warn (self, problem);
}

/* Sets a value of settings-file. */
static void
load (CuvControls *self, const Request *request)
{
  GValue result = G_VALUE_INIT;
  gchar *reason = NULL;

  if (request->target != NULL && !is_in_force (request))
    reason = act (self, request, &result);
  else
    g_free (end_acting (self, request->control));
  if (G_IS_VALUE (&result))
    g_value_unset (&result);
  end_loading (self, request, reason);
}

static void
serve (CuvControls *self, const Request *request)
{
  const gchar *name = request->control->name;
  GValue result = G_VALUE_INIT;
  gchar *reason = act (self, request, &result);

  send_values (self);
  send_text (self, request->client,
      reason != NULL ? cuv_control_text_refused (request->id, name, reason)
                     : cuv_control_text_done (request->id, name, &result));
  g_free (reason);
  if (G_IS_VALUE (&result))
    g_value_unset (&result);
}

static void
serve_requests (CuvControls *self)
{
  for (guint i = 0; i < self->n; i++) {
    Request request;

    if (!take_request (self, &self->list[i], &request))
      continue;
    if (request.client == 0)
      load (self, &request);
    else
      serve (self, &request);
    g_clear_pointer (&request.target, cuv_control_target_unref);
    g_array_unref (request.values);
  }
}

/* ---- saving ---- */

/* Returns NULL, or why the values cannot be saved. */
static gchar *
save (CuvControls *self)
{
  GValue *values = read_values (self, TRUE);
  gchar *problem = cuv_control_settings_save (self, values);

  free_values (self, values);
  return problem;
}

static void
answer_job (CuvControls *self, const CuvControlJob *job, const gchar *problem,
    const gchar *text)
{
  GValue value = G_VALUE_INIT;

  if (text != NULL) {
    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, text);
  }
  send_text (self, job->client,
      problem != NULL ? cuv_control_text_refused (job->id, NULL, problem)
                      : cuv_control_text_done (job->id, NULL, &value));
  if (text != NULL)
    g_value_unset (&value);
}

static GArray *
take_jobs (CuvControls *self)
{
  GArray *jobs;

  g_mutex_lock (&self->lock);
  jobs = self->jobs;
  self->jobs = g_array_new (FALSE, FALSE, sizeof (CuvControlJob));
  g_mutex_unlock (&self->lock);
  return jobs;
}

/* Jobs of a kind that came together are done once. */
static void
serve_jobs (CuvControls *self, CuvControlAction action, GArray *jobs)
{
  gchar *problem = NULL, *text = NULL;
  gboolean done = FALSE;

  for (guint i = 0; i < jobs->len; i++) {
    const CuvControlJob *job = &g_array_index (jobs, CuvControlJob, i);

    if (job->action != action)
      continue;
    if (!done && action == CUV_CONTROL_SAVE)
      problem = save (self);
    else if (!done && (text = cuv_controls_line (self)) == NULL)
      problem = g_strdup ("the sink is not in a pipeline");
    done = TRUE;
    answer_job (self, job, problem, text);
  }
  g_free (problem);
  g_free (text);
}

static void
serve_all_jobs (CuvControls *self)
{
  GArray *jobs = take_jobs (self);

  serve_jobs (self, CUV_CONTROL_SAVE, jobs);
  serve_jobs (self, CUV_CONTROL_LINE, jobs);
  g_array_unref (jobs);
}

/* Sets the property of a control that clients do not see. Returns why that
 * failed, to be freed, or NULL. before: why an earlier one failed, or NULL. */
static gchar *
serve_part_of_use (
    CuvControls *self, CuvControl *control, gchar *before, Request *request)
{
  GValue result = G_VALUE_INIT;
  gchar *reason = before;

  if (!take_request (self, control, request))
    return before;
  if (before != NULL)
    g_free (end_acting (self, control));
  else
    reason = act (self, request, &result);
  if (G_IS_VALUE (&result))
    g_value_unset (&result);
  g_clear_pointer (&request->target, cuv_control_target_unref);
  g_array_unref (request->values);
  return reason;
}

/* Sets the model and the label of the detector, which is one request. */
static void
serve_use (CuvControls *self)
{
  Request request = { .id = 0 };
  GValue none = G_VALUE_INIT;
  gchar *reason = NULL;

  for (guint i = self->n; i < self->n_all; i++)
    reason = serve_part_of_use (self, &self->list[i], reason, &request);
  if (request.id != 0)
    send_text (self, request.client,
        reason != NULL ? cuv_control_text_refused (request.id, NULL, reason)
                       : cuv_control_text_done (request.id, NULL, &none));
  g_free (reason);
}

/* ---- the thread ---- */

/* Call with the lock held. */
static gboolean
has_work (const CuvControls *self)
{
  const gboolean watched = cuv_web_stream_clients (self->stream) > 0;
  gboolean work = self->describe_all || self->joined->len > 0
      || self->warnings.length > 0 || self->jobs->len > 0;

  for (guint i = 0; i < self->n_all && !work; i++)
    work = self->list[i].values != NULL
        || (self->list[i].changed && watched && i < self->n);
  return work;
}

/* Waits for work, but not longer than the pause between two rounds requires.
 * Returns FALSE if the thread must end. */
static gboolean
wait_for_work (CuvControls *self, gint64 last)
{
  gboolean go_on;

  g_mutex_lock (&self->lock);
  while (!self->stopping && g_get_monotonic_time () < last + ROUND_US)
    g_cond_wait_until (&self->cond, &self->lock, last + ROUND_US);
  while (!self->stopping && !has_work (self))
    g_cond_wait (&self->cond, &self->lock);
  go_on = !self->stopping;
  g_mutex_unlock (&self->lock);
  return go_on;
}

gpointer
cuv_controls_run (gpointer controls)
{
  CuvControls *self = controls;
  gint64 last = 0;

  while (wait_for_work (self, last)) {
    last = g_get_monotonic_time ();
    send_controls (self);
    serve_requests (self);
    send_values (self); /* before serve_all_jobs() reports them as saved */
    serve_all_jobs (self);
    serve_use (self);
    send_warnings (self);
  }
  g_mutex_lock (&self->lock);
  self->running = FALSE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  cuv_controls_unref (self);
  return NULL;
}
