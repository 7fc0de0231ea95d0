/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static gboolean line_shown;

static guint
count (const GPtrArray *films, FilmState state)
{
  guint n = 0;

  for (guint i = 0; i < films->len; i++)
    n += ((const Film *) films->pdata[i])->state == state;
  return n;
}

static void
clear_line (void)
{
  if (line_shown)
    fputs ("\r\033[K", stderr);
  line_shown = FALSE;
}

/* Names may have characters that control a terminal. */
static void
print_plain (const gchar *text)
{
  for (; *text != '\0'; text++)
    fputc (g_ascii_iscntrl (*text) ? '?' : *text, stderr);
}

static glong
count_columns (void)
{
  struct winsize size;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
      ? size.ws_col
      : 80;
}

/* No more than the terminal has: what is in its next row cannot be written
 * over. */
static void
print_row (const gchar *text)
{
  gchar *row = g_utf8_substring (
      text, 0, MIN (g_utf8_strlen (text, -1), count_columns () - 1));

  clear_line ();
  print_plain (row);
  fflush (stderr);
  line_shown = TRUE;
  g_free (row);
}

void
show_progress (const GPtrArray *films, const GPtrArray *jobs,
    const ArchiveOptions *options)
{
  const guint left = count (films, FILM_PENDING);
  GString *text;

  if (options->quiet || !isatty (STDERR_FILENO))
    return;
  text = g_string_new (NULL);
  g_string_printf (text, "%u of %u films", films->len - left, films->len);
  for (guint i = 0; i < jobs->len && i < 3; i++) {
    const gdouble progress = job_progress (jobs->pdata[i]);

    g_string_append_printf (text, "; %s", job_film (jobs->pdata[i]));
    if (progress >= 0)
      g_string_append_printf (text, " %.0f %%", 100 * progress);
  }
  print_row (text->str);
  g_string_free (text, TRUE);
}

void
show_film (const Film *film, const ArchiveOptions *options)
{
  static const gchar *const words[FILM_N_STATES] = { [FILM_DONE] = "done",
    [FILM_ALREADY_DONE] = "done",
    [FILM_FAILED] = "failed",
    [FILM_FAILED_BEFORE] = "failed before",
    [FILM_NOT_DONE] = "not done" };
  const gchar *word = words[film->state];

  if (word == NULL
      || (options->quiet && film->state != FILM_FAILED
          && film->state != FILM_NOT_DONE))
    return;
  clear_line ();
  fprintf (stderr, "%s: ", word);
  print_plain (film->shown);
  if (film->problem != NULL) {
    fputs (": ", stderr);
    print_plain (film->problem);
  }
  fputc ('\n', stderr);
}

/* ---- summary ---- */

static void
print_text (const GPtrArray *films, gdouble seconds)
{
  const guint n_before = count (films, FILM_ALREADY_DONE);

  fprintf (stderr, "%u of %u films are done",
      count (films, FILM_DONE) + n_before, films->len);
  if (n_before > 0)
    fprintf (stderr, ", %u of them before", n_before);
  fprintf (stderr, "; %u failed, %u not done; %.1f s\n",
      count (films, FILM_FAILED) + count (films, FILM_FAILED_BEFORE),
      count (films, FILM_NOT_DONE) + count (films, FILM_PENDING), seconds);
  if (count (films, FILM_FAILED_BEFORE) > 0)
    fprintf (stderr, "%u failed before: --retry-failed tries them again\n",
        count (films, FILM_FAILED_BEFORE));
}

static JsonArray *
list (const GPtrArray *films, FilmState one, FilmState other)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < films->len; i++) {
    const Film *film = films->pdata[i];
    JsonObject *object;
    gchar *problem;

    if (film->state != one && film->state != other)
      continue;
    object = json_object_new ();
    problem = g_utf8_make_valid (
        film->problem != NULL ? film->problem : "not begun", -1);
    json_object_set_string_member (object, "film", film->shown);
    json_object_set_string_member (object, "error", problem);
    json_array_add_object_element (array, object);
    g_free (problem);
  }
  return array;
}

static void
print_json (const GPtrArray *films, const gchar *fatal, gdouble seconds)
{
  JsonObject *object = json_object_new ();
  JsonNode *root = json_node_new (JSON_NODE_OBJECT);
  gchar *text;

  json_object_set_int_member (object, "films", films->len);
  json_object_set_int_member (object, "done", count (films, FILM_DONE));
  json_object_set_int_member (
      object, "done_before", count (films, FILM_ALREADY_DONE));
  json_object_set_array_member (
      object, "failed", list (films, FILM_FAILED, FILM_FAILED_BEFORE));
  json_object_set_array_member (
      object, "not_done", list (films, FILM_NOT_DONE, FILM_PENDING));
  json_object_set_double_member (object, "seconds", seconds);
  if (fatal != NULL)
    json_object_set_string_member (object, "error", fatal);
  json_node_take_object (root, object);
  text = json_to_string (root, TRUE);
  puts (text);
  g_free (text);
  json_node_unref (root);
}

void
show_summary (const GPtrArray *films, const gchar *fatal, gdouble seconds,
    const ArchiveOptions *options)
{
  clear_line ();
  if (!options->quiet)
    print_text (films, seconds);
  if (options->json)
    print_json (films, fatal, seconds);
}
