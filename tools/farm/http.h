/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worker's HTTP server: /metrics, /healthz and /readyz. */
#ifndef FARM_HTTP_H
#define FARM_HTTP_H

#include "worker.h"

typedef struct _Http Http;

/* Starts the server in the default main context. address: HOST:PORT of this
 * machine; port 0: any free one, which the log shows. */
Http *http_new (const gchar *address, Worker *worker, GError **error);
void http_free (Http *self);

#endif
