/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client that gets frames. At most one frame is in flight to it, and it gets
 * the newest one when it has taken that. A WebSocket message counts as taken
 * when the client has answered it, with any message: otherwise frames would go
 * stale in the buffers of sockets. An HTTP response counts as taken when the
 * kernel has its data. */
#include "server/server-private.h"

/* Maximum size in bytes of a viewer's answer, whose content does not matter. */
#define MAX_ANSWER 1024

struct _CuvViewer {
  CuvWebStream *stream;
  CuvHttpConnection *connection;      /* NULL: the viewer has gone */
  SoupWebsocketConnection *websocket; /* NULL: not a WebSocket */
  SoupServerMessage *message; /* message of a response; NULL: a WebSocket */
  CuvWebForm form;
  gboolean single; /* a response with one frame */
  gboolean in_flight;
  GSource *writable; /* after an answer: waits until libsoup has sent all */
  gint64 since;      /* monotonic time of the last frame, or of the beginning */
  guint64 seen;      /* serial of the frame sent last */
};

/* Whether a WebSocket is closing; its signal "closed" comes later. */
static gboolean
is_closing (const CuvViewer *self)
{
  return self->websocket != NULL
      && soup_websocket_connection_get_state (self->websocket)
      != SOUP_WEBSOCKET_STATE_OPEN;
}

gboolean
cuv_viewer_waits (const CuvViewer *self)
{
  return !self->in_flight && !is_closing (self);
}

/* Closes the connection without a closing handshake, which would wait for a
 * peer that does not read. */
static void
close_websocket (CuvViewer *self)
{
  if (self->writable != NULL)
    g_source_destroy (self->writable);
  g_clear_pointer (&self->writable, g_source_unref);
  if (self->connection != NULL)
    cuv_http_connection_shutdown (self->connection);
  g_signal_handlers_disconnect_by_data (self->websocket, self);
  g_object_unref (self->websocket);
}

static void
close_message (CuvViewer *self)
{
  g_signal_handlers_disconnect_by_data (self->message, self);
  if (self->single && !self->in_flight)
    cuv_http_respond_text (self->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
        "no frame arrived within the timeout");
  if (!self->single)
    soup_message_body_complete (
        soup_server_message_get_response_body (self->message));
  soup_server_message_unpause (self->message);
  g_object_unref (self->message);
}

void
cuv_viewer_free (gpointer data)
{
  CuvViewer *self = data;

  if (self->websocket != NULL)
    close_websocket (self);
  if (self->message != NULL)
    close_message (self);
  if (self->connection != NULL)
    self->connection->user = NULL;
  g_free (self);
}

static void
viewer_drop (CuvViewer *self)
{
  CuvWebStream *stream = self->stream;

  g_ptr_array_remove (stream->viewers, self);
  cuv_web_stream_recount (stream);
}

/* Called when the response is complete, or its connection has ended. */
static void
on_finished (CuvViewer *self)
{
  g_signal_handlers_disconnect_by_data (self->message, self);
  g_clear_object (&self->message);
  viewer_drop (self);
}

/* ---- sending ---- */

static void
send_message (CuvViewer *self, GBytes *bytes)
{
  soup_websocket_connection_send_message (
      self->websocket, SOUP_WEBSOCKET_DATA_BINARY, bytes);
}

static void
send_bytes (CuvViewer *self, GBytes *bytes)
{
  soup_message_body_append_bytes (
      soup_server_message_get_response_body (self->message), bytes);
  soup_server_message_unpause (self->message);
}

static CuvWebForm
next_form (const CuvViewer *self)
{
  return self->form == CUV_WEB_PART && self->seen == 0 ? CUV_WEB_FIRST_PART
                                                       : self->form;
}

void
cuv_viewer_offer (CuvViewer *self)
{
  CuvWebFrame *frame = self->stream->newest;
  GBytes *bytes;

  if (self->in_flight || frame == NULL || is_closing (self)
      || cuv_web_frame_serial (frame) <= self->seen)
    return;
  bytes = cuv_web_frame_form (frame, next_form (self));
  self->in_flight = TRUE;
  self->since = g_get_monotonic_time ();
  self->seen = cuv_web_frame_serial (frame);
  cuv_web_stream_count (self->stream, g_bytes_get_size (bytes));
  if (self->websocket != NULL)
    send_message (self, bytes);
  else
    send_bytes (self, bytes);
}

/* Begins to wait for a frame; sends the newest one unless a newer one was
 * announced. */
static void
viewer_begin (CuvViewer *self)
{
  if (!cuv_web_stream_is_stale (self->stream))
    cuv_viewer_offer (self);
  cuv_web_stream_recount (self->stream);
}

