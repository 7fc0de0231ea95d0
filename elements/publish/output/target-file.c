/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file, FIFO, device or standard output as a CuvTarget. */
#include "config.h"
#include "output/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define WAIT_MS 50
/* poll() guarantees room for only this many bytes in a pipe. */
#define PIPE_CHUNK 4096
#define LOCK_RETRY_US 10000
#define LOCK_RETRIES 100

typedef struct {
  CuvTarget target;
  gchar *path; /* absolute, as the working directory may change; NULL: stdout */
  CuvTargetMode mode;
  gboolean opened_before;
  gboolean regular;   /* a regular file: locked, can be truncated */
  gboolean locks_end; /* file_append() takes another lock */
  int fd;
} FileTarget;

/* Returns what to do about an errno, to be appended to its text. */
static const gchar *
file_remedy (int code)
{
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return ": free some space there";
    case EPIPE:
      return ": the reader has ended; start it again";
    case ENOENT:
      return ": create the folder first";
    case EISDIR:
      return ": it is a folder; use a file in it";
    case EACCES:
    case EPERM:
    case EROFS:
      return ": choose a writable path";
    case EWOULDBLOCK:
      return ": another visionpublish writes to it; give each its own file, or "
             "set file-format=json-lines for all of them";
    default:
      return "";
  }
}

static void
file_set_error (GError **error, int code)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s%s",
      g_strerror (code), file_remedy (code));
}

/* ---- open ---- */

