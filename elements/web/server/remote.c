/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client that gets and changes controls: texts in both directions. Texts for
 * it wait here until libsoup has sent those before them. */
#include "server/server-private.h"

#include <string.h>

/* Limits of a client's messages: size in bytes; number and bytes in a second.
 */
#define MAX_MESSAGE (64 << 10)
#define MAX_MESSAGES 4000
#define MAX_BYTES (1 << 20)
/* Limits of the texts that wait for a client: size in bytes without the last
 * one, which may be a long description; number. */
#define MAX_WAITING (1 << 20)
#define MAX_TEXTS 1000

struct _CuvRemote {
  CuvWebStream *stream;
  CuvHttpConnection *connection; /* NULL: the client has gone */
  SoupWebsocketConnection *websocket;
  CuvWebClient client;

  GQueue texts;      /* GBytes that wait */
  gsize waiting;     /* their size */
  GSource *writable; /* waits until libsoup has sent all; NULL: it has */
  gint64 since;      /* monotonic time of the text sent last */

  gint64 second;    /* monotonic time at which the current second began */
  guint n_messages; /* messages in this second */
  gsize n_bytes;    /* their bytes */
  gboolean ended;   /* it broke a limit */
};

gboolean
cuv_remote_may_change (const CuvRemote *self)
{
  return self->client.may_change;
}

static void
recount_remotes (CuvWebStream *stream)
{
  const gint before = g_atomic_int_get (&stream->n_changers);
  gint n = 0;

  for (guint i = 0; i < stream->remotes->len; i++)
    n += cuv_remote_may_change (stream->remotes->pdata[i]);
  g_atomic_int_set (&stream->n_remotes, (gint) stream->remotes->len);
  g_atomic_int_set (&stream->n_changers, n);
  if (n == 0 && before > 0 && stream->calls->leave != NULL)
    stream->calls->leave (stream->data);
}

void
cuv_remote_free (gpointer data)
{
  CuvRemote *self = data;

  if (self->writable != NULL)
    g_source_destroy (self->writable);
  g_clear_pointer (&self->writable, g_source_unref);
  if (self->connection != NULL) {
    cuv_http_connection_shutdown (self->connection);
    self->connection->user = NULL;
  }
  g_signal_handlers_disconnect_by_data (self->websocket, self);
  g_object_unref (self->websocket);
  g_queue_clear_full (&self->texts, (GDestroyNotify) g_bytes_unref);
  g_free (self);
}

static void
remote_drop (CuvRemote *self)
{
  CuvWebStream *stream = self->stream;

  g_ptr_array_remove (stream->remotes, self);
  recount_remotes (stream);
}

/* libsoup then ends the WebSocket. Dropping the client here would free the
 * WebSocket while libsoup reads from it. */
static void
end_connection (CuvRemote *self)
{
  self->ended = TRUE;
  if (self->connection != NULL)
    cuv_http_connection_shutdown (self->connection);
}

/* ---- sending ---- */

static gboolean on_sent (GSocket *, GIOCondition, gpointer);

static void
send_next (CuvRemote *self)
{
  GBytes *text;

  if (self->writable != NULL || self->connection == NULL
      || soup_websocket_connection_get_state (self->websocket)
          != SOUP_WEBSOCKET_STATE_OPEN)
    return;
  text = g_queue_pop_head (&self->texts);
  if (text == NULL)
    return;
  self->waiting -= g_bytes_get_size (text);
  self->since = g_get_monotonic_time ();
  self->writable = cuv_web_when_sent (self->connection, on_sent, self);
  soup_websocket_connection_send_message (
      self->websocket, SOUP_WEBSOCKET_DATA_TEXT, text);
  g_bytes_unref (text);
}

static gboolean
on_sent (GSocket *socket, GIOCondition condition, gpointer data)
{
  CuvRemote *self = data;

  g_clear_pointer (&self->writable, g_source_unref);
  send_next (self);
  return G_SOURCE_REMOVE;
}

