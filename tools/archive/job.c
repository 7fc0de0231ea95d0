/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One video: runs its pipeline in a process, judges the outcome, writes the
 * marker and publishes the results. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_MS 500 /* between reports of a pipeline */
#define GRACE_MS 2000   /* until a stopped pipeline is killed */
#define CLEAN_UP 10     /* minimum time to close files, in seconds */
#define MAX_WARNINGS 20 /* maximum number recorded for a video */

/* A video that ends earlier than its container says, by more than the larger of
 * these two, is truncated, or its pipeline ends early. SHORT_SHARE is a
 * fraction of the duration. */
#define SHORT_SECONDS 1.0
#define SHORT_SHARE 0.02

struct _Job {
  Video *video;
  Workspace *workspace;
  const Template *line;
  const ArchiveOptions *options;
  JobDone done;
  gpointer data;
  CuvLine *process;
  TemplateFiles files;
  JsonObject *progress; /* last report, or NULL */
  gchar *progress_text;
  JsonArray *warnings;
  gboolean external; /* the error is external */
  gboolean stopped;
  guint timer, idle; /* seconds without progress */
  gchar *stalled;    /* error text if the pipeline stalled */
  gint64 started;    /* microseconds */
};

static void
stop_timer (Job *self)
{
  if (self->timer != 0)
    g_source_remove (self->timer);
  self->timer = 0;
}

static void
free_job (Job *self)
{
  workspace_free (self->workspace);
  template_close (&self->files);
  g_clear_pointer (&self->progress, json_object_unref);
  g_free (self->progress_text);
  json_array_unref (self->warnings);
  stop_timer (self);
  g_free (self->stalled);
  g_free (self);
}

/* ---- reports ---- */

/* Returns a text that changes when the pipeline makes progress. It does not
 * contain the position, which sinks that wait for a clock extrapolate. */
static gchar *
describe_progress (JsonObject *report)
{
  gchar *stats =
      json_to_string (json_object_get_member (report, "stats"), FALSE);
  gchar *text = g_strdup_printf ("%" G_GINT64_FORMAT " %s",
      json_object_get_int_member (report, "buffers"), stats);

  g_free (stats);
  return text;
}

static void
take_progress (Job *self, JsonObject *report)
{
  gchar *text = describe_progress (report);

  if (g_strcmp0 (text, self->progress_text) != 0)
    self->idle = 0;
  g_free (self->progress_text);
  self->progress_text = text;
  g_clear_pointer (&self->progress, json_object_unref);
  self->progress = json_object_ref (report);
}

static void
take_warning (Job *self, JsonObject *report)
{
  gchar *text;

  if (json_array_get_length (self->warnings) == MAX_WARNINGS)
    return;
  text = g_strdup_printf ("%s: %s",
      json_object_get_string_member_with_default (report, "element", ""),
      json_object_get_string_member_with_default (report, "warning", ""));
  json_array_add_string_element (self->warnings, text);
  g_free (text);
}

static void
job_on_report (gpointer data, JsonObject *report)
{
  Job *self = data;

  if (json_object_has_member (report, "buffers"))
    take_progress (self, report);
  else if (json_object_has_member (report, "warning"))
    take_warning (self, report);
  else if (json_object_has_member (report, "error"))
    self->external =
        template_is_external (self->line, self->video->path, report);
  if (json_object_has_member (report, "error")
      || json_object_has_member (report, "eos"))
    stop_timer (self); /* closing files has a time limit of its own */
}

/* Counts the seconds in which this process runs: while it is stopped, its
 * pipelines do not count as stalled. */
static gboolean
on_second (gpointer data)
{
  Job *self = data;

  if (++self->idle <= (guint) self->options->stall || self->stalled != NULL)
    return G_SOURCE_CONTINUE;
  self->stalled =
      g_strdup_printf ("no buffer within %d s; raise --stall to wait longer",
          self->options->stall);
  cuv_line_stop (self->process, GRACE_MS);
  return G_SOURCE_CONTINUE;
}

/* ---- how a job ended ---- */

static gdouble
seconds_of (const Job *self, const gchar *name)
{
  return self->progress != NULL
      ? json_object_get_double_member_with_default (self->progress, name, -1)
      : -1;
}

/* Returns NULL if the video was read to its end. The duration of a video is
 * that of its longest stream, which the pipeline may not use. */
static gchar *
find_short (const Job *self)
{
  const gdouble position =
      MAX (seconds_of (self, "position"), seconds_of (self, "unused"));
  const gdouble duration = seconds_of (self, "duration");

  if (self->options->allow_short || position < 0 || duration < 0
      || position >= duration - MAX (SHORT_SECONDS, SHORT_SHARE * duration))
    return NULL;
  return g_strdup_printf (
      "ended after %.2f of %.2f s: the video is truncated, "
      "or the pipeline ends early; --allow-short accepts that",
      position, duration);
}

