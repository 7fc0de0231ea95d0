/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the HTTP server of gst/http without visionwebsink: connections that
 * outlive it. */
#include "cuvtest.h"
#include "http/http.h"

static CuvHttpConnection *user;
static GIOStream *stream;

/* Takes the stream away from libsoup. */
static void
handle (SoupServer *soup, SoupServerMessage *message, const char *path,
    GHashTable *query, gpointer http)
{
  user = cuv_http_connection_of (http, message);
  fail_unless (user != NULL);
  user->user = &user;
  stream = soup_server_message_steal_connection (message);
}

static gpointer
drop (gpointer data)
{
  g_object_unref (data);
  return NULL;
}

static GSocketConnection *
ask (guint port)
{
  static const gchar request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  GSocketClient *client = g_socket_client_new ();
  GSocketConnection *connection = g_socket_client_connect_to_host (
      client, "127.0.0.1", (guint16) port, NULL, NULL);

  fail_unless (connection != NULL);
  fail_unless (g_output_stream_write_all (
      g_io_stream_get_output_stream (G_IO_STREAM (connection)), request,
      sizeof request - 1, NULL, NULL, NULL));
  g_object_unref (client);
  return connection;
}

/* The thread of a TLS handshake may drop a stream like this when the
 * handshake fails. */
CUV_TEST (test_stream_dropped_by_another_thread)
{
  GInetAddress *address = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  GSocket *listener = cuv_http_listen (address, 0, NULL);
  CuvHttp *http = cuv_http_new (
      listener, &(CuvHttpConfig){ .max_connections = 4, .timeout = 600 });
  GSocketConnection *client = ask (cuv_http_port (listener));
  CuvHttpConnection *before;

  soup_server_add_handler (cuv_http_soup (http), "/", handle, http, NULL);
  while (stream == NULL)
    g_main_context_iteration (NULL, TRUE);
  before = user;
  g_thread_join (g_thread_new ("handshake", drop, stream));
  fail_unless (user == before, "freed by a thread that is not the server's");
  while (user != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_object_unref (client);
  cuv_http_close (http);
  cuv_http_free (http);
  g_object_unref (listener);
  g_object_unref (address);
}
