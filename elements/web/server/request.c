/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a request to a response: finds the stream and its resource, and checks
 * who may have it. */
#include "server/server-private.h"

#include <string.h>

typedef struct {
  const gchar *name; /* below the stream's path */
  const gchar *type;
  const gchar
      *file; /* file of the page; NULL: the resource is made of frames */
  void (*add) (CuvWebStream *stream, SoupServerMessage *message,
      CuvWebForm form, const gchar *content_type);
  CuvWebForm form;
  /* adds the client of a WebSocket; NULL: not a WebSocket */
  void (*upgrade) (CuvWebStream *stream, SoupServerMessage *message,
      SoupWebsocketConnection *websocket);
  gboolean is_controls; /* exists only if the stream has controls */
  /* a report; NULL: the resource is a file or made of frames */
  void (*report) (CuvWebStream *stream, SoupServerMessage *message);
  gboolean without_token; /* a report that needs no token */
} Resource;

#define SCRIPT(file_)                                                          \
  {                                                                            \
    .name = file_, .type = "text/javascript; charset=utf-8", .file = file_     \
  }

static const Resource resources[] = {
  { .name = "", .type = "text/html; charset=utf-8", .file = "index.html" },
  { .name = "page.css", .type = "text/css; charset=utf-8", .file = "page.css" },
  { .name = "drawing.css",
      .type = "text/css; charset=utf-8",
      .file = "drawing.css" },
  SCRIPT ("bar.js"),
  SCRIPT ("controls.js"),
  SCRIPT ("download.js"),
  SCRIPT ("draw.js"),
  SCRIPT ("editors.js"),
  SCRIPT ("follow.js"),
  SCRIPT ("history.js"),
  SCRIPT ("match.js"),
  SCRIPT ("offer.js"),
  SCRIPT ("page.js"),
  SCRIPT ("pick.js"),
  SCRIPT ("remote.js"),
  SCRIPT ("roi.js"),
  SCRIPT ("scene.js"),
  SCRIPT ("settings.js"),
  SCRIPT ("teach.js"),
  SCRIPT ("zone-shapes.js"),
  SCRIPT ("zone-tool.js"),
  SCRIPT ("zones.js"),
  SCRIPT ("zones-text.js"),
  { .name = "icon.svg", .type = "image/svg+xml", .file = "icon.svg" },
  { .name = "ws", .upgrade = cuv_viewer_add_websocket },
  { .name = "controls", .upgrade = cuv_remote_add, .is_controls = TRUE },
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
  { .name = "metrics", .report = cuv_web_respond_metrics },
  { .name = "controls.json", .report = cuv_web_respond_controls },
  { .name = "report/index.html", .report = cuv_web_respond_training_page },
  { .name = "report/report.json", .report = cuv_web_respond_training_json },
  { .name = "health", .report = cuv_web_respond_health, .without_token = TRUE },
};

/* ---- routes ---- */

/* Whether path is in that of the stream. If so, sets *rest to what follows:
 * "ws" for "/ws" in "/"; NULL for "/door" in "/door", where a slash is
 * missing. */
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

/* Returns the stream with the longest path that contains this path, or NULL. */
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

/* Finds a file of a report whose address has the ticket,
 * "report/TICKET/index.html". */
static const Resource *
find_report (const CuvWebStream *stream, const gchar *name)
{
  gchar **parts = g_strsplit (name, "/", -1);
  const Resource *found = NULL;

  if (g_strv_length (parts) == 3 && g_str_equal (parts[0], "report")
      && cuv_web_is_ticket (stream, parts[1])) {
    gchar *plain = g_strconcat ("report/", parts[2], NULL);

    found = find_resource (plain);
    g_free (plain);
  }
  g_strfreev (parts);
  return found;
}

gboolean
cuv_web_is_resource (const gchar *name)
{
  gboolean found = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (resources) && !found; i++) {
    gchar **parts = g_strsplit (resources[i].name, "/", -1);

    found = g_strv_contains ((const gchar *const *) parts, name);
    g_strfreev (parts);
  }
  return found;
}

