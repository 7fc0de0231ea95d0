/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http.h"

#include <gio/gio.h>
#include <libsoup/soup.h>
#include <string.h>

struct _Http {
  SoupServer *server;
  Worker *worker;
};

static void
respond (
    SoupServerMessage *message, guint status, const gchar *type, gchar *text)
{
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (
      message, type, SOUP_MEMORY_TAKE, text, strlen (text));
}

static void
handle (SoupServer *server, SoupServerMessage *message, const char *path,
    GHashTable *query, gpointer data)
{
  Http *self = data;
  const gchar *method = soup_server_message_get_method (message);

  if (!g_str_equal (method, "GET") && !g_str_equal (method, "HEAD"))
    respond (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "text/plain",
        g_strdup ("GET or HEAD only\n"));
  else if (g_str_equal (path, "/metrics"))
    respond (message, SOUP_STATUS_OK,
        "text/plain; version=0.0.4; charset=utf-8",
        worker_metrics (self->worker));
  else if (g_str_equal (path, "/healthz"))
    respond (message, SOUP_STATUS_OK, "text/plain", g_strdup ("ok\n"));
  else if (!g_str_equal (path, "/readyz"))
    respond (message, SOUP_STATUS_NOT_FOUND, "text/plain",
        g_strdup ("there are /metrics, /healthz and /readyz\n"));
  else if (worker_is_ready (self->worker))
    respond (message, SOUP_STATUS_OK, "text/plain", g_strdup ("ready\n"));
  else
    respond (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "text/plain",
        g_strdup ("not connected to NATS\n"));
}

static GSocketAddress *
parse_address (const gchar *text, GError **error)
{
  GSocketConnectable *parsed = g_network_address_parse (text, 0, error);
  GInetAddress *inet;
  GSocketAddress *address = NULL;
  const gchar *host;

  if (parsed == NULL)
    return NULL;
  host = g_network_address_get_hostname (G_NETWORK_ADDRESS (parsed));
  inet = g_inet_address_new_from_string (
      g_str_equal (host, "localhost") ? "127.0.0.1" : host);
  if (inet != NULL) {
    address = g_inet_socket_address_new (
        inet, g_network_address_get_port (G_NETWORK_ADDRESS (parsed)));
    g_object_unref (inet);
  } else {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "'%s' is no address of this machine (0.0.0.0: all)", host);
  }
  g_object_unref (parsed);
  return address;
}

static gboolean
listen_at (Http *self, const gchar *text, GError **error)
{
  GSocketAddress *address = parse_address (text, error);
  GSList *uris;
  gchar *uri;

  if (address == NULL
      || !soup_server_listen (self->server, address, 0, error)) {
    g_clear_object (&address);
    g_prefix_error (error, "[worker] listen = %s: ", text);
    return FALSE;
  }
  g_object_unref (address);
  uris = soup_server_get_uris (self->server);
  uri = g_uri_to_string (uris->data);
  farm_log ("metrics: %smetrics", uri);
  g_free (uri);
  g_slist_free_full (uris, (GDestroyNotify) g_uri_unref);
  return TRUE;
}

Http *
http_new (const gchar *address, Worker *worker, GError **error)
{
  Http *self = g_new0 (Http, 1);

  self->worker = worker;
  self->server = soup_server_new ("server-header", "gst-cuvision", NULL);
  soup_server_add_handler (self->server, NULL, handle, self, NULL);
  if (listen_at (self, address, error))
    return self;
  http_free (self);
  return NULL;
}

void
http_free (Http *self)
{
  soup_server_disconnect (self->server);
  g_object_unref (self->server);
  g_free (self);
}