static gint64
stats_count (JsonObject *stats, const gchar *name)
{
  return json_object_get_int_member_with_default (stats, name, 0);
}

static gchar *
describe_late (const gchar *element, gint64 late)
{
  return g_strdup_printf ("%s skipped %" G_GINT64_FORMAT
                          " late frames; set sync=false on the sinks",
      element, late);
}

/* Returns what the results lack according to an element's stats, or NULL if
 * they are complete: an element goes on when it cannot write records, and lets
 * late frames pass unanalysed. `dropped` of sinks, which have no `records`,
 * counts frames that were not shown. */
static gchar *
describe_loss (const gchar *element, JsonObject *stats)
{
  const gint64 late = stats_count (stats, "skipped-late");
  gint64 lost = stats_count (stats, "dropped");

  if (stats_count (stats, "spooled") == 0)
    lost += stats_count (stats, "queue");
  if (lost > 0 && json_object_has_member (stats, "records"))
    return g_strdup_printf (
        "%s could not write %" G_GINT64_FORMAT " records", element, lost);
  if (late > 0)
    return describe_late (element, late);
  return NULL;
}

/* Appends the last warning, which has more detail. Takes ownership of loss. */
static gchar *
add_warning (const Job *self, gchar *loss)
{
  const guint n = json_array_get_length (self->warnings);
  gchar *text;

  if (loss == NULL || n == 0)
    return loss;
  text = g_strdup_printf (
      "%s; %s", loss, json_array_get_string_element (self->warnings, n - 1));
  g_free (loss);
  return text;
}

static gchar *
find_loss (const Job *self)
{
  JsonObject *stats = self->progress != NULL
      ? json_object_get_object_member (self->progress, "stats")
      : NULL;
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *node;
  gchar *loss = NULL;

  if (stats == NULL)
    return NULL;
  if (stats_count (self->progress, "dropped") > 0)
    return describe_late ("a decoder", stats_count (self->progress, "dropped"));
  json_object_iter_init (&iter, stats);
  while (loss == NULL && json_object_iter_next (&iter, &name, &node))
    if (JSON_NODE_HOLDS_OBJECT (node))
      loss = describe_loss (name, json_node_get_object (node));
  return add_warning (self, loss);
}

/* Whether the process was ended from outside, not by a crash. */
static gboolean
was_killed (int number)
{
  return number == SIGKILL || number == SIGTERM || number == SIGINT
      || number == SIGHUP || number == SIGXCPU;
}

static void
finish_external (Job *self, const gchar *problem)
{
  video_set (self->video, VIDEO_NOT_DONE, g_strdup (problem));
  self->video->external = TRUE;
}

static gboolean
write_result (Job *self, const gchar *problem, JsonArray *files, GError **error)
{
  const MarkerResult result = { .video = self->video,
    .line = self->line,
    .problem = problem,
    .progress = self->progress,
    .warnings = self->warnings,
    .files = files,
    .seconds = (gdouble) (g_get_monotonic_time () - self->started) / 1e6 };

  return marker_write (&result, self->workspace->folder, error)
      && files_sync_folder (self->workspace->folder, error)
      && workspace_publish (self->workspace, error);
}

static void
finish_done (Job *self)
{
  GError *error = NULL;
  JsonArray *files = files_describe (self->workspace->folder, TRUE, &error);

  if (files != NULL && write_result (self, NULL, files, &error))
    video_set (self->video, VIDEO_DONE, NULL);
  else
    finish_external (self, error->message);
  g_clear_error (&error);
  g_clear_pointer (&files, json_array_unref);
}

static gboolean
has_results (const Video *video)
{
  gchar *path = g_build_filename (video->results, ARCHIVE_DONE, NULL);
  const gboolean has = g_file_test (path, G_FILE_TEST_EXISTS);

  g_free (path);
  return has;
}

/* Publishes only the marker, and only if there are no results of an earlier
 * run, which are worth more. */
static void
finish_failed (Job *self, const gchar *problem)
{
  gchar *folder = self->workspace->folder;
  GError *error = NULL;

  if (has_results (self->video))
    video_set (self->video, VIDEO_NOT_DONE,
        g_strconcat (problem, "; its earlier results are kept", NULL));
  else if (files_remove (folder, &error)
      && g_mkdir_with_parents (folder, 0777) == 0
      && write_result (self, problem, NULL, &error))
    video_set (self->video, VIDEO_FAILED, g_strdup (problem));
  else
    finish_external (self, error != NULL ? error->message : problem);
  g_clear_error (&error);
}

/* Results of a video that changed while it was read belong to neither version.
 */
static gchar *
find_change (Job *self)
{
  const guint64 size = self->video->size;
  gchar *modified = g_strdup (self->video->modified), *problem = NULL;

  video_stat (self->video);
  if (size != self->video->size
      || g_strcmp0 (modified, self->video->modified) != 0)
    problem = g_strdup ("changed while it was read");
  g_free (modified);
  return problem;
}

