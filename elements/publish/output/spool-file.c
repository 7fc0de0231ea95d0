/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a spool: opening and locking, headers, the ring buffer. */
#include "config.h"
#include "output/spool-private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "CUVSPOOL"
#define FORMAT_VERSION 1
#define HEADER_STEP 4096 /* bytes between headers, and before the ring */
#define RING_START (2 * HEADER_STEP)

static gboolean
spool_fail (GError **error, const gchar *what)
{
  int code = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", what,
      g_strerror (code));
  return FALSE;
}

/* ---- bytes ---- */

/* Blocks the signal that is sent to this thread when a file grows beyond the
 * limit of the process: it would end the application, and errno reports the
 * failure as well. */
static sigset_t
block_limit_signal (void)
{
  sigset_t set, before;

  sigemptyset (&set);
  sigaddset (&set, SIGXFSZ);
  pthread_sigmask (SIG_BLOCK, &set, &before);
  return before;
}

static void
restore_signals (const sigset_t *before, gboolean was_sent)
{
  const struct timespec now = { 0, 0 };
  int code = errno;
  sigset_t set;

  sigemptyset (&set);
  sigaddset (&set, SIGXFSZ);
  if (was_sent && !sigismember (before, SIGXFSZ))
    sigtimedwait (&set, NULL, &now);
  pthread_sigmask (SIG_SETMASK, before, NULL);
  errno = code;
}

static gssize
write_some (int fd, const void *data, gsize size, guint64 offset)
{
  sigset_t before = block_limit_signal ();
  gssize n = pwrite (fd, data, size, (off_t) offset);

  restore_signals (&before, n < 0 && errno == EFBIG);
  return n;
}

static gboolean
spool_write_all (
    int fd, const void *data, gsize size, guint64 offset, GError **error)
{
  for (gsize done = 0; done < size;) {
    gssize n = write_some (
        fd, (const gchar *) data + done, size - done, offset + done);

    if (n <= 0 && errno != EINTR)
      return spool_fail (error, "the spool cannot be written");
    done += n > 0 ? (gsize) n : 0;
  }
  return TRUE;
}

static gboolean
spool_read_all (int fd, void *data, gsize size, guint64 offset, GError **error)
{
  for (gsize done = 0; done < size;) {
    gssize n =
        pread (fd, (gchar *) data + done, size - done, (off_t) (offset + done));

    if (n == 0)
      errno = ENODATA;
    if (n <= 0 && errno != EINTR)
      return spool_fail (error, "the spool cannot be read");
    done += n > 0 ? (gsize) n : 0;
  }
  return TRUE;
}

/* Returns the size of the part of [position, position + size) before the ring's
 * end, and sets *offset to its offset in the ring. */
static gsize
first_part (const CuvSpool *self, guint64 position, gsize size, guint64 *offset)
{
  *offset = position % self->header.size;
  return MIN (size, self->header.size - *offset);
}

gboolean
cuv_spool_write_ring (CuvSpool *self, guint64 position, const void *data,
    gsize size, GError **error)
{
  guint64 offset;
  gsize n = first_part (self, position, size, &offset);
  const gchar *rest = (const gchar *) data + n;

  if (self->path == NULL) {
    memcpy (self->ring + offset, data, n);
    memcpy (self->ring, rest, size - n);
    return TRUE;
  }
  return spool_write_all (self->fd, data, n, RING_START + offset, error)
      && spool_write_all (self->fd, rest, size - n, RING_START, error);
}

gboolean
cuv_spool_read_ring (
    CuvSpool *self, guint64 position, void *data, gsize size, GError **error)
{
  guint64 offset;
  gsize n = first_part (self, position, size, &offset);
  gchar *rest = (gchar *) data + n;

  if (self->path == NULL) {
    memcpy (data, self->ring + offset, n);
    memcpy (rest, self->ring, size - n);
    return TRUE;
  }
  return spool_read_all (self->fd, data, n, RING_START + offset, error)
      && spool_read_all (self->fd, rest, size - n, RING_START, error);
}

/* ---- headers ---- */

static guint32
header_crc (CuvSpoolHeader header)
{
  header.crc = 0;
  return (guint32) crc32 (0, (const Bytef *) &header, sizeof header);
}

static gboolean
header_is_valid (const CuvSpoolHeader *self)
{
  return memcmp (self->magic, MAGIC, sizeof self->magic) == 0
      && self->version == FORMAT_VERSION && self->crc == header_crc (*self)
      && self->size >= CUV_SPOOL_MIN_BYTES && self->head <= self->tail
      && self->tail - self->head <= self->size && self->first <= self->end;
}

gboolean
cuv_spool_write_header (CuvSpool *self, GError **error)
{
  CuvSpoolHeader *header = &self->header;

  if (self->path == NULL)
    return TRUE;
  header->written++;
  header->crc = header_crc (*header);
  return spool_write_all (self->fd, header, sizeof *header,
      header->written % 2 * HEADER_STEP, error);
}

