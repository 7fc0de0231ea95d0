/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_SIGNALS_H
#define CUV_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/* For a thread that writes. A reader that goes away and a file that grows too
 * large are reported to us by errno; the signal would end the application. */
static inline void
cuv_block_signals (void)
{
  sigset_t set;

  sigemptyset (&set);
  sigaddset (&set, SIGPIPE);
  sigaddset (&set, SIGXFSZ);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
}

#endif