static const gchar *
request_path (SoupServerMessage *message)
{
  return soup_server_message_is_options_ping (message)
      ? "*"
      : g_uri_get_path (soup_server_message_get_uri (message));
}

/* ---- refusals ---- */

void
cuv_web_check (SoupServerMessage *message, gpointer server)
{
  cuv_web_add_headers (soup_server_message_get_response_headers (message));
  if (!cuv_web_host_allowed (
          server, soup_server_message_get_request_headers (message)))
    cuv_http_respond_text (message, SOUP_STATUS_MISDIRECTED_REQUEST,
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

/* Adds the viewer after the handshake was answered, unless the stream has gone.
 */
static void
on_upgraded (SoupServerMessage *message, gpointer server)
{
  const gchar *rest = NULL;
  SoupWebsocketConnection *websocket = cuv_web_take_websocket (message);
  CuvWebStream *stream = find_stream (server, request_path (message), &rest);
  const Resource *resource = rest != NULL ? find_resource (rest) : NULL;

  if (resource != NULL && resource->upgrade != NULL)
    resource->upgrade (stream, message, websocket);
  g_object_unref (websocket);
}

static void
refuse_token (SoupServerMessage *message)
{
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "WWW-Authenticate",
      "Bearer");
  cuv_http_respond_text (message, SOUP_STATUS_UNAUTHORIZED,
      "the token is missing or wrong: add ?token=... to the address");
}

static void
respond_stream (CuvWebStream *stream, SoupServerMessage *message,
    const Resource *resource, CuvWebAccess access)
{
  if (resource->is_controls && stream->calls->message == NULL)
    cuv_http_respond_text (
        message, SOUP_STATUS_NOT_FOUND, "visionwebsink has no controls");
  else if (!cuv_web_stream_has_room (stream, resource->is_controls, access))
    cuv_http_respond_text (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
        "the maximum number of viewers (max-viewers) is reached");
  else if (resource->add != NULL)
    resource->add (stream, message, resource->form, resource->type);
  else if (soup_websocket_server_process_handshake (
               message, NULL, NULL, NULL, NULL))
    g_signal_connect (message, "wrote-informational", G_CALLBACK (on_upgraded),
        stream->server);
}

/* Frames, metrics and controls need a token, and only pages of this server may
 * use them. Probes of health cannot keep a token secret. */
static void
respond_restricted (CuvWebStream *stream, SoupServerMessage *message,
    const Resource *resource, gboolean has_ticket)
{
  const CuvWebServer *server = stream->server;
  SoupMessageHeaders *request =
      soup_server_message_get_request_headers (message);
  const CuvWebAccess access =
      cuv_web_access (server, soup_server_message_get_uri (message), request);

  if (!cuv_web_origin_allowed (server, request))
    cuv_http_respond_text (message, SOUP_STATUS_FORBIDDEN,
        "pages of other servers may not load frames from this one");
  else if (!resource->without_token && !has_ticket
      && access == CUV_WEB_NO_ACCESS)
    refuse_token (message);
  else if (resource->report != NULL)
    resource->report (stream, message);
  else
    respond_stream (stream, message, resource, access);
}

void
cuv_web_handle (SoupServer *soup, SoupServerMessage *message,
    const char *unused, GHashTable *query, gpointer server)
{
  const CuvWebServer *self = server;
  const gchar *rest = NULL;
  CuvWebStream *stream = find_stream (self, request_path (message), &rest);
  const Resource *report = rest != NULL ? find_report (stream, rest) : NULL;
  const Resource *resource = report != NULL ? report
      : rest != NULL                        ? find_resource (rest)
                                            : NULL;

  if (stream != NULL && rest == NULL)
    redirect (message, stream);
  else if (resource == NULL)
    cuv_http_respond_text (message, SOUP_STATUS_NOT_FOUND, "no such page");
  else if (resource->file != NULL)
    respond_file (message, resource);
  else
    respond_restricted (stream, message, resource, report != NULL);
}
