/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker that is stopped (SIGSTOP, a debugger, a machine that swaps) cannot
 * end its lines before others take them over. So they watch it. */
#ifndef FARM_WATCHDOG_H
#define FARM_WATCHDOG_H

#include <glib.h>

typedef struct _Watchdog Watchdog;

/* Call before any process of a line is started. */
Watchdog *watchdog_new (GError **error);
/* Lines of this process go on until then, by farm_now(). */
void watchdog_feed (Watchdog *self, gint64 until);
void watchdog_free (Watchdog *self);

/* Call first in main(). In a process of a line: kills it when its time is
 * over. */
void watchdog_watch (void);

#endif
