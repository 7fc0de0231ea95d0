/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection to one of the configured NATS servers. */
#ifndef FARM_CONNECTION_H
#define FARM_CONNECTION_H

#include <nats/nats.h>

#include "farm-config.h"

/* A connection that reconnects by itself. If the library gives up, the
 * connection is closed, and a new one has to be created. */
typedef struct {
  natsConnection *nats;
  jsCtx *js;
  gatomicrefcount refs;
} Connection;

/* Called in threads of nats.c, until nats_CloseAndWait() returns: the
 * connection was lost, or is up again. */
typedef struct {
  void (*lost) (gpointer data);
  void (*back) (gpointer data);
  gpointer data;
} ConnectionEvents;

/* Connects to one of the servers. events may be NULL. */
Connection *connection_new (
    const FarmConfig *config, const ConnectionEvents *events, GError **error);
Connection *connection_ref (Connection *self);
void connection_unref (Connection *self);
gboolean connection_is_up (Connection *self);

/* Sets the error to "WHAT: text", with the library's text and a hint for what
 * to check. The code is G_IO_ERROR_TIMED_OUT if the server did not answer. */
void connection_set_error (
    GError **error, natsStatus status, jsErrCode code, const gchar *what);

#endif
