/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a line for each film of an archive. */
#include "archive.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALL_DONE, SOME_NOT_DONE, WRONG, ENDED_EARLY };

static int
fail (int status, GError *error)
{
  fprintf (stderr, "cuvision-archive: %s\n", error->message);
  g_error_free (error);
  return status;
}

/* ---- what is left to do ---- */

static int
look (GPtrArray *films, const ArchiveOptions *options)
{
  const Film *first = NULL;
  guint n = 0;

  for (guint i = 0; i < films->len; i++) {
    Film *film = films->pdata[i];

    marker_look (film, options);
    if (film->state != FILM_REFUSED)
      continue;
    first = first != NULL ? first : film;
    n++;
  }
  if (first == NULL)
    return ALL_DONE;
  fprintf (stderr, "cuvision-archive: %s\n", first->problem);
  if (n > 1)
    fprintf (stderr, "cuvision-archive: %u films are refused\n", n);
  return WRONG;
}

static int
print_pending (const GPtrArray *films, const ArchiveOptions *options)
{
  for (guint i = 0; i < films->len; i++) {
    const Film *film = films->pdata[i];

    if (film->state == FILM_PENDING) {
      fputs (film->path, stdout);
      putchar (options->null ? '\0' : '\n');
    }
  }
  return fflush (stdout) == 0 ? ALL_DONE : ENDED_EARLY;
}

/* ---- the run ---- */

static int
status_of (const GPtrArray *films)
{
  for (guint i = 0; i < films->len; i++) {
    const Film *film = films->pdata[i];

    if (film->state != FILM_DONE && film->state != FILM_ALREADY_DONE)
      return SOME_NOT_DONE;
  }
  return ALL_DONE;
}

/* As a shell expects it of a program that a signal ended. */
static void
end_by (int number)
{
  signal (number, SIG_DFL);
  raise (number);
}

static int
run (GPtrArray *films, const Template *line, const ArchiveOptions *options)
{
  const gint64 started = g_get_monotonic_time ();
  gchar *fatal;
  const int number = run_films (films, line, options, &fatal);
  const int status = fatal != NULL ? ENDED_EARLY : status_of (films);

  show_summary (films, fatal,
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
  GPtrArray *films;
  int status;

  gst_init (NULL, NULL);
  line = template_new (options->line, &error);
  films = line != NULL ? films_list (options, &error) : NULL;
  if (films == NULL)
    status = fail (WRONG, error);
  else if ((status = look (films, options)) == ALL_DONE)
    status = options->pending ? print_pending (films, options)
                              : run (films, line, options);
  template_free (line);
  g_clear_pointer (&films, g_ptr_array_unref);
  return status;
}

static int
check (const ArchiveOptions *options)
{
  gchar *output[] = { options->output, NULL };

  return check_results (
             options->films != NULL ? options->films : output, options)
      ? ALL_DONE
      : SOME_NOT_DONE;
}

int
main (int argc, char **argv)
{
  const ArchiveOptions *options;

  cuv_line_main (argc, argv);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* the same files in every locale */
  options = options_parse (&argc, &argv);
  if (options == NULL)
    return WRONG;
  return options->check ? check (options) : archive (options);
}
