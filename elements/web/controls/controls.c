/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "controls/controls-private.h"
#include "controls/settings.h"
#include "controls/texts.h"

#include <string.h>

/* How long stopping waits for a property or signal that blocks. */
#define PATIENCE_US (G_USEC_PER_SEC / 2)
#define MAX_CONTROLS 100
#define MAX_JOBS 16

/* What cuv_controls_use() sets, in this order. */
static const gchar *const used[] = { ".model", ".label" };
#define N_USED G_N_ELEMENTS (used)

/* ---- the list ---- */

gchar *
cuv_controls_problem (const gchar *text)
{
  gchar **names = g_strsplit (text, ",", MAX_CONTROLS + 1);
  gchar *problem = NULL;

  if (g_strv_length (names) > MAX_CONTROLS)
    problem = g_strdup_printf ("expected at most %d controls", MAX_CONTROLS);
  for (guint i = 0; names[i] != NULL && problem == NULL; i++) {
    const gchar *name = g_strstrip (names[i]), *dot = strrchr (name, '.');

    if (dot == NULL || dot == name || dot[1] == '\0')
      problem = g_strdup_printf ("expected names such as detect.min-neighbors, "
                                 "separated by commas, not '%s'",
          name);
    for (guint j = 0; j < i && problem == NULL; j++)
      if (g_str_equal (names[j], name))
        problem = g_strdup_printf ("'%s' is named twice", name);
  }
  g_strfreev (names);
  return problem;
}

static void
add_to_list (CuvControls *self, const gchar *name)
{
  const gchar *dot = strrchr (name, '.');
  CuvControl *control = &self->list[self->n_all++];

  control->name = g_strdup (name);
  control->element = g_strndup (name, (gsize) (dot - name));
  control->member = control->name + (dot + 1 - name);
}

static void
fill_list (CuvControls *self, const gchar *text, const gchar *detector)
{
  gchar **names = g_strsplit (text, ",", -1);

  self->n = g_strv_length (names);
  self->list = g_new0 (CuvControl, self->n + N_USED);
  for (guint i = 0; i < self->n; i++)
    add_to_list (self, g_strstrip (names[i]));
  for (guint i = 0; i < N_USED && detector != NULL; i++) {
    gchar *name = g_strconcat (detector, used[i], NULL);

    add_to_list (self, name);
    g_free (name);
  }
  g_strfreev (names);
}

CuvControls *
cuv_controls_ref (CuvControls *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
cuv_controls_unref (CuvControls *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  for (guint i = 0; i < self->n_all; i++) {
    g_clear_pointer (&self->list[i].values, g_array_unref);
    g_clear_pointer (&self->list[i].saved, json_node_unref);
    g_free (self->list[i].element);
    g_free (self->list[i].name);
  }
  g_free (self->list);
  g_array_unref (self->joined);
  g_array_unref (self->jobs);
  g_free (self->load_problem);
  g_free (self->settings_file);
  g_queue_clear_full (&self->warnings, g_free);
  g_free (self->reason);
  g_weak_ref_clear (&self->bin);
  g_cond_clear (&self->cond);
  g_mutex_clear (&self->lock);
  g_free (self);
}

CuvControls *
cuv_controls_new (GstElement *sink, const gchar *text,
    const gchar *settings_file, const CuvControlsTeach *teach, gchar **problem)
{
  CuvControls *self = g_new0 (CuvControls, 1);

  self->refs = 1;
  self->sink = sink;
  self->settings_file = g_strdup (settings_file);
  if (teach != NULL)
    self->teach = (CuvControlsTeach){ NULL, teach->message, teach->data };
  self->joined = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->jobs = g_array_new (FALSE, FALSE, sizeof (CuvControlJob));
  g_queue_init (&self->warnings);
  g_weak_ref_init (&self->bin, NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  fill_list (self, text, teach != NULL ? teach->detector : NULL);
  *problem = settings_file != NULL ? cuv_control_settings_load (self) : NULL;
  if (*problem == NULL)
    *problem = cuv_controls_enter (self);
  if (*problem == NULL) {
    *problem = cuv_controls_missing (self);
    return self;
  }
  cuv_controls_stop (self);
  cuv_controls_unref (self);
  return NULL;
}

/* ---- start and stop ---- */

void
cuv_controls_start (CuvControls *self, CuvWebStream *stream)
{
  g_mutex_lock (&self->lock);
  self->stream = stream;
  self->running = TRUE;
  self->describe_all = FALSE; /* clients that join get it anyway */
  self->thread = g_thread_new (
      "visionwebsink-set", cuv_controls_run, cuv_controls_ref (self));
  g_mutex_unlock (&self->lock);
}

gchar *
cuv_controls_settle (CuvControls *self)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE_US;
  gchar *problem;

  g_mutex_lock (&self->lock);
  while (self->n_loading > 0 && self->load_problem == NULL)
    if (!g_cond_wait_until (&self->cond, &self->lock, end))
      break;
  self->started = TRUE;
  problem = g_steal_pointer (&self->load_problem);
  g_mutex_unlock (&self->lock);
  return problem;
}

/* Call with the lock held. Returns whether the thread has ended. It may be the
 * caller: a property that it sets may stop the pipeline. */
static gboolean
wait_for_thread (CuvControls *self)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE_US;

  while (self->running && g_thread_self () != self->thread)
    if (!g_cond_wait_until (&self->cond, &self->lock, end))
      break;
  return !self->running;
}

void
cuv_controls_stop (CuvControls *self)
{
  GThread *thread;
  gboolean ended;

  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  self->sink = NULL;
  self->stream = NULL;
  g_cond_broadcast (&self->cond);
  ended = wait_for_thread (self);
  thread = g_steal_pointer (&self->thread);
  g_mutex_unlock (&self->lock);
  if (thread != NULL && ended)
    g_thread_join (thread);
  else if (thread != NULL)
    g_thread_unref (thread);
  cuv_controls_leave (self);
}

