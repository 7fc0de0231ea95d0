/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of writers that are killed after any byte, and of disks that are full
 * or fail. The program is linked with --wrap, which redirects the library's
 * system calls here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ldpindex-tests.h"

enum { STRIDE = 1152, SLOT = 12, N = 3 };

static struct {
  long room;      /* bytes that can be written; -1: no limit */
  int reason;     /* errno beyond that; 0: kill the process */
  int good_syncs; /* number of syncs that succeed; -1: all */
  void (*before_read) (void);
} faults = { -1, 0, -1, NULL };

ssize_t __real_pwrite64 (int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64 (int fd, const void *bytes, size_t n, off_t at);
ssize_t __real_pread64 (int fd, void *bytes, size_t n, off_t at);
ssize_t __wrap_pread64 (int fd, void *bytes, size_t n, off_t at);
int __real_fdatasync (int fd);
int __wrap_fdatasync (int fd);

ssize_t
__wrap_pwrite64 (int fd, const void *bytes, size_t n, off_t at)
{
  if (faults.room < 0)
    return __real_pwrite64 (fd, bytes, n, at);
  if (faults.room == 0) {
    if (faults.reason == 0)
      raise (SIGKILL);
    errno = faults.reason;
    return -1;
  }
  if (n > (size_t) faults.room)
    n = (size_t) faults.room;
  faults.room -= (long) n;
  return __real_pwrite64 (fd, bytes, n, at);
}

ssize_t
__wrap_pread64 (int fd, void *bytes, size_t n, off_t at)
{
  void (*func) (void) = faults.before_read;

  faults.before_read = NULL;
  if (func != NULL)
    func ();
  return __real_pread64 (fd, bytes, n, at);
}

int
__wrap_fdatasync (int fd)
{
  if (faults.good_syncs == 0) {
    errno = EIO;
    return -1;
  }
  faults.good_syncs -= faults.good_syncs > 0;
  return __real_fdatasync (fd);
}

/* ---- killed writers ---- */

/* Appends in a child process that is killed after it has written this many
 * bytes. */
static void
kill_after (const char *path, long room)
{
  const CuvLdpIndexInfo info = small_info ();
  int status;
  char *error;
  const pid_t pid = fork ();

  if (pid == 0) {
    CuvLdpIndexWriter *writer =
        cuv_ldp_index_writer_open (path, &info, false, &error);

    faults.room = room;
    append (writer, &info, N, &error);
    cuv_ldp_index_writer_close (writer, &error);
    _exit (0);
  }
  waitpid (pid, &status, 0);
  CUV_CHECK (WIFSIGNALED (status) || room >= STRIDE + SLOT);
}

static void
append_one (const char *path, uint64_t number)
{
  const CuvLdpIndexInfo info = small_info ();
  char *error;
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, &info, false, &error);

  if (!CUV_CHECK (writer != NULL, ": %s", error))
    return;
  CUV_CHECK (append (writer, &info, number, &error));
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
}

/* The next writer truncates an uncommitted entry. */
static void
check_truncated_entry (const char *path, uint64_t n)
{
  const CuvLdpIndexInfo info = small_info ();
  char *error;
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, &info, false, &error);
  size_t size;

  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  free (read_file (path, &size));
  CUV_CHECK (size == 4096 + n * STRIDE);
}

static void
test_killed_writers (void)
{
  char path[MAX_PATH], *error;

  path_of ("stopped", path);
  for (long room = 0; room <= STRIDE + SLOT;
       room += room > 60 && room < STRIDE - 60 ? 61 : 1) {
    CuvLdpIndex *index;
    uint64_t n;

    cuv_check_case ("stopped after %ld bytes", room);
    make_file (path, N);
    kill_after (path, room);
    index = cuv_ldp_index_open (path, &error);
    if (!CUV_CHECK (index != NULL, ": %s", error))
      continue;
    n = cuv_ldp_index_n_entries (index);
    CUV_CHECK (n == N || (n == N + 1 && room > STRIDE));
    CUV_CHECK (n == N + 1 || room < STRIDE + SLOT);
    cuv_ldp_index_free (index);
    check_file (path, 0, n);
    check_truncated_entry (path, n);
    append_one (path, n);
    check_file (path, 0, n + 1);
  }
}

