/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "server/server-private.h"

#include <string.h>

typedef struct {
  const gchar *name; /* below the stream's path */
  const gchar *type;
  const gchar *file; /* of the page; NULL: it is made of frames */
  void (*add) (CuvWebStream *stream, SoupServerMessage *message,
      CuvWebForm form, const gchar *content_type); /* NULL: WebSocket */
  CuvWebForm form;
} Resource;

static const Resource resources[] = {
  { .name = "", .type = "text/html; charset=utf-8", .file = "index.html" },
  { .name = "page.css", .type = "text/css; charset=utf-8", .file = "page.css" },
  { .name = "page.js",
      .type = "text/javascript; charset=utf-8",
      .file = "page.js" },
  { .name = "scene.js",
      .type = "text/javascript; charset=utf-8",
      .file = "scene.js" },
  { .name = "icon.svg", .type = "image/svg+xml", .file = "icon.svg" },
  { .name = "ws" },
  { .name = "stream.mjpg",
      .type = "multipart/x-mixed-replace; boundary=" CUV_WEB_BOUNDARY,
      .add = cuv_viewer_add_response,
      .form = CUV_WEB_PART },
  { .name = "events",
      .type = "text/event-stream",
      .add = cuv_viewer_add_response,
      .form = CUV_WEB_EVENT },
  { .name = "frame.jpg",
      .type = "image/jpeg",
      .add = cuv_viewer_add_single,
      .form = CUV_WEB_JPEG },
  { .name = "record.json",
      .type = "application/json",
      .add = cuv_viewer_add_single,
      .form = CUV_WEB_RECORD },
};

void
cuv_respond_text (SoupServerMessage *message, guint status, const gchar *text)
{
  gchar *line = g_strdup_printf ("%s\n", text);

  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, "text/plain; charset=utf-8",
      SOUP_MEMORY_TAKE, line, strlen (line));
}

/* ---- routes ---- */

/* What is behind the stream's path: "/ws" is "ws" of "/", "/door" is NULL of
 * "/door": its slash is missing. FALSE: another stream's. */
static gboolean
is_below (const CuvWebStream *stream, const gchar *path, const gchar **rest)
{
  const gsize n = strlen (stream->path);

  if (n == 1) {
    *rest = path + 1;
    return TRUE;
  }
  if (strncmp (path, stream->path, n) != 0
      || (path[n] != '/' && path[n] != '\0'))
    return FALSE;
  *rest = path[n] == '/' ? path + n + 1 : NULL;
  return TRUE;
}

/* The stream with the longest path. */
static CuvWebStream *
find_stream (const CuvWebServer *server, const gchar *path, const gchar **rest)
{
  CuvWebStream *best = NULL;
  const gchar *below;

  for (guint i = 0; i < server->streams->len && path[0] == '/'; i++) {
    CuvWebStream *stream = server->streams->pdata[i];

    if (!is_below (stream, path, &below)
        || (best != NULL && strlen (stream->path) < strlen (best->path)))
      continue;
    best = stream;
    *rest = below;
  }
  return best;
}

static const Resource *
find_resource (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (resources); i++)
    if (g_str_equal (resources[i].name, name))
      return &resources[i];
  return NULL;
}

gboolean
cuv_is_resource (const gchar *name)
{
  return *name != '\0' && find_resource (name) != NULL;
}

static const gchar *
path_of (SoupServerMessage *message)
{
  return soup_server_message_is_options_ping (message)
      ? "*"
      : g_uri_get_path (soup_server_message_get_uri (message));
}

/* ---- refusals ---- */

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
refuse (SoupServerMessage *message, guint status, const gchar *text)
{
  SoupMessageHeaders *headers =
      soup_server_message_get_response_headers (message);

  if (status == SOUP_STATUS_METHOD_NOT_ALLOWED)
    soup_message_headers_replace (headers, "Allow", "GET, HEAD");
  if (status == SOUP_STATUS_UNAUTHORIZED)
    soup_message_headers_replace (headers, "WWW-Authenticate", "Bearer");
  cuv_respond_text (message, status, text);
}

