/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the spool with a queue of GLib's types, and tests files that are
 * reopened, damaged, or written by processes that are killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuvelements.h"
#include "output/spool.h"

static gchar *path;

/* Replaces the C library's function: if an errno is set, the next calls
 * fail. */
static int lock_errno, space_errno, n_space_errors;

int
flock (int fd, int operation)
{
  errno = lock_errno;
  return lock_errno != 0 ? -1 : (int) syscall (SYS_flock, fd, operation);
}

/* Allocates space for real, unless a failure is simulated. */
int
posix_fallocate (int fd, off_t start, off_t size)
{
  if (n_space_errors > 0) {
    n_space_errors--;
    return ftruncate (fd, start + size / 2) == 0 ? space_errno : errno;
  }
  return fallocate (fd, 0, start, size) == 0 ? 0 : errno;
}

static void
set_up (void)
{
  gint fd = g_file_open_tmp ("spool-XXXXXX", &path, NULL);

  fail_unless (fd >= 0);
  close (fd);
}

static void
tear_down (void)
{
  unlink (path);
  g_clear_pointer (&path, g_free);
}

static CuvSpool *
spool_new (const gchar *file, guint64 bytes, guint records)
{
  GError *error = NULL;
  CuvSpool *spool = cuv_spool_new (file, bytes, records, &error);

  g_assert_no_error (error);
  return spool;
}

/* Makes message n: its texts contain its number, and sizes vary. */
static CuvMessage
message_new (guint64 n)
{
  gsize size = n * 7919 % 1500;
  GString *block = g_string_new (NULL);
  gsize key, text;
  CuvMessage message;

  g_string_append_printf (block, "topic %" G_GUINT64_FORMAT, n % 5);
  g_string_append_c (block, '\0');
  key = block->len;
  if (n % 3 != 0)
    g_string_append_printf (block, "key %" G_GUINT64_FORMAT, n);
  g_string_append_c (block, '\0');
  text = block->len;
  for (gsize i = 0; i < size; i++)
    g_string_append_c (block, (gchar) (n + i * i));
  message.topic = g_string_free (block, FALSE);
  message.key = message.topic + key;
  message.text = message.topic + text;
  message.size = size;
  return message;
}

static gboolean
push (CuvSpool *spool, guint64 n)
{
  CuvMessage message = message_new (n);
  gboolean room = cuv_spool_has_room (spool, cuv_message_bytes (&message));

  /* a process that is killed must not write half a message to libcheck */
  if (room)
    g_assert_true (cuv_spool_push (spool, &message, NULL));
  cuv_message_clear (&message);
  return room;
}

/* Checks that the spool's message `number` is message n. */
static void
check_message (CuvSpool *spool, guint64 number, guint64 n)
{
  CuvMessage expected = message_new (n), message;
  GError *error = NULL;

  fail_unless (cuv_spool_read (spool, number, &message, &error));
  fail_unless_equals_string (message.topic, expected.topic);
  fail_unless_equals_string (message.key, expected.key);
  fail_unless_equals_uint64 (message.size, expected.size);
  fail_unless (memcmp (message.text, expected.text, expected.size) == 0);
  cuv_message_clear (&message);
  cuv_message_clear (&expected);
}

/* Reads some or all messages of the spool, in order or not. */
static void
check_some (CuvSpool *spool, GQueue *model)
{
  guint n = g_queue_get_length (model);

  fail_unless_equals_uint64 (
      cuv_spool_end (spool) - cuv_spool_first (spool), n);
  for (guint i = 0; n > 0 && i < 3; i++) {
    guint at = (guint) g_random_int_range (0, (gint) n);

    check_message (spool, cuv_spool_first (spool) + at,
        GPOINTER_TO_SIZE (g_queue_peek_nth (model, at)));
  }
}

