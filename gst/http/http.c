/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http/http-private.h"

#include <string.h>

/* How long cuv_http_close() waits for libsoup to drop connections. */
#define CLOSE_MS 1000
/* Limit of http_iterate(), because a source may always be ready. */
#define MAX_ITERATIONS 10000

/* ---- responses ---- */

void
cuv_http_respond (SoupServerMessage *message, guint status, const gchar *type,
    SoupMemoryUse use, const gchar *text)
{
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, use, text, strlen (text));
}

void
cuv_http_respond_text (
    SoupServerMessage *message, guint status, const gchar *text)
{
  cuv_http_respond (message, status, "text/plain; charset=utf-8",
      SOUP_MEMORY_TAKE, g_strdup_printf ("%s\n", text));
}

/* ---- checks ---- */

static gboolean
is_readable (SoupServerMessage *message)
{
  const gchar *method = soup_server_message_get_method (message);

  return method == SOUP_METHOD_GET || method == SOUP_METHOD_HEAD;
}

static gboolean
has_body (SoupMessageHeaders *request)
{
  return soup_message_headers_get_encoding (request) == SOUP_ENCODING_CHUNKED
      || soup_message_headers_get_content_length (request) > 0;
}

static void
add_headers (SoupMessageHeaders *headers)
{
  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  soup_message_headers_replace (headers, "Connection", "close");
  soup_message_headers_replace (headers, "X-Content-Type-Options", "nosniff");
}

static void
refuse_method (SoupServerMessage *message)
{
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Allow", "GET, HEAD");
  cuv_http_respond_text (message, SOUP_STATUS_METHOD_NOT_ALLOWED,
      "only GET and HEAD are supported");
}

/* Checks a request before its body would be read; bodies are refused. Removes
 * Range: libsoup would make a copy of the response for each range in the list.
 */
static void
on_headers (SoupServer *soup, SoupServerMessage *message, const char *path,
    GHashTable *query, gpointer data)
{
  CuvHttp *self = data;
  const CuvHttpConfig *config = &self->config;
  CuvHttpConnection *connection = cuv_http_connection_of (self, message);
  SoupMessageHeaders *request =
      soup_server_message_get_request_headers (message);

  if (connection != NULL)
    connection->asked = TRUE;
  soup_message_headers_remove (request, "Range");
  soup_message_body_set_accumulate (
      soup_server_message_get_request_body (message), FALSE);
  add_headers (soup_server_message_get_response_headers (message));
  if (config->check != NULL)
    config->check (message, config->data);
  if (soup_server_message_get_status (message) != SOUP_STATUS_NONE)
    return;
  if (!is_readable (message))
    refuse_method (message);
  else if (has_body (request))
    cuv_http_respond_text (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
        "requests must not have a body");
}

/* ---- the server ---- */

static gboolean
http_on_tick (gpointer data)
{
  cuv_http_connections_tick (data);
  return G_SOURCE_CONTINUE;
}

CuvHttp *
cuv_http_new (GSocket *listener, const CuvHttpConfig *config)
{
  CuvHttp *self = g_new0 (CuvHttp, 1);

  self->config = *config;
  self->context = g_main_context_ref_thread_default ();
  self->listener = g_object_ref (listener);
  if (config->certificate != NULL)
    g_object_ref (config->certificate);
  self->soup = soup_server_new ("server-header", "gst-cuvision", NULL);
  soup_server_add_early_handler (self->soup, "/", on_headers, self, NULL);
  cuv_http_connections_open (self);
  self->tick = g_timeout_source_new_seconds (1);
  g_source_set_callback (self->tick, http_on_tick, self, NULL);
  g_source_attach (self->tick, self->context);
  return self;
}

SoupServer *
cuv_http_soup (CuvHttp *self)
{
  return self->soup;
}

guint
cuv_http_n_connections (const CuvHttp *self)
{
  return self->connections->len;
}

/* ---- closing ---- */

static gboolean
on_close_timeout (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Dispatches all sources that are ready. */
static void
http_iterate (CuvHttp *self)
{
  for (guint i = 0;
       i < MAX_ITERATIONS && g_main_context_iteration (self->context, FALSE);
       i++)
    ;
}

/* Lets libsoup see the end of each connection. */
static void
http_drain (CuvHttp *self)
{
  GSource *timeout = g_timeout_source_new (CLOSE_MS);
  gboolean expired = FALSE;

  g_source_set_callback (timeout, on_close_timeout, &expired, NULL);
  g_source_attach (timeout, self->context);
  while (self->connections->len > 0 && !expired) {
    g_main_context_iteration (self->context, TRUE);
    cuv_http_connections_sweep (self);
  }
  http_iterate (self);
  g_source_destroy (timeout);
  g_source_unref (timeout);
}

void
cuv_http_close (CuvHttp *self)
{
  cuv_http_connections_close (self);
  http_drain (self);
  soup_server_disconnect (self->soup);
  g_clear_object (&self->soup);
  http_iterate (self);
}

void
cuv_http_free (CuvHttp *self)
{
  g_source_destroy (self->tick);
  g_source_unref (self->tick);
  cuv_http_connections_close (self);
  g_clear_object (&self->soup);
  g_ptr_array_unref (self->connections);
  g_clear_object (&self->config.certificate);
  g_object_unref (self->listener);
  g_main_context_unref (self->context);
  g_free (self);
}
