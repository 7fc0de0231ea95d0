/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-verify: proves on this machine that results are the same bits as on
 * the machines of a release. A map of this folder:
 *
 *   cuvision-verify.c  command line
 *   cases.c            the pipelines that are compared
 *   models.c           writes models for some of them
 *   scene.c            draws their frames, in integer arithmetic
 *   play.c             plays a case in this process: a record per frame
 *   run.c              does that in a process of its own, for one processor
 *   table.c            the table of docs/verified.md: hashes and times
 *   compare.c          the first frame and the first value that differ
 *   machine.c          names of processor, GPU and driver
 *   report.c           runs cases, compares, prints
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <gst/gst.h>

/* What a case runs on. */
typedef enum { ON_C, ON_SIMD, ON_CUDA, N_TARGETS } VerifyTarget;

extern const gchar *const verify_target_names[N_TARGETS];

/* Returns NULL, or why this machine or build does not have the target. */
const gchar *verify_target_problem (VerifyTarget target);

/* ---- cases ---- */

/* Frames and the elements that get them. */
typedef struct {
  const gchar *caps; /* video/x-raw or video/x-spectral */
  guint n_frames;    /* 0: unused */
  const gchar *line;
} VerifyLine;

#define VERIFY_MODEL "model.xml" /* in the folder in which a case is played */
typedef enum {
  MODEL_NONE,
  MODEL_LRD,
  MODEL_LRP,
  MODEL_HAAR,
  MODEL_CHANNELS
} VerifyModel;

/* Writes VERIFY_MODEL. */
gboolean verify_model_write (VerifyModel kind, GError **error);

typedef struct {
  const gchar *name;
  VerifyLine main;
  VerifyLine before[2];  /* write files that the main line reads */
  VerifyModel model;     /* is also written before */
  gboolean cpu_only;     /* the elements do not use the GPU */
  gdouble gpu_tolerance; /* largest difference of numbers on the GPU, relative
                          * for those above 1; 0: the same bits */
} VerifyCase;

extern const VerifyCase verify_cases[];
extern const guint verify_n_cases;

const VerifyCase *verify_case_find (const gchar *name);

/* Returns 16 bits that look random, the same on every machine. */
guint verify_scatter (guint seed, gint x, gint y);

/* Returns frame i for the caps. */
GstBuffer *verify_scene_draw (const GstCaps *caps, guint i);

/* Plays a case and prints, as JSON, a line per frame and then one with
 * milliseconds and on_gpu of VerifyRun. Returns an exit status. */
int verify_play (const VerifyCase *self, VerifyTarget target);

/* ---- runs ---- */

typedef struct {
  GPtrArray *frames;    /* text, a JSON object per frame */
  gdouble milliseconds; /* per frame */
  gboolean on_gpu;      /* all elements that can use a GPU did */
  gchar *problem;       /* or NULL */
} VerifyRun;

VerifyRun *verify_run (const VerifyCase *self, VerifyTarget target);
void verify_run_free (VerifyRun *self);

/* ---- the table ---- */

typedef struct {
  gchar *name;
  gchar *milliseconds[N_TARGETS]; /* per frame, on the reference machine */
  gchar **digests;                /* one per frame */
} VerifyRow;

/* Reads the table of a release, or of a file. Returns an array of VerifyRow, or
 * NULL and an error. */
GPtrArray *verify_table_read (const gchar *path, GError **error);
const VerifyRow *verify_table_find (const GPtrArray *table, const gchar *name);

/* Returns the first digits of the SHA-256 of a frame's text. */
gchar *verify_digest (const gchar *frame);

/* Prints a row; runs may be NULL. */
void verify_table_print (const gchar *name, VerifyRun *const runs[N_TARGETS]);

/* ---- comparing ---- */

/* Returns NULL if the frames are the row's, or else which one differs first. */
gchar *verify_compare_row (const VerifyRun *run, const VerifyRow *row);

/* Returns NULL if the runs are equal, or else frame and value that differ
 * first, with the values. */
gchar *verify_compare_runs (const VerifyRun *run, const gchar *name,
    const VerifyRun *other, const gchar *other_name, gdouble tolerance);

/* ---- output ---- */

/* Prints processor, GPU and driver. */
void verify_machine_print (void);

typedef struct {
  GPtrArray *cases;            /* VerifyCase */
  gboolean targets[N_TARGETS]; /* what to run on */
  gboolean required;           /* it is an error if a target is missing */
  GPtrArray *table;            /* VerifyRow */
} VerifyPlan;

/* Runs and compares all cases. Returns an exit status. */
int verify_report (const VerifyPlan *plan);

/* Runs all cases and prints rows for the table. Returns an exit status. */
int verify_report_rows (const VerifyPlan *plan);

enum { VERIFY_SAME, VERIFY_DIFFERS, VERIFY_TROUBLE };

#endif
