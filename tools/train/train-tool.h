/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-train: learns a WaldBoost classifier from annotated pictures. And a
 * map of this folder, in the order of a run:
 *
 *   cuvision-train.c   main(): one step after the other
 *   choose.c           both kinds of features, and which is the better one
 *   options.c          the command line
 *   inputs.c           reads all pictures and annotations into a data set
 *   inputs-files.c     finds the files, and what is annotated in each
 *   inputs-private.h   what these two share
 *   files.c            where the pictures of annotations are
 *   classes.c          names of YOLO's classes
 *   upright.c          boxes marked in pictures that are stored rotated (EXIF)
 *   decode.c           decodes pictures and videos, on all processors
 *   learn.c            adds weak classifiers one by one; their progress line
 *   learn-channels.c   learns trees on channels instead
 *   write.c            the model, before and after it is measured
 *   progress.c         the progress line of all other steps
 *   device.c           CPU or GPU
 *   state.c            the files OUTPUT.state and OUTPUT.trees, for --resume
 *   results.c          sets the threshold and measures the classifier
 *   report-json.c      report.json
 *   report-page.c      index.html, with the diagrams of plot.c and the pictures
 *                      of thumbnail.c
 *   ../annotations/    readers of the annotation formats
 *   elements/train/    the data set and the trainer, which the element
 *                      waldboosttrain uses, too
 *
 * Control: train_run() -> inputs_read() -> learn_check() -> learn_grid(),
 * which calls device_step() for each weak classifier -> write the model ->
 * results_measure() -> write the model again, with its rates, and the report.
 * With --features auto choose_run() learns and measures both kinds before it
 * writes the model. */
#ifndef CUV_TRAIN_TOOL_H
#define CUV_TRAIN_TOOL_H

#include <gst/gst.h>
#include "annotations.h"
#include "device-option.h"
#include "dataset/dataset.h"

/* ---- options.c ---- */

typedef struct {
  gchar **positives, **negatives; /* paths as given; negatives may be NULL */
  gchar *label;                   /* objects to learn; NULL: all */
  gchar **ignore;                 /* labels, or NULL */
  gchar *names;                   /* file of YOLO's names, or NULL */
  gchar **images;                 /* folders of pictures, or NULL */
  gint window_width, window_height;
  gboolean loose_boxes; /* boxes of objects may be off */
  CuvStoreKeep keep;    /* what is kept of pictures */
  guint64 seed;
} InputOptions;

typedef struct {
  InputOptions inputs;
  CuvSampleOptions samples;
  CuvTrainParams train;
  gdouble false_positives; /* per picture; INFINITY: any number */
  gchar *output;           /* file */
  gchar *report;           /* folder, or NULL */
  gboolean resume;
  DeviceOption device;
  gboolean both;         /* learn patterns and trees on channels */
  const gchar *decision; /* which option chose patterns, or NULL */
} TrainOptions;

/* Returns NULL after a message if the command line is wrong. */
const TrainOptions *options_parse (int *argc, char ***argv);

/* Returns the options for a kind of features, with its defaults for those not
 * given. They share memory with `parsed`. */
TrainOptions options_for (const TrainOptions *parsed, CuvFeature feature);

/* Returns the microseconds between progress lines if stderr is not a terminal.
 */
gint64 options_progress_interval (void);

/* Returns "lbp", "lrd", "lrp" or "channels". */
const gchar *options_feature_name (CuvFeature feature);

/* Returns "butfit" or "opencv". */
const gchar *options_format_name (gboolean cascade);

/* ---- files.c ---- */

/* Lists existing folders in which to look for the pictures of an annotation
 * file: those of --images first, then the usual places near the file. */
GPtrArray *files_places (const gchar *path, gchar **images);
/* Returns a list for messages: "'a', 'b'". */
gchar *files_list_places (const GPtrArray *places);

/* Finds the file that annotations call `name`: as written, by its last
 * component or, unless it is a video, with another extension. Returns NULL if
 * there is none. */
gchar *files_find (
    const GPtrArray *places, const gchar *name, gboolean is_video);

/* Finds the picture of an annotation file: same name, another extension. */
gchar *files_find_picture_of (const GPtrArray *places, const gchar *path);

/* Whether the file looks like text, or cannot be read. */
gboolean files_is_text (const gchar *path);
/* Whether the file is a text that is not a picture. */
gboolean files_is_list (const gchar *path);

/* Returns the path with links resolved: one path for one file. */
gchar *files_real_path (const gchar *path);

/* Compares two elements of an array of paths. */
gint files_compare (gconstpointer a, gconstpointer b);

/* Lists the path itself if it is a file, otherwise all files below the folder,
 * sorted. */
GPtrArray *files_list (const gchar *path);

/* ---- classes.c ---- */

typedef struct _Classes Classes;

/* names: path of a file, or NULL to look for files near the labels. Returns
 * NULL with an error. */
