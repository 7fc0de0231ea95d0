/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An HTTP server on a thread of its own, with a stream of frames at each of
 * its paths. Sinks of one process that name the same address and port share a
 * server.
 *
 *   server.c      sharing, the thread, stopping; gst/http/ has the limits
 *   access.c      who may ask: Host, Origin, token
 *   request.c     from a request to a response
 *   websocket.c   WebSockets whose messages are short
 *   stream.c      the frames of a path and who waits for them
 *   viewer.c      one that waits: WebSocket or HTTP */
#ifndef CUV_WEB_SERVER_H
#define CUV_WEB_SERVER_H

#include <gio/gio.h>
#include "frame.h"

G_BEGIN_DECLS

typedef struct {
  GInetAddress *address;
  guint port;                     /* 0: any free one, never shared */
  GBytes *token;                  /* NULL: none is needed */
  const gchar *certificate, *key; /* paths of PEM files, or NULL */
  const gchar *allowed_hosts;     /* separated by commas, or NULL */
  guint timeout;                  /* seconds */
} CuvWebConfig;

typedef struct _CuvWebServer CuvWebServer;

/* Opens a server, or joins the one that has this address and port if the rest
 * of the config is the same. NULL with an error that names cause and cure. */
CuvWebServer *cuv_web_server_open (const CuvWebConfig *config, GError **error);

/* The last one who closes it ends all its connections. */
void cuv_web_server_close (CuvWebServer *self);

/* "http://127.0.0.1:8080", without a slash at its end. */
const gchar *cuv_web_server_url (const CuvWebServer *self);

typedef struct _CuvWebStream CuvWebStream;

/* Called from the server's thread when somebody begins to wait, and with FALSE
 * when nobody watches any more. */
typedef void (*CuvWebWake) (gpointer data, gboolean wanted);

/* The problem of a path, or NULL; to be freed. */
gchar *cuv_web_path_problem (const gchar *path);

/* Adds a stream. NULL with an error if another sink has this path. At most
 * G_MAXINT viewers. */
CuvWebStream *cuv_web_stream_new (CuvWebServer *server, const gchar *path,
    guint max_viewers, CuvWebWake wake, gpointer data, GError **error);

/* Closes all viewers; wake is not called afterwards. */
void cuv_web_stream_free (CuvWebStream *self);

/* The following may be called from any thread. */

/* At most G_MAXINT. */
void cuv_web_stream_set_max_viewers (CuvWebStream *self, guint max_viewers);

/* How many there are, and how many of them wait for a frame. */
guint cuv_web_stream_viewers (const CuvWebStream *self);
guint cuv_web_stream_waiting (const CuvWebStream *self);

/* A newer buffer has come, which will be published with the serial that is
 * returned: viewers wait for it rather than get the frame before. */
guint64 cuv_web_stream_announce (CuvWebStream *self);
/* Frames announced so far are not sent any more. */
void cuv_web_stream_flush (CuvWebStream *self);

/* Takes the frame: the one that all who wait get. */
void cuv_web_stream_publish (CuvWebStream *self, CuvWebFrame *frame);

typedef struct {
  guint64 sent, bytes, dropped; /* frames, their bytes, viewers */
} CuvWebCounts;

void cuv_web_stream_get_counts (CuvWebStream *self, CuvWebCounts *counts);

G_END_DECLS

#endif
