/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file has two headers, written in turn so that one of them is always
 * intact, and a ring buffer of max_bytes bytes. Positions count bytes since the
 * ring was last empty; the offset in the ring is the position modulo its size.
 * A message is written before the header that includes it. In memory there is
 * only the ring. */
#include "config.h"
#include "output/spool.h"

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
#define HEADER_STEP 4096 /* from one header to the next, and to the ring */
#define RING_START (2 * HEADER_STEP)

typedef struct {
  gchar magic[8];
  guint32 version, crc; /* of the header with crc 0 */
  guint64 written;      /* headers so far; the highest one counts */
  guint64 size;         /* of the ring */
  guint64 head, tail;   /* positions of the first message and after the last */
  guint64 first, end;   /* numbers of messages */
} Header;

/* Before each message. */
typedef struct {
  guint32 size, crc; /* of what follows */
  guint32 topic_size, key_size;
} Prefix;

struct _CuvSpool {
  gchar *path; /* NULL: in memory */
  int fd;
  gchar *ring; /* in memory */
  guint max_records;
  Header header;
  guint64 read_number, read_position; /* the message that is read next */
};

void
cuv_message_clear (CuvMessage *self)
{
  g_free ((gchar *) self->topic);
  *self = (CuvMessage){ 0 };
}

static gsize
payload_bytes (const CuvMessage *self)
{
  return strlen (self->topic) + 1 + strlen (self->key) + 1 + self->size;
}

gsize
cuv_message_bytes (const CuvMessage *self)
{
  return sizeof (Prefix) + payload_bytes (self);
}

static gboolean
spool_fail (GError **error, const gchar *what)
{
  int code = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", what,
      g_strerror (code));
  return FALSE;
}

/* ---- bytes ---- */

/* A file that grows beyond the limit of the process is reported by errno; the
 * signal, which is sent to this thread, would end the application. */
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

/* The part of [position, position + size) before the ring's end. */
static gsize
first_part (const CuvSpool *self, guint64 position, gsize size, guint64 *offset)
{
  *offset = position % self->header.size;
  return MIN (size, self->header.size - *offset);
}

static gboolean
write_ring (CuvSpool *self, guint64 position, const void *data, gsize size,
    GError **error)
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

static gboolean
read_ring (
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
header_crc (Header header)
{
  header.crc = 0;
  return (guint32) crc32 (0, (const Bytef *) &header, sizeof header);
}

static gboolean
header_is_valid (const Header *self)
{
  return memcmp (self->magic, MAGIC, sizeof self->magic) == 0
      && self->version == FORMAT_VERSION && self->crc == header_crc (*self)
      && self->size >= CUV_SPOOL_MIN_BYTES && self->head <= self->tail
      && self->tail - self->head <= self->size && self->first <= self->end;
}

static gboolean
write_header (CuvSpool *self, GError **error)
{
  Header *header = &self->header;

  if (self->path == NULL)
    return TRUE;
  header->written++;
  header->crc = header_crc (*header);
  return spool_write_all (self->fd, header, sizeof *header,
      header->written % 2 * HEADER_STEP, error);
}

/* Whether a file has only zeros: its space was reserved, but then the process
 * was killed, or the disk was full. */
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
  Header headers[2] = { 0 };
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
      "there is no room for %" G_GUINT64_FORMAT
      " bytes (%s): decrease queue-bytes or make room",
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
      || !write_header (self, error))
    g_clear_pointer (&self, cuv_spool_free);
  return self;
}

void
cuv_spool_free (CuvSpool *self)
{
  if (self->fd >= 0) {
    flock (self->fd, LOCK_UN); /* a forked process may have inherited it */
    close (self->fd);
  }
  g_free (self->ring);
  g_free (self->path);
  g_free (self);
}

/* ---- messages ---- */

gboolean
cuv_spool_is_file (const CuvSpool *self)
{
  return self->path != NULL;
}

guint64
cuv_spool_first (const CuvSpool *self)
{
  return self->header.first;
}

guint64
cuv_spool_end (const CuvSpool *self)
{
  return self->header.end;
}

gboolean
cuv_spool_can_hold (const CuvSpool *self, gsize bytes)
{
  return bytes <= self->header.size && bytes <= G_MAXINT32;
}

gboolean
cuv_spool_has_room (const CuvSpool *self, gsize bytes)
{
  const Header *header = &self->header;

  return cuv_spool_can_hold (self, bytes)
      && header->end - header->first < self->max_records
      && bytes <= header->size - (header->tail - header->head);
}

