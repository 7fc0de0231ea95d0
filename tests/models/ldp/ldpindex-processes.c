/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of killed writers, concurrent readers, and files beyond 4 GB. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include "ldpindex-tests.h"

enum { ROUNDS = 200, N_READERS = 2, N_WATCHED = 3000, N_RACERS = 6 };

static void
die (const char *what, char *error)
{
  fprintf (stderr, "%s: %s\n", what, error != NULL ? error : strerror (errno));
  _exit (1);
}

/* ---- killed writers ---- */

/* Appends forever and prints the number of each appended entry. */
static void
append_forever (const char *path, bool sync, int pipe)
{
  const CuvLdpIndexInfo info = small_info ();
  char *error;
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, &info, sync, &error);

  if (writer == NULL)
    die (path, error);
  for (;;) {
    const uint64_t n = cuv_ldp_index_writer_n_entries (writer);

    if (!append (writer, &info, n, &error))
      die (path, error);
    if (write (pipe, &n, sizeof n) != sizeof n)
      die ("pipe", NULL);
  }
}

/* Waits for at least `least` reported entries; returns the number of entries
 * reported so far. */
static uint64_t
read_numbers (int pipe, uint64_t least)
{
  uint64_t number;

  while (read (pipe, &number, sizeof number) == sizeof number) {
    CUV_CHECK (number >= least);
    least = number + 1;
  }
  return least;
}

static void
nap (uint32_t microseconds)
{
  const struct timespec time = { .tv_sec = microseconds / 1000000,
    .tv_nsec = 1000 * (long) (microseconds % 1000000) };

  nanosleep (&time, NULL);
}

/* Kills a writer. Returns the number of entries that it had reported. */
static uint64_t
kill_one (const char *path, int round, uint64_t n)
{
  int ends[2], status;
  pid_t pid;
  uint64_t reported;
  struct pollfd first;

  if (pipe (ends) < 0)
    die ("pipe", NULL);
  pid = fork ();
  if (pid == 0) {
    close (ends[0]);
    append_forever (path, round % 8 == 7, ends[1]);
  }
  close (ends[1]);
  first = (struct pollfd){ .fd = ends[0], .events = POLLIN };
  if (round % 4 == 0) /* while it opens the file */
    nap (cuv_check_below (1000));
  else if (poll (&first, 1, 10000) == 1)
    nap (cuv_check_below (2000));
  kill (pid, SIGKILL);
  waitpid (pid, &status, 0);
  CUV_CHECK (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  reported = read_numbers (ends[0], n);
  close (ends[0]);
  return reported;
}

/* Checks that the index has all reported entries and at most one more, and the
 * content of those from `from` on. Returns their number. */
static uint64_t
check_killed (const char *path, uint64_t from, uint64_t reported)
{
  char *error;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);
  uint64_t n = 0;

  if (index == NULL && errno == ENOENT && reported == 0) {
    free (error); /* killed before the file existed */
    return 0;
  }
  if (!CUV_CHECK (index != NULL, ": %s", error))
    exit (1);
  n = cuv_ldp_index_n_entries (index);
  CUV_CHECK (n >= reported && n <= reported + 1,
      ": %llu entries, %llu reported", (unsigned long long) n,
      (unsigned long long) reported);
  cuv_ldp_index_free (index);
  check_file (path, from, n);
  return n;
}

void
test_kill (void)
{
  char path[MAX_PATH], rest[MAX_PATH];
  uint64_t n = 0;
  int n_grown = 0;

  path_of ("kill", path);
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t before = n;

    cuv_check_case ("kill %d", round);
    n = check_killed (
        path, round % 50 == 49 ? 0 : before, kill_one (path, round, before));
    n_grown += n > before;
  }
  CUV_CHECK (n_grown >= ROUNDS / 4 * 3, ": only %d", n_grown);
  printf ("%d kills, %llu entries\n", ROUNDS, (unsigned long long) n);
  snprintf (rest, sizeof rest, "rm -f %.200s.new-*", path);
  CUV_CHECK (system (rest) == 0);
}

/* ---- readers of a growing file ---- */

/* Refreshes until all entries are visible, and checks each new one. */
static void
watch (const char *path)
{
  char *error;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);
  uint64_t n = 0;

  if (index == NULL)
    die (path, error);
  while (n < N_WATCHED) {
    const uint64_t before = n;

    if (!cuv_ldp_index_refresh (index, &error))
      die (path, error);
    n = cuv_ldp_index_n_entries (index);
    if (n < before)
      die ("fewer entries than before", NULL);
    for (uint64_t i = before; i < n; i++) {
      if (!is_entry (index, i, i))
        die ("an entry differs from the written one", NULL);
    }
    nap (200);
  }
  cuv_ldp_index_free (index);
  _exit (0);
}