/* Also returns TRUE if the file cannot be read. */
static gboolean
last_line_has_ended (FileTarget *self, off_t size)
{
  int fd = open (self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gchar last;
  gboolean ended;

  if (fd < 0)
    return TRUE;
  ended = pread (fd, &last, 1, size - 1) != 1 || last == '\n';
  close (fd);
  return ended;
}

/* Ends a line that its writer left unfinished (it was killed, or the disk was
 * full), so that our first record does not become part of it. If others have
 * the file open, one of them may still be writing that line: then the line is
 * ended only if it has not grown for a while. */
static void
end_last_line (FileTarget *self, off_t size, gboolean alone)
{
  struct stat status;

  if (last_line_has_ended (self, size))
    return;
  if (!alone) {
    g_usleep (WAIT_MS * 1000);
    if (fstat (self->fd, &status) != 0 || status.st_size != size)
      return;
  }
  if (write (self->fd, "\n", 1) != 1)
    g_warning ("Cannot terminate the unfinished last line of '%s': %s. The "
               "first record is appended to that line.",
        self->path, g_strerror (errno));
}

/* Also returns TRUE if the file system has no locks. */
static gboolean
try_lock (FileTarget *self, int how)
{
  return flock (self->fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Locks the file, exclusively if possible. Sets *alone to whether nobody else
 * has it open, or to TRUE if the file system has no locks. For a shared file it
 * retries for a second, as other writers hold the exclusive lock while they
 * open it. */
static gboolean
file_lock (FileTarget *self, gboolean share, gboolean *alone)
{
  guint n;

  for (n = 0;; n++) {
    *alone = try_lock (self, LOCK_EX);
    if (*alone || (share && try_lock (self, LOCK_SH)))
      return TRUE;
    if (!share || n == LOCK_RETRIES)
      return FALSE;
    g_usleep (LOCK_RETRY_US);
  }
}

/* flock() releases the exclusive lock before it takes the shared one, so
 * another writer may take an exclusive one in between. */
static gboolean
downgrade_lock (FileTarget *self)
{
  guint n;

  for (n = 0; !try_lock (self, LOCK_SH); n++) {
    if (n == LOCK_RETRIES)
      return FALSE;
    g_usleep (LOCK_RETRY_US);
  }
  return TRUE;
}

/* Whether flock() is emulated, as on NFS and SMB, by a lock on all bytes:
 * unlocking a range of bytes would release part of it. */
static gboolean
flock_is_emulated (int fd)
{
  struct statfs fs;

  if (fstatfs (fd, &fs) != 0)
    return TRUE;
  switch ((guint32) fs.f_type) {
    case NFS_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return TRUE;
    default:
      return FALSE;
  }
}

/* Several writers may append lines to one file, but not arrays or CSV headers.
 * On failure errno is set. */
static gboolean
prepare_file (FileTarget *self, gboolean first)
{
  gboolean share = self->mode == CUV_TARGET_SHARE;
  gboolean alone;
  struct stat status;

  self->regular = self->path != NULL && fstat (self->fd, &status) == 0
      && S_ISREG (status.st_mode);
  self->target.empty = TRUE;
  if (!self->regular)
    return TRUE;
  self->locks_end = share && !flock_is_emulated (self->fd);
  if (!file_lock (self, share, &alone))
    return FALSE;
  if (first && self->mode == CUV_TARGET_REPLACE)
    return ftruncate (self->fd, 0) == 0;
  /* now that it is locked: another writer may have written before */
  if (fstat (self->fd, &status) == 0 && status.st_size > 0) {
    self->target.empty = FALSE;
    end_last_line (self, status.st_size, alone);
  }
  return !(alone && share) || downgrade_lock (self);
}

static gboolean
is_fifo (const gchar *path)
{
  struct stat status;

  return stat (path, &status) == 0 && S_ISFIFO (status.st_mode);
}

static void
disconnect (FileTarget *self)
{
  if (self->fd >= 0 && self->path != NULL)
    close (self->fd);
  self->fd = -1;
  self->target.connected = FALSE;
}

/* Does not create a file in place of a FIFO that was removed: its reader will
 * create the FIFO again. */
static CuvTargetState
file_open (CuvTarget *target, GError **error)
{
  FileTarget *self = (FileTarget *) target;
  gboolean first = !self->opened_before || self->regular;
  int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
      | (self->mode == CUV_TARGET_REPLACE ? 0 : O_APPEND)
      | (first ? O_CREAT : 0);
  int code;

  disconnect (self);
  self->opened_before = TRUE;
  self->fd =
      self->path != NULL ? open (self->path, flags, 0666) : STDOUT_FILENO;
  if (self->fd >= 0 && prepare_file (self, first)) {
    self->target.connected = TRUE;
    return CUV_TARGET_OPEN;
  }
  code = errno;
  if (self->fd < 0 && code == ENXIO && is_fifo (self->path))
    return CUV_TARGET_NOT_YET;
  disconnect (self);
  file_set_error (error, code);
  return CUV_TARGET_FAILED;
}

/* ---- write ---- */

/* Truncates only if these bytes are still the end of the file: others may
 * append to it. */
static gboolean
file_retract (CuvTarget *target, gsize size)
{
  FileTarget *self = (FileTarget *) target;
  struct stat status;
  off_t end;

  if (!self->regular || self->fd < 0 || fstat (self->fd, &status) != 0)
    return FALSE;
  end = lseek (self->fd, 0, SEEK_CUR);
  if (end != status.st_size || end < (off_t) size)
    return FALSE;
  return ftruncate (self->fd, end - (off_t) size) == 0
      && lseek (self->fd, end - (off_t) size, SEEK_SET) >= 0;
}

/* F_WRLCK keeps other writers of the file from appending. Waits only for a
 * short time, so that a writer that was stopped does not stop the others. */
static void
lock_end (FileTarget *self, short type)
{
  struct flock range = { .l_type = type, .l_whence = SEEK_SET };

  if (!self->locks_end)
    return;
  for (guint ms = 0; fcntl (self->fd, F_OFD_SETLK, &range) != 0; ms++) {
    if ((errno != EAGAIN && errno != EACCES) || ms == WAIT_MS)
      return;
    g_usleep (1000);
  }
}

/* If the disk is full, removes the part of the record that was written, before
 * another writer can append to it. */
static gssize
file_append (FileTarget *self, const gchar *data, gsize size)
{
  gsize done = 0;
  gssize n = 1;
  int code = 0;

  lock_end (self, F_WRLCK);
  while (done < size && n > 0) {
    n = write (self->fd, data + done, size - done);
    code = n < 0 ? errno : ENOSPC;
    done += n > 0 ? (gsize) n : 0;
  }
  if (done < size && file_retract (&self->target, done))
    done = 0;
  lock_end (self, F_UNLCK);
  errno = code;
  return done > 0 ? (gssize) done : -1;
}

/* Other processes share standard output, so O_NONBLOCK must not be set on it:
 * write() does not block after poll(), in chunks of the size that poll()
 * guarantees. */
static gssize
file_write (CuvTarget *target, const gchar *data, gsize size, GError **error)
{
  FileTarget *self = (FileTarget *) target;
  struct pollfd ready = { self->fd, POLLOUT, 0 };
  gssize n;
  int code;

  if (poll (&ready, 1, WAIT_MS) == 0)
    return 0;
  if (self->regular && self->mode == CUV_TARGET_SHARE)
    n = file_append (self, data, size);
  else
    n = write (
        self->fd, data, self->path == NULL ? MIN (size, PIPE_CHUNK) : size);
  if (n > 0)
    return n;
  code = n < 0 ? errno : ENOSPC;
  if (code == EAGAIN || code == EINTR) {
    g_usleep (1000);
    return 0;
  }
  file_set_error (error, code);
  if (code == EPIPE)
    disconnect (self);
  return -1;
}

/* Whether the file was renamed or removed, as logrotate does. */
static gboolean
file_moved (CuvTarget *target)
{
  FileTarget *self = (FileTarget *) target;
  struct stat ours, named;

  if (!self->regular || fstat (self->fd, &ours) != 0)
    return FALSE;
  if (stat (self->path, &named) != 0)
    return errno == ENOENT;
  return ours.st_dev != named.st_dev || ours.st_ino != named.st_ino;
}

static void
file_free (CuvTarget *target)
{
  FileTarget *self = (FileTarget *) target;

  disconnect (self);
  g_free (self->path);
  g_free (target->name);
  g_free (self);
}

static const CuvTargetClass file_class = { file_open, file_write, file_retract,
  file_moved, file_free };

CuvTarget *
cuv_target_file_new (const gchar *path, CuvTargetMode mode)
{
  FileTarget *self = g_new0 (FileTarget, 1);

  self->target.klass = &file_class;
  self->target.name = g_strdup (path != NULL ? path : "standard output");
  self->path = path != NULL ? g_canonicalize_filename (path, NULL) : NULL;
  self->mode = mode;
  self->fd = -1;
  return &self->target;
}
