/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An HTTP server for clients that are not trusted: libsoup with limits. Used by
 * visionwebsink (elements/web/server) and cuvision-farm (tools/farm/http.c).
 *
 *   listener.c    the socket and its URL
 *   http.c        the server, checks of a request, responses
 *   connection.c  accepts connections, limits their number and time
 *   input.c       limits what a connection may send
 *   exposition.c  metrics for Prometheus; needs nothing of the server
 *
 * It answers GET and HEAD, one request per connection. To serve, call
 * cuv_http_listen() and cuv_http_new(), then add handlers to cuv_http_soup().
 */
#ifndef CUV_HTTP_H
#define CUV_HTTP_H

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Limit of a request's headers in bytes. libsoup needs up to 30 times as much
 * memory. */
#define CUV_HTTP_MAX_INPUT 16384

typedef struct _CuvHttp CuvHttp;
typedef struct _CuvHttpInput CuvHttpInput;

typedef struct {
  guint max_connections;
  guint timeout;                /* seconds for a request and its response */
  GTlsCertificate *certificate; /* NULL: no TLS */
  /* Optional: adds headers to the response; refuses the request by setting a
   * status. */
  void (*check) (SoupServerMessage *message, gpointer data);
  gpointer data;
} CuvHttpConfig;

/* ---- listener.c ---- */

/* Opens a socket; port 0: any free one. Returns NULL with an error that names
 * cause and fix. */
GSocket *cuv_http_listen (GInetAddress *address, guint port, GError **error);
guint cuv_http_port (GSocket *listener);
/* Returns the URL, such as "http://127.0.0.1:8080", without a slash at its end.
 * If the socket listens on all addresses, the URL has one that other machines
 * can reach. */
gchar *cuv_http_url (GSocket *listener, gboolean tls);

/* ---- http.c ---- */

/* Serves in the thread-default main context. */
CuvHttp *cuv_http_new (GSocket *listener, const CuvHttpConfig *config);
/* Returns libsoup's server, to add handlers to. */
SoupServer *cuv_http_soup (CuvHttp *self);
/* The number of connections that are open. */
guint cuv_http_n_connections (const CuvHttp *self);
/* Ends all connections, and iterates the main context until libsoup has dropped
 * them, for at most a second. */
void cuv_http_close (CuvHttp *self);
void cuv_http_free (CuvHttp *self);

void cuv_http_respond (SoupServerMessage *message, guint status,
    const gchar *type, SoupMemoryUse use, const gchar *text);
/* Responds with a line of plain text. */
void cuv_http_respond_text (
    SoupServerMessage *message, guint status, const gchar *text);

/* ---- connection.c ---- */

typedef struct _CuvHttpConnection CuvHttpConnection;
struct _CuvHttpConnection {
  CuvHttp *http;
  /* *user is set to NULL when this is freed. If user is NULL, the connection is
   * idle, and may be ended in favour of a new one. */
  CuvHttpConnection **user;
  GSocket *socket;
  GWeakRef stream;
  CuvHttpInput *input; /* the input of the stream */
  gchar *peer;         /* "address port" */
  gint64 deadline;     /* monotonic time; 0: none */
  gboolean asked;      /* the headers of its request have arrived */
  gboolean ended;      /* shut down, but libsoup has not dropped it yet */
};

/* Returns the connection of a request, or NULL if it is gone. */
CuvHttpConnection *cuv_http_connection_of (
    CuvHttp *self, SoupServerMessage *message);
/* Shuts the connection down: libsoup then reads the end of the stream and
 * cannot write. */
void cuv_http_connection_shutdown (CuvHttpConnection *self);
/* Whether the peer has closed the connection. libsoup does not notice while it
 * is not sending. */
gboolean cuv_http_connection_is_over (const CuvHttpConnection *self);
/* Removes the limit of input, once the request has been read. */
void cuv_http_connection_unlimit (CuvHttpConnection *self);

G_END_DECLS

#endif