/* Compares random pushes and pops; a file is sometimes closed and reopened. */
static void
compare_with_queue (const gchar *file)
{
  CuvSpool *spool = spool_new (file, 20000, 22);
  GQueue model = G_QUEUE_INIT;
  guint refused = 0, by_number = 0;

  for (guint64 n = 0; n < 20000; n++) {
    gboolean growing = n / 100 % 2 == 0;

    if (push (spool, n))
      g_queue_push_tail (&model, GSIZE_TO_POINTER (n));
    else
      refused++;
    by_number += g_queue_get_length (&model) == 22;
    for (guint i = growing ? 0 : 2; i > 0 && !g_queue_is_empty (&model); i--) {
      cuv_spool_pop (spool);
      g_queue_pop_head (&model);
    }
    if (n % 16 == 0)
      check_some (spool, &model);
    if (file != NULL && n % 250 == 249) {
      guint64 first_number = cuv_spool_first (spool);

      cuv_spool_free (spool);
      spool = spool_new (file, 20000, 22);
      fail_unless_equals_uint64 (cuv_spool_first (spool), first_number);
    }
  }
  fail_unless (refused > 1000 && by_number > 0);
  cuv_spool_free (spool);
  g_queue_clear (&model);
}

CUV_TEST (test_memory)
{
  compare_with_queue (NULL);
}

CUV_TEST (test_file)
{
  compare_with_queue (path);
}

CUV_TEST (test_bounds)
{
  CuvSpool *spool = spool_new (path, 10, 1000);
  CuvMessage message = { "t", "", NULL, 0 };

  /* the minimum size */
  fail_unless (cuv_spool_can_hold (spool, CUV_SPOOL_MIN_BYTES));
  fail_if (cuv_spool_can_hold (spool, CUV_SPOOL_MIN_BYTES + 1));
  message.size = CUV_SPOOL_MIN_BYTES - cuv_message_bytes (&message);
  message.text = g_malloc0 (message.size);
  fail_unless (cuv_spool_has_room (spool, cuv_message_bytes (&message)));
  fail_unless (cuv_spool_push (spool, &message, NULL));
  fail_if (cuv_spool_has_room (spool, 1));
  cuv_spool_free (spool);

  /* a file that has messages keeps its size */
  spool = spool_new (path, 1 << 20, 1000);
  fail_if (cuv_spool_has_room (spool, 1));
  cuv_spool_pop (spool);
  cuv_spool_free (spool);
  spool = spool_new (path, 1 << 20, 1000);
  fail_unless (cuv_spool_has_room (spool, 1 << 20));
  cuv_spool_free (spool);
  g_free ((gchar *) message.text);
}

static void
expect_refusal (const gchar *file, const gchar *part)
{
  GError *error = NULL;
  CuvSpool *spool = cuv_spool_new (file, 20000, 22, &error);

  fail_unless (spool == NULL);
  fail_unless (strstr (error->message, part) != NULL, "%s", error->message);
  g_error_free (error);
}

CUV_TEST (test_refused_files)
{
  CuvSpool *spool = spool_new (path, 20000, 22);
  g_autofree gchar *inside = g_build_filename (path, "file", NULL);

  expect_refusal (path, "another visionpublish uses it");
  cuv_spool_free (spool);
  expect_refusal (inside, "cannot be opened");
  expect_refusal (g_get_tmp_dir (), "cannot be opened");
  fail_unless (g_file_set_contents (path, "some other file", -1, NULL));
  expect_refusal (path, "not a spool");
  expect_refusal ("/dev/null", "not a regular file");
  unlink (path);
  fail_unless (mkfifo (path, 0600) == 0);
  expect_refusal (path, "not a regular file");
}

/* Two processes would write to a file that cannot be locked. */
CUV_TEST (test_no_locks)
{
  lock_errno = ENOLCK;
  expect_refusal (path, "cannot be locked (No locks available): choose a file");
  lock_errno = 0;
  cuv_spool_free (spool_new (path, 20000, 22));
}

static gint64
file_size (void)
{
  struct stat status;

  fail_unless (stat (path, &status) == 0);
  return status.st_size;
}

/* Files of processes that were killed before they wrote the first header. */
CUV_TEST (test_blank_files)
{
  g_autofree gchar *zeros = g_malloc0 (100001);

  fail_unless (truncate (path, 1 << 20) == 0);
  cuv_spool_free (spool_new (path, 20000, 22));
  fail_unless (g_file_set_contents (path, zeros, 100001, NULL));
  cuv_spool_free (spool_new (path, 20000, 22));
  /* another file that begins with zeros is refused */
  zeros[100000] = 1;
  fail_unless (g_file_set_contents (path, zeros, 100001, NULL));
  expect_refusal (path, "not a spool");
  fail_unless_equals_int64 (file_size (), 100001);
}

