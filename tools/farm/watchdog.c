/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "farm-util.h"

/* Holds the path of the shared page, /proc/PROCESS/fd/N of the worker. */
#define VARIABLE "CUV_FARM_WATCHDOG"
#define CHECK_US 100000

struct _Watchdog {
  int fd;
  _Atomic gint64 *until;
};

static _Atomic gint64 *
map_until (int fd)
{
  void *page =
      mmap (NULL, sizeof (gint64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

  return page != MAP_FAILED ? page : NULL;
}

Watchdog *
watchdog_new (GError **error)
{
  Watchdog *self = g_new0 (Watchdog, 1);
  gchar *path;

  self->fd = memfd_create ("cuvision-farm", MFD_CLOEXEC);
  if (self->fd >= 0 && ftruncate (self->fd, sizeof (gint64)) == 0)
    self->until = map_until (self->fd);
  if (self->until == NULL) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
        "cannot share memory: %s", g_strerror (errno));
    watchdog_free (self);
    return NULL;
  }
  path = g_strdup_printf ("/proc/%d/fd/%d", (int) getpid (), self->fd);
  g_setenv (VARIABLE, path, TRUE);
  g_free (path);
  return self;
}

void
watchdog_feed (Watchdog *self, gint64 until)
{
  atomic_store (self->until, until - CHECK_US);
}

void
watchdog_free (Watchdog *self)
{
  if (self->until != NULL)
    munmap ((void *) self->until, sizeof (gint64));
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

static gpointer
watchdog_thread (gpointer data)
{
  _Atomic gint64 *until = data;

  while (farm_now () <= atomic_load (until))
    g_usleep (CHECK_US);
  farm_log ("the worker stopped responding: pipeline process %d ends itself",
      (int) getpid ());
  kill (getpid (), SIGKILL);
  return NULL;
}

void
watchdog_watch (void)
{
  const gchar *path = g_getenv (VARIABLE);
  int fd;

  if (path == NULL)
    return;
  fd = open (path, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    _exit (1); /* the worker has died already */
  g_thread_unref (g_thread_new ("watchdog", watchdog_thread, map_until (fd)));
  close (fd);
}
