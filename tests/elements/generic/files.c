/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that properties name: anything that is not a regular file, or is too
 * large, is refused at once with an error that names it. Opening a FIFO without
 * a writer would block the test. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuvelements.h"
#include "cuvfile.h"

#define SECRET CUV_FILE_MAX_SECRET
#define TEXT CUV_FILE_MAX_TEXT

static const struct {
  const gchar *element, *property, *settings;
  gsize limit; /* 0: none */
} cases[] = {
  { "waldboostdetect", "model", "name=a", 64 << 20 },
  { "spectralpca", "basis-location", "name=a", 34 << 20 },
  { "ldpretrieve", "index", "name=a", 0 },
  { "rcdtrack", "target-image", "name=a", 0 },
  { "visionwebsink", "token-file", "name=a", SECRET },
  { "visionwebsink", "tls-certificate-file", "name=a", TEXT },
  { "visionwebsink", "tls-key-file", "tls-certificate-file=good", TEXT },
  { "visionpublish", "password-file", "target=mqtt address=h user=a", SECRET },
  { "visionpublish", "tls-ca-file", "target=mqtt address=h tls=verify", 0 },
  { "visionpublish", "tls-certificate-file",
      "target=mqtt address=h tls=verify tls-key-file=good", 0 },
  { "visionpublish", "tls-key-file",
      "target=mqtt address=h tls=verify tls-certificate-file=good", 0 },
};

static void
expect_refused (gint i, const gchar *path, const gchar *part)
{
  GstElement *element = gst_element_factory_make (cases[i].element, NULL);

  if (element == NULL) /* an optional plugin */
    return;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "port"))
    g_object_set (element, "port", 0, NULL);
  cuv_element_set (element, cases[i].settings);
  g_object_set (element, cases[i].property, path, NULL);
  cuv_expect_no_start (element, part);
}

CUV_LOOP_TEST (only_regular_files_are_read, G_N_ELEMENTS (cases))
{
  expect_refused (__i__, "fifo", "not a regular file");
  expect_refused (__i__, "/dev/zero", "not a regular file");
  expect_refused (__i__, "folder", "not a regular file but a folder");
  expect_refused (__i__, "./none", "No such file");
}

CUV_LOOP_TEST (large_files_are_refused, G_N_ELEMENTS (cases))
{
  if (cases[__i__].limit == 0)
    return;
  fail_unless_equals_int (
      truncate ("large", (off_t) cases[__i__].limit + 1), 0);
  expect_refused (__i__, "large", " bytes, the limit");
}

/* ---- the function ---- */

static void
check_read (const gchar *path, gsize limit, gsize wanted)
{
  GError *error = NULL;
  gchar *bytes = NULL;
  gsize size = 0;

  if (cuv_file_read (path, limit, &bytes, &size, &error)) {
    fail_unless_equals_uint64 (size, wanted);
    fail_unless_equals_int (bytes[size], 0);
    g_free (bytes);
  } else {
    fail_unless (wanted > limit, "%s", error->message);
    fail_unless (strstr (error->message, path) != NULL);
    g_error_free (error);
  }
}

CUV_TEST (the_limit_is_exact)
{
  for (gsize n = 0; n < 20000; n += n < 3 ? 1 : n - 1) {
    fail_unless_equals_int (truncate ("large", (off_t) n), 0);
    check_read ("large", n, n);
    check_read ("large", n + 1, n);
    if (n > 0)
      check_read ("large", n - 1, n);
  }
}

/* Files in /proc have a size of 0 in their status. */
CUV_TEST (files_without_a_size_are_read)
{
  g_autofree gchar *wanted = NULL;
  g_autofree gchar *bytes = NULL;
  gsize size, n;

  fail_unless (g_file_get_contents ("/proc/self/environ", &wanted, &n, NULL));
  fail_unless (n > 0);
  fail_unless (cuv_file_read ("/proc/self/environ", n, &bytes, &size, NULL));
  fail_unless (size == n && memcmp (bytes, wanted, n) == 0);
  check_read ("/proc/self/environ", n - 1, n);
}

static void
make_files (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("cuv-files-XXXXXX", NULL);

  fail_unless (folder != NULL && g_chdir (folder) == 0);
  fail_unless_equals_int (mkfifo ("fifo", 0600), 0);
  fail_unless_equals_int (g_mkdir ("folder", 0700), 0);
  fail_unless (g_file_set_contents ("large", "", 0, NULL));
  fail_unless (g_file_set_contents ("good", "", 0, NULL));
}

static void
remove_files (void)
{
  g_autofree gchar *folder = g_get_current_dir ();

  g_unlink ("fifo");
  g_unlink ("large");
  g_unlink ("good");
  g_rmdir ("folder");
  g_rmdir (folder);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  tcase_set_timeout (tcase, 60);
  tcase_add_unchecked_fixture (tcase, make_files, remove_files);
}
