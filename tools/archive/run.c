/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "archive.h"

#include <glib-unix.h>
#include <signal.h>

#define RETRY_MS 250 /* between looks at a film that another process has */
#define SHOW_MS 500  /* between lines of progress */

/* Films in a row that were not done, for reasons that are not theirs, which end
 * the run: others would fare no better. The minimum counts if no other film was
 * tried. */
#define MAX_FAULTS 10
#define MIN_FAULTS 3

typedef struct {
  const ArchiveOptions *options;
  const Template *line;
  GPtrArray *films;
  guint next;
  GQueue busy; /* films of other processes */
  GPtrArray *jobs;
  GMainLoop *loop;
  guint retry;        /* timer, or 0 */
  guint n_faults;     /* in a row */
  gboolean any_other; /* a film was tried that is not one of them */
  gchar *last_fault;
  gchar *fatal;
  int signal;
} Run;

static void fill (Run *self);

static gboolean
is_stopping (const Run *self)
{
  return self->signal != 0 || self->fatal != NULL;
}

/* ---- films ---- */

static void
stop_jobs (Run *self)
{
  for (guint i = 0; i < self->jobs->len; i++)
    job_stop (self->jobs->pdata[i]);
}

/* Draws the next film at random from those that are left. In a fixed order, a
 * few films that can never be done would end each run before the others. */
static void
mix (Run *self)
{
  gpointer *films = self->films->pdata, film;
  guint at = self->next;
  gint32 n = 0;

  for (guint i = self->next; i < self->films->len; i++)
    if (((const Film *) films[i])->state == FILM_PENDING
        && g_random_int_range (0, ++n) == 0)
      at = i;
  if (n == 0)
    return;
  film = films[self->next];
  films[self->next] = films[at];
  films[at] = film;
}

static void
count_fault (Run *self, const Film *film)
{
  if (!film->fault) {
    self->n_faults = 0;
    self->any_other = TRUE;
    return;
  }
  self->n_faults++;
  g_free (self->last_fault);
  self->last_fault = g_strdup (film->problem);
  mix (self);
}

/* Ends the run if more films would fare no better. */
static void
check_faults (Run *self, guint max)
{
  if (self->n_faults < max || is_stopping (self))
    return;
  self->fatal = g_strdup_printf ("%u films in a row could not be done, which "
                                 "is not their fault; the last: %s",
      self->n_faults, self->last_fault);
  stop_jobs (self);
}

static void
film_over (Run *self, const Film *film)
{
  count_fault (self, film);
  check_faults (self, MAX_FAULTS);
  show_film (film, self->options);
}

static void
job_over (gpointer data, Job *job, Film *film)
{
  Run *self = data;

  g_ptr_array_remove (self->jobs, job);
  film_over (self, film);
  fill (self);
}

/* A film of which this process has the lock; meanwhile another may have done
 * it. */
static void
begin_locked (Run *self, Film *film, Workspace *workspace)
{
  Job *job;

  film_stat (film);
  marker_look (film, self->options);
  if (film->state == FILM_REFUSED)
    film_set (film, FILM_NOT_DONE, g_strdup (film->problem));
  if (film->state != FILM_PENDING) {
    workspace_free (workspace);
    show_film (film, self->options);
    return;
  }
  job = job_start (film, workspace, self->line, self->options, job_over, self);
  if (job != NULL)
    g_ptr_array_add (self->jobs, job);
  else
    film_over (self, film);
}

static void
begin (Run *self, Film *film)
{
  GError *error = NULL;
  /* beside a film there is a folder, unless its name is wrong */
  const gboolean parents = self->options->output != NULL;
  Workspace *workspace = workspace_new (film->results, parents, &error);

  if (workspace != NULL) {
    begin_locked (self, film, workspace);
  } else if (error != NULL) {
    film_set (film, FILM_NOT_DONE, g_strdup (error->message));
    film->fault = parents
        && !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NAMETOOLONG);
    g_error_free (error);
    film_over (self, film);
  } else if (self->options->wait) {
    g_queue_push_tail (&self->busy, film);
  } else {
    film_set (film, FILM_NOT_DONE,
        g_strdup ("another process has it; --wait waits for that"));
    show_film (film, self->options);
  }
}

static Film *
next_film (Run *self)
{
  while (self->next < self->films->len) {
    Film *film = self->films->pdata[self->next++];

    if (film->state == FILM_PENDING)
      return film;
    if (film->state == FILM_NOT_DONE)
      show_film (film, self->options);
    workspace_clean (film->results);
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
    begin (self, g_queue_pop_head (&self->busy));
  fill (self);
  return G_SOURCE_REMOVE;
}

static void
fill (Run *self)
{
  Film *film;

  while (!is_stopping (self) && self->jobs->len < (guint) self->options->jobs
      && (film = next_film (self)) != NULL)
    begin (self, film);
  if (!is_stopping (self) && self->busy.length > 0) {
    if (self->retry == 0)
      self->retry = g_timeout_add (RETRY_MS, retry_busy, self);
  } else if (self->jobs->len == 0) {
    if (!self->any_other)
      check_faults (self, MIN_FAULTS);
    g_main_loop_quit (self->loop);
  }
}

static gboolean
on_signal (Run *self, int number)
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
  return on_signal (data, SIGINT);
}

static gboolean
on_terminate (gpointer data)
{
  return on_signal (data, SIGTERM);
}

static gboolean
on_start (gpointer data)
{
  fill (data);
  return G_SOURCE_REMOVE;
}

static gboolean
on_show (gpointer data)
{
  const Run *self = data;

  show_progress (self->films, self->jobs, self->options);
  return G_SOURCE_CONTINUE;
}

int
run_films (GPtrArray *films, const Template *line,
    const ArchiveOptions *options, gchar **fatal)
{
  Run self = { .options = options, .line = line, .films = films };
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
  g_free (self.last_fault);
  g_ptr_array_unref (self.jobs);
  g_main_loop_unref (self.loop);
  *fatal = self.fatal;
  return self.signal;
}
