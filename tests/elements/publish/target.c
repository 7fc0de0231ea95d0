/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writers to files that are full, shared, renamed or removed. */
#include <stdio.h>
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

/* Limits the size of all files. Until the limit is raised again nothing may
 * be checked, because Check writes to a file. */
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
  g_autofree gchar *warning = NULL;

  while ((warning = cuv_writer_take_warning (writer)) == NULL)
    g_usleep (1000);
}

/* A record that was truncated by a full disk does not become part of the
 * next one. */
CUV_TEST (test_shared_full_disk)
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

static void
expect_text (const gchar *path, const gchar *expected)
{
  g_autofree gchar *text = NULL;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL), "%s", path);
  fail_unless_equals_string (text, expected);
}

static void
wait_for_records (CuvWriter *writer, guint n)
{
  CuvWriterCounts counts = { 0 };

  while (counts.records < n) {
    g_usleep (1000);
    cuv_writer_get_counts (writer, &counts);
  }
}

/* Renames a file as logrotate does. */
static void
rotate (const gchar *path, const gchar *old)
{
  fail_unless (rename (path, old) == 0);
}

typedef struct {
  CuvTargetMode mode;
  CuvFraming framing;
} Layout;

static const Layout layouts[] = {
  { CUV_TARGET_SHARE, { "", "", "" } },
  { CUV_TARGET_APPEND, { "head\n", "", "" } },
  { CUV_TARGET_REPLACE, { "[\n", ",\n", "]\n" } },
};

/* Returns the text of a file with one record. */
static gchar *
framed (const CuvFraming *framing, const gchar *record)
{
  return g_strconcat (framing->begin, record, framing->end, NULL);
}

CUV_LOOP_TEST (test_rotated, G_N_ELEMENTS (layouts))
{
  const Layout *layout = &layouts[__i__];
  g_autofree gchar *folder = g_dir_make_tmp ("rotated-XXXXXX", NULL);
  gchar *warning;
  g_autofree gchar *path = g_build_filename (folder, "log", NULL);
  g_autofree gchar *old = g_build_filename (folder, "old", NULL);
  gchar *texts[] = { framed (&layout->framing, "one\n"),
    framed (&layout->framing, "two\n"), framed (&layout->framing, "three\n") };
  CuvWriter *writer = cuv_writer_new (
      cuv_target_file_new (path, layout->mode), &layout->framing, NULL);
  CuvWriterCounts counts;

  push (writer, "one\n");
  wait_for_records (writer, 1);
  rotate (path, old); /* before the end is written */
  push (writer, "two\n");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  expect_text (old, texts[0]);
  expect_text (path, texts[1]);

  /* without a record to write */
  rotate (path, old);
  cuv_writer_reopen (writer);
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (1000);
  expect_text (old, texts[1]);
  cuv_writer_reopen (writer); /* nothing has moved */
  push (writer, "three\n");
  fail_unless (cuv_writer_finish (writer, LONG_TIMEOUT));
  expect_text (path, texts[2]);

  fail_unless (unlink (path) == 0);
  push (writer, "one\n");
  cuv_writer_stop (writer, LONG_TIMEOUT, &counts, &warning);
  expect_text (path, texts[0]);
  fail_unless_equals_uint64 (counts.records, 4);
  fail_unless (warning == NULL);
  unlink (path);
  unlink (old);
  rmdir (folder);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
}

/* A relative path means the same file after the application has gone to
 * another folder. */
CUV_TEST (test_other_folder)
{
  gchar *folder = g_dir_make_tmp ("folder-XXXXXX", NULL), *before, *warning;
  CuvWriterCounts counts;
  CuvWriter *writer;

  before = g_get_current_dir ();
  fail_unless (chdir (folder) == 0);
  writer = share_file ("log");
  fail_unless (chdir (before) == 0);
  push (writer, "one\n");
  cuv_writer_stop (writer, LONG_TIMEOUT, &counts, &warning);
  fail_unless (warning == NULL);
  fail_unless (chdir (folder) == 0);
  expect_text ("log", "one\n");
  unlink ("log");
  fail_unless (chdir (before) == 0);
  rmdir (folder);
  g_free (before);
  g_free (folder);
}
