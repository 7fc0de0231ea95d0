/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of teach. */
#include "teach/teach-private.h"

#include <math.h>

#include "controls/texts.h"
#include "cuvjsonreader.h"
#include "teach/folder.h"

/* Pages are sent changes at most this often. */
#define INTERVAL_US (G_USEC_PER_SEC / 5)
#define REPORT "report/"

/* ---- what pages are sent ---- */

static void
send_to (CuvTeach *self, guint64 client, gchar *text)
{
  if (text != NULL)
    cuv_web_stream_send (self->stream, client, text);
}

static gchar *
state_text (CuvTeach *self)
{
  const gchar *ticket = cuv_web_stream_ticket (self->stream);
  GBytes *report = cuv_teach_report (self, FALSE);
  gchar *address = report != NULL && ticket != NULL
      ? g_strconcat (REPORT, ticket, "/index.html", NULL)
      : NULL;
  gchar *text = cuv_teach_text_state (
      self->dataset, self->folder, self->detector, address);

  g_free (address);
  g_clear_pointer (&report, g_bytes_unref);
  return text;
}

static gboolean
send_changes (gpointer data)
{
  CuvTeach *self = data;

  g_clear_pointer (&self->sending, g_source_unref);
  self->last_sent = g_get_monotonic_time ();
  if (self->state_changed)
    send_to (self, 0, state_text (self));
  if (self->training_changed)
    send_to (self, 0, cuv_teach_text_training (&self->training));
  self->state_changed = self->training_changed = FALSE;
  return G_SOURCE_REMOVE;
}

static void
send_soon (CuvTeach *self)
{
  const gint64 due = self->last_sent + INTERVAL_US - g_get_monotonic_time ();

  if (self->sending != NULL)
    return;
  self->sending = g_timeout_source_new ((guint) MAX (due / 1000, 0));
  g_source_set_callback (self->sending, send_changes, self, NULL);
  g_source_attach (self->sending, self->context);
}

static void
state_changed (CuvTeach *self)
{
  self->state_changed = TRUE;
  send_soon (self);
}

static void
training_changed (CuvTeach *self, CuvTrainingState state, const gchar *text)
{
  CuvTraining *training = &self->training;

  training->state = state;
  g_free (training->text);
  training->text = g_strdup (text);
  training->seconds =
      (g_get_monotonic_time () - training->start) / G_USEC_PER_SEC;
  self->training_changed = TRUE;
  send_soon (self);
}

/* Sends a client that has come the state. */
static void
greet (CuvTeach *self, guint64 client)
{
  send_to (self, client, state_text (self));
  send_to (self, client, cuv_teach_text_training (&self->training));
}

/* ---- the report ---- */

void
cuv_teach_load_report (CuvTeach *self)
{
  static const gchar *const names[] = { "index.html", "report.json" };
  const gboolean exists = cuv_folder_is_folder (self->folder, "report");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gchar *name = g_strconcat (REPORT, names[i], NULL);
    GBytes *bytes = exists
        ? cuv_folder_read (self->folder, name, CUV_JSON_MAX_BYTES)
        : NULL;

    g_mutex_lock (&self->lock);
    g_clear_pointer (&self->report[i], g_bytes_unref);
    self->report[i] = bytes;
    g_mutex_unlock (&self->lock);
    g_free (name);
  }
}

/* Returns a member that is an object, or NULL. */
static JsonObject *
member_of (JsonObject *object, const gchar *name)
{
  JsonNode *node =
      object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node)
      ? json_node_get_object (node)
      : NULL;
}

static gdouble
number_of (JsonObject *object, const gchar *name)
{
  JsonNode *node =
      object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && JSON_NODE_HOLDS_VALUE (node)
      ? json_node_get_double (node)
      : (gdouble) NAN;
}

/* Reads the rates at the model's own threshold. */
static void
read_results (CuvTeach *self)
{
  CuvTraining *training = &self->training;
  GBytes *bytes = cuv_teach_report (self, TRUE);
  JsonNode *node = bytes != NULL
      ? cuv_json_parse_object (
          g_bytes_get_data (bytes, NULL), CUV_JSON_MAX_VALUES, NULL)
      : NULL;
  JsonObject *root = node != NULL ? json_node_get_object (node) : NULL;
  JsonObject *test = member_of (member_of (root, "as_written"), "test");
  const gdouble objects =
      number_of (member_of (member_of (root, "data"), "test"), "objects");

  training->recall = number_of (member_of (test, "recall"), "value");
  training->false_positives = number_of (test, "false_positives_per_picture");
  training->objects = isfinite (objects) ? (gint64) objects : 0;
  g_clear_pointer (&node, json_node_unref);
  g_clear_pointer (&bytes, g_bytes_unref);
}

