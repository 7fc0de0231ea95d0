/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Progress, the outcome of each video, and the summary. */
#include "archive.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static gboolean line_shown;

static guint
count_videos (const GPtrArray *videos, VideoState state)
{
  guint n = 0;

  for (guint i = 0; i < videos->len; i++)
    n += ((const Video *) videos->pdata[i])->state == state;
  return n;
}

static void
clear_line (void)
{
  if (line_shown)
    fputs ("\r\033[K", stderr);
  line_shown = FALSE;
}

/* Replaces control characters, which a terminal would obey. */
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

/* Cuts the text to the terminal's width: a second row could not be
 * overwritten. */
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
show_progress (const GPtrArray *videos, const GPtrArray *jobs,
    const ArchiveOptions *options)
{
  const guint left = count_videos (videos, VIDEO_PENDING);
  GString *text;

  if (options->quiet || !isatty (STDERR_FILENO))
    return;
  text = g_string_new (NULL);
  g_string_printf (text, "%u of %u videos", videos->len - left, videos->len);
  for (guint i = 0; i < jobs->len && i < 3; i++) {
    const gdouble progress = job_progress (jobs->pdata[i]);

    g_string_append_printf (text, "; %s", job_video (jobs->pdata[i]));
    if (progress >= 0)
      g_string_append_printf (text, " %.0f %%", 100 * progress);
  }
  print_row (text->str);
  g_string_free (text, TRUE);
}

void
show_video (const Video *video, const ArchiveOptions *options)
{
  static const gchar *const words[VIDEO_N_STATES] = { [VIDEO_DONE] = "done",
    [VIDEO_ALREADY_DONE] = "done",
    [VIDEO_FAILED] = "failed",
    [VIDEO_FAILED_BEFORE] = "failed before",
    [VIDEO_NOT_DONE] = "not done" };
  const gchar *word = words[video->state];

  if (word == NULL
      || (options->quiet && video->state != VIDEO_FAILED
          && video->state != VIDEO_NOT_DONE))
    return;
  clear_line ();
  fprintf (stderr, "%s: ", word);
  print_plain (video->shown);
  if (video->problem != NULL) {
    fputs (": ", stderr);
    print_plain (video->problem);
  }
  fputc ('\n', stderr);
}

/* ---- summary ---- */

static void
print_summary (const GPtrArray *videos, gdouble seconds)
{
  const guint n_before = count_videos (videos, VIDEO_ALREADY_DONE);

  fprintf (stderr, "%u of %u videos are done",
      count_videos (videos, VIDEO_DONE) + n_before, videos->len);
  if (n_before > 0)
    fprintf (stderr, ", %u of them in earlier runs", n_before);
  fprintf (stderr, "; %u failed, %u not done; %.1f s\n",
      count_videos (videos, VIDEO_FAILED)
          + count_videos (videos, VIDEO_FAILED_BEFORE),
      count_videos (videos, VIDEO_NOT_DONE)
          + count_videos (videos, VIDEO_PENDING),
      seconds);
  if (count_videos (videos, VIDEO_FAILED_BEFORE) > 0)
    fprintf (stderr, "%u failed before: use --retry-failed to retry them\n",
        count_videos (videos, VIDEO_FAILED_BEFORE));
}

static JsonArray *
list_videos (const GPtrArray *videos, VideoState one, VideoState other)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < videos->len; i++) {
    const Video *video = videos->pdata[i];
    JsonObject *object;
    gchar *problem;

    if (video->state != one && video->state != other)
      continue;
    object = json_object_new ();
    problem = g_utf8_make_valid (
        video->problem != NULL ? video->problem : "not started", -1);
    json_object_set_string_member (object, "film", video->shown);
    json_object_set_string_member (object, "error", problem);
    json_array_add_object_element (array, object);
    g_free (problem);
  }
  return array;
}

static void
print_summary_json (
    const GPtrArray *videos, const gchar *fatal, gdouble seconds)
{
  JsonObject *object = json_object_new ();
  JsonNode *root = json_node_new (JSON_NODE_OBJECT);
  gchar *text;

  json_object_set_int_member (object, "films", videos->len);
  json_object_set_int_member (
      object, "done", count_videos (videos, VIDEO_DONE));
  json_object_set_int_member (
      object, "done_before", count_videos (videos, VIDEO_ALREADY_DONE));
  json_object_set_array_member (object, "failed",
      list_videos (videos, VIDEO_FAILED, VIDEO_FAILED_BEFORE));
  json_object_set_array_member (
      object, "not_done", list_videos (videos, VIDEO_NOT_DONE, VIDEO_PENDING));
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
show_summary (const GPtrArray *videos, const gchar *fatal, gdouble seconds,
    const ArchiveOptions *options)
{
  clear_line ();
  if (!options->quiet)
    print_summary (videos, seconds);
  if (options->json)
    print_summary_json (videos, fatal, seconds);
}
