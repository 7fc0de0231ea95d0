/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_HTTP_PRIVATE_H
#define CUV_HTTP_PRIVATE_H

#include "http/http.h"

G_BEGIN_DECLS

struct _CuvHttp {
  CuvHttpConfig config;
  GMainContext *context;
  GSocket *listener;
  GSource *accepting; /* NULL while there are no file descriptors left */
  GSource *tick;      /* once a second */
  SoupServer *soup;
  GPtrArray *connections; /* CuvHttpConnection, the oldest first */
};

/* ---- connection.c ---- */

void cuv_http_connections_open (CuvHttp *self);
void cuv_http_connections_close (CuvHttp *self);
/* Forgets those whose streams are gone. Threads of TLS handshakes may drop a
 * stream, too, so that it cannot be done when that happens. */
void cuv_http_connections_sweep (CuvHttp *self);
/* Ends connections whose deadline has passed. */
void cuv_http_connections_tick (CuvHttp *self);

/* ---- input.c ---- */

/* A connection that reads CUV_HTTP_MAX_INPUT bytes at most. plain: more than
 * that is answered; with TLS it is not. input: a reference. */
GSocketConnection *cuv_http_stream_new (
    GSocket *socket, gboolean plain, CuvHttpInput **input);
void cuv_http_input_unlimit (CuvHttpInput *self);

G_END_DECLS

#endif
