/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An HTTP server for clients that are not trusted: libsoup with limits.
 *
 *   listener.c    the socket and its URL
 *   http.c        checks of a request, responses
 *   connection.c  how many connections there are, and for how long
 *   input.c       how much one may send
 *
 * It answers GET and HEAD, one request per connection. */
#ifndef CUV_HTTP_H
#define CUV_HTTP_H

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Of a request's headers. libsoup takes up to 30 times as much memory. */
#define CUV_HTTP_MAX_INPUT 16384

typedef struct _CuvHttp CuvHttp;
typedef struct _CuvHttpInput CuvHttpInput;

typedef struct {
  guint max_connections;
  guint timeout;                /* seconds for a request and its response */
  GTlsCertificate *certificate; /* NULL: no TLS */
  /* Adds headers to the response; refuses the request if it sets a status. Or
   * NULL. */
  void (*check) (SoupServerMessage *message, gpointer data);
  gpointer data;
} CuvHttpConfig;

/* ---- listener.c ---- */

/* port 0: any free one. NULL with an error that names cause and fix. */
GSocket *cuv_http_listen (GInetAddress *address, guint port, GError **error);
guint cuv_http_port (GSocket *listener);
/* "http://127.0.0.1:8080", without a slash at its end. For all addresses of
 * this machine one that others reach. */
gchar *cuv_http_url (GSocket *listener, gboolean tls);

/* ---- http.c ---- */

/* Serves in the thread-default main context. */
CuvHttp *cuv_http_new (GSocket *listener, const CuvHttpConfig *config);
/* To add handlers. */
SoupServer *cuv_http_soup (CuvHttp *self);
/* Ends all connections and iterates the main context until libsoup has dropped
 * them, at most for a second. */
void cuv_http_close (CuvHttp *self);
void cuv_http_free (CuvHttp *self);

void cuv_http_respond (SoupServerMessage *message, guint status,
    const gchar *type, SoupMemoryUse use, const gchar *text);
/* A line of plain text. */
void cuv_http_respond_text (
    SoupServerMessage *message, guint status, const gchar *text);

/* ---- connection.c ---- */

typedef struct _CuvHttpConnection CuvHttpConnection;
struct _CuvHttpConnection {
  CuvHttp *http;
  CuvHttpConnection **user; /* a field that is NULL when this is gone; NULL: it
                               may be ended for a new one */
  GSocket *socket;
  GWeakRef stream;
  CuvHttpInput *input; /* of the stream */
  gchar *peer;         /* "address port" */
  gint64 deadline;     /* monotonic time; 0: none */
  gboolean asked;      /* the headers of its request have come */
  gboolean ended;      /* libsoup has not dropped it yet */
};

/* The one of a request; NULL if it is gone. */
CuvHttpConnection *cuv_http_connection_of (
    CuvHttp *self, SoupServerMessage *message);
/* Ends it: libsoup reads the end of the stream, and fails to write. */
void cuv_http_connection_shutdown (CuvHttpConnection *self);
/* Whether the peer has ended it: nobody else looks while nothing is sent. */
gboolean cuv_http_connection_is_over (const CuvHttpConnection *self);
/* After the request any number of bytes may come. */
void cuv_http_connection_unlimit (CuvHttpConnection *self);

G_END_DECLS

#endif