/* Whether a file has only zeros: its space was reserved, but then the process
 * was killed or the disk was full. */
static gboolean
spool_is_blank (int fd)
{
  static const gchar zeros[16384];
  gchar bytes[sizeof zeros];
  off_t at = 0;

  while ((at = lseek (fd, at, SEEK_DATA)) >= 0) {
    gssize n = pread (fd, bytes, sizeof bytes, at);

    if (n < 0 || memcmp (bytes, zeros, (gsize) n) != 0)
      return FALSE;
    at += n;
  }
  return errno == ENXIO;
}

/* A blank file is a spool without messages. */
static gboolean
read_headers (CuvSpool *self, GError **error)
{
  CuvSpoolHeader headers[2] = { 0 };
  gboolean found = FALSE;

  if (spool_is_blank (self->fd))
    return TRUE;
  for (guint i = 0; i < 2; i++) {
    if (!spool_read_all (
            self->fd, &headers[i], sizeof headers[i], i * HEADER_STEP, NULL)
        || !header_is_valid (&headers[i])
        || (found && headers[i].written < self->header.written))
      continue;
    self->header = headers[i];
    found = TRUE;
  }
  if (!found)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "it is not a spool, or it is damaged: remove it or choose another "
        "file");
  return found;
}

/* ---- open ---- */

static gboolean
spool_lock (int fd, GError **error)
{
  int code;

  if (flock (fd, LOCK_EX | LOCK_NB) == 0)
    return TRUE;
  code = errno;
  if (code == EWOULDBLOCK)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY,
        "another visionpublish uses it: give each its own file");
  else
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code),
        "it cannot be locked (%s): choose a file on a local disk",
        g_strerror (code));
  return FALSE;
}

static gboolean
spool_open_file (CuvSpool *self, GError **error)
{
  struct stat status;

  self->fd = open (
      self->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
  if (self->fd < 0 || fstat (self->fd, &status) != 0)
    return spool_fail (error, "the spool cannot be opened");
  if (!S_ISREG (status.st_mode)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
        "it is not a regular file: choose another one");
    return FALSE;
  }
  return spool_lock (self->fd, error) && read_headers (self, error);
}

/* Reserves space for the file, or returns an errno and restores its size. */
static int
spool_allocate (int fd, off_t size)
{
  struct stat status;
  int code;

  if (fstat (fd, &status) != 0)
    return errno;
  do
    code = posix_fallocate (fd, 0, size);
  while (code == EINTR);
  if (code != 0 && ftruncate (fd, status.st_size) != 0)
    return code; /* a blank file is valid */
  return code;
}

/* Reports a full disk at the start instead of during an outage. File systems
 * that cannot reserve space may fill up later. */
static gboolean
spool_reserve (CuvSpool *self, GError **error)
{
  sigset_t before = block_limit_signal ();
  int code =
      spool_allocate (self->fd, (off_t) (RING_START + self->header.size));

  errno = code;
  restore_signals (&before, code == EFBIG);
  if (code != ENOSPC && code != EDQUOT && code != EFBIG)
    return TRUE;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code),
      "cannot reserve %" G_GUINT64_FORMAT
      " bytes (%s): decrease queue-bytes or free some space",
      self->header.size, g_strerror (code));
  return FALSE;
}

static gboolean
spool_open_memory (CuvSpool *self, guint64 bytes, GError **error)
{
  self->ring = g_try_malloc (bytes);
  if (self->ring == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
        "out of memory for %" G_GUINT64_FORMAT " bytes: decrease queue-bytes",
        bytes);
  return self->ring != NULL;
}

CuvSpool *
cuv_spool_new (
    const gchar *path, guint64 max_bytes, guint max_records, GError **error)
{
  CuvSpool *self = g_new0 (CuvSpool, 1);

  self->path = g_strdup (path);
  self->fd = -1;
  self->max_records = max_records;
  if (path != NULL ? !spool_open_file (self, error)
                   : !spool_open_memory (self, max_bytes, error)) {
    cuv_spool_free (self);
    return NULL;
  }
  memcpy (self->header.magic, MAGIC, sizeof self->header.magic);
  self->header.version = FORMAT_VERSION;
  if (self->header.first == self->header.end) {
    self->header.size = MAX (max_bytes, CUV_SPOOL_MIN_BYTES);
    self->header.head = self->header.tail = 0;
  }
  self->read_number = self->header.first;
  self->read_position = self->header.head;
  if ((path != NULL && !spool_reserve (self, error))
      || !cuv_spool_write_header (self, error))
    g_clear_pointer (&self, cuv_spool_free);
  return self;
}

void
cuv_spool_free (CuvSpool *self)
{
  if (self->fd >= 0) {
    flock (self->fd, LOCK_UN); /* a forked process may share the lock */
    close (self->fd);
  }
  g_free (self->ring);
  g_free (self->path);
  g_free (self);
}
