/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FARM_CONNECTION_H
#define FARM_CONNECTION_H

#include <nats/nats.h>

#include "farm-config.h"

/* A connection to one of the servers, which reconnects by itself; if it gives
 * up it is closed, and another one has to be made. */
typedef struct {
  natsConnection *nats;
  jsCtx *js;
  gatomicrefcount refs;
} Connection;

/* Called in threads of nats.c, until nats_CloseAndWait(). */
typedef struct {
  void (*lost) (gpointer data);
  void (*back) (gpointer data);
  gpointer data;
} ConnectionEvents;

/* events: or NULL. */
Connection *connection_new (
    const FarmConfig *config, const ConnectionEvents *events, GError **error);
Connection *connection_ref (Connection *self);
void connection_unref (Connection *self);
gboolean connection_is_up (Connection *self);

/* Sets an error of NATS' own text. */
void connection_set_error (
    GError **error, natsStatus status, jsErrCode code, const gchar *what);

#endif
