/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the files of the HTTP server share. */
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
/* Frees connections whose streams libsoup has dropped. Not done when that
 * happens, as threads of TLS handshakes may drop streams, too. */
void cuv_http_connections_sweep (CuvHttp *self);
/* Ends connections whose deadline has passed. */
void cuv_http_connections_tick (CuvHttp *self);

/* ---- input.c ---- */

/* Makes a connection that reads at most CUV_HTTP_MAX_INPUT bytes. plain: there
 * is no TLS, so a larger request can be answered. *input is set to a
 * reference. */
GSocketConnection *cuv_http_stream_new (
    GSocket *socket, gboolean plain, CuvHttpInput **input);
void cuv_http_input_unlimit (CuvHttpInput *self);

G_END_DECLS

#endif