Classes *classes_new (const gchar *names, GError **error);
void classes_free (Classes *self); /* NULL is allowed */

/* Sets *names to the class names for a file of labels, or to NULL if there are
 * none. Returns FALSE with an error if they cannot be read. */
gboolean classes_find (Classes *self, const gchar *path,
    const gchar *const **names, GError **error);

/* ---- upright.c ---- */

/* Rotates the boxes of a decoded picture if they were marked in the picture as
 * it is stored. Returns a problem if they do not fit the picture, otherwise
 * NULL. */
gchar *upright_fit (CuvAnnotated *picture, GstSample *sample);

/* ---- decode.c ---- */

/* file: index into the paths. */
typedef struct {
  /* Called for each frame of a picture or video. If it returns FALSE with an
   * error, decode_files() ends. */
  gboolean (*visit) (gpointer data, guint file, GstSample *sample, gint64 frame,
      GError **error);
  /* Called if the file cannot be decoded, or not to its end. */
  void (*skip) (gpointer data, guint file, const gchar *problem);
} DecodeVisitor;

/* Decodes files on all processors. Visits frames one at a time, in the order of
 * the files. Returns FALSE with an error if a visit fails or decoders are
 * missing. */
gboolean decode_files (const GPtrArray *paths, const DecodeVisitor *visitor,
    gpointer data, GError **error);

/* ---- progress.c ---- */

typedef struct _Progress Progress;

/* Prints the progress of a phase from time to time, until progress_end(). at: a
 * counter that the phase increases by n in total; n = 0: unknown. One phase at
 * a time. */
Progress *progress_begin (const gchar *phase, gint *at, guint n);
void progress_end (Progress *self);

/* ---- inputs.c ---- */

typedef struct {
  CuvDataset *dataset;
  CuvStoreKeep keep;  /* only grey if there are samples of a .vec */
  GPtrArray *skipped; /* of gchar: "FILE: why it was skipped" */
} TrainInputs;

/* Reads all inputs; prints what it skips. Returns NULL with an error. */
TrainInputs *inputs_read (const InputOptions *options, GError **error);
void inputs_free (TrainInputs *self); /* NULL is allowed */

/* ---- results.c ---- */

typedef struct _Results {
  const TrainOptions *options;
  const TrainInputs *inputs;
  gchar *choice; /* why these features were taken; NULL: they were asked for */
  const struct _Results *other; /* those that were not; NULL: not measured */
  gint too_small;               /* objects that are smaller than the window */
  GArray *progress; /* of CuvTrainProgress, after each weak classifier */
  gchar *end;       /* why training ended */
  gdouble seconds;
  CuvGridClassifier classifier; /* as it is written; for trees on channels only
                                   n_weak, window and final_threshold are set */
  CuvChannelsModel *channels;   /* trees on channels, or NULL */
  gdouble raised;               /* by how much its final threshold was raised */
  gfloat learnt_threshold; /* final threshold before that; for a cascade, as
                              written */
  /* rates of the model as written; not set for LEARNING */
  CuvTrainRate written[CUV_DATASET_N_ROLES];
  /* From here on scores are relative to the written threshold: negative below
   * it. */
  CuvDatasetFound *found;       /* in the test pictures */
  GArray *rates;                /* of CuvTrainRate */
  CuvDatasetFound *calibration; /* in the calibration pictures */
  GArray *calibration_rates;
  CuvWindowRates windows[CUV_DATASET_N_ROLES]; /* not set for LEARNING */
  GArray *suspects; /* of CuvDatasetBox: mistakes in the training pictures with
                     * scores like those of objects */
} Results;

void results_init (
    Results *self, const TrainOptions *options, const TrainInputs *inputs);
/* Returns the name of the kind of features. */
const gchar *results_features (const Results *self);
/* Returns the model as it is written. Release it with cuv_model_unref(). */
const CuvWaldboostModel *results_model (const Results *self);
/* Raises the final threshold to meet --false-positives. Returns FALSE if out of
 * memory. */
gboolean results_set_threshold (Results *self);
/* Measures the classifier. Returns FALSE if out of memory. */
gboolean results_measure (Results *self);
/* Measures what only the report shows. Returns FALSE if out of memory. */
gboolean results_examine (Results *self);
/* Returns advice if windows need many weak classifiers, NULL if they need
 * few. */
const gchar *results_explain_slowness (const Results *self);
/* Returns the label of the object with another label that a mistake overlaps,
 * or NULL. */
const gchar *results_other_at (const Results *self, const CuvDatasetBox *box);
/* Returns "9 of 12 mistakes ... are on objects of other labels", NULL if none
 * is. */
gchar *results_describe_others (const Results *self);
/* Returns the properties of waldboostdetect that accept boxes with at least
 * this score. */
