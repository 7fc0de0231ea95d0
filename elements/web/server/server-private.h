/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the files of the server share. All functions are for
 * the server's thread, except where noted. */
#ifndef CUV_WEB_SERVER_PRIVATE_H
#define CUV_WEB_SERVER_PRIVATE_H

#include "http/http.h"
#include "server/server.h"

G_BEGIN_DECLS

#define CUV_WEB_MAX_CONNECTIONS 256

struct _CuvWebServer {
  guint users; /* under the registry's lock */

  /* constant */
  GInetAddress *address;
  guint port;
  gchar *token_digest;      /* SHA-256; NULL: no token is needed */
  gchar *read_token_digest; /* NULL: no such token */
  gchar *certificate_path, *key_path, *allowed_hosts_text;
  gchar **allowed_hosts;
  guint timeout;
  gchar *url;
  GTlsCertificate *certificate; /* NULL: no TLS */
  GSocket *listener;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;

  /* used by the thread only */
  GSource *tick; /* once a second */
  CuvHttp *http;
  GPtrArray *streams; /* CuvWebStream */
};

/* From other threads: calls a function in the server's thread and waits for it.
 */
void cuv_web_server_call (
    CuvWebServer *self, void (*call) (gpointer data), gpointer data);

/* ---- access.c ---- */

/* Returns the SHA-256 of a token, or NULL without one. */
gchar *cuv_web_digest (GBytes *token);
/* Adds the headers that keep other pages from reading frames. */
void cuv_web_add_headers (SoupMessageHeaders *headers);
/* Whether the Host of the request is one of this server. */
gboolean cuv_web_host_allowed (
    const CuvWebServer *self, SoupMessageHeaders *request);
/* Whether the page that sends the request is one of this server. */
gboolean cuv_web_origin_allowed (
    const CuvWebServer *self, SoupMessageHeaders *request);

typedef enum {
  CUV_WEB_NO_ACCESS,
  CUV_WEB_READ,
  CUV_WEB_CHANGE, /* controls, too */
} CuvWebAccess;

/* Returns what the token of a request allows. */
CuvWebAccess cuv_web_access (
    const CuvWebServer *self, GUri *uri, SoupMessageHeaders *request);

/* Returns 128 random bits as digits, or NULL if the system has none. */
gchar *cuv_web_make_ticket (void);
/* Whether the text is the ticket of the stream's reports. */
gboolean cuv_web_is_ticket (const CuvWebStream *stream, const gchar *text);

/* Allows the page of a report its own styles and pictures, and nothing else. */
void cuv_web_allow_report (SoupMessageHeaders *headers);

/* ---- request.c ---- */

/* Checks a request, as `check` of CuvHttpConfig: adds headers to the response,
 * and refuses other hosts. */
void cuv_web_check (SoupServerMessage *message, gpointer server);
/* Handles a request, as a SoupServerCallback. */
void cuv_web_handle (SoupServer *soup, SoupServerMessage *message,
    const char *path, GHashTable *query, gpointer server);
/* Whether each stream serves something of this name, or in a folder of this
 * name, below its path. */
gboolean cuv_web_is_resource (const gchar *name);

/* ---- report.c ---- */

void cuv_web_respond_metrics (CuvWebStream *stream, SoupServerMessage *message);
void cuv_web_respond_health (CuvWebStream *stream, SoupServerMessage *message);
/* Whether the stream has controls. */
void cuv_web_respond_controls (
    CuvWebStream *stream, SoupServerMessage *message);
/* Files of the last training's report. */
void cuv_web_respond_training_page (
    CuvWebStream *stream, SoupServerMessage *message);
void cuv_web_respond_training_json (
    CuvWebStream *stream, SoupServerMessage *message);

/* ---- websocket.c ---- */

/* Returns the WebSocket of a message whose handshake was answered; to be
 * unreffed. */
