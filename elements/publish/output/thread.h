/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_THREAD_H
#define CUV_THREAD_H

#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

G_BEGIN_DECLS

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

/* Ends the poll() of a thread that waits for this eventfd. Its counter may be
 * full: then it is readable already. */
static inline void
cuv_wake (int fd)
{
  const guint64 one = 1;

  if (write (fd, &one, sizeof one) < 0)
    return;
}

/* Before the next poll(). Nobody may have woken us. */
static inline void
cuv_clear_wake (int fd)
{
  guint64 n;

  if (read (fd, &n, sizeof n) < 0)
    return;
}

G_END_DECLS

#endif