static void
test_readers (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;

  cuv_check_case ("readers");
  path_of ("readers", path);
  make_file (path, 0);
  for (int i = 0; i < N_READERS; i++) {
    if (fork () == 0)
      watch (path);
  }
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  for (uint64_t i = 0; i < N_WATCHED; i++)
    CUV_CHECK (append (writer, &info, i, &error), ": %s", error);
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  for (int i = 0; i < N_READERS; i++) {
    int status;

    CUV_CHECK (wait (&status) > 0 && status == 0);
  }
}

/* ---- concurrent writers ---- */

/* Several processes create the file: one writes at a time, nothing is lost. */
static void
race (const char *path, int start)
{
  const CuvLdpIndexInfo info = small_info ();
  CuvLdpIndexWriter *writer;
  char byte, *error;

  if (read (start, &byte, 1) < 0)
    die ("pipe", NULL);
  while ((writer = cuv_ldp_index_writer_open (path, &info, false, &error))
      == NULL) {
    if (strstr (error, "another writer") == NULL)
      die (path, error);
    free (error);
    nap (100);
  }
  if (!append (writer, &info, cuv_ldp_index_writer_n_entries (writer), &error)
      || !cuv_ldp_index_writer_close (writer, &error))
    die (path, error);
  _exit (0);
}

static void
test_race (void)
{
  char path[MAX_PATH];

  path_of ("race", path);
  for (int round = 0; round < 20; round++) {
    int start[2], status;

    cuv_check_case ("race %d", round);
    unlink (path);
    if (pipe (start) < 0)
      die ("pipe", NULL);
    for (int i = 0; i < N_RACERS; i++) {
      if (fork () == 0) {
        close (start[1]);
        race (path, start[0]);
      }
    }
    close (start[0]);
    close (start[1]); /* EOF starts all processes */
    for (int i = 0; i < N_RACERS; i++)
      CUV_CHECK (wait (&status) > 0 && status == 0);
    check_file (path, 0, N_RACERS);
  }
}

/* ---- files beyond 4 GB ---- */

static void
write_slot (int fd, uint64_t n)
{
  const off_t at = n % 2 == 0 ? 512 : 1024;
  uint8_t slot[12];
  uint32_t crc;

  for (int i = 0; i < 8; i++)
    slot[i] = (uint8_t) (n >> 8 * i);
  crc = (uint32_t) crc32 (0, slot, 8);
  for (int i = 0; i < 4; i++)
    slot[8 + i] = (uint8_t) (crc >> 8 * i);
  CUV_CHECK (pwrite (fd, slot, 12, at) == 12);
}

/* Makes a file with a hole of 4 GB after its first entry. */
static bool
make_large (const char *path, uint64_t n)
{
  int fd;
  bool ok;

  make_file (path, 1);
  fd = open (path, O_RDWR | O_CLOEXEC);
  ok = ftruncate (fd, (off_t) (4096 + n * 1152)) == 0;
  if (ok) {
    write_slot (fd, n - 1);
    write_slot (fd, n);
  }
  close (fd);
  return ok;
}

/* Checks the address of an entry, computed with 64 bits. */
static void
check_place (const char *path, uint64_t i)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC);
  const off_t at = (off_t) (4096 + i * 1152 + 64);
  char name[64], there[64];

  make_name (i, name, sizeof name);
  CUV_CHECK (pread (fd, there, sizeof there, at) == sizeof there);
  CUV_CHECK (strcmp (name, there) == 0);
  close (fd);
}

static void
test_large (void)
{
  const CuvLdpIndexInfo info = small_info ();
  const uint64_t n = (5ull << 30) / 1152;
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;
  CuvLdpIndex *index;

  cuv_check_case ("beyond 4 GB");
  path_of ("large", path);
  if (!make_large (path, n)) {
    printf ("skipped: cannot create a file of 5 GB: %s\n", strerror (errno));
    return;
  }
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  if (!CUV_CHECK (writer != NULL, ": %s", error))
    return;
  for (uint64_t i = n; i < n + 3; i++)
    CUV_CHECK (append (writer, &info, i, &error), ": %s", error);
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  check_file (path, n, n + 3);
  check_place (path, n + 2);
  index = cuv_ldp_index_open (path, &error);
  if (CUV_CHECK (index != NULL, ": %s", error)) {
    CUV_CHECK (is_entry (index, 0, 0));
    CUV_CHECK (!cuv_ldp_index_check (index, &error));
    check_words (error, "entry 1 is damaged");
  }
  cuv_ldp_index_free (index);
  unlink (path);
}

void
test_processes (void)
{
  test_readers ();
  test_race ();
  test_large ();
}
