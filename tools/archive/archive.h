/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-archive: runs a pipeline for each video of an archive, once. And a
 * map of this folder, in the order of a run:
 *
 *   cuvision-archive.c  main(): one step after the other
 *   options.c           the command line
 *   videos.c            the list of videos, parts of it, where results lie
 *   template.c          the pipeline: whether it is valid, its plugins, and its
 *                       text for one video
 *   marker.c            done.json and failed.json: what is left to do
 *   run.c               starts jobs for the videos; signals; locked videos
 *   job.c               a video's pipeline in a process of its own; its outcome
 *   workspace.c         the hidden folder that results are written to; its lock
 *   files.c             checksums, fsync, removal of folders
 *   show.c              progress and summary
 *   check.c             --check: results against their markers
 *   ../line/            a gst-launch pipeline in a process of its own
 *
 * Control: main() -> options_parse() -> template_new() -> videos_list() ->
 * marker_look() for each video -> run_videos(). It starts up to --jobs jobs at
 * a time: workspace_new() locks the video, job_start() starts its pipeline, and
 * when the process ends, job.c judges the outcome, writes the marker and
 * publishes the folder with workspace_publish(). All of it runs in the default
 * main context, without threads.
 *
 * An external error is one that is not about the video, such as a full disk: it
 * is not recorded, and the video is tried again by the next run. */
#ifndef CUV_ARCHIVE_H
#define CUV_ARCHIVE_H

#include <gst/gst.h>

#include "cuvjsonreader.h"
#include "line.h"

#define ARCHIVE_DONE "done.json"
#define ARCHIVE_FAILED "failed.json"

/* ---- options.c ---- */

typedef struct {
  gchar **videos;
  gchar **lists;     /* files that list videos; "-": standard input */
  gboolean null;     /* names in lists end with a 0 byte */
  gchar *line;       /* the pipeline, without blanks around it */
  gchar *output;     /* folder; NULL: beside each video */
  gchar *root;       /* videos are below it; absolute */
  guint part, parts; /* 1 .. parts */
  gint jobs;
  gint stall; /* seconds; 0: never */
  gboolean wait, redo, retry_failed, allow_short;
  gboolean check, pending, json, quiet;
} ArchiveOptions;

/* Returns NULL after a message if the command line is wrong. */
const ArchiveOptions *options_parse (int *argc, char ***argv);

/* ---- videos.c ---- */

typedef enum {
  VIDEO_PENDING,
  VIDEO_ALREADY_DONE,
  VIDEO_FAILED_BEFORE,
  VIDEO_REFUSED, /* its results are of another pipeline, or not ours */
  VIDEO_DONE,
  VIDEO_FAILED,   /* recorded in failed.json */
  VIDEO_NOT_DONE, /* nothing recorded: locked, changed, external error, ... */
  VIDEO_N_STATES,
} VideoState;

typedef struct {
  gchar *path;     /* absolute, in the file system's encoding */
  gchar *shown;    /* as the user named it, in UTF-8 */
  gchar *results;  /* folder */
  guint64 size;    /* bytes */
  gchar *modified; /* RFC 3339 with nanoseconds; NULL: no such file */
  VideoState state;
  gchar *problem;    /* or NULL */
  gboolean external; /* not done because of an external error */
} Video;

/* Returns an array of Video, in the order of the lists, each path once. Returns
 * NULL with an error: a list cannot be read, a path is not a file, or is
 * outside of --root. */
GPtrArray *videos_list (const ArchiveOptions *options, GError **error);

/* Reads the size and modification time of the file. */
void video_stat (Video *video);

/* Sets the state, takes ownership of problem, which may be NULL, and resets
 * `external`. */
void video_set (Video *video, VideoState state, gchar *problem);

/* ---- template.c ---- */

typedef struct {
  const gchar *line;
  GHashTable *plugins; /* name -> version */
  GHashTable *readers; /* names of elements that read the video */
} Template;

/* Returns NULL with an error if the pipeline is invalid. line must outlive the
 * template. */
Template *template_new (const gchar *line, GError **error);
void template_free (Template *self); /* NULL is allowed */

/* Descriptors that are open while a pipeline runs, or -1. */
typedef struct {
  int video, results;
} TemplateFiles;

/* Returns the pipeline for a video and the folder of its results. A path that a
 * pipeline cannot contain is opened, and /proc/PROCESS/fd/N stands for it: call
 * template_close() when the pipeline has ended. Returns NULL with an error. */
