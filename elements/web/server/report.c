/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics, /health, /controls.json and the report of a training: what the
 * owner of a stream says about it. */
#include "http/exposition.h"
#include "server/server-private.h"

void
cuv_web_respond_metrics (CuvWebStream *stream, SoupServerMessage *message)
{
  const guint n = cuv_http_n_connections (stream->server->http);

  cuv_http_respond (message, SOUP_STATUS_OK, CUV_EXPOSITION_TYPE,
      SOUP_MEMORY_TAKE, stream->calls->metrics (stream->data, n));
}

void
cuv_web_respond_health (CuvWebStream *stream, SoupServerMessage *message)
{
  gboolean healthy;
  gchar *text = stream->calls->health (stream->data, &healthy);

  cuv_http_respond (message,
      healthy ? SOUP_STATUS_OK : SOUP_STATUS_SERVICE_UNAVAILABLE,
      "application/json", SOUP_MEMORY_TAKE, text);
}

void
cuv_web_respond_controls (CuvWebStream *stream, SoupServerMessage *message)
{
  cuv_http_respond (message, SOUP_STATUS_OK, "application/json",
      SOUP_MEMORY_STATIC,
      stream->calls->message != NULL ? "{\"controls\":true}"
                                     : "{\"controls\":false}");
}

static void
respond_training (CuvWebStream *stream, SoupServerMessage *message,
    gboolean json, const gchar *type)
{
  const CuvWebCalls *calls = stream->calls;
  GBytes *bytes = calls->training_report != NULL
      ? calls->training_report (stream->data, json)
      : NULL;
  gsize size;
  gconstpointer data;

  if (bytes == NULL) {
    cuv_http_respond_text (
        message, SOUP_STATUS_NOT_FOUND, "nothing was trained yet");
    return;
  }
  data = g_bytes_get_data (bytes, &size);
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  /* it has pictures of the camera */
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Cache-Control",
      "no-store");
  soup_server_message_set_response (
      message, type, SOUP_MEMORY_COPY, data, size);
  g_bytes_unref (bytes);
}

void
cuv_web_respond_training_page (CuvWebStream *stream, SoupServerMessage *message)
{
  cuv_web_allow_report (soup_server_message_get_response_headers (message));
  respond_training (stream, message, FALSE, "text/html; charset=utf-8");
}

void
cuv_web_respond_training_json (CuvWebStream *stream, SoupServerMessage *message)
{
  respond_training (stream, message, TRUE, "application/json");
}
