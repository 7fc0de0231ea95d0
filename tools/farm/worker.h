/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes cameras and runs their lines. */
#ifndef FARM_WORKER_H
#define FARM_WORKER_H

#include "farm-config.h"

typedef struct _Worker Worker;

/* The default main context runs it. */
Worker *worker_new (const FarmConfig *config, GError **error);
/* Ends all lines, gives up all leases, then calls `stopped`. */
void worker_stop (Worker *self, void (*stopped) (gpointer data), gpointer data);
void worker_free (Worker *self);

/* ---- metrics.c ---- */

/* As Prometheus' text format. */
gchar *worker_metrics (Worker *self);
/* Whether it can take cameras. */
gboolean worker_is_ready (Worker *self);

#endif
