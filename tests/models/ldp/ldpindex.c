/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of local derivative patterns: written entries are read back, and
 * faults either keep all committed entries or are errors.
 *
 *   ldpindex --cpu [--seed N]
 */
#include "ldpindex-tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- round trips ---- */

/* Appends in three steps, and reads after each. */
static void
round_trip (const CuvLdpIndexInfo *info, bool sync)
{
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;
  CuvLdpIndex *index = NULL;

  path_of ("trip", path);
  for (uint64_t n = 0; n < 9; n++) {
    writer = cuv_ldp_index_writer_open (path, info, sync, &error);
    if (!CUV_CHECK (writer != NULL, ": %s", error))
      exit (1);
    CUV_CHECK (cuv_ldp_index_writer_n_entries (writer) == n);
    if (index == NULL)
      index = cuv_ldp_index_open (path, &error);
    CUV_CHECK (cuv_ldp_index_n_entries (index) == n);
    do {
      CUV_CHECK (append (writer, info, n, &error), ": %s", error);
    } while (++n % 3 != 2);
    CUV_CHECK (cuv_ldp_index_writer_close (writer, &error), ": %s", error);
    CUV_CHECK (cuv_ldp_index_refresh (index, &error), ": %s", error);
    CUV_CHECK (cuv_ldp_index_n_entries (index) == n);
    CUV_CHECK (is_entry (index, n - 1, n - 1));
    n--;
  }
  CUV_CHECK (cuv_ldp_index_check (index, &error), ": %s", error);
  cuv_ldp_index_free (index);
  check_file (path, 0, 11);
  unlink (path);
}

static void
test_trips (void)
{
  const struct {
    int block, size, merged, count_size;
  } cases[] = { { 15, 40, 0, 1 }, { 16, 40, 0, 1 }, { 8, 23, 1, 1 },
    { 17, 40, 0, 2 }, { 255, 300, 0, 2 }, { 256, 300, 0, 4 },
    { 128, 130, 1, 4 } };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CuvLdpParams params = { .order = 3,
      .block = cases[i].block,
      .directions = 15,
      .is_merged = cases[i].merged,
      .border = CUV_LDP_REPLICATE,
      .bins = i % 2 == 0 ? CUV_LDP_BINS_256 : CUV_LDP_BINS_UNIFORM };
    CuvLdpIndexInfo info = info_of (params, cases[i].size, i % 3 == 0 ? 0 : 5);

    cuv_check_case ("round trip, blocks of %d", cases[i].block);
    CUV_CHECK (info.count_size == cases[i].count_size);
    round_trip (&info, i < 2);
  }
}

/* ---- refusals ---- */

static void
check_no_writer (
    const char *path, const CuvLdpIndexInfo *info, const char *a, const char *b)
{
  char *error = NULL;
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, info, false, &error);

  CUV_CHECK (writer == NULL);
  CUV_CHECK (error != NULL && strstr (error, b) != NULL, ": %s",
      error != NULL ? error : "no error");
  check_words (error, a);
}

static void
test_parameters (void)
{
  const CuvLdpIndexInfo same = small_info ();
  CuvLdpParams params = small_params ();
  CuvLdpIndexInfo info;
  char path[MAX_PATH];

  cuv_check_case ("other parameters");
  path_of ("parameters", path);
  make_file (path, 3);
  info = same;
  params.grid = 7; /* unused */
  info = info_of (params, 16, 2);
  CUV_CHECK (memcmp (&info, &same, sizeof info) == 0);
  params.levels = 9;
  info = info_of (params, 16, 2);
  check_no_writer (path, &info, ", 8 levels,", ", 9 levels,");
  params.levels = 8;
  params.order = 4;
  info = info_of (params, 16, 2);
  check_no_writer (path, &info, "(order 2, ", "(order 4, ");
  info = info_of (small_params (), 17, 2);
  check_no_writer (path, &info, "of 16x16", "of 17x17");
  info = info_of (small_params (), 16, 0);
  check_no_writer (path, &info, "thumbnails of 2x2", "no thumbnails");
  check_file (path, 0, 3);
}

static void
test_second_writer (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;

  cuv_check_case ("second writer");
  path_of ("second", path);
  for (int i = 0; i < 2; i++) { /* a new file, then an existing one */
    writer = cuv_ldp_index_writer_open (path, &info, false, &error);
    check_no_writer (path, &info, "another writer", path);
    CUV_CHECK (append (writer, &info, (uint64_t) i, &error));
    CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  }
  check_file (path, 0, 2);
}

static void
test_bad_entries (void)
{
  static const char *const not_utf8[] = { "\xff", "\xc0\x80", "a\xe2\x82",
    "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80" };
  const CuvLdpIndexInfo info = small_info ();
  uint32_t counts[8] = { 256 };
  char path[MAX_PATH], name[1025], *error;
  CuvLdpIndexWriter *writer;
  CuvLdpIndex *index;

  cuv_check_case ("bad entries");
  path_of ("bad", path);
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  memset (name, 'n', 1024);
  name[1024] = 0;
  CUV_CHECK (!cuv_ldp_index_writer_append (writer, counts, name, NULL, &error));
  check_words (error, "1024 bytes, but at most 1023 fit");
  for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++) {
    CUV_CHECK (!cuv_ldp_index_writer_append (
        writer, counts, not_utf8[i], NULL, &error));
    check_words (error, "not UTF-8");
  }
  name[1023] = 0;
  counts[1] = 1;
  CUV_CHECK (!cuv_ldp_index_writer_append (writer, counts, name, NULL, &error));
  check_words (error, "do not contain all codes of a picture of 16x16");
  counts[1] = 0;
  CUV_CHECK (cuv_ldp_index_writer_append (writer, counts, name, NULL, &error));
  CUV_CHECK (cuv_ldp_index_writer_append (
      writer, counts, "\xf0\x9f\x98\x80", NULL, &error));
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
  index = cuv_ldp_index_open (path, &error);
  CUV_CHECK (strcmp (cuv_ldp_index_name (index, 0), name) == 0);
  CUV_CHECK (strcmp (cuv_ldp_index_name (index, 1), "\xf0\x9f\x98\x80") == 0);
  for (int i = 0; i < 12; i++)
    CUV_CHECK (cuv_ldp_index_thumbnail (index, 0)[i] == 0);
  cuv_ldp_index_free (index);
}

/* ---- all ---- */

CUV_CHECKS_CPU (check_all)
{
  make_folder ();
  test_counts ();
  test_trips ();
  test_bytes ();
  test_parameters ();
  test_second_writer ();
  test_bad_entries ();
  test_damage ();
  test_faults ();
  test_processes ();
  test_kill ();
  remove_folder ();
}

int
main (int argc, char **argv)
{
  setvbuf (stdout, NULL, _IOLBF, BUFSIZ); /* before any fork() */
  return cuv_check_main (argc, argv);
}
