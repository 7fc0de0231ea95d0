/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-train, in the order of its steps:
 *
 *   cuvision-train.c  one step after the other
 *   options.c         the command line
 *   inputs.c          annotations and folders -> a data set
 *   inputs-files.c    .. -> pictures, films and what is in them
 *   files.c           paths of pictures
 *   classes.c         names of YOLO's classes
 *   upright.c         boxes of pictures that are stored turned
 *   decode.c          pictures and films -> frames
 *   learn.c           weak classifier after weak classifier; the progress line
 *   progress.c        the progress line of all else
 *   device.c          CPU or GPU
 *   state.c           what --resume goes on from
 *   results.c         what the classifier does with pictures that it has not
 *                     seen
 *   report-json.c     report.json
 *   report-page.c     index.html
 *   plot.c, thumbnail.c   its pictures */
#ifndef CUV_TRAIN_TOOL_H
#define CUV_TRAIN_TOOL_H

#include <gst/gst.h>
#include "annotations.h"
#include "train/dataset/dataset.h"

/* ---- options.c ---- */

typedef struct {
  gchar **positives, **negatives; /* annotations or folders; folders, files */
  gchar *label;                   /* NULL: any */
  gchar **ignore;                 /* labels, or NULL */
  gchar *names;                   /* file of YOLO's names, or NULL */
  gchar **images;                 /* folders of pictures, or NULL */
  gint window_width, window_height;
  guint64 seed;
} InputOptions;

typedef enum {
  TRAIN_DEVICE_AUTO, /* the GPU, if there is one */
  TRAIN_DEVICE_CPU,
  TRAIN_DEVICE_CUDA,
} TrainDevice;

typedef struct {
  InputOptions inputs;
  CuvSampleOptions samples;
  CuvTrainParams train;
  gdouble false_positives; /* of a picture; INFINITY: any number */
  gchar *output;           /* file */
  gchar *report;           /* folder, or NULL */
  gboolean resume;
  TrainDevice device;
} TrainOptions;

/* NULL if the command line is wrong, after a message. */
const TrainOptions *options_parse (int *argc, char ***argv);

/* "lbp", .. */
const gchar *options_feature_name (CuvFeature feature);

/* "butfit" or "opencv" */
const gchar *options_format_name (gboolean cascade);

/* ---- files.c ---- */

/* Folders that may have the pictures of an annotation file, beside those of
 * --images; only such as exist. */
GPtrArray *files_places (const gchar *path, gchar **images);
/* "'a', 'b'" */
gchar *files_list_places (const GPtrArray *places);

/* The file that annotations call name: as written, by its last component, or,
 * if it is not a film, with another extension. NULL if there is none. */
gchar *files_find (
    const GPtrArray *places, const gchar *name, gboolean is_film);

/* The picture that an annotation file belongs to: of the same name but for the
 * extension. */
gchar *files_find_picture_of (const GPtrArray *places, const gchar *path);

/* Whether the file looks like text, or cannot be read. */
gboolean files_is_text (const gchar *path);
/* Whether it is a text that is not a picture. */
gboolean files_is_list (const gchar *path);

/* The path without links, so that it is the same however it is written. */
gchar *files_real_path (const gchar *path);

/* Of an array of paths, for sorting. */
gint files_compare (gconstpointer a, gconstpointer b);

/* A file, or those of a folder and the folders in it, sorted. */
GPtrArray *files_list (const gchar *path);

/* ---- classes.c ---- */

typedef struct _Classes Classes;

/* names: file, or NULL: files beside the labels. NULL with an error. */
Classes *classes_new (const gchar *names, GError **error);
void classes_free (Classes *self); /* NULL is allowed */

/* The names for a file of labels, NULL if there are none. FALSE with an error
 * if they cannot be read. */
gboolean classes_find (Classes *self, const gchar *path,
    const gchar *const **names, GError **error);

/* ---- upright.c ---- */

/* Turns boxes that were marked in the stored picture of a decoded one. Returns
 * why they do not fit the picture, or NULL. */
gchar *upright_fit (CuvAnnotated *picture, GstSample *sample);

/* ---- decode.c ---- */

/* file: number among the paths. */
typedef struct {
  /* A frame of a picture or film; FALSE with an error ends it all. */
  gboolean (*visit) (gpointer data, guint file, GstSample *sample, gint64 frame,
      GError **error);
  /* The file cannot be decoded, or not to its end. */
  void (*skip) (gpointer data, guint file, const gchar *problem);
} DecodeVisitor;

/* Decodes files on all processors; visits their frames one after the other, in
 * the order of the files. FALSE with an error, that of a visit or because no
 * file can be decoded. */
gboolean decode_files (const GPtrArray *paths, const DecodeVisitor *visitor,
    gpointer data, GError **error);

/* ---- progress.c ---- */

typedef struct _Progress Progress;

/* Prints how far a phase is, from time to time: n is what *at grows by, 0 if
 * that is unknown. One at a time. */
Progress *progress_begin (const gchar *phase, gint *at, guint n);
void progress_end (Progress *self);

/* ---- inputs.c ---- */