CUV_TEST (test_no_space)
{
  CuvSpool *spool;
  gint64 size;

  space_errno = ENOSPC;
  n_space_errors = 1;
  expect_refusal (path, "cannot reserve 20000 bytes");
  fail_unless_equals_int64 (file_size (), 0);
  spool = spool_new (path, 20000, 22);
  push (spool, 0);
  cuv_spool_free (spool);
  size = file_size ();
  n_space_errors = 1;
  expect_refusal (path, "cannot reserve 20000 bytes");
  fail_unless_equals_int64 (file_size (), size);
  space_errno = EINTR;
  n_space_errors = 2;
  spool = spool_new (path, 20000, 22);
  fail_unless_equals_int (n_space_errors, 0);
  check_message (spool, 0, 0);
  cuv_spool_free (spool);
}

/* Whatever a file contains, reading it ends, either with an error or with
 * messages that were written. */
static void
read_all_of (const gchar *file)
{
  GError *error = NULL;
  CuvSpool *spool = cuv_spool_new (file, 20000, 22, &error);
  CuvMessage message;

  g_clear_error (&error);
  while (spool != NULL && cuv_spool_first (spool) < cuv_spool_end (spool)) {
    guint64 number = cuv_spool_first (spool);

    if (cuv_spool_read (spool, number, &message, &error)) {
      cuv_message_clear (&message);
      check_message (spool, number, number);
    }
    g_clear_error (&error);
    cuv_spool_pop (spool);
    fail_unless (cuv_spool_first (spool) > number);
  }
  if (spool != NULL)
    cuv_spool_free (spool);
}

CUV_TEST (test_damaged_files)
{
  CuvSpool *spool = spool_new (path, 20000, 22);
  g_autofree gchar *good = NULL;
  gsize size;

  for (guint64 n = 0; n < 15; n++)
    push (spool, n);
  cuv_spool_free (spool);
  fail_unless (g_file_get_contents (path, &good, &size, NULL));
  for (guint i = 0; i < 1000; i++) {
    gchar *bad = g_memdup2 (good, size);
    gsize length =
        i % 3 == 0 ? (gsize) g_random_int_range (0, (gint) size) : size;

    /* near the headers or anywhere */
    for (guint k = i % 5; k > 0; k--)
      bad[g_random_int_range (0, i % 2 == 0 ? 128 : (gint) size)] ^=
          (gchar) g_random_int_range (1, 256);
    fail_unless (g_file_set_contents (path, bad, (gssize) length, NULL));
    read_all_of (path);
    g_free (bad);
  }
}

/* A child process pushes and pops, and reports each step when it is done,
 * until it is killed. The spool then contains the reported steps and at most
 * one more. */
static void
work_until_killed (int fd)
{
  CuvSpool *spool = spool_new (path, 20000, 22);

  for (;;) {
    gchar step = 'p';

    if (!push (spool, cuv_spool_end (spool))) {
      cuv_spool_pop (spool);
      step = 'r';
    }
    if (write (fd, &step, 1) != 1)
      _exit (1);
  }
}

CUV_TEST (test_kills)
{
  guint64 first = 0, end = 0;

  for (guint i = 0; i < 60; i++) {
    gchar steps[4096];
    gssize n;
    CuvSpool *spool;
    int fds[2];
    pid_t child;

    fail_unless (pipe (fds) == 0);
    child = fork ();
    if (child == 0)
      work_until_killed (fds[1]);
    close (fds[1]);
    fail_unless (read (fds[0], steps, 1) == 1); /* the child has begun */
    g_usleep ((gulong) g_random_int_range (0, 3000));
    kill (child, SIGKILL);
    waitpid (child, NULL, 0);
    end += steps[0] == 'p';
    first += steps[0] == 'r';
    while ((n = read (fds[0], steps, sizeof steps)) > 0) {
      for (gssize k = 0; k < n; k++) {
        end += steps[k] == 'p';
        first += steps[k] == 'r';
      }
    }
    close (fds[0]);
    spool = spool_new (path, 20000, 22);
    fail_unless (cuv_spool_end (spool) - end <= 1);
    fail_unless (cuv_spool_first (spool) - first <= 1);
    first = cuv_spool_first (spool);
    end = cuv_spool_end (spool);
    for (guint64 number = first; number < end; number++)
      check_message (spool, number, number);
    cuv_spool_free (spool);
  }
  fail_unless (end > 1000);
}

CUV_FIXTURE (set_up, tear_down)