/* Before a body is read: none is. */
static void
on_headers (SoupServer *soup, SoupServerMessage *message, const char *path,
    GHashTable *query, gpointer data)
{
  const CuvWebServer *self = data;
  SoupMessageHeaders *request =
      soup_server_message_get_request_headers (message);

  soup_message_body_set_accumulate (
      soup_server_message_get_request_body (message), FALSE);
  cuv_web_add_headers (soup_server_message_get_response_headers (message));
  if (!is_readable (message))
    refuse (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "only GET and HEAD");
  else if (has_body (request))
    refuse (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "no body, please");
  else if (!cuv_web_host_allowed (self, request))
    refuse (message, SOUP_STATUS_MISDIRECTED_REQUEST,
        "this host name is not in allowed-hosts of visionwebsink");
}

/* ---- responses ---- */

static void
redirect (SoupServerMessage *message, const CuvWebStream *stream)
{
  const gchar *query = g_uri_get_query (soup_server_message_get_uri (message));
  gchar *target = g_strdup_printf ("%s/%s%s", stream->path,
      query != NULL ? "?" : "", query != NULL ? query : "");

  soup_server_message_set_redirect (
      message, SOUP_STATUS_MOVED_PERMANENTLY, target);
  g_free (target);
}

static void
respond_file (SoupServerMessage *message, const Resource *resource)
{
  gchar *path = g_strconcat ("/gst-cuvision/web/", resource->file, NULL);
  GBytes *bytes =
      g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (
      message, resource->type, SOUP_MEMORY_STATIC, data, size);
  g_bytes_unref (bytes);
  g_free (path);
}

/* The handshake has been answered. The stream may have gone meanwhile. */
static void
on_upgraded (SoupServerMessage *message, gpointer server)
{
  const gchar *rest;
  SoupWebsocketConnection *websocket = cuv_websocket_take (message);
  CuvWebStream *stream = find_stream (server, path_of (message), &rest);

  if (stream != NULL)
    cuv_viewer_add_websocket (stream, message, websocket);
  g_object_unref (websocket);
}

/* Frames are for those who have the token, and for pages of ours. */
static void
respond_frames (
    CuvWebStream *stream, SoupServerMessage *message, const Resource *resource)
{
  const CuvWebServer *server = stream->server;
  SoupMessageHeaders *request =
      soup_server_message_get_request_headers (message);

  if (!cuv_web_origin_allowed (server, request))
    refuse (message, SOUP_STATUS_FORBIDDEN,
        "pages of other servers may not see frames");
  else if (!cuv_web_token_valid (
               server, soup_server_message_get_uri (message), request))
    refuse (message, SOUP_STATUS_UNAUTHORIZED,
        "the token is missing or wrong: add ?token=... to the address");
  else if (!cuv_web_stream_has_room (stream))
    refuse (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
        "there are max-viewers viewers already");
  else if (resource->add != NULL)
    resource->add (stream, message, resource->form, resource->type);
  else if (soup_websocket_server_process_handshake (
               message, NULL, NULL, NULL, NULL))
    g_signal_connect (message, "wrote-informational", G_CALLBACK (on_upgraded),
        stream->server);
}

static void
on_request (SoupServer *soup, SoupServerMessage *message, const char *unused,
    GHashTable *query, gpointer data)
{
  const CuvWebServer *self = data;
  const gchar *rest = NULL;
  CuvWebStream *stream = find_stream (self, path_of (message), &rest);
  const Resource *resource = rest != NULL ? find_resource (rest) : NULL;

  if (stream != NULL && rest == NULL)
    redirect (message, stream);
  else if (resource == NULL)
    cuv_respond_text (message, SOUP_STATUS_NOT_FOUND, "there is no such page");
  else if (resource->file != NULL)
    respond_file (message, resource);
  else
    respond_frames (stream, message, resource);
}

void
cuv_requests_open (CuvWebServer *self)
{
  soup_server_add_early_handler (self->soup, "/", on_headers, self, NULL);
  soup_server_add_handler (self->soup, "/", on_request, self, NULL);
}
