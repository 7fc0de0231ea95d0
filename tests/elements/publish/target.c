/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writers to files that are full, shared, renamed or removed. */
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuvelements.h"
#include "output/writer.h"

/* A timeout in milliseconds that even a busy machine does not reach. */
#define LONG_TIMEOUT 20000

static void
push (CuvWriter *writer, const gchar *text)
{
  cuv_writer_push (writer, g_strdup (text), strlen (text));
}

static CuvWriter *
share_file (const gchar *path)
{
  static const CuvFraming lines = { "", "", "" };
  GError *error = NULL;
  CuvWriter *writer = cuv_writer_new (
      cuv_target_file_new (path, CUV_TARGET_SHARE), &lines, &error);

  g_assert_no_error (error);
  return writer;
}

/* No file grows beyond this size. Until it is raised again nothing may be
 * checked, as Check writes to a file. */
static void
limit_files (rlim_t size)
{
  struct rlimit limit;

  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = MIN (size, limit.rlim_max);
  setrlimit (RLIMIT_FSIZE, &limit);
}

static void
wait_for_warning (CuvWriter *writer)
{
  gchar *warning;

  while ((warning = cuv_writer_take_warning (writer)) == NULL)
    g_usleep (1000);
  g_free (warning);
}

/* A record that a full disk has cut does not become part of the next one. */
GST_START_TEST (test_shared_full_disk)
{
  gchar *path, *text, *warning;
  gint fd = g_file_open_tmp ("shared-XXXXXX", &path, NULL);
  CuvWriter *a = share_file (path), *b = share_file (path);
  CuvWriterCounts counts;

  close (fd);
  push (a, "first\n");
  fail_unless (cuv_writer_finish (a, LONG_TIMEOUT));
  limit_files (strlen ("first\n") + 3);
  push (a, "second\n");
  wait_for_warning (a);
  limit_files (RLIM_INFINITY);
  push (b, "third\n");
  fail_unless (cuv_writer_finish (b, LONG_TIMEOUT));
  fail_unless (cuv_writer_finish (a, LONG_TIMEOUT));
  cuv_writer_stop (a, LONG_TIMEOUT, &counts, &warning);
  fail_unless_equals_uint64 (counts.records, 2);
  fail_unless_equals_uint64 (counts.bytes, strlen ("first\nsecond\n"));
  cuv_writer_stop (b, LONG_TIMEOUT, &counts, &warning);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless (g_str_equal (text, "first\nthird\nsecond\n")
          || g_str_equal (text, "first\nsecond\nthird\n"),
      "%s", text);
  g_free (text);
  unlink (path);
  g_free (path);
}
GST_END_TEST

static Suite *
target_suite (void)
{
  Suite *suite = suite_create ("target");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_shared_full_disk);
  return suite;
}

CUV_ELEMENTS_MAIN (target_suite)
