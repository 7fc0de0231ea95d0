/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FARM_HTTP_H
#define FARM_HTTP_H

#include "worker.h"

typedef struct _Http Http;

/* Serves /metrics, /healthz and /readyz. address: host:port, port 0: any. */
Http *http_new (const gchar *address, Worker *worker, GError **error);
void http_free (Http *self);

#endif