gchar *results_threshold (const Results *self, gdouble score);
void results_print (const Results *self);
void results_clear (Results *self);

/* ---- state.c ---- */

/* A file beside the model, which exists while training runs or after it was
 * stopped: a header, then a record for each weak classifier. */

typedef struct _StateFile StateFile;

/* How the training of a kind of features is saved and restored. */
typedef struct {
  const gchar *suffix; /* suffix of the file's name */
  gsize header_size;   /* bytes */
  gsize (*record_size) (gpointer data);
  void (*save_header) (gpointer data, guint8 *bytes);
  /* Saves the last weak classifier. */
  void (*save_record) (gpointer data, guint8 *bytes);
  /* Restores a training from a header and records; returns how many of the
   * bytes are valid, 0 if none: problem, of CUV_TRAIN_PROBLEM bytes, says why.
   * *n: the number of weak classifiers. */
  gsize (*restore) (
      gpointer data, const guint8 *bytes, gsize size, gint *n, gchar *problem);
} StateKind;

extern const StateKind state_of_patterns, state_of_channels;

/* Call before all work. Returns FALSE with an error if there is a file but no
 * --resume. */
gboolean state_file_check (
    const gchar *output, gboolean resume, GError **error);

/* Restores the training from its file, or creates the file. data: argument of
 * the kind's functions. Returns NULL with an error. */
StateFile *state_file_new (
    const StateKind *kind, gpointer data, const gchar *output, GError **error);
void state_file_free (StateFile *self); /* NULL is allowed */

/* Appends the last weak classifier. Returns FALSE with an error. */
gboolean state_file_add (StateFile *self, GError **error);

void state_file_remove (const StateFile *self);
/* Removes the files of all kinds. */
void state_files_remove (const gchar *output);

/* ---- device.c ---- */

/* Call before all work. Returns FALSE with an error if the device cannot be
 * used. */
gboolean device_check (DeviceOption device, GError **error);

/* Returns the processor to train with. */
CuvProcessor device_processor (DeviceOption device);

/* Whether to continue on the CPU after the GPU failed; if so, prints why. */
gboolean device_may_leave (DeviceOption device, const char *problem);

/* Sets the error for a training that ends because the GPU failed. */
void device_set_error (const char *problem, GError **error);

/* Adds a weak classifier. If the GPU fails, continues on the CPU, unless
 * --device=cuda. */
CuvTrainState device_step (DeviceOption device, CuvTrainer *trainer);

/* ---- learn.c ---- */

/* Errors of pictures from which these features cannot be learnt. */
#define LEARN_ERROR (learn_error_quark ())
GQuark learn_error_quark (void);

/* Returns FALSE with an error if too few objects are as large as the window. */
gboolean learn_check (const Results *self, GError **error);

/* Measures and writes a classifier. Returns FALSE with an error. */
typedef gboolean (*LearnFinish) (Results *self, gpointer data, GError **error);

/* Learn patterns or trees on channels, then call finish(). The state is kept
 * until then, and removed if there is nothing to learn. Returns FALSE with an
 * error. */
gboolean learn_grid (
    Results *self, LearnFinish finish, gpointer data, GError **error);
gboolean learn_channels (
    Results *self, LearnFinish finish, gpointer data, GError **error);
/* Closes the state, and removes it after LEARN_ERROR. Takes ownership of
 * problem; returns FALSE if it is not NULL. */
gboolean learn_close (StateFile *state_file, GError *problem, GError **error);

/* Sets an error for a lack of memory or disk space; returns FALSE. */
gboolean learn_fail (CuvTrainState state, GError **error);

/* ---- write.c ---- */

/* Sets the threshold, writes the model and measures it. Returns FALSE with an
 * error. */
gboolean write_and_measure (Results *self, GError **error);

/* Prints the rates, writes the model with them, and writes the report. Returns
 * FALSE with an error. */
gboolean write_end (Results *self, GError **error);

/* ---- choose.c ---- */

/* Learns and measures both kinds of features and writes the better one.
 * Returns FALSE with an error. */
gboolean choose_run (
    const TrainOptions *options, const TrainInputs *inputs, GError **error);

/* ---- report-json.c, report-page.c ---- */

/* Write to the report's folder. Returns FALSE with an error. */
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

/* The axes of a diagram. Logarithmic axes begin above 0. */
typedef struct {
  const gchar *x_label, *y_label;
  gboolean x_log, y_log;
  gdouble x_first, x_last, y_first, y_last;
  gboolean legend_below; /* at the bottom, not the top */
} PlotAxes;

/* Appends the diagram of n curves as SVG. */
void plot_append (
    GString *out, const PlotAxes *axes, const PlotCurve *curves, guint n);

/* ---- thumbnail.c ---- */

/* Returns the box and its surroundings as the data URI of a PNG, NULL if out of
 * memory. */
gchar *thumbnail_uri (const CuvDatasetBox *box);

#endif
