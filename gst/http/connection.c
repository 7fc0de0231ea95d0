/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Accepts connections, and limits their number and duration, which libsoup does
 * not. A connection serves one request: libsoup closes connections that it did
 * not accept itself after the response. The timeout covers the whole
 * connection; for viewers, it covers one frame. */
#include "http/http-private.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Small, because frames queued here for a slow viewer go stale. */
#define SEND_BUFFER (256 * 1024)
/* Maximum number of connections beyond the limit that may be ending. */
#define MAX_ENDING 16
/* Limit of TLS connections without a request yet: handshakes block threads of
 * GLib's pool, which has ten, and gets one more every 100 ms. */
#define MAX_HANDSHAKES 32

static gchar *
peer_name (GSocketAddress *address)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (address);
  gchar *host =
      g_inet_address_to_string (g_inet_socket_address_get_address (inet));
  gchar *name =
      g_strdup_printf ("%s %u", host, g_inet_socket_address_get_port (inet));

  g_free (host);
  return name;
}

static void
connection_free (gpointer data)
{
  CuvHttpConnection *self = data;

  if (self->user != NULL)
    *self->user = NULL;
  g_weak_ref_clear (&self->stream);
  g_object_unref (self->input);
  g_object_unref (self->socket);
  g_free (self->peer);
  g_free (self);
}

void
cuv_http_connection_shutdown (CuvHttpConnection *self)
{
  self->ended = TRUE;
  g_socket_shutdown (self->socket, TRUE, TRUE, NULL);
}

void
cuv_http_connection_unlimit (CuvHttpConnection *self)
{
  cuv_http_input_unlimit (self->input);
}

gboolean
cuv_http_connection_is_over (const CuvHttpConnection *self)
{
  gchar byte;

  return recv (
             g_socket_get_fd (self->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT)
      == 0;
}

/* Takes the peer's latest connection: an address may be reused before libsoup
 * notices that the earlier peer is gone. */
CuvHttpConnection *
cuv_http_connection_of (CuvHttp *http, SoupServerMessage *message)
{
  GSocketAddress *address = soup_server_message_get_remote_address (message);
  CuvHttpConnection *found = NULL;
  gchar *peer;

  if (address == NULL)
    return NULL;
  peer = peer_name (address);
  for (guint i = http->connections->len; i > 0 && found == NULL; i--) {
    CuvHttpConnection *connection = http->connections->pdata[i - 1];

    if (g_str_equal (connection->peer, peer))
      found = connection;
  }
  g_free (peer);
  return found;
}

/* Whether libsoup has dropped the stream. */
static gboolean
is_gone (CuvHttpConnection *self)
{
  GObject *stream = g_weak_ref_get (&self->stream);
  const gboolean gone = stream == NULL;

  g_clear_object (&stream);
  return gone;
}

void
cuv_http_connections_sweep (CuvHttp *http)
{
  for (guint i = http->connections->len; i > 0; i--) {
    if (is_gone (http->connections->pdata[i - 1]))
      g_ptr_array_remove_index (http->connections, i - 1);
  }
}

/* ---- accepting ---- */

/* The kernel detects a peer that vanishes without closing. A peer that does not
 * read is ended, and counted, by the server itself after a shorter timeout. */
static void
set_options (GSocket *socket, guint timeout)
{
  g_socket_set_keepalive (socket, TRUE);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPIDLE, (gint) timeout, NULL);
  g_socket_set_option (
      socket, IPPROTO_TCP, TCP_USER_TIMEOUT, (gint) timeout * 2000, NULL);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER, NULL);
}

static GIOStream *
add_tls (GIOStream *stream, GTlsCertificate *certificate)
{
  GIOStream *tls;

  if (certificate == NULL)
    return stream;
  tls = g_tls_server_connection_new (stream, certificate, NULL);
  g_object_unref (stream);
  return tls;
}

