/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-archive, in the order of its steps:
 *
 *   cuvision-archive.c  one step after the other
 *   options.c           the command line
 *   films.c             lists of films, parts of a list, where results lie
 *   template.c          the line: is it right, which plugins does it use
 *   marker.c            done.json and failed.json: what is left to do
 *   run.c               film after film; signals; locked films
 *   job.c               a film in a process of its own, and what became of it
 *   workspace.c         the hidden folder in which a film is done; its lock
 *   files.c             checksums, fsync, removal of folders
 *   show.c              progress, summary
 *   check.c             --check */
#ifndef CUV_ARCHIVE_H
#define CUV_ARCHIVE_H

#include <gst/gst.h>

#include "cuvjsonreader.h"
#include "line.h"

#define ARCHIVE_DONE "done.json"
#define ARCHIVE_FAILED "failed.json"

/* ---- options.c ---- */

typedef struct {
  gchar **films;
  gchar **lists;     /* files with names of films; "-": standard input */
  gboolean null;     /* names in lists end with 0 */
  gchar *line;       /* without blanks around it */
  gchar *output;     /* folder; NULL: beside each film */
  gchar *root;       /* films lie below it; absolute */
  guint part, parts; /* 1 .. parts */
  gint jobs;
  gint stall; /* seconds; 0: never */
  gboolean wait, redo, retry_failed, allow_short;
  gboolean check, pending, json, quiet;
} ArchiveOptions;

/* NULL if the command line is wrong, after a message. */
const ArchiveOptions *options_parse (int *argc, char ***argv);

/* ---- films.c ---- */

typedef enum {
  FILM_PENDING,
  FILM_ALREADY_DONE,
  FILM_FAILED_BEFORE,
  FILM_REFUSED, /* its results are of another line, or not ours */
  FILM_DONE,
  FILM_FAILED,   /* and recorded as such */
  FILM_NOT_DONE, /* nor recorded: the fault is not the film's */
  FILM_N_STATES,
} FilmState;

typedef struct {
  gchar *path;     /* absolute, with the bytes of the file system */
  gchar *shown;    /* in UTF-8, as it was given */
  gchar *results;  /* folder */
  guint64 size;    /* bytes */
  gchar *modified; /* RFC 3339 with nanoseconds; NULL: there is no such file */
  FilmState state;
  gchar *problem; /* or NULL */
  gboolean fault; /* it is not done, for a reason that is not its own */
} Film;

/* Array of Film, in the order of the lists, each path once. NULL with an error:
 * a list cannot be read, a path is not one of a film, or outside of --root. */
GPtrArray *films_list (const ArchiveOptions *options, GError **error);

/* Size and time of the file, now. */
void film_stat (Film *film);

/* Takes the problem, which may be NULL. */
void film_set (Film *film, FilmState state, gchar *problem);

/* ---- template.c ---- */

typedef struct {
  const gchar *line;
  GHashTable *plugins; /* name -> version */
  GHashTable *readers; /* names of elements that read the film */
} Template;

/* NULL with an error if the line is wrong. */
Template *template_new (const gchar *line, GError **error);
void template_free (Template *self); /* NULL is allowed */

/* Files that are open while a line runs, or -1. */
typedef struct {
  int film, results;
} TemplateFiles;

/* The line for a film and the folder of its results. A line cannot hold some
 * names, which then go by open files: close them after it. NULL with an error.
 */
gchar *template_expand (const Template *self, const gchar *film,
    const gchar *results, TemplateFiles *files, GError **error);
void template_close (TemplateFiles *files);

/* Whether an error that a line reported is not about the film: a resource, such
 * as a model or space on a disk, that is not the film. */
gboolean template_is_fault (
    const Template *self, const gchar *film, JsonObject *error);

/* ---- marker.c ---- */

/* Sets the film's state by the marker in its folder of results. */
void marker_look (Film *film, const ArchiveOptions *options);

/* What is known at the end of a film. */
typedef struct {
  const Film *film;
  const Template *line;
  const gchar *problem; /* NULL: it is done */
  JsonObject *progress; /* the last; or NULL */
  JsonArray *warnings;
  JsonArray *files; /* or NULL */
  gdouble seconds;
} MarkerResult;

/* Into a folder; survives a power loss. FALSE with an error. */
gboolean marker_write (
    const MarkerResult *result, const gchar *folder, GError **error);

/* The marker of that name in a folder; NULL with an error, which is
 * G_FILE_ERROR_NOENT if there is none. */
JsonObject *marker_read (
    const gchar *folder, const gchar *name, GError **error);

/* ---- files.c ---- */

/* All files of a folder and of those in it, sorted: {"name", "size", "sha256"};
 * sync: they and their folders survive a power loss then. NULL with an error.
 */
JsonArray *files_describe (const gchar *folder, gboolean sync, GError **error);

gboolean files_sync_folder (const gchar *folder, GError **error);

/* A file, or a folder with all that is in it; no error if it is not there. */
gboolean files_remove (const gchar *path, GError **error);

/* Sets an error "cannot <what> <path>: <errno>"; returns FALSE. */
gboolean files_fail (const gchar *what, const gchar *path, GError **error);

/* ---- workspace.c ---- */

typedef struct {
  gchar *part;    /* the hidden folder */
  gchar *folder;  /* in it: results as they are written */
  gchar *results; /* what the folder becomes */
  int lock;
} Workspace;

/* Begins a film anew; parents: makes the folders above, too. NULL with an
 * error; without one another process has the film. */
Workspace *workspace_new (
    const gchar *results, gboolean parents, GError **error);

/* Puts the folder in the place of the results. FALSE with an error. */
gboolean workspace_publish (Workspace *self, GError **error);

/* Removes what is left; releases the lock. NULL is allowed. */
void workspace_free (Workspace *self);

/* Removes what a process left that was killed between its last steps, when the
 * film was done. */
void workspace_clean (const gchar *results);

/* ---- job.c ---- */

typedef struct _Job Job;

/* The film has its final state; the job is freed after it. */
typedef void (*JobDone) (gpointer data, Job *job, Film *film);

/* Starts a film; takes the workspace. NULL if that fails: then the film has its
 * final state, and done() is not called. */
Job *job_start (Film *film, Workspace *workspace, const Template *line,
    const ArchiveOptions *options, JobDone done, gpointer data);

/* Ends without results: the film is not done. */
void job_stop (Job *self);

/* 0 to 1; negative: unknown. */
gdouble job_progress (const Job *self);
const gchar *job_film (const Job *self);

/* ---- run.c ---- */

/* Runs all films that are pending. Returns the signal that ended it, or 0.
 * fatal: why it ended early, or NULL. */
int run_films (GPtrArray *films, const Template *line,
    const ArchiveOptions *options, gchar **fatal);

/* ---- show.c ---- */

/* A line that is written again, on a terminal. */
void show_progress (const GPtrArray *films, const GPtrArray *jobs,
    const ArchiveOptions *options);
void show_film (const Film *film, const ArchiveOptions *options);
void show_summary (const GPtrArray *films, const gchar *fatal, gdouble seconds,
    const ArchiveOptions *options);

/* ---- check.c ---- */

/* Prints what is wrong with results below the folders; FALSE if anything is. */
gboolean check_results (gchar **folders, const ArchiveOptions *options);

#endif