typedef struct {
  CuvDataset *dataset;
  GPtrArray *skipped; /* of gchar: what was left out, and why */
} TrainInputs;

/* Prints what is skipped. NULL with an error. */
TrainInputs *inputs_read (const InputOptions *options, GError **error);
void inputs_free (TrainInputs *self); /* NULL is allowed */

/* ---- results.c ---- */

typedef struct {
  const TrainOptions *options;
  const TrainInputs *inputs;
  gint too_small;   /* objects that are smaller than the window */
  GArray *progress; /* of CuvTrainProgress, after each weak classifier */
  gchar *end;       /* why training ended */
  gdouble seconds;
  CuvGridClassifier classifier; /* as it is written */
  gdouble raised;               /* its final threshold, by this much */
  gfloat learnt_threshold;      /* .. from this one; of a cascade as written */
  CuvTrainRate written[CUV_DATASET_N_ROLES]; /* of the file as it is, not of
                                              * LEARNING */
  /* Scores of what follows are those above the threshold as it is written: what
   * is below it has negative ones. */
  CuvDatasetFound *found;       /* in the test pictures */
  GArray *rates;                /* of CuvTrainRate */
  CuvDatasetFound *calibration; /* .. in those of calibration */
  GArray *calibration_rates;
  CuvWindowRates windows[CUV_DATASET_N_ROLES]; /* not of LEARNING */
  GArray *suspects; /* of CuvDatasetBox: mistakes in pictures that were learnt
                     * from, with scores like those of objects */
} Results;

/* Raises the final threshold as --false-positives says; FALSE if memory runs
 * out. */
gboolean results_set_threshold (Results *self);
/* Measures the classifier; FALSE if memory runs out. With a report, also what
 * only it shows. */
gboolean results_measure (Results *self);
/* What many weak classifiers a window mean, or NULL if there are few. */
const gchar *results_explain_slowness (const Results *self);
/* The label of the object of another kind that a mistake is on, or NULL. */
const gchar *results_other_at (const Results *self, const CuvDatasetBox *box);
/* "9 of 12 mistakes .. are on objects of other labels"; NULL if none is. */
gchar *results_describe_others (const Results *self);
/* Properties of waldboostdetect for boxes of this score or a higher one. */
gchar *results_threshold (const Results *self, gdouble score);
void results_print (const Results *self);
void results_clear (Results *self);

/* ---- state.c: OUTPUT.state, from the first weak classifier to the end ---- */

typedef struct _StateFile StateFile;

/* Before all work: FALSE with an error if there is a file although training is
 * not to go on from one. */
gboolean state_file_check (
    const gchar *output, gboolean resume, GError **error);

/* Goes on from the file, or begins one; all was added to the trainer. NULL with
 * an error. */
StateFile *state_file_new (
    CuvTrainer *trainer, const gchar *output, GError **error);
void state_file_free (StateFile *self); /* NULL is allowed */

/* Adds the last weak classifier. FALSE with an error. */
gboolean state_file_add (StateFile *self, GError **error);

void state_file_remove (const StateFile *self);

/* ---- device.c ---- */

/* Before all work: FALSE with an error if that device cannot be used. */
gboolean device_check (TrainDevice device, GError **error);

void device_choose (TrainDevice device, CuvTrainer *trainer);

/* A step of the trainer. If the GPU fails the CPU goes on, unless it was asked
 * for. */
CuvTrainState device_step (TrainDevice device, CuvTrainer *trainer);

/* ---- learn.c ---- */

/* FALSE with an error if no object is as large as the window. */
gboolean learn_check (const Results *self, GError **error);

/* FALSE if it fails; cuv_trainer_failure() tells why. */
gboolean learn_add_samples (Results *self, CuvTrainer *trainer);

/* To the last weak classifier, which may be that of a training that was
 * stopped. FALSE with an error. */
gboolean learn_run (
    Results *self, CuvTrainer *trainer, StateFile *state_file, GError **error);

/* Sets the error of a lack of memory or space; returns FALSE. */
gboolean learn_fail (CuvTrainState state, GError **error);

/* ---- report-json.c, report-page.c ---- */

/* Into the report's folder. FALSE with an error. */
gboolean report_write_json (const Results *self, GError **error);
gboolean report_write_page (const Results *self, GError **error);

/* ---- plot.c ---- */

typedef struct {
  gdouble x, y;
} PlotPoint;

typedef struct {
  const gchar *name, *color;
  GArray *points; /* of PlotPoint */
} PlotCurve;

/* A diagram of the curves that fit the axes; logarithmic axes begin above 0. */
typedef struct {
  const gchar *x_label, *y_label;
  gboolean x_log, y_log;
  gdouble x_first, x_last, y_first, y_last;
  gboolean legend_below; /* at the bottom, not the top */
} PlotAxes;

/* Appends SVG. */
void plot_append (
    GString *out, const PlotAxes *axes, const PlotCurve *curves, guint n);

/* ---- thumbnail.c ---- */

/* The box and what is around it, as the data URI of a PNG; NULL if memory runs
 * out. */
gchar *thumbnail_uri (const CuvDatasetBox *box);

#endif
