/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /metrics, /health and /controls.json: what the owner of a stream says about
 * it. */
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
