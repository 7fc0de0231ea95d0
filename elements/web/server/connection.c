/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libsoup has no limits for connections. Ours are accepted here, so that they
 * can be counted and ended. Each has one request, for libsoup ends those that
 * it did not accept itself after a response, and the timeout for all of it;
 * viewers have it for each frame. */
#include "server/server-private.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Of frames for a viewer who reads slowly: what waits here is old. */
#define SEND_BUFFER (256 * 1024)
/* Connections beyond the limit that libsoup is about to drop. */
#define MAX_ENDING 16

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

/* libsoup has dropped the stream. */
static void
on_stream_gone (gpointer data, GObject *stream)
{
  CuvConnection *self = data;

  self->stream = NULL;
  g_ptr_array_remove (self->server->connections, self);
}

static void
connection_free (gpointer data)
{
  CuvConnection *self = data;

  if (self->stream != NULL)
    g_object_weak_unref (G_OBJECT (self->stream), on_stream_gone, self);
  if (self->user != NULL)
    *self->user = NULL;
  g_object_unref (self->socket);
  g_free (self->peer);
  g_free (self);
}

void
cuv_connection_shutdown (CuvConnection *self)
{
  self->ended = TRUE;
  g_socket_shutdown (self->socket, TRUE, TRUE, NULL);
}

gboolean
cuv_connection_is_over (const CuvConnection *self)
{
  gchar byte;

  return recv (
             g_socket_get_fd (self->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT)
      == 0;
}

/* The latest: a name may come again before libsoup has noticed that the peer
 * that had it is gone. */
CuvConnection *
cuv_connection_of (CuvWebServer *server, SoupServerMessage *message)
{
  GSocketAddress *address = soup_server_message_get_remote_address (message);
  CuvConnection *found = NULL;
  gchar *peer;

  if (address == NULL)
    return NULL;
  peer = peer_name (address);
  for (guint i = server->connections->len; i > 0 && found == NULL; i--) {
    CuvConnection *connection = server->connections->pdata[i - 1];

    if (g_str_equal (connection->peer, peer))
      found = connection;
  }
  g_free (peer);
  return found;
}

/* ---- accepting ---- */

/* A peer that vanishes without a word is noticed by the kernel; one that does
 * not read is noticed and counted by us before. */
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
new_connection (CuvWebServer *server, GSocket *socket, GSocketAddress *remote)
{
  GSocketConnection *stream =
      g_socket_connection_factory_create_connection (socket);
  CuvConnection *self = g_new0 (CuvConnection, 1);

  self->server = server;
  self->socket = g_object_ref (socket);
  self->stream = stream;
  self->peer = peer_name (remote);
  self->deadline =
      g_get_monotonic_time () + self->server->timeout * G_USEC_PER_SEC;
  set_options (socket, server->timeout);
  g_ptr_array_add (server->connections, self);
  g_object_weak_ref (G_OBJECT (stream), on_stream_gone, self);
  return add_tls (G_IO_STREAM (stream), server->certificate);
}

static void
add_connection (CuvWebServer *server, GSocket *socket)
{
  GSocketAddress *remote = g_socket_get_remote_address (socket, NULL);
  GSocketAddress *local = g_socket_get_local_address (socket, NULL);
  GIOStream *stream = NULL;

  if (remote != NULL && local != NULL)
    stream = new_connection (server, socket, remote);
  if (stream != NULL)
    soup_server_accept_iostream (server->soup, stream, local, remote, NULL);
  g_clear_object (&stream);
  g_clear_object (&remote);
  g_clear_object (&local);
}

/* Ends the oldest that is no viewer: those that never ask would keep all others
 * out until their timeout. FALSE: there is none. */
static gboolean
make_room (CuvWebServer *server)
{
  for (guint i = 0; i < server->connections->len; i++) {
    CuvConnection *connection = server->connections->pdata[i];

    if (connection->user != NULL || connection->ended)
      continue;
    cuv_connection_shutdown (connection);
    return TRUE;
  }
  return FALSE;
}

static gboolean
has_room (CuvWebServer *server)
{
  const guint n = server->connections->len;

  return n < CUV_WEB_MAX_CONNECTIONS
      || (n < CUV_WEB_MAX_CONNECTIONS + MAX_ENDING && make_room (server));
}

/* Without file descriptors the socket would stay readable: the next tick tries
 * again. */
static gboolean
on_readable (GSocket *listener, GIOCondition condition, gpointer data)
{
  CuvWebServer *server = data;
  GError *error = NULL;
  GSocket *socket = g_socket_accept (listener, NULL, &error);
  gboolean again = TRUE;

  if (socket == NULL) {
    again = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
    g_error_free (error);
  } else if (has_room (server)) {
    add_connection (server, socket);
  }
  g_clear_object (&socket);
  if (!again)
    g_clear_pointer (&server->accepting, g_source_unref);
  return again;
}

static void
begin_accepting (CuvWebServer *server)
{
  server->accepting = g_socket_create_source (server->listener, G_IO_IN, NULL);
  g_source_set_callback (
      server->accepting, G_SOURCE_FUNC (on_readable), server, NULL);
  g_source_attach (server->accepting, server->context);
}

void
cuv_connections_open (CuvWebServer *server)
{
  server->connections = g_ptr_array_new_with_free_func (connection_free);
  begin_accepting (server);
}

void
cuv_connections_tick (CuvWebServer *server)
{
  gint64 now = g_get_monotonic_time ();

  if (server->accepting == NULL)
    begin_accepting (server);
  for (guint i = 0; i < server->connections->len; i++) {
    CuvConnection *connection = server->connections->pdata[i];

    if (connection->deadline > 0 && now > connection->deadline)
      cuv_connection_shutdown (connection);
  }
}

void
cuv_connections_close (CuvWebServer *server)
{
  if (server->accepting != NULL)
    g_source_destroy (server->accepting);
  g_clear_pointer (&server->accepting, g_source_unref);
  for (guint i = 0; i < server->connections->len; i++)
    cuv_connection_shutdown (server->connections->pdata[i]);
}
