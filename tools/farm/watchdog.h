/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ends the pipelines of a worker that is stopped (SIGSTOP, a debugger, a
 * machine that swaps) before other workers take its cameras: each pipeline's
 * process watches a time in shared memory that the worker keeps moving. */
#ifndef FARM_WATCHDOG_H
#define FARM_WATCHDOG_H

#include <glib.h>

typedef struct _Watchdog Watchdog;

/* Call before any pipeline is started: their processes find the memory through
 * an environment variable. */
Watchdog *watchdog_new (GError **error);
/* Lets the pipelines of this process run until this time, by farm_now(). */
void watchdog_feed (Watchdog *self, gint64 until);
void watchdog_free (Watchdog *self);

/* Call first in main(). In a pipeline's process it starts the thread that kills
 * the process when its time is over; otherwise it does nothing. */
void watchdog_watch (void);

#endif
