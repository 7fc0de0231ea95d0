/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebSockets with limits. libsoup joins the fragments of a message without a
 * limit (CVE-2025-32049, not fixed in Debian 12). Answers of viewers are short,
 * so fragments are refused, by a protocol extension that sees each frame and is
 * not announced to clients. */
#include "server/server-private.h"

/* Bits of a frame's first byte. */
#define FIN 0x80 /* the last fragment */
#define CONTROL 0x08
/* Limit of pings per second: libsoup queues an answer to each, even if nobody
 * reads them. */
#define MAX_CONTROL 20
#define PING_SECONDS 10

#define CUV_TYPE_WHOLE_MESSAGES (cuv_whole_messages_get_type ())
G_DECLARE_FINAL_TYPE (CuvWholeMessages, cuv_whole_messages, CUV, WHOLE_MESSAGES,
    SoupWebsocketExtension)
struct _CuvWholeMessages {
  SoupWebsocketExtension parent;
  gint64 second;   /* monotonic time at which the current second began */
  guint n_control; /* control frames in this second */
};
G_DEFINE_FINAL_TYPE (
    CuvWholeMessages, cuv_whole_messages, SOUP_TYPE_WEBSOCKET_EXTENSION)

static gboolean
is_flood (CuvWholeMessages *self)
{
  const gint64 now = g_get_monotonic_time ();

  if (now - self->second > G_USEC_PER_SEC) {
    self->second = now;
    self->n_control = 0;
  }
  return ++self->n_control > MAX_CONTROL;
}

/* Returns payload, or frees it and sets an error. */
static GBytes *
check_frame (SoupWebsocketExtension *extension, guint8 *header, GBytes *payload,
    GError **error)
{
  const gchar *problem = NULL;

  if (!(*header & FIN))
    problem = "fragments are not accepted";
  else if (*header & CONTROL && is_flood ((CuvWholeMessages *) extension))
    problem = "too many pings";
  if (problem == NULL)
    return payload;
  g_bytes_unref (payload);
  g_set_error_literal (
      error, SOUP_WEBSOCKET_ERROR, SOUP_WEBSOCKET_CLOSE_TOO_BIG, problem);
  return NULL;
}

static void
cuv_whole_messages_class_init (CuvWholeMessagesClass *klass)
{
  SOUP_WEBSOCKET_EXTENSION_CLASS (klass)->process_incoming_message =
      check_frame;
}

static void
cuv_whole_messages_init (CuvWholeMessages *self)
{
}

SoupWebsocketConnection *
cuv_web_take_websocket (SoupServerMessage *message)
{
  GIOStream *stream = soup_server_message_steal_connection (message);
  GList *extensions =
      g_list_append (NULL, g_object_new (CUV_TYPE_WHOLE_MESSAGES, NULL));
  SoupWebsocketConnection *websocket = soup_websocket_connection_new (stream,
      soup_server_message_get_uri (message), SOUP_WEBSOCKET_CONNECTION_SERVER,
      NULL, NULL, extensions);

  g_object_unref (stream);
  return websocket;
}

void
cuv_web_websocket_limit (SoupWebsocketConnection *websocket,
    CuvHttpConnection *connection, guint max_size)
{
  cuv_http_connection_unlimit (connection);
  soup_websocket_connection_set_max_incoming_payload_size (websocket, max_size);
  soup_websocket_connection_set_keepalive_interval (websocket, PING_SECONDS);
}

/* While libsoup has something to send, its own source on this socket has a
 * higher priority than this one. */
GSource *
cuv_web_when_sent (
    CuvHttpConnection *connection, GSocketSourceFunc call, gpointer data)
{
  GSource *source = g_socket_create_source (connection->socket, G_IO_OUT, NULL);

  g_source_set_priority (source, G_PRIORITY_LOW);
  g_source_set_callback (source, G_SOURCE_FUNC (call), data, NULL);
  g_source_attach (source, g_main_context_get_thread_default ());
  return source;
}