/* A writer is killed in a slot, the next one in the slot of the next entry. */
static void
test_killed_twice (void)
{
  char path[MAX_PATH];
  uint8_t *bytes;
  size_t size;

  path_of ("twice", path);
  for (long room = STRIDE; room < STRIDE + 2 * SLOT; room++) {
    cuv_check_case ("stopped twice, after %ld bytes", room);
    make_file (path, N);
    bytes = read_file (path, &size);
    bytes[1024]++;
    write_file (path, bytes, size);
    kill_after (path, room);
    check_file (path, 0, N + (room > STRIDE));
    free (bytes);
  }
}

/* Writes a batch in a child process that is killed after this many bytes. The
 * file then has the first entries of the batch, and all of them once the batch
 * is committed. */
static void
kill_in_batch (const char *path, uint64_t m, long room)
{
  const CuvLdpIndexInfo info = small_info ();
  char *error;
  const pid_t pid = fork ();

  if (pid == 0) {
    CuvLdpIndexWriter *writer =
        cuv_ldp_index_writer_open (path, &info, false, &error);

    faults.room = room;
    cuv_ldp_index_writer_begin (writer);
    for (uint64_t i = 0; i < m; i++)
      append (writer, &info, N + i, &error);
    cuv_ldp_index_writer_commit (writer, &error);
    cuv_ldp_index_writer_close (writer, &error);
    _exit (0);
  }
  waitpid (pid, NULL, 0);
}

static void
test_killed_batches (void)
{
  char path[MAX_PATH], *error;

  path_of ("batch", path);
  for (uint64_t m = 1; m <= 4; m++) {
    const long written = (long) m * STRIDE;
    const long slots = SLOT * (m % 2 == 0 ? 2 : 1);

    for (long room = written - 3; room <= written + 2 * SLOT; room++) {
      CuvLdpIndex *index;
      uint64_t n;

      cuv_check_case ("a batch of %d stopped after %ld bytes", (int) m, room);
      make_file (path, N);
      kill_in_batch (path, m, room);
      index = cuv_ldp_index_open (path, &error);
      if (!CUV_CHECK (index != NULL, ": %s", error))
        continue;
      n = cuv_ldp_index_n_entries (index);
      CUV_CHECK (room > written ? n >= N && n <= N + m : n == N);
      CUV_CHECK (n == N + m || room < written + slots);
      cuv_ldp_index_free (index);
      check_file (path, 0, n);
      append_one (path, n);
      check_file (path, 0, n + 1);
    }
  }
}

/* A new file appears complete or not at all. */
static void
test_killed_creating (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], rest[MAX_PATH + 64], *error;

  path_of ("creating", path);
  for (long room = 0; room <= 4096; room += 512) {
    const pid_t pid = fork ();

    cuv_check_case ("creating stopped after %ld bytes", room);
    if (pid == 0) {
      faults.room = room;
      cuv_ldp_index_writer_close (
          cuv_ldp_index_writer_open (path, &info, true, &error), &error);
      _exit (0);
    }
    waitpid (pid, NULL, 0);
    snprintf (rest, sizeof rest, "%s.new-%ld-0", path, (long) pid);
    CUV_CHECK ((access (path, F_OK) == 0) == (room == 4096));
    CUV_CHECK ((unlink (rest) == 0) == (room < 4096));
  }
  check_file (path, 0, 0);
}

/* ---- concurrent readers ---- */

static CuvLdpIndexWriter *busy_writer;
static int busy_fd;

static void
append_meanwhile (void)
{
  const CuvLdpIndexInfo info = small_info ();
  const uint64_t n = cuv_ldp_index_writer_n_entries (busy_writer);
  char *error;

  CUV_CHECK (append (busy_writer, &info, n, &error), ": %s", error);
}

/* Appends after the reader has read the size, and before it reads the slots. */
static void
test_appended_meanwhile (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;
  CuvLdpIndex *index;

  cuv_check_case ("appended while it is opened");
  path_of ("meanwhile", path);
  make_file (path, N);
  busy_writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  faults.before_read = append_meanwhile;
  index = cuv_ldp_index_open (path, &error);
  if (CUV_CHECK (index != NULL, ": %s", error)) {
    CUV_CHECK (cuv_ldp_index_n_entries (index) == N + 1);
    faults.before_read = append_meanwhile;
    CUV_CHECK (cuv_ldp_index_refresh (index, &error), ": %s", error);
    CUV_CHECK (cuv_ldp_index_n_entries (index) == N + 2);
  }
  cuv_ldp_index_free (index);
  CUV_CHECK (cuv_ldp_index_writer_close (busy_writer, &error));
}

