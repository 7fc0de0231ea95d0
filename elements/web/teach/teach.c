/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/teach-private.h"

#include <unistd.h>

#include "teach/folder.h"

/* Requests that wait for the thread; further ones are refused. */
#define MAX_REQUESTS 256

/* ---- requests, in the server's thread ---- */

static void
request_free (gpointer data)
{
  CuvTeachRequest *self = data;

  g_clear_pointer (&self->frame.frame, cuv_web_frame_unref);
  g_atomic_int_add (&self->teach->n_requests, -1);
  g_free (self->example);
  g_free (self->label);
  g_free (self);
}

/* Gives the request to the thread. */
static void
queue (CuvTeach *self, const CuvTeachRequest *request)
{
  GSource *source = g_idle_source_new ();
  CuvTeachRequest *copy = g_memdup2 (request, sizeof *request);

  copy->teach = self;
  g_atomic_int_inc (&self->n_requests);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, cuv_teach_serve, copy, request_free);
  g_source_attach (source, self->context);
  g_source_unref (source);
}

void
cuv_teach_join (CuvTeach *self, guint64 client)
{
  queue (self, &(CuvTeachRequest){ .joined = TRUE, .client = client });
}

void
cuv_teach_restart (CuvTeach *self)
{
  cuv_ring_empty (&self->ring);
  queue (self, &(CuvTeachRequest){ .restarted = TRUE });
}

static gchar *
read_example (CuvTeach *self, CuvTeachRequest *request, JsonNode *node)
{
  gchar *problem;

  request->example = g_new (CuvTeachExample, 1);
  problem = cuv_teach_example_parse (request->example, node);
  if (problem == NULL)
    cuv_ring_find (&self->ring, request->example->frame, &request->frame);
  else
    g_clear_pointer (&request->example, g_free);
  return problem;
}

static gchar *
read_label (CuvTeachRequest *request, JsonNode *node)
{
  request->label = g_strdup (json_node_get_string (node));
  return cuv_teach_label_problem (request->label);
}

static gchar *
hold (CuvTeach *self, guint64 client, JsonNode *node)
{
  const gint64 number = json_node_get_int (node);

  return cuv_ring_hold (&self->ring, number, client)
      ? NULL
      : cuv_ring_missing (number);
}

/* Reads what the message has. Returns NULL, or why it is refused. */
static gchar *
read_request (
    CuvTeach *self, CuvTeachRequest *request, const CuvControlMessage *message)
{
  switch (message->action) {
    case CUV_CONTROL_KEEP:
      return read_example (self, request, message->value);
    case CUV_CONTROL_HOLD:
      return hold (self, request->client, message->value);
    case CUV_CONTROL_FORGET:
    case CUV_CONTROL_TRAIN:
    case CUV_CONTROL_USE:
      return read_label (request, message->value);
    default:
      return NULL;
  }
}

gchar *
cuv_teach_message (
    gpointer data, guint64 client, const CuvControlMessage *message)
{
  CuvTeach *self = data;
  CuvTeachRequest request = {
    .action = message->action, .client = client, .id = message->id
  };
  gchar *problem;

  if (g_atomic_int_get (&self->n_requests) >= MAX_REQUESTS)
    return g_strdup ("too many requests wait");
  problem = read_request (self, &request, message);
  if (problem == NULL)
    queue (self, &request);
  else
    g_free (request.label);
  return problem;
}

/* ---- frames ---- */

void
cuv_teach_frame (
    CuvTeach *self, guint64 number, gint width, gint height, CuvWebFrame *frame)
{
  if (cuv_web_stream_changers (self->stream) > 0)
    cuv_ring_add (&self->ring,
        &(CuvRingFrame){ .number = (gint64) number, width, height, frame });
}

/* A page in the background leaves, but a paused one still shows the frame that
 * it holds. */
void
cuv_teach_leave (CuvTeach *self)
{
  cuv_ring_empty_recent (&self->ring);
}

/* ---- the report ---- */

GBytes *
cuv_teach_report (CuvTeach *self, gboolean json)
{
  GBytes *bytes;

  g_mutex_lock (&self->lock);
  bytes = self->report[json] != NULL ? g_bytes_ref (self->report[json]) : NULL;
  g_mutex_unlock (&self->lock);
  return bytes;
}

/* ---- start and stop ---- */

CuvTeach *
cuv_teach_new (const gchar *folder, const gchar *detector, gchar **problem)
{
  const gint fd = cuv_folder_open (folder, problem);
  CuvTeachDataset *dataset =
      fd >= 0 ? cuv_teach_dataset_open (fd, problem) : NULL;
  CuvTeach *self;

  if (dataset == NULL) {
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  self = g_new0 (CuvTeach, 1);
  self->folder = fd;
  self->dataset = dataset;
  self->path = g_canonicalize_filename (folder, NULL);
  self->detector = g_strdup (detector);
  self->context = g_main_context_new ();
  g_mutex_init (&self->lock);
  cuv_ring_init (&self->ring);
  cuv_teach_load_report (self);
  return self;
}

void
cuv_teach_free (CuvTeach *self)
{
  g_main_context_unref (self->context); /* frees requests that still wait */
  cuv_teach_dataset_free (self->dataset);
  cuv_ring_clear (&self->ring);
  for (guint i = 0; i < G_N_ELEMENTS (self->report); i++)
    g_clear_pointer (&self->report[i], g_bytes_unref);
  g_mutex_clear (&self->lock);
  g_free (self->training.label);
  g_free (self->training.text);
  g_free (self->detector);
  g_free (self->path);
  close (self->folder);
  g_free (self);
}

static gpointer
run_teach (gpointer data)
{
  CuvTeach *self = data;

  g_main_context_push_thread_default (self->context);
  g_main_loop_run (self->loop);
  cuv_teach_end_training (self);
  g_main_context_pop_thread_default (self->context);
  return NULL;
}

void
cuv_teach_start (CuvTeach *self, CuvWebStream *stream, CuvControls *controls)
{
  self->stream = stream;
  self->controls = controls;
  self->loop = g_main_loop_new (self->context, FALSE);
  self->thread = g_thread_new ("visionwebsink-teach", run_teach, self);
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

void
cuv_teach_stop (CuvTeach *self)
{
  GSource *source;

  if (self->thread == NULL)
    return;
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, quit, self->loop, NULL);
  g_source_attach (source, self->context);
  g_source_unref (source);
  g_thread_join (g_steal_pointer (&self->thread));
  g_clear_pointer (&self->loop, g_main_loop_unref);
}