/* ---- requests ---- */

static GArray *
one_text (const gchar *text)
{
  GArray *values = g_array_new (FALSE, TRUE, sizeof (GValue));

  g_array_set_clear_func (values, (GDestroyNotify) g_value_unset);
  g_array_set_size (values, 1);
  g_value_init (&g_array_index (values, GValue, 0), G_TYPE_STRING);
  g_value_set_string (&g_array_index (values, GValue, 0), text);
  return values;
}

gchar *
cuv_controls_use (CuvControls *self, guint64 client, gint64 id,
    const gchar *model, const gchar *label)
{
  CuvControl *first = &self->list[self->n];
  const gchar *const texts[] = { model, label };
  gchar *problem = NULL;

  g_mutex_lock (&self->lock);
  if (first->target == NULL)
    problem = g_strdup_printf (
        "the pipeline has no element '%s' now", first->element);
  else if (first[N_USED - 1].values != NULL) /* it is taken last */
    problem = g_strdup ("another model is being set");
  for (guint i = 0; i < N_USED && problem == NULL; i++) {
    first[i].values = one_text (texts[i]);
    first[i].client = client;
    first[i].id = id;
  }
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  return problem;
}

void
cuv_controls_describe (CuvControls *self)
{
  self->describe_all = TRUE;
  g_cond_broadcast (&self->cond);
}

void
cuv_controls_join (CuvControls *self, guint64 client)
{
  g_mutex_lock (&self->lock);
  g_array_append_val (self->joined, client);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

CuvControl *
cuv_controls_find (CuvControls *self, const gchar *name)
{
  for (guint i = 0; i < self->n; i++)
    if (g_str_equal (self->list[i].name, name))
      return &self->list[i];
  return NULL;
}

/* Returns the values of a request. Returns NULL and why it is refused, to be
 * freed. Call with the lock held. */
static GArray *
check_request (const CuvControl *control, const CuvControlMessage *message,
    gchar **problem)
{
  CuvControlTarget *target = control->target;

  *problem = NULL;
  if (target == NULL)
    *problem = g_strdup_printf (
        "the pipeline has no element '%s' now", control->element);
  else if ((message->action == CUV_CONTROL_SET) != (target->property != NULL))
    *problem =
        g_strdup (target->property != NULL ? "it is a property: use type set"
                                           : "it is a signal: use type call");
  else if (target->property == NULL && control->values != NULL)
    *problem = g_strdup ("the call before this one has not begun yet");
  return *problem == NULL
      ? cuv_control_target_parse (target, message->value, problem)
      : NULL;
}

/* Call with the lock held. */
static void
answer_overtaken (CuvControls *self, const CuvControl *control)
{
  cuv_web_stream_send (self->stream, control->client,
      cuv_control_text_refused (control->id, control->name,
          "another viewer changed it at the same time"));
}

/* Returns NULL, or why the request is refused. */
static gchar *
take_request (CuvControls *self, CuvControl *control,
    const CuvControlMessage *message, guint64 client)
{
  GArray *values, *before = NULL;
  gchar *problem = NULL;

  g_mutex_lock (&self->lock);
  values =
      self->stream != NULL ? check_request (control, message, &problem) : NULL;
  if (values != NULL) {
    before = control->values;
    if (before != NULL && control->client == 0)
      self->n_loading--;
    else if (before != NULL && control->client != client)
      answer_overtaken (self, control);
    control->values = values;
    control->client = client;
    control->id = message->id;
    g_cond_broadcast (&self->cond);
  }
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&before, g_array_unref);
  return problem;
}

/* Returns NULL, or why the job is refused. */
static gchar *
take_job (CuvControls *self, const CuvControlMessage *message, guint64 client)
{
  const CuvControlJob job = { message->action, client, message->id };
  gchar *problem = NULL;

  if (job.action == CUV_CONTROL_SAVE && self->settings_file == NULL)
    return g_strdup ("visionwebsink has no settings-file: set that property");
  g_mutex_lock (&self->lock);
  if (self->jobs->len >= MAX_JOBS)
    problem = g_strdup ("too many requests are waiting: try again later");
  else
    g_array_append_val (self->jobs, job);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  return problem;
}

/* Returns NULL, or why the message is refused. */
static gchar *
take_message (
    CuvControls *self, CuvWebClient *client, const CuvControlMessage *message)
{
  CuvControl *control;

  if (message->id <= client->last_id)
    return g_strdup ("ids must increase");
  client->last_id = message->id;
  if (!client->may_change)
    return g_strdup ("this token allows looking only");
  if (message->action >= CUV_CONTROL_KEEP)
    return self->teach.message != NULL
        ? self->teach.message (self->teach.data, client->id, message)
        : g_strdup ("visionwebsink keeps no pictures: set save-folder");
  if (message->control == NULL)
    return take_job (self, message, client->id);
  control = cuv_controls_find (self, message->control);
  if (control == NULL)
    return g_strdup ("it is not in the property controls of visionwebsink");
  return take_request (self, control, message, client->id);
}

gchar *
cuv_controls_message (
    CuvControls *self, CuvWebClient *client, const gchar *text, gsize size)
{
  CuvControlMessage message;
  gchar *problem = cuv_control_message_parse (&message, text, size);
  gchar *answer = NULL;

  if (problem == NULL)
    problem = take_message (self, client, &message);
  if (problem != NULL)
    answer = cuv_control_text_refused (message.id, message.control, problem);
  g_free (problem);
  cuv_control_message_clear (&message);
  return answer;
}