gchar *template_expand (const Template *self, const gchar *video,
    const gchar *results, TemplateFiles *files, GError **error);
void template_close (TemplateFiles *files);

/* Whether an error that a pipeline reported is external: about a resource other
 * than the video, such as a model or disk space. */
gboolean template_is_external (
    const Template *self, const gchar *video, JsonObject *error);

/* ---- marker.c ---- */

/* Sets the video's state according to the marker among its results. */
void marker_look (Video *video, const ArchiveOptions *options);

/* What a marker records. */
typedef struct {
  const Video *video;
  const Template *line;
  const gchar *problem; /* NULL: done */
  JsonObject *progress; /* last report, or NULL */
  JsonArray *warnings;
  JsonArray *files; /* or NULL */
  gdouble seconds;
} MarkerResult;

/* Writes a marker to a folder so that it survives a power loss. Returns FALSE
 * with an error. */
gboolean marker_write (
    const MarkerResult *result, const gchar *folder, GError **error);

/* Reads the marker of that name. Returns NULL with an error, which is
 * G_FILE_ERROR_NOENT if there is none. */
JsonObject *marker_read (
    const gchar *folder, const gchar *name, GError **error);

/* ---- files.c ---- */

/* Lists all files below a folder, sorted: {"name", "size", "sha256"}. sync:
 * also syncs files and folders, so that they survive a power loss. Returns NULL
 * with an error. */
JsonArray *files_describe (const gchar *folder, gboolean sync, GError **error);

/* Syncs the folder itself, so that names in it survive a power loss. */
gboolean files_sync_folder (const gchar *folder, GError **error);

/* Removes a file, or a folder with its contents; no error if it is missing. */
gboolean files_remove (const gchar *path, GError **error);

/* Sets an error "cannot <what> <path>: <errno>"; returns FALSE. */
gboolean files_fail (const gchar *what, const gchar *path, GError **error);

/* ---- workspace.c ---- */

typedef struct {
  gchar *part;    /* the hidden folder */
  gchar *folder;  /* inside part; results are written to it */
  gchar *results; /* final path of the folder */
  int lock;
} Workspace;

/* Locks the video and creates an empty folder for its results, and its parent
 * folders if parents is set. Returns NULL with an error, or NULL without an
 * error if another process has the lock. */
Workspace *workspace_new (
    const gchar *results, gboolean parents, GError **error);

/* Renames the folder to its final path, replacing old results. Returns FALSE
 * with an error. */
gboolean workspace_publish (Workspace *self, GError **error);

/* Removes the hidden folder and releases the lock. NULL is allowed. */
void workspace_free (Workspace *self);

/* Removes the hidden folder of a process that was killed after it had published
 * its results. */
void workspace_clean (const gchar *results);

/* ---- job.c ---- */

typedef struct _Job Job;

/* Called when the video has its final state. The job is freed when this
 * returns. */
typedef void (*JobDone) (gpointer data, Job *job, Video *video);

/* Starts the pipeline of a video; takes ownership of the workspace. Returns
 * NULL if that fails: the video has its final state then, and done() is not
 * called. */
Job *job_start (Video *video, Workspace *workspace, const Template *line,
    const ArchiveOptions *options, JobDone done, gpointer data);

/* Ends the pipeline without results: the video is not done. */
void job_stop (Job *self);

/* Returns the progress, 0 to 1; negative: unknown. */
gdouble job_progress (const Job *self);
/* Returns the name of the job's video, as the user gave it. */
const gchar *job_video (const Job *self);

/* ---- run.c ---- */

/* Runs the pipeline for all pending videos. Returns the signal that ended the
 * run, or 0. fatal: set to why the run ended early, or NULL. */
int run_videos (GPtrArray *videos, const Template *line,
    const ArchiveOptions *options, gchar **fatal);

/* ---- show.c ---- */

/* Prints the progress on a terminal, in a line that the next call
 * overwrites. */
void show_progress (const GPtrArray *videos, const GPtrArray *jobs,
    const ArchiveOptions *options);
/* Prints the outcome of a video. */
void show_video (const Video *video, const ArchiveOptions *options);
/* Prints the summary of the run. fatal: why it ended early; or NULL. seconds:
 * its duration. */
void show_summary (const GPtrArray *videos, const gchar *fatal, gdouble seconds,
    const ArchiveOptions *options);

/* ---- check.c ---- */

/* Compares all results below the folders with their markers. Prints problems to
 * stderr; FALSE if there are any. */
gboolean check_results (gchar **folders, const ArchiveOptions *options);

#endif