static GIOStream *
new_connection (CuvHttp *http, GSocket *socket, GSocketAddress *remote)
{
  const CuvHttpConfig *config = &http->config;
  CuvHttpConnection *self = g_new0 (CuvHttpConnection, 1);
  GSocketConnection *stream =
      cuv_http_stream_new (socket, config->certificate == NULL, &self->input);

  self->http = http;
  self->socket = g_object_ref (socket);
  g_weak_ref_init (&self->stream, stream);
  self->peer = peer_name (remote);
  self->deadline = g_get_monotonic_time () + config->timeout * G_USEC_PER_SEC;
  set_options (socket, config->timeout);
  g_ptr_array_add (http->connections, self);
  return add_tls (G_IO_STREAM (stream), config->certificate);
}

static void
add_connection (CuvHttp *http, GSocket *socket)
{
  GSocketAddress *remote = g_socket_get_remote_address (socket, NULL);
  GSocketAddress *local = g_socket_get_local_address (socket, NULL);
  GIOStream *stream = NULL;

  if (remote != NULL && local != NULL)
    stream = new_connection (http, socket, remote);
  if (stream != NULL)
    soup_server_accept_iostream (http->soup, stream, local, remote, NULL);
  g_clear_object (&stream);
  g_clear_object (&remote);
  g_clear_object (&local);
}

/* Ends the oldest idle connection, so that idle clients cannot block new ones
 * until their timeout. Returns FALSE if none is idle. */
static gboolean
http_make_room (CuvHttp *http)
{
  for (guint i = 0; i < http->connections->len; i++) {
    CuvHttpConnection *connection = http->connections->pdata[i];

    if (connection->user != NULL || connection->ended)
      continue;
    cuv_http_connection_shutdown (connection);
    return TRUE;
  }
  return FALSE;
}

/* If there are too many handshakes, ends the oldest. */
static void
limit_handshakes (CuvHttp *http)
{
  CuvHttpConnection *oldest = NULL;
  guint n = 0;

  for (guint i = http->connections->len; i > 0; i--) {
    CuvHttpConnection *connection = http->connections->pdata[i - 1];

    if (connection->asked || connection->ended)
      continue;
    oldest = connection;
    n++;
  }
  if (n >= MAX_HANDSHAKES)
    cuv_http_connection_shutdown (oldest);
}

static gboolean
http_has_room (CuvHttp *http)
{
  const guint n = http->connections->len, most = http->config.max_connections;

  return n < most || (n < most + MAX_ENDING && http_make_room (http));
}

/* Stops accepting if no file descriptors are left, as the socket would stay
 * readable; the next tick tries again. */
static gboolean
on_readable (GSocket *listener, GIOCondition condition, gpointer data)
{
  CuvHttp *http = data;
  GError *error = NULL;
  GSocket *socket = g_socket_accept (listener, NULL, &error);
  gboolean again = TRUE;

  cuv_http_connections_sweep (http);
  if (socket == NULL) {
    again = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
    g_error_free (error);
  } else if (http_has_room (http)) {
    if (http->config.certificate != NULL)
      limit_handshakes (http);
    add_connection (http, socket);
  }
  g_clear_object (&socket);
  if (!again)
    g_clear_pointer (&http->accepting, g_source_unref);
  return again;
}

static void
begin_accepting (CuvHttp *http)
{
  http->accepting = g_socket_create_source (http->listener, G_IO_IN, NULL);
  g_source_set_callback (
      http->accepting, G_SOURCE_FUNC (on_readable), http, NULL);
  g_source_attach (http->accepting, http->context);
}

void
cuv_http_connections_open (CuvHttp *http)
{
  http->connections = g_ptr_array_new_with_free_func (connection_free);
  begin_accepting (http);
}

void
cuv_http_connections_tick (CuvHttp *http)
{
  gint64 now = g_get_monotonic_time ();

  cuv_http_connections_sweep (http);
  if (http->accepting == NULL)
    begin_accepting (http);
  for (guint i = 0; i < http->connections->len; i++) {
    CuvHttpConnection *connection = http->connections->pdata[i];

    if (connection->deadline > 0 && now > connection->deadline)
      cuv_http_connection_shutdown (connection);
  }
}

void
cuv_http_connections_close (CuvHttp *http)
{
  if (http->accepting != NULL)
    g_source_destroy (http->accepting);
  g_clear_pointer (&http->accepting, g_source_unref);
  for (guint i = 0; i < http->connections->len; i++)
    cuv_http_connection_shutdown (http->connections->pdata[i]);
}