static void
write_second_byte (uint8_t byte)
{
  for (off_t slot = 512; slot <= 1024; slot += 512)
    CUV_CHECK (__real_pwrite64 (busy_fd, &byte, 1, slot + 1) == 1);
}

static void
mend_meanwhile (void)
{
  write_second_byte (0);
}

static void
look_again (void)
{
  faults.before_read = mend_meanwhile;
}

/* Both slots are half written at the first read. */
static void
test_half_written (void)
{
  char path[MAX_PATH];

  cuv_check_case ("slots half written");
  path_of ("half", path);
  make_file (path, N);
  busy_fd = open (path, O_RDWR | O_CLOEXEC);
  write_second_byte (1);
  faults.before_read = look_again;
  check_file (path, 0, N);
  close (busy_fd);
}

/* ---- full disk ---- */

static void
check_full (CuvLdpIndexWriter *writer, const char *path, const char *words)
{
  const CuvLdpIndexInfo info = small_info ();
  size_t size[2];
  uint8_t *before = read_file (path, &size[0]), *after;
  char *error;

  CUV_CHECK (!append (writer, &info, N, &error));
  check_words (error, words);
  after = read_file (path, &size[1]);
  CUV_CHECK (size[0] == size[1]);
  CUV_CHECK (memcmp (before + 4096, after + 4096, size[0] - 4096) == 0);
  free (before);
  free (after);
  check_file (path, 0, N);
}

static void
test_full (void)
{
  static const int reasons[] = { ENOSPC, EFBIG, EIO };
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;

  path_of ("full", path);
  for (long room = 0;
       room<STRIDE + SLOT; room += room> 60 && room < STRIDE - 60 ? 61 : 1) {
    CuvLdpIndexWriter *writer;

    cuv_check_case ("room for %ld bytes", room);
    make_file (path, N);
    writer = cuv_ldp_index_writer_open (path, &info, false, &error);
    faults.reason = reasons[room % 3];
    faults.room = room;
    check_full (writer, path,
        room % 3 == 2 ? "3 existing entries are kept"
                      : "free disk space and try again");
    check_full (writer, path, "existing entries are kept");
    faults.room = -1;
    CUV_CHECK (append (writer, &info, N, &error));
    CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
    check_file (path, 0, N + 1);
  }
  faults.reason = 0;
}

static void
test_file_size_limit (void)
{
  const CuvLdpIndexInfo info = small_info ();
  struct rlimit before, limit;
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;

  cuv_check_case ("file size limit");
  path_of ("limit", path);
  make_file (path, N);
  signal (SIGXFSZ, SIG_IGN);
  CUV_CHECK (getrlimit (RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 4096 + N * STRIDE + 100;
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  CUV_CHECK (setrlimit (RLIMIT_FSIZE, &limit) == 0);
  check_full (writer, path, "File too large");
  check_full (writer, path, "free disk space and try again");
  CUV_CHECK (setrlimit (RLIMIT_FSIZE, &before) == 0);
  CUV_CHECK (append (writer, &info, N, &error));
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  check_file (path, 0, N + 1);
}

/* ---- failing disk ---- */

static void
test_sync_fails (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;

  path_of ("sync", path);
  for (int good = 0; good < 2; good++) {
    CuvLdpIndexWriter *writer;

    cuv_check_case ("fdatasync %d fails", good);
    make_file (path, N);
    writer = cuv_ldp_index_writer_open (path, &info, true, &error);
    faults.good_syncs = good;
    CUV_CHECK (!append (writer, &info, N, &error));
    check_words (error, "Input/output error");
    faults.good_syncs = -1;
    CUV_CHECK (!append (writer, &info, N, &error));
    check_words (
        error, "the disk failed: check the disk, then open the index again");
    CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
    check_file (path, 0, N + (uint64_t) good);
  }
}

void
test_faults (void)
{
  test_killed_writers ();
  test_killed_twice ();
  test_killed_batches ();
  test_killed_creating ();
  test_appended_meanwhile ();
  test_half_written ();
  test_full ();
  test_file_size_limit ();
  test_sync_fails ();
}
