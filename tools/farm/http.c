/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http.h"

#include "farm-util.h"
#include "http/exposition.h"
#include "http/http.h"

/* Enough for a scraper and probes; pipelines need most of the usual 1024 file
 * descriptors. */
#define MAX_CONNECTIONS 64
#define TIMEOUT 20 /* seconds */

struct _Http {
  CuvHttp *server;
  Worker *worker;
};

static void
farm_handle_request (SoupServer *server, SoupServerMessage *message,
    const char *path, GHashTable *query, gpointer data)
{
  Http *self = data;

  if (g_str_equal (path, "/metrics"))
    cuv_http_respond (message, SOUP_STATUS_OK, CUV_EXPOSITION_TYPE,
        SOUP_MEMORY_TAKE, worker_metrics (self->worker));
  else if (g_str_equal (path, "/healthz"))
    cuv_http_respond_text (message, SOUP_STATUS_OK, "ok");
  else if (!g_str_equal (path, "/readyz"))
    cuv_http_respond_text (message, SOUP_STATUS_NOT_FOUND,
        "not found; try /metrics, /healthz or /readyz");
  else if (worker_is_ready (self->worker))
    cuv_http_respond_text (message, SOUP_STATUS_OK, "ready");
  else
    cuv_http_respond_text (
        message, SOUP_STATUS_SERVICE_UNAVAILABLE, "not connected to NATS");
}

static GInetAddress *
parse_listen_address (const gchar *text, guint *port, GError **error)
{
  GSocketConnectable *parsed = g_network_address_parse (text, 0, error);
  GInetAddress *address;
  const gchar *host;

  if (parsed == NULL)
    return NULL;
  host = g_network_address_get_hostname (G_NETWORK_ADDRESS (parsed));
  *port = g_network_address_get_port (G_NETWORK_ADDRESS (parsed));
  address = g_inet_address_new_from_string (
      g_str_equal (host, "localhost") ? "127.0.0.1" : host);
  if (address == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "'%s' is not an IP address of this machine (use 0.0.0.0 for all)",
        host);
  g_object_unref (parsed);
  return address;
}

static GSocket *
listen_at (const gchar *text, GError **error)
{
  guint port = 0;
  GInetAddress *address = parse_listen_address (text, &port, error);
  GSocket *listener = NULL;

  if (address != NULL)
    listener = cuv_http_listen (address, port, error);
  if (listener == NULL)
    g_prefix_error (error, "[worker] listen = %s: ", text);
  g_clear_object (&address);
  return listener;
}

static void
log_address (GSocket *listener)
{
  gchar *url = cuv_http_url (listener, FALSE);

  farm_log ("metrics: %s/metrics", url);
  g_free (url);
}

Http *
http_new (const gchar *address, Worker *worker, GError **error)
{
  GSocket *listener = listen_at (address, error);
  Http *self;

  if (listener == NULL)
    return NULL;
  log_address (listener);
  self = g_new0 (Http, 1);
  self->worker = worker;
  self->server = cuv_http_new (listener,
      &(CuvHttpConfig){
          .max_connections = MAX_CONNECTIONS, .timeout = TIMEOUT });
  g_object_unref (listener);
  soup_server_add_handler (
      cuv_http_soup (self->server), "/", farm_handle_request, self, NULL);
  return self;
}

void
http_free (Http *self)
{
  cuv_http_free (self->server);
  g_free (self);
}
