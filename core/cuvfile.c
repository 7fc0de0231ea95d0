/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
is_regular (const struct stat *status, const char **problem)
{
  if (S_ISREG (status->st_mode))
    return TRUE;
  *problem = S_ISDIR (status->st_mode)
      ? "it is not a regular file but a folder"
      : "it is not a regular file: copy its content to one";
  errno = EINVAL;
  return FALSE;
}

int
cuv_file_open (const char *path, guint64 *size, const char **problem)
{
  struct stat status;
  int fd = -1;

  *problem = NULL;
  /* Checked before opening as well: opening a FIFO unblocks its writer, and
   * opening some devices starts them. */
  if (stat (path, &status) == 0 && is_regular (&status, problem))
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0 && fstat (fd, &status) == 0 && is_regular (&status, problem)) {
    if (size != NULL)
      *size = (guint64) status.st_size;
    return fd;
  }
  if (*problem == NULL)
    *problem = g_strerror (errno);
  if (fd >= 0)
    close (fd);
  return -1;
}

/* Reads n bytes, fewer at the end of the file. Returns -1 with errno on
 * failure. */
static gssize
read_bytes (int fd, gchar *bytes, gsize n)
{
  gsize done = 0;
  gssize got = 1;

  while (done < n && got != 0) {
    got = read (fd, bytes + done, n - done);
    if (got < 0 && errno != EINTR)
      return -1;
    done += (gsize) MAX (got, 0);
  }
  return (gssize) done;
}

/* Reads until the file ends: files in /proc have a size of 0, and others may
 * grow. Returns NULL with errno on failure. */
static gchar *
file_read_all (int fd, gsize room, gsize limit, gsize *size)
{
  gchar *bytes = NULL, *larger;
  gssize got = 0;

  for (*size = 0; *size <= limit; room = MIN (2 * room, limit + 1)) {
    larger = g_try_realloc (bytes, room + 1);
    if (larger != NULL)
      bytes = larger;
    else
      errno = ENOMEM;
    got = larger != NULL ? read_bytes (fd, bytes + *size, room - *size) : -1;
    *size += (gsize) MAX (got, 0);
    if (*size < room)
      break;
    errno = EFBIG;
  }
  if (got >= 0 && *size <= limit) {
    bytes[*size] = '\0';
    return bytes;
  }
  g_free (bytes);
  return NULL;
}

static gboolean
file_fail (GError **error, const gchar *path, const gchar *problem)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
      "cannot read '%s': %s", path, problem);
  return FALSE;
}

static gboolean
file_fail_reading (GError **error, const gchar *path, gsize limit)
{
  gchar large[80];

  g_snprintf (large, sizeof large,
      "it has more than %" G_GSIZE_FORMAT " bytes, the limit", limit);
  return file_fail (error, path,
      errno == EFBIG        ? large
          : errno == EAGAIN ? "it has nothing to read yet"
                            : g_strerror (errno));
}

gboolean
cuv_file_read (
    const gchar *path, gsize limit, gchar **bytes, gsize *size, GError **error)
{
  const char *problem;
  guint64 expected;
  gsize n;
  int fd = cuv_file_open (path, &expected, &problem);

  if (fd < 0)
    return file_fail (error, path, problem);
  errno = EFBIG;
  *bytes = expected <= limit
      ? file_read_all (fd, MAX ((gsize) expected + 1, 4096), limit, &n)
      : NULL;
  if (*bytes == NULL)
    file_fail_reading (error, path, limit);
  else if (size != NULL)
    *size = n;
  close (fd);
  return *bytes != NULL;
}

gboolean
cuv_file_check (const gchar *path, GError **error)
{
  const char *problem;
  const int fd = cuv_file_open (path, NULL, &problem);

  if (fd < 0)
    return file_fail (error, path, problem);
  close (fd);
  return TRUE;
}