SoupWebsocketConnection *cuv_web_take_websocket (SoupServerMessage *message);

/* Prepares a new WebSocket for a client whose messages have at most max_size
 * bytes. */
void cuv_web_websocket_limit (SoupWebsocketConnection *websocket,
    CuvHttpConnection *connection, guint max_size);

/* Calls a function, with data, when libsoup has sent all. Returns the source,
 * to be destroyed and unreffed. */
GSource *cuv_web_when_sent (
    CuvHttpConnection *connection, GSocketSourceFunc call, gpointer data);

/* ---- stream.c ---- */

struct _CuvWebStream {
  CuvWebServer *server;
  gchar *path;   /* "/" or "/door" */
  gchar *ticket; /* as of cuv_web_stream_ticket() */
  const CuvWebCalls *calls;
  gpointer data;
  gint max_viewers, n_viewers, n_waiting; /* atomic */

  GMutex lock;
  CuvWebFrame *published; /* published but not delivered yet, or NULL */
  guint64 announced;      /* serial of the newest buffer; 0: none */
  guint64 flushed;        /* frames up to this serial are not sent */
  CuvWebCounts counts;
  GQueue texts;               /* CuvWebText, not delivered yet */
  gint n_remotes, n_changers; /* atomic */

  /* used by the server's thread only */
  GPtrArray *viewers; /* CuvViewer */
  GPtrArray *remotes; /* CuvRemote */
  guint64 last_client;
  CuvWebFrame *newest; /* frame published last; NULL: none yet, or no viewers */
};

/* Call after a viewer has come or gone, or has begun or ceased to wait. */
void cuv_web_stream_recount (CuvWebStream *self);
/* Count a frame that was sent, and a viewer that was dropped. */
void cuv_web_stream_count (CuvWebStream *self, gsize bytes);
void cuv_web_stream_count_dropped (CuvWebStream *self);
/* Whether a buffer newer than the newest frame has come. */
gboolean cuv_web_stream_is_stale (CuvWebStream *self);
/* Whether max_viewers allows one more viewer, or one more client of the
 * controls, with this access. */
gboolean cuv_web_stream_has_room (
    const CuvWebStream *self, gboolean for_controls, CuvWebAccess access);

/* ---- viewer.c ---- */

typedef struct _CuvViewer CuvViewer;

/* These add a viewer to the stream, which owns it. */
void cuv_viewer_add_websocket (CuvWebStream *stream, SoupServerMessage *message,
    SoupWebsocketConnection *websocket);
/* Adds an endless response of frames in this form. */
void cuv_viewer_add_response (CuvWebStream *stream, SoupServerMessage *message,
    CuvWebForm form, const gchar *content_type);
/* Adds a response with the next frame only. */
void cuv_viewer_add_single (CuvWebStream *stream, SoupServerMessage *message,
    CuvWebForm form, const gchar *content_type);
gboolean cuv_viewer_waits (const CuvViewer *self);
/* Sends the stream's newest frame if the viewer waits for one. */
void cuv_viewer_offer (CuvViewer *self);
/* Drops the viewer and returns FALSE if it has timed out or gone. */
gboolean cuv_viewer_tick (CuvViewer *self, gint64 now);
void cuv_viewer_free (gpointer self);

/* ---- remote.c ---- */

typedef struct _CuvRemote CuvRemote;

/* Adds a client to the stream, which owns it. */
void cuv_remote_add (CuvWebStream *stream, SoupServerMessage *message,
    SoupWebsocketConnection *websocket);
/* Sends a text if it is for this client; client 0: for all. */
void cuv_remote_offer (CuvRemote *self, guint64 client, GBytes *text);
/* Drops the client if it has timed out or gone. */
void cuv_remote_tick (CuvRemote *self, gint64 now);
gboolean cuv_remote_may_change (const CuvRemote *self);
void cuv_remote_free (gpointer self);

G_END_DECLS

#endif