/* Decides about a video whose pipeline reached the end of the stream. */
static void
judge_end (Job *self)
{
  gchar *change = find_change (self);
  gchar *loss = change == NULL ? find_loss (self) : NULL;
  gchar *early = loss == NULL ? find_short (self) : NULL;

  if (change != NULL)
    video_set (self->video, VIDEO_NOT_DONE, g_strdup (change));
  else if (loss != NULL)
    finish_external (self, loss);
  else if (early != NULL)
    finish_failed (self, early);
  else
    finish_done (self);
  g_free (change);
  g_free (loss);
  g_free (early);
}

static void
judge (Job *self, const gchar *problem)
{
  if (self->stopped)
    video_set (self->video, VIDEO_NOT_DONE, g_strdup ("stopped"));
  else if (self->stalled != NULL)
    finish_failed (self, self->stalled);
  else if (problem == NULL)
    judge_end (self);
  else if (self->external)
    finish_external (self, problem);
  else
    finish_failed (self, problem);
}

static void
job_on_done (gpointer data, const gchar *problem)
{
  Job *self = data;

  self->external |= was_killed (cuv_line_signal (self->process));
  self->process = NULL;
  judge (self, problem);
  self->done (self->data, self, self->video);
  free_job (self);
}

/* ---- starting a job ---- */

/* Whether the file is an AVI that lost its end: the demuxer would take it for a
 * shorter video. */
static gboolean
is_cut_avi (const guint8 *head, gsize n, guint64 size)
{
  guint32 riff;

  if (n < 12 || memcmp (head, "RIFF", 4) != 0
      || memcmp (head + 8, "AVI ", 4) != 0)
    return FALSE;
  memcpy (&riff, head + 4, sizeof riff);
  return 8 + (guint64) GUINT32_FROM_LE (riff) > size;
}

/* Returns the number of bytes, or -1 with errno. */
static gssize
read_head (const gchar *path, guint8 *head, gsize size)
{
  const int file = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  const gssize n = file >= 0 ? read (file, head, size) : -1;
  const int number = errno;

  if (file >= 0)
    close (file);
  errno = number;
  return n;
}

/* Sets the final state of a video that cannot be read. A missing, empty or
 * truncated one has failed; permissions or a network are external errors. */
static gboolean
finish_unreadable (Job *self)
{
  guint8 head[12];
  const gssize n = read_head (self->video->path, head, sizeof head);

  if (n < 0 && errno != ENOENT && errno != ENOTDIR)
    finish_external (self, g_strerror (errno));
  else if (n < 0)
    finish_failed (self, g_strerror (errno));
  else if (n == 0)
    finish_failed (self, "empty");
  else if (!self->options->allow_short
      && is_cut_avi (head, (gsize) n, self->video->size))
    finish_failed (self,
        "truncated: shorter than its header says; --allow-short accepts that");
  else
    return FALSE;
  return TRUE;
}

/* Returns the milliseconds that a pipeline gets to close its files: a network
 * may be slow. */
static guint
clean_up_of (const ArchiveOptions *options)
{
  return options->stall == 0
      ? 0
      : (guint) CLAMP (options->stall, CLEAN_UP, G_MAXINT / 1000) * 1000;
}

static gboolean
start_line (Job *self, GError **error)
{
  gchar *text = template_expand (self->line, self->video->path,
      self->workspace->folder, &self->files, error);

  if (text != NULL)
    self->process = cuv_line_start (
        text, INTERVAL_MS, job_on_report, job_on_done, self, error);
  g_free (text);
  if (self->process != NULL)
    cuv_line_set_clean_up (self->process, clean_up_of (self->options));
  if (self->process != NULL && self->options->stall > 0)
    self->timer = g_timeout_add_seconds (1, on_second, self);
  return self->process != NULL;
}

Job *
job_start (Video *video, Workspace *workspace, const Template *line,
    const ArchiveOptions *options, JobDone done, gpointer data)
{
  Job *self = g_new0 (Job, 1);
  GError *error = NULL;

  self->video = video;
  self->workspace = workspace;
  self->line = line;
  self->options = options;
  self->done = done;
  self->data = data;
  self->files = (TemplateFiles){ -1, -1 };
  self->warnings = json_array_new ();
  self->started = g_get_monotonic_time ();
  if (!finish_unreadable (self)) {
    if (start_line (self, &error))
      return self;
    finish_external (self, error->message);
    g_error_free (error);
  }
  free_job (self);
  return NULL;
}

void
job_stop (Job *self)
{
  self->stopped = TRUE;
  cuv_line_stop (self->process, GRACE_MS);
}

gdouble
job_progress (const Job *self)
{
  const gdouble position = seconds_of (self, "position");
  const gdouble duration = seconds_of (self, "duration");

  return duration > 0 && position >= 0 ? MIN (position / duration, 1) : -1;
}

const gchar *
job_video (const Job *self)
{
  return self->video->shown;
}
