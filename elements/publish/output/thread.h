/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the threads of the writer and the outbox: blocks signals that they must
 * not receive, and wakes them by an eventfd. */
#ifndef CUV_THREAD_H
#define CUV_THREAD_H

#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

G_BEGIN_DECLS

/* For a thread that writes: a reader that goes away and a file that grows too
 * large are reported by errno; the signals would end the application. */
static inline void
cuv_block_signals (void)
{
  sigset_t set;

  sigemptyset (&set);
  sigaddset (&set, SIGPIPE);
  sigaddset (&set, SIGXFSZ);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
}

/* Ends the poll() of a thread that waits for this eventfd. If the eventfd
 * cannot be written, its counter is full, so it is readable already. */
static inline void
cuv_wake (int fd)
{
  const guint64 one = 1;

  if (write (fd, &one, sizeof one) < 0)
    return;
}

/* Call before the next poll(), whether the thread was woken or not. */
static inline void
cuv_clear_wake (int fd)
{
  guint64 n;

  if (read (fd, &n, sizeof n) < 0)
    return;
}

G_END_DECLS

#endif
