/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An HTTP server on a thread of its own, with a stream of frames at each of its
 * paths. Sinks of one process with the same address and port share a server.
 *
 *   server.c      sharing, the thread, stopping; gst/http/ has the limits
 *   access.c      who may see frames: Host, Origin, token
 *   request.c     from a request to a response
 *   report.c      /metrics, /health and the report of a training
 *   websocket.c   WebSockets with limits
 *   stream.c      the frames of a path and who waits for them
 *   viewer.c      a client that gets frames: WebSocket or HTTP
 *   remote.c      a client that gets and changes controls: WebSocket
 *
 * A request: libsoup calls cuv_web_check(), then cuv_web_handle(), which
 * responds with a file of the page or a report, or adds a viewer to a stream. A
 * frame: cuv_web_stream_publish() in the encoder's thread, then
 * cuv_viewer_offer() for each viewer in the server's thread. */
#ifndef CUV_WEB_SERVER_H
#define CUV_WEB_SERVER_H

#include <gio/gio.h>
#include "frame.h"

G_BEGIN_DECLS

typedef struct {
  GInetAddress *address;
  guint port;         /* 0: any free one, never shared */
  GBytes *token;      /* token that viewers need, or NULL */
  GBytes *read_token; /* token of viewers who must not change anything, or NULL
                       */
  const gchar *certificate, *key; /* paths of PEM files, or NULL */
  const gchar *allowed_hosts;     /* separated by commas, or NULL */
  guint timeout;                  /* seconds */
} CuvWebConfig;

typedef struct _CuvWebServer CuvWebServer;

/* Opens a server, or joins the one with this address and port if the rest of
 * the config is the same. Returns NULL with an error that names cause and fix.
 */
CuvWebServer *cuv_web_server_open (const CuvWebConfig *config, GError **error);

/* Leaves a server; the last call ends all connections. */
void cuv_web_server_close (CuvWebServer *self);

/* Returns the URL, such as "http://127.0.0.1:8080", without a slash at its
 * end. */
const gchar *cuv_web_server_url (const CuvWebServer *self);

typedef struct _CuvWebStream CuvWebStream;

/* Called in the server's thread when a viewer begins to wait, and with FALSE
 * when the last viewer has left. */
typedef void (*CuvWebWake) (gpointer data, gboolean wanted);

/* A client of the stream's controls. */
typedef struct {
  guint64 id; /* above 0 */
  gboolean may_change;
  gint64 last_id; /* for the stream's owner; 0 at first */
} CuvWebClient;

/* What a stream asks of its owner, in the server's thread. */
typedef struct {
  CuvWebWake wake;
  /* Returns the text of /metrics, to be freed. */
  gchar *(*metrics) (gpointer data, guint n_connections);
  /* Returns the JSON text of /health, to be freed, and whether its status is
   * 200 or 503. */
  gchar *(*health) (gpointer data, gboolean *healthy);
  /* NULL without controls. join: a client has come, and expects texts.
   * message: a client has sent a text, which is not trusted; returns the
   * answer, to be freed, or NULL. */
  void (*join) (gpointer data, guint64 client);
  gchar *(*message) (
      gpointer data, CuvWebClient *client, const gchar *text, gsize size);
  /* The last client that may change has gone, or NULL. */
  void (*leave) (gpointer data);
  /* Returns index.html or report.json of the last training, to be unreffed;
   * NULL if there is none, as without this function. */
  GBytes *(*training_report) (gpointer data, gboolean json);
} CuvWebCalls;

/* Returns NULL, or why the path is not valid; to be freed. */
gchar *cuv_web_path_problem (const gchar *path);

/* Adds a stream. Returns NULL with an error if another sink has this path.
 * max_viewers: at most G_MAXINT; calls: constant. */
CuvWebStream *cuv_web_stream_new (CuvWebServer *server, const gchar *path,
    guint max_viewers, const CuvWebCalls *calls, gpointer data, GError **error);

/* Returns a name that nobody can guess, or NULL. Who knows it may read
 * report/TICKET/index.html and report.json there without a token, so that a
 * report's relative links work, and the token stays out of addresses and of
 * pages that are saved. */
const gchar *cuv_web_stream_ticket (const CuvWebStream *self);

/* Closes all viewers; no call is made afterwards. */
void cuv_web_stream_free (CuvWebStream *self);

/* The following may be called from any thread. */

/* max_viewers: at most G_MAXINT. */
void cuv_web_stream_set_max_viewers (CuvWebStream *self, guint max_viewers);

/* Return the number of viewers, and how many of them wait for a frame. */
guint cuv_web_stream_viewers (const CuvWebStream *self);
guint cuv_web_stream_waiting (const CuvWebStream *self);

/* Call when a newer buffer has come, whose frame will be published with the
 * serial that is returned: viewers then wait for that frame instead of getting
 * an older one. */
guint64 cuv_web_stream_announce (CuvWebStream *self);
/* Stops frames that were announced before this call from being sent. */
void cuv_web_stream_flush (CuvWebStream *self);

/* Sends the frame to all viewers that wait. Takes ownership of it. */
void cuv_web_stream_publish (CuvWebStream *self, CuvWebFrame *frame);

/* Sends a text, which it frees, to a client of the controls; 0: to all. */
void cuv_web_stream_send (CuvWebStream *self, guint64 client, gchar *text);

/* Return the number of clients of the controls, and how many of them may change
 * something. */
guint cuv_web_stream_clients (const CuvWebStream *self);
guint cuv_web_stream_changers (const CuvWebStream *self);

typedef struct {
  guint64 sent, bytes, dropped; /* frames, their bytes, viewers */
} CuvWebCounts;

void cuv_web_stream_get_counts (CuvWebStream *self, CuvWebCounts *counts);

G_END_DECLS

#endif
