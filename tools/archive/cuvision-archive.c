/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program, one step after the other. */
#include "archive.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALL_DONE, SOME_NOT_DONE, WRONG, ENDED_EARLY };

static int
archive_fail (int status, GError *error)
{
  fprintf (stderr, "cuvision-archive: %s\n", error->message);
  g_error_free (error);
  return status;
}

/* ---- videos left to analyse ---- */

static int
look_at_markers (GPtrArray *videos, const ArchiveOptions *options)
{
  const Video *first = NULL;
  guint n = 0;

  for (guint i = 0; i < videos->len; i++) {
    Video *video = videos->pdata[i];

    marker_look (video, options);
    if (video->state != VIDEO_REFUSED)
      continue;
    first = first != NULL ? first : video;
    n++;
  }
  if (first == NULL)
    return ALL_DONE;
  fprintf (stderr, "cuvision-archive: %s\n", first->problem);
  if (n > 1)
    fprintf (
        stderr, "cuvision-archive: the same applies to %u videos in all\n", n);
  return WRONG;
}

static int
print_pending (const GPtrArray *videos, const ArchiveOptions *options)
{
  for (guint i = 0; i < videos->len; i++) {
    const Video *video = videos->pdata[i];

    if (video->state == VIDEO_PENDING) {
      fputs (video->path, stdout);
      putchar (options->null ? '\0' : '\n');
    }
  }
  return fflush (stdout) == 0 ? ALL_DONE : ENDED_EARLY;
}

/* ---- the run ---- */

static int
status_of (const GPtrArray *videos)
{
  for (guint i = 0; i < videos->len; i++) {
    const Video *video = videos->pdata[i];

    if (video->state != VIDEO_DONE && video->state != VIDEO_ALREADY_DONE)
      return SOME_NOT_DONE;
  }
  return ALL_DONE;
}

/* Ends the process by the signal, so that a shell sees it. */
static void
end_by (int number)
{
  signal (number, SIG_DFL);
  raise (number);
}

static int
archive_run (
    GPtrArray *videos, const Template *line, const ArchiveOptions *options)
{
  const gint64 started = g_get_monotonic_time ();
  gchar *fatal;
  const int number = run_videos (videos, line, options, &fatal);
  const int status = fatal != NULL ? ENDED_EARLY : status_of (videos);

  show_summary (videos, fatal,
      (gdouble) (g_get_monotonic_time () - started) / 1e6, options);
  if (fatal != NULL)
    fprintf (stderr, "cuvision-archive: %s\n", fatal);
  g_free (fatal);
  fflush (stdout);
  if (number != 0)
    end_by (number);
  return status;
}

static int
archive (const ArchiveOptions *options)
{
  GError *error = NULL;
  Template *line;
  GPtrArray *videos;
  int status;

  gst_init (NULL, NULL);
  line = template_new (options->line, &error);
  videos = line != NULL ? videos_list (options, &error) : NULL;
  if (videos == NULL)
    status = archive_fail (WRONG, error);
  else if ((status = look_at_markers (videos, options)) == ALL_DONE)
    status = options->pending ? print_pending (videos, options)
                              : archive_run (videos, line, options);
  template_free (line);
  g_clear_pointer (&videos, g_ptr_array_unref);
  return status;
}

static int
archive_check (const ArchiveOptions *options)
{
  gchar *output[] = { options->output, NULL };

  return check_results (
             options->videos != NULL ? options->videos : output, options)
      ? ALL_DONE
      : SOME_NOT_DONE;
}

int
main (int argc, char **argv)
{
  const ArchiveOptions *options;

  cuv_line_main (argc, argv);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* numbers are the same in every locale */
  options = options_parse (&argc, &argv);
  if (options == NULL)
    return WRONG;
  return options->check ? archive_check (options) : archive (options);
}