static void
on_taken (CuvViewer *self)
{
  if (!self->in_flight || self->single)
    return;
  self->in_flight = FALSE;
  viewer_begin (self);
}

static gboolean
on_writable (GSocket *socket, GIOCondition condition, gpointer data)
{
  CuvViewer *self = data;

  g_clear_pointer (&self->writable, g_source_unref);
  on_taken (self);
  return G_SOURCE_REMOVE;
}

/* Waits until libsoup has sent all: for a client that answers before it has
 * read, libsoup would queue one frame after the other. */
static void
on_answer (CuvViewer *self)
{
  if (!self->in_flight || self->writable != NULL || self->connection == NULL)
    return;
  self->writable = cuv_web_when_sent (self->connection, on_writable, self);
}

/* ---- when a viewer ends ---- */

/* Whether the client does not take its frame, has gone, or waits for a single
 * frame that has not come. A client that has closed its sending side may still
 * read: only sending a frame can show whether it does. */
static gboolean
viewer_is_over (const CuvViewer *self, gint64 now)
{
  gint64 timeout = self->stream->server->timeout * G_USEC_PER_SEC;

  if (self->connection == NULL)
    return TRUE;
  if (now - self->since <= timeout)
    return FALSE;
  return self->in_flight || self->single
      || (self->websocket == NULL
          && cuv_http_connection_is_over (self->connection));
}

gboolean
cuv_viewer_tick (CuvViewer *self, gint64 now)
{
  if (!viewer_is_over (self, now))
    return TRUE;
  if (self->connection != NULL && (!self->single || self->in_flight))
    cuv_http_connection_shutdown (self->connection);
  if (self->connection != NULL && self->in_flight)
    cuv_web_stream_count_dropped (self->stream);
  viewer_drop (self);
  return FALSE;
}

/* ---- adding viewers ---- */

static CuvViewer *
add_viewer (CuvWebStream *stream, SoupServerMessage *message, CuvWebForm form)
{
  CuvHttpConnection *connection =
      cuv_http_connection_of (stream->server->http, message);
  CuvViewer *self;

  if (connection == NULL)
    return NULL;
  connection->deadline = 0; /* viewer_is_over() from now on */
  self = g_new0 (CuvViewer, 1);
  self->stream = stream;
  self->connection = connection;
  connection->user = &self->connection;
  self->form = form;
  self->since = g_get_monotonic_time ();
  g_ptr_array_add (stream->viewers, self);
  return self;
}

void
cuv_viewer_add_websocket (CuvWebStream *stream, SoupServerMessage *message,
    SoupWebsocketConnection *websocket)
{
  CuvViewer *self = add_viewer (stream, message, CUV_WEB_MESSAGE);

  if (self == NULL)
    return;
  self->websocket = g_object_ref (websocket);
  cuv_web_websocket_limit (websocket, self->connection, MAX_ANSWER);
  g_signal_connect_swapped (websocket, "message", G_CALLBACK (on_answer), self);
  g_signal_connect_swapped (
      websocket, "closed", G_CALLBACK (viewer_drop), self);
  viewer_begin (self);
}

static CuvViewer *
add_message (CuvWebStream *stream, SoupServerMessage *message, CuvWebForm form)
{
  CuvViewer *self = add_viewer (stream, message, form);

  if (self == NULL)
    return NULL;
  self->message = g_object_ref (message);
  g_signal_connect_swapped (
      message, "finished", G_CALLBACK (on_finished), self);
  return self;
}

static void
set_response (SoupServerMessage *message, const gchar *content_type)
{
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Content-Type",
      content_type);
}

void
cuv_viewer_add_response (CuvWebStream *stream, SoupServerMessage *message,
    CuvWebForm form, const gchar *content_type)
{
  CuvViewer *self;

  set_response (message, content_type);
  soup_message_headers_set_encoding (
      soup_server_message_get_response_headers (message), SOUP_ENCODING_EOF);
  if (soup_server_message_get_method (message) == SOUP_METHOD_HEAD)
    return;
  self = add_message (stream, message, form);
  if (self == NULL)
    return;
  soup_message_body_set_accumulate (
      soup_server_message_get_response_body (message), FALSE);
  g_signal_connect_swapped (
      message, "wrote-chunk", G_CALLBACK (on_taken), self);
  viewer_begin (self);
}

void
cuv_viewer_add_single (CuvWebStream *stream, SoupServerMessage *message,
    CuvWebForm form, const gchar *content_type)
{
  CuvViewer *self = add_message (stream, message, form);

  if (self == NULL)
    return;
  self->single = TRUE;
  set_response (message, content_type);
  soup_server_message_pause (message);
  viewer_begin (self);
}