static gchar *
copy_payload (const CuvMessage *message, Prefix *prefix)
{
  gsize topic = strlen (message->topic) + 1, key = strlen (message->key) + 1;
  gchar *payload = g_malloc (topic + key + message->size);

  memcpy (payload, message->topic, topic);
  memcpy (payload + topic, message->key, key);
  memcpy (payload + topic + key, message->text, message->size);
  prefix->topic_size = (guint32) topic;
  prefix->key_size = (guint32) key;
  prefix->size = (guint32) (topic + key + message->size);
  prefix->crc =
      (guint32) crc32 (0, (const Bytef *) payload, (uInt) prefix->size);
  return payload;
}

gboolean
cuv_spool_push (CuvSpool *self, const CuvMessage *message, GError **error)
{
  Header before = self->header;
  Prefix prefix;
  gchar *payload = copy_payload (message, &prefix);
  guint64 tail = self->header.tail;
  gboolean ok = write_ring (self, tail, &prefix, sizeof prefix, error)
      && write_ring (self, tail + sizeof prefix, payload, prefix.size, error);

  g_free (payload);
  if (!ok)
    return FALSE;
  self->header.tail += sizeof prefix + prefix.size;
  self->header.end++;
  if (write_header (self, error))
    return TRUE;
  self->header = before;
  return FALSE;
}

/* Reads the prefix of the message at a position, and checks its sizes. */
static gboolean
read_prefix (CuvSpool *self, guint64 position, Prefix *prefix, GError **error)
{
  guint64 left = self->header.tail - position;

  if (left < sizeof *prefix)
    memset (prefix, 0, sizeof *prefix);
  else if (!read_ring (self, position, prefix, sizeof *prefix, error))
    return FALSE;
  if (prefix->topic_size > 0 && prefix->key_size > 0
      && prefix->size <= left - sizeof *prefix
      && (guint64) prefix->topic_size + prefix->key_size <= prefix->size)
    return TRUE;
  g_set_error (
      error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the spool is damaged");
  return FALSE;
}

static gboolean
parse_payload (
    gchar *payload, const Prefix *prefix, CuvMessage *message, GError **error)
{
  guint32 text = prefix->topic_size + prefix->key_size;

  if (prefix->crc != crc32 (0, (const Bytef *) payload, (uInt) prefix->size)
      || payload[prefix->topic_size - 1] != '\0' || payload[text - 1] != '\0') {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the spool is damaged");
    return FALSE;
  }
  message->topic = payload;
  message->key = payload + prefix->topic_size;
  message->text = payload + text;
  message->size = prefix->size - text;
  return TRUE;
}

static gboolean
read_message (CuvSpool *self, guint64 position, Prefix *prefix,
    CuvMessage *message, GError **error)
{
  gchar *payload;

  if (!read_prefix (self, position, prefix, error))
    return FALSE;
  payload = g_malloc (prefix->size);
  if (read_ring (self, position + sizeof *prefix, payload, prefix->size, error)
      && parse_payload (payload, prefix, message, error))
    return TRUE;
  g_free (payload);
  return FALSE;
}

/* Moves the reader to a message; to go back, it begins at the first one. */
static gboolean
seek (CuvSpool *self, guint64 number, GError **error)
{
  Prefix prefix;

  if (number < self->read_number || self->read_number < self->header.first) {
    self->read_number = self->header.first;
    self->read_position = self->header.head;
  }
  while (self->read_number < number) {
    if (!read_prefix (self, self->read_position, &prefix, error))
      return FALSE;
    self->read_position += sizeof prefix + prefix.size;
    self->read_number++;
  }
  return TRUE;
}

gboolean
cuv_spool_read (
    CuvSpool *self, guint64 number, CuvMessage *message, GError **error)
{
  Prefix prefix;

  if (!seek (self, number, error)
      || !read_message (self, self->read_position, &prefix, message, error))
    return FALSE;
  self->read_position += sizeof prefix + prefix.size;
  self->read_number = number + 1;
  return TRUE;
}

/* An empty ring begins at its start again, so that it uses no more memory, or
 * blocks of the file, than needed. */
static void
rewind_if_empty (CuvSpool *self)
{
  Header *header = &self->header;

  if (header->first == header->end) {
    header->head = header->tail = 0;
    self->read_number = header->first;
    self->read_position = 0;
  }
}

/* In a damaged file the position of the next message is unknown: all go. */
void
cuv_spool_pop (CuvSpool *self)
{
  Header *header = &self->header;
  Prefix prefix;

  if (read_prefix (self, header->head, &prefix, NULL)) {
    header->head += sizeof prefix + prefix.size;
    header->first++;
  } else {
    header->first = header->end;
  }
  rewind_if_empty (self);
  if (!write_header (self, NULL))
    g_warning ("Cannot write to the spool '%s': %s. Messages that were already "
               "sent will be sent again after the next start.",
        self->path, g_strerror (errno));
}