/* ---- training ---- */

static void
on_progress (gpointer data, const gchar *line)
{
  training_changed (data, CUV_TRAINING_RUNNING, line);
}

static void
on_ended (gpointer data, const gchar *reason)
{
  CuvTeach *self = data;

  self->trainer = NULL; /* it frees itself */
  if (reason == NULL) {
    cuv_teach_load_report (self);
    read_results (self);
  }
  training_changed (
      self, reason == NULL ? CUV_TRAINING_DONE : CUV_TRAINING_FAILED, reason);
  state_changed (self); /* there may be a new model */
}

static gchar *
start_training (CuvTeach *self, const gchar *label)
{
  static const CuvTeachTrainerCalls calls = { on_progress, on_ended };
  gchar *annotations, *problem = NULL;

  if (self->trainer != NULL)
    return g_strdup_printf (
        "a training for '%s' runs: stop it first", self->training.label);
  annotations = cuv_teach_dataset_select (self->dataset, label);
  self->trainer = cuv_teach_trainer_start (
      self->folder, label, annotations, &calls, self, &problem);
  g_free (annotations);
  if (problem != NULL)
    return problem;
  g_free (self->training.label);
  self->training.label = g_strdup (label);
  self->training.start = g_get_monotonic_time ();
  training_changed (self, CUV_TRAINING_RUNNING, "starting");
  return NULL;
}

static gchar *
stop_training (CuvTeach *self)
{
  if (self->trainer == NULL)
    return g_strdup ("no training runs");
  cuv_teach_trainer_stop (g_steal_pointer (&self->trainer));
  training_changed (self, CUV_TRAINING_STOPPED, NULL);
  return NULL;
}

void
cuv_teach_end_training (CuvTeach *self)
{
  if (self->trainer != NULL)
    cuv_teach_trainer_stop (g_steal_pointer (&self->trainer));
  if (self->sending != NULL)
    g_source_destroy (self->sending);
  g_clear_pointer (&self->sending, g_source_unref);
}

static gchar *
use_model (CuvTeach *self, const CuvTeachRequest *request)
{
  gchar *name = g_strconcat (request->label, ".xml", NULL), *path, *problem;

  if (self->detector == NULL)
    problem =
        g_strdup ("set the property teach of visionwebsink to the name of "
                  "a waldboostdetect");
  else if (cuv_folder_size (self->folder, name) <= 0)
    problem = g_strdup_printf (
        "'%s' has no model yet: train it first", request->label);
  else {
    path = g_build_filename (self->path, name, NULL);
    problem = cuv_controls_use (
        self->controls, request->client, request->id, path, request->label);
    g_free (path);
  }
  g_free (name);
  return problem;
}

/* ---- requests ---- */

/* Returns NULL, or why the request is refused. *value: below 0 if the answer
 * has none. */
static gchar *
carry_out (CuvTeach *self, CuvTeachRequest *request, gint64 *value)
{
  guint n = 0;
  gchar *problem = NULL;

  *value = -1;
  switch (request->action) {
    case CUV_CONTROL_KEEP:
      problem = cuv_teach_dataset_keep (self->dataset, request->example,
          request->frame.frame != NULL ? &request->frame : NULL, &n);
      *value = n;
      break;
    case CUV_CONTROL_FORGET:
      problem = cuv_teach_dataset_forget (self->dataset, request->label, &n);
      *value = n;
      break;
    case CUV_CONTROL_TRAIN:
      return start_training (self, request->label);
    case CUV_CONTROL_STOP:
      return stop_training (self);
    case CUV_CONTROL_USE:
      return use_model (self, request);
    default: /* holding has been done */
      return NULL;
  }
  state_changed (self);
  return problem;
}

static void
answer (CuvTeach *self, CuvTeachRequest *request)
{
  gint64 value;
  gchar *problem = carry_out (self, request, &value);

  if (problem != NULL)
    send_to (self, request->client,
        cuv_control_text_refused (request->id, NULL, problem));
  else if (request->action != CUV_CONTROL_USE) /* the controls answer */
    send_to (self, request->client, cuv_teach_text_done (request->id, value));
  g_free (problem);
}

gboolean
cuv_teach_serve (gpointer data)
{
  CuvTeachRequest *request = data;

  if (request->joined)
    greet (request->teach, request->client);
  else if (request->restarted)
    cuv_teach_dataset_restart (request->teach->dataset);
  else
    answer (request->teach, request);
  return G_SOURCE_REMOVE;
}
