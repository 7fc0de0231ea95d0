/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboostdetect with several models: lists of labels and file names, valid
 * and invalid ones. */
#include "config.h"
#include "several-runs.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- labels ---- */

CUV_TEST (test_labels)
{
  static const gint models[] = { RANK, CHANNELS, MORE_CHANNELS };
  Run run;

  run_init (&run, "RGB", "label=a,,c", models, 3);
  run.labels[0] = "a";
  run.labels[2] = "c";
  check_next (&run, "one from a file");
  g_object_set (run.d, "label", "a, b ,a", NULL);
  run.labels[1] = "b";
  run.labels[2] = "a";
  run.ids[2] = 0;
  check_next (&run, "two equal ones");
  g_object_set (run.d, "labels", "x,b,a", NULL);
  run.ids[0] = run.ids[2] = 2;
  run.ids[1] = 1;
  check_next (&run, "a list");
  g_object_set (run.d, "label", "a,b", NULL);
  check_next (&run, "too few");
  expect_problem (
      run.bus, GST_MESSAGE_WARNING, "label 'a,b' has 2 names for 3 models");
  g_object_set (run.d, "label", "a,b,c", NULL);
  check_next (&run, "a label that is not in the list");
  expect_problem (run.bus, GST_MESSAGE_WARNING, "'c' is not among labels");
  run_clear (&run);
}

/* A comma in the label of a single model is part of the label. */
CUV_TEST (test_label_of_one_model)
{
  static const gint models[] = { CHANNELS };
  Run run;

  run_init (&run, "RGB", "label=\"a,b\"", models, 1);
  run.labels[0] = "a,b";
  check_next (&run, "a comma");
  run_clear (&run);
}

/* ---- names ---- */

/* A file name with a comma can be used alone and in a list. */
CUV_TEST (test_commas_in_names)
{
  g_autofree gchar *name = g_strdup_printf ("cuv-%d,x,y.xml", (gint) getpid ());
  g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  g_autofree gchar *escaped = g_strdup_printf ("%s , %s/cuv-%d\\,x\\,y.xml",
      files[RANK], g_get_tmp_dir (), (gint) getpid ());
  g_autofree gchar *text = NULL;
  gsize size;
  Run run;

  fail_unless (g_file_get_contents (files[CHANNELS], &text, &size, NULL));
  fail_unless (g_file_set_contents (path, text, (gssize) size, NULL));
  run_init (&run, "RGB", "", (gint[]){ RANK, CHANNELS }, 2);
  run.wanted[1].model = path;
  g_object_set (run.d, "model", escaped, NULL);
  check_next (&run, escaped);
  run.wanted[0] = run.wanted[1];
  run.n = 1;
  g_object_set (run.d, "model", path, NULL);
  check_next (&run, path);
  expect_no_warning (run.bus);
  run_clear (&run);
  g_remove (path);
}

CUV_TEST (test_wrong_lists)
{
  GString *many = g_string_new (files[RANK]);
  gchar *list;
  Run run;

  run_init (&run, "RGB", "", (gint[]){ RANK, CHANNELS }, 2);
  check_next (&run, "start");
  list = g_strdup_printf ("%s,/no/such.xml,%s", files[RANK], files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "cannot read '/no/such.xml'");
  g_free (list);
  list = g_strdup_printf ("%s,/proc/self/exe", files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, ": /proc/self/exe: line 1");
  g_free (list);
  list = g_strdup_printf ("%s,,%s", files[RANK], files[RANK]);
  g_object_set (run.d, "model", list, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "file name 2 of the list is");
  g_free (list);
  for (guint i = 0; i < 16; i++)
    g_string_append_printf (many, ",%s", files[RANK]);
  g_object_set (run.d, "model", many->str, NULL);
  expect_problem (run.bus, GST_MESSAGE_WARNING, "17 file names");
  g_string_free (many, TRUE);
  check_next (&run, "after wrong lists");
  gst_util_set_object_arg (G_OBJECT (run.d), "scan", "opencv");
  check_next (&run, "after a scan that one model does not have");
  expect_problem (run.bus, GST_MESSAGE_WARNING, files[CHANNELS]);
  run_clear (&run);
}

static void
expect_no_window (Run *self, gint model)
{
  g_autofree gchar *text = pop_problem (self->bus, GST_MESSAGE_WARNING);

  fail_unless (text != NULL && strstr (text, "No window fits") != NULL);
  fail_unless (strstr (text, files[model]) != NULL, "%s", text);
}

/* A warning names each model whose window does not fit; the others work. */
CUV_TEST (test_window_that_does_not_fit)
{
  Run run;

  run_init (&run, "RGB", "max-size-width=26 max-size-height=22",
      (gint[]){ CHANNELS, RANK }, 2);
  gst_buffer_unref (push (run.h, run.sample));
  expect_no_window (&run, CHANNELS);
  expect_no_window (&run, RANK);
  g_object_set (run.d, "max-size-height", 25, NULL);
  g_free (want (&run, (gint[]){ RANK }, 1));
  run.ids[0] = 1;
  run.wanted[0].params.max_width = 26;
  run.wanted[0].params.max_height = 25;
  check_next (&run, "one fits");
  expect_no_window (&run, CHANNELS);
  expect_no_warning (run.bus);
  run_clear (&run);
}

CUV_FIXTURE (set_up_files, tear_down_files)
