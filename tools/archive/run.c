/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run: starts jobs for pending videos until all are done, a signal comes,
 * or too many external errors in a row end it. */
#include "archive.h"

#include <glib-unix.h>
#include <signal.h>

#define RETRY_MS 250 /* between attempts to lock a video of another process */
#define SHOW_MS 500  /* between updates of the progress line */

/* Number of external errors in a row that ends the run, as more videos would
 * fail in the same way; MIN_EXTERNAL if all videos that were tried had one. */
#define MAX_EXTERNAL 10
#define MIN_EXTERNAL 3

typedef struct {
  const ArchiveOptions *options;
  const Template *line;
  GPtrArray *videos;
  guint next;
  GQueue busy; /* videos that other processes have locked */
  GPtrArray *jobs;
  GMainLoop *loop;
  guint retry;        /* timer, or 0 */
  guint n_external;   /* external errors in a row */
  gboolean any_other; /* a video was tried that had no external error */
  gchar *last_external;
  gchar *fatal;
  int signal;
} Run;

static void run_fill (Run *self);

static gboolean
is_stopping (const Run *self)
{
  return self->signal != 0 || self->fatal != NULL;
}

/* ---- videos ---- */

static void
stop_jobs (Run *self)
{
  for (guint i = 0; i < self->jobs->len; i++)
    job_stop (self->jobs->pdata[i]);
}

/* Draws the next video at random from those that are left: in a fixed order,
 * the same few videos could end each run before the others are tried. */
static void
draw_next (Run *self)
{
  gpointer *videos = self->videos->pdata, video;
  guint at = self->next;
  gint32 n = 0;

  for (guint i = self->next; i < self->videos->len; i++)
    if (((const Video *) videos[i])->state == VIDEO_PENDING
        && g_random_int_range (0, ++n) == 0)
      at = i;
  if (n == 0)
    return;
  video = videos[self->next];
  videos[self->next] = videos[at];
  videos[at] = video;
}

static void
count_external (Run *self, const Video *video)
{
  if (!video->external) {
    self->n_external = 0;
    self->any_other = TRUE;
    return;
  }
  self->n_external++;
  g_free (self->last_external);
  self->last_external = g_strdup (video->problem);
  draw_next (self);
}

/* Ends the run after too many external errors. */
static void
check_external (Run *self, guint max)
{
  if (self->n_external < max || is_stopping (self))
    return;
  self->fatal =
      g_strdup_printf ("%u videos in a row failed for reasons outside "
                       "the videos; the last: %s",
          self->n_external, self->last_external);
  stop_jobs (self);
}

static void
video_over (Run *self, const Video *video)
{
  count_external (self, video);
  check_external (self, MAX_EXTERNAL);
  show_video (video, self->options);
}

static void
job_over (gpointer data, Job *job, Video *video)
{
  Run *self = data;

  g_ptr_array_remove (self->jobs, job);
  video_over (self, video);
  run_fill (self);
}

/* Looks again at a video that is now locked: another process may have done it
 * since. */
static void
begin_locked (Run *self, Video *video, Workspace *workspace)
{
  Job *job;

  video_stat (video);
  marker_look (video, self->options);
  if (video->state == VIDEO_REFUSED)
    video_set (video, VIDEO_NOT_DONE, g_strdup (video->problem));
  if (video->state != VIDEO_PENDING) {
    workspace_free (workspace);
    show_video (video, self->options);
    return;
  }
  job = job_start (video, workspace, self->line, self->options, job_over, self);
  if (job != NULL)
    g_ptr_array_add (self->jobs, job);
  else
    video_over (self, video);
}

static void
run_begin (Run *self, Video *video)
{
  GError *error = NULL;
  /* the folder of a video exists, unless its name is wrong */
  const gboolean parents = self->options->output != NULL;
  Workspace *workspace = workspace_new (video->results, parents, &error);

  if (workspace != NULL) {
    begin_locked (self, video, workspace);
  } else if (error != NULL) {
    video_set (video, VIDEO_NOT_DONE, g_strdup (error->message));
    video->external = parents
        && !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NAMETOOLONG);
    g_error_free (error);
    video_over (self, video);
  } else if (self->options->wait) {
    g_queue_push_tail (&self->busy, video);
  } else {
    video_set (video, VIDEO_NOT_DONE,
        g_strdup ("locked by another process; use --wait to wait for it"));
    show_video (video, self->options);
  }
}

static Video *
next_video (Run *self)
{
  while (self->next < self->videos->len) {
    Video *video = self->videos->pdata[self->next++];

    if (video->state == VIDEO_PENDING)
      return video;
    if (video->state == VIDEO_NOT_DONE)
      show_video (video, self->options);
    workspace_clean (video->results);
  }
  return NULL;
}

/* ---- the loop ---- */

static gboolean
retry_busy (gpointer data)
{
  Run *self = data;
  const guint n = self->busy.length;

  self->retry = 0;
  for (guint i = 0; i < n && self->jobs->len < (guint) self->options->jobs
       && !is_stopping (self);
       i++)
    run_begin (self, g_queue_pop_head (&self->busy));
  run_fill (self);
  return G_SOURCE_REMOVE;
}

static void
run_fill (Run *self)
{
  Video *video;

  while (!is_stopping (self) && self->jobs->len < (guint) self->options->jobs
      && (video = next_video (self)) != NULL)
    run_begin (self, video);
  if (!is_stopping (self) && self->busy.length > 0) {
    if (self->retry == 0)
      self->retry = g_timeout_add (RETRY_MS, retry_busy, self);
  } else if (self->jobs->len == 0) {
    if (!self->any_other)
      check_external (self, MIN_EXTERNAL);
    g_main_loop_quit (self->loop);
  }
}

static gboolean
run_on_signal (Run *self, int number)
{
  if (!is_stopping (self)) {
    self->signal = number;
    stop_jobs (self);
  }
  if (self->jobs->len == 0)
    g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt (gpointer data)
{
  return run_on_signal (data, SIGINT);
}

static gboolean
on_terminate (gpointer data)
{
  return run_on_signal (data, SIGTERM);
}

static gboolean
on_start (gpointer data)
{
  run_fill (data);
  return G_SOURCE_REMOVE;
}

static gboolean
on_show (gpointer data)
{
  const Run *self = data;

  show_progress (self->videos, self->jobs, self->options);
  return G_SOURCE_CONTINUE;
}

int
run_videos (GPtrArray *videos, const Template *line,
    const ArchiveOptions *options, gchar **fatal)
{
  Run self = { .options = options, .line = line, .videos = videos };
  const guint sources[] = { g_unix_signal_add (SIGINT, on_interrupt, &self),
    g_unix_signal_add (SIGTERM, on_terminate, &self),
    g_timeout_add (SHOW_MS, on_show, &self) };

  self.loop = g_main_loop_new (NULL, FALSE);
  self.jobs = g_ptr_array_new ();
  g_idle_add (on_start, &self);
  g_main_loop_run (self.loop);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    g_source_remove (sources[i]);
  if (self.retry != 0)
    g_source_remove (self.retry);
  g_queue_clear (&self.busy);
  g_free (self.last_external);
  g_ptr_array_unref (self.jobs);
  g_main_loop_unref (self.loop);
  *fatal = self.fatal;
  return self.signal;
}