void
cuv_remote_offer (CuvRemote *self, guint64 client, GBytes *text)
{
  if (self->ended || (client != 0 && client != self->client.id))
    return;
  if (self->waiting > MAX_WAITING || self->texts.length >= MAX_TEXTS) {
    end_connection (self);
    return;
  }
  self->waiting += g_bytes_get_size (text);
  g_queue_push_tail (&self->texts, g_bytes_ref (text));
  send_next (self);
}

/* ---- receiving ---- */

static gboolean
is_too_fast (CuvRemote *self, gsize size)
{
  const gint64 now = g_get_monotonic_time ();

  if (now - self->second > G_USEC_PER_SEC) {
    self->second = now;
    self->n_messages = 0;
    self->n_bytes = 0;
  }
  self->n_bytes += size;
  return ++self->n_messages > MAX_MESSAGES || self->n_bytes > MAX_BYTES;
}

static void
on_request (SoupWebsocketConnection *websocket, gint type, GBytes *message,
    gpointer data)
{
  CuvRemote *self = data;
  CuvWebStream *stream = self->stream;
  gsize size;
  const gchar *text = g_bytes_get_data (message, &size);
  gchar *answer;

  if (self->ended)
    return;
  if (type != SOUP_WEBSOCKET_DATA_TEXT || is_too_fast (self, size)) {
    end_connection (self);
    return;
  }
  answer = stream->calls->message (
      stream->data, &self->client, text != NULL ? text : "", size);
  if (answer != NULL) {
    GBytes *bytes = g_bytes_new_take (answer, strlen (answer));

    cuv_remote_offer (self, self->client.id, bytes);
    g_bytes_unref (bytes);
  }
}

/* Drops a client that broke a limit, does not read, or has gone. */
void
cuv_remote_tick (CuvRemote *self, gint64 now)
{
  const gint64 timeout = self->stream->server->timeout * G_USEC_PER_SEC;

  if (self->connection == NULL || self->ended
      || (self->writable != NULL && now - self->since > timeout))
    remote_drop (self);
}

/* ---- adding ---- */

static void
say_access (CuvRemote *self)
{
  static const gchar *const texts[] = {
    "{\"may_change\":false,\"type\":\"access\"}",
    "{\"may_change\":true,\"type\":\"access\"}",
  };
  const gchar *text = texts[self->client.may_change];
  GBytes *bytes = g_bytes_new_static (text, strlen (text));

  cuv_remote_offer (self, self->client.id, bytes);
  g_bytes_unref (bytes);
}

void
cuv_remote_add (CuvWebStream *stream, SoupServerMessage *message,
    SoupWebsocketConnection *websocket)
{
  CuvHttpConnection *connection =
      cuv_http_connection_of (stream->server->http, message);
  const CuvWebAccess access =
      cuv_web_access (stream->server, soup_server_message_get_uri (message),
          soup_server_message_get_request_headers (message));
  CuvRemote *self;

  if (connection == NULL || stream->calls->message == NULL)
    return;
  connection->deadline = 0; /* cuv_remote_tick() from now on */
  self = g_new0 (CuvRemote, 1);
  self->stream = stream;
  self->connection = connection;
  connection->user = &self->connection;
  self->websocket = g_object_ref (websocket);
  self->client.id = ++stream->last_client;
  self->client.may_change = access == CUV_WEB_CHANGE;
  g_queue_init (&self->texts);
  g_ptr_array_add (stream->remotes, self);
  recount_remotes (stream);
  cuv_web_websocket_limit (websocket, connection, MAX_MESSAGE);
  g_signal_connect (websocket, "message", G_CALLBACK (on_request), self);
  g_signal_connect_swapped (
      websocket, "closed", G_CALLBACK (remote_drop), self);
  say_access (self);
  stream->calls->join (stream->data, self->client.id);
}
