/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures with objects, for training and measuring a classifier.
 *
 *   store.c    pixels of all pictures, in a mapped file
 *   dataset.c  pictures, divided into learning, calibration and test
 *   samples.c  objects -> positive samples
 *   found.c    objects that a classifier finds in pictures, and its mistakes
 *   rates.c    recall and false positives, with confidence intervals
 *   confidence.c  the fraction of boxes that are right, by score
 *   colour.c   pictures in colour; trains and measures trees on channels
 *   choice.c   chooses patterns or trees on channels by what they find
 *   training.c shared by cuvision-train and waldboosttrain: feeds a trainer,
 *              sets the final threshold, saves the model */
#ifndef CUV_DATASET_H
#define CUV_DATASET_H

#include <glib.h>
#include "train.h"
#include "trees/trainer.h"

/* ---- store.c ---- */

typedef struct _CuvStore CuvStore;

/* The pixels that are kept of a picture. */
typedef enum {
  CUV_STORE_GREY = 1, /* for patterns: a byte per pixel */
  /* for trees on channels: red, green and blue, three bytes per pixel */
  CUV_STORE_COLOURS = 2,
  CUV_STORE_BOTH = CUV_STORE_GREY | CUV_STORE_COLOURS,
} CuvStoreKeep;

/* Creates a store in a folder for temporary files. Returns NULL with an
 * error. */
CuvStore *cuv_store_new (const gchar *folder, GError **error);
void cuv_store_free (CuvStore *self); /* NULL is allowed */

/* Adds a picture: the grey values of one frame, and the red, green and blue
 * planes of another. Either frame may be NULL; both are in host memory. Returns
 * the picture's number, or -1 with an error if there is no space left. */
gint64 cuv_store_add (CuvStore *self, const CuvFrame *grey,
    const CuvFrame *colours, GError **error);

/* Return frames, without components if these pixels were not kept. */
CuvFrame cuv_store_grey (const CuvStore *self, gint64 number);
CuvFrame cuv_store_colours (const CuvStore *self, gint64 number);

/* ---- dataset.c ---- */

/* What pictures are used for. The first two roles are the parts of a
 * CuvTrainer, in this order. */
typedef enum {
  CUV_DATASET_LEARNING,
  CUV_DATASET_CALIBRATION,
  CUV_DATASET_TEST,
  CUV_DATASET_N_ROLES,
} CuvDatasetRole;

/* An object of a class that is not learnt. */
typedef struct {
  CuvTrainBox box;
  const gchar *label; /* interned */
} CuvDatasetOther;

typedef struct {
  gchar *path;            /* path of the file, for messages */
  CuvFrame grey, colours; /* without components if these pixels were not kept */
  struct _CuvDataset *dataset;
  gint width, height;
  /* boolean: the picture shows an object and nothing around it */
  gboolean is_window;
  /* frames of a video with the same number stay together; 0: no such group */
  guint64 block;
  GArray *objects; /* CuvTrainBox: objects to learn */
  /* CuvTrainBox: windows that overlap these boxes are not negatives */
  GArray *boxes;
  /* CuvDatasetOther: objects that are negatives; for reports */
  GArray *others;
} CuvDatasetPicture;

/* Intersections over union from which on a box finds an object: usually, and if
 * the object's own box may be off. */
#define CUV_LEAST_OVERLAP 0.5
#define CUV_LOOSE_OVERLAP 0.2

typedef struct _CuvDataset {
  CuvStore *store;
  GPtrArray *pictures;                   /* CuvDatasetPicture: all pictures */
  GPtrArray *roles[CUV_DATASET_N_ROLES]; /* pictures of each role */
  gdouble least_overlap;                 /* CUV_LEAST_OVERLAP at first */
  /* atomic: if set, training and measuring end soon, and their results must
   * not be used */
  gint stop;
  /* atomic: number of pictures scanned or cut so far, for progress */
  gint n_scanned;
} CuvDataset;

/* folder: for temporary files. Returns NULL with an error. */
CuvDataset *cuv_dataset_new (const gchar *folder, GError **error);
void cuv_dataset_free (CuvDataset *self); /* NULL is allowed */

/* Adds a picture, see cuv_store_add(). Returns NULL with an error. */
CuvDatasetPicture *cuv_dataset_add (CuvDataset *self, const gchar *path,
    const CuvFrame *grey, const CuvFrame *colours, GError **error);

/* Returns the pixels that a model sees. */
static inline const CuvFrame *
cuv_dataset_frame (
    const CuvDatasetPicture *picture, const CuvWaldboostModel *model)
{
  return model->channels != NULL ? &picture->colours : &picture->grey;
}

/* Adds a window: a grey picture of an object with nothing around it. Returns
 * FALSE with an error. */
gboolean cuv_dataset_add_window (
    CuvDataset *self, const gchar *path, const CuvFrame *frame, GError **error);

guint cuv_dataset_count_with_objects (const CuvDataset *self);
/* Counts the pictures that have colours and objects. */
guint cuv_dataset_count_in_colour (const CuvDataset *self);

/* Minimum number of pictures with objects with which each role has some. */
#define CUV_DATASET_LEAST_PICTURES 7

/* Divides pictures with objects, and pictures without, among the roles at
 * random: 70, 15 and 15 %. Windows are divided in their order, as successive
 * ones may be variants of one picture. */
void cuv_dataset_divide (CuvDataset *self, guint64 seed);

/* Divides the frames of one video among the roles in their order. Successive
 * frames look alike, so roles get whole blocks of 25 frames or more, in turn:
 * five blocks for learning, one for calibration, one for test. Videos of fewer
 * than 350 frames are divided into seven blocks, which may be shorter.
 * in_colour: leave out pictures without colours. */
void cuv_dataset_divide_in_time (CuvDataset *self, gboolean in_colour);

/* Returns the pictures of a role, for the trainer. */
CuvTrainPictures cuv_dataset_pictures (
    const CuvDataset *self, CuvDatasetRole role);

/* ---- samples.c ---- */

typedef struct {
  /* added to the box on each side, as a fraction of the box's size */
  gdouble margin;
  /* samples per object; all but the first are moved and scaled */
  gint n_copies;
  gboolean mirror;
  guint64 seed;
} CuvSampleOptions;

/* Returns the box of a sample: the object's box with the margin, and with its
 * shorter side extended to the window's aspect ratio. */
CuvTrainBox cuv_sample_box (const CuvTrainBox *box, gdouble margin,
    gint window_width, gint window_height);

/* Adds the samples of a part to the trainer. Returns the number of objects that
 * are left out because they are smaller than the window, or -1 if memory runs
 * out. */
gint cuv_dataset_add_samples (const CuvDataset *dataset, CuvTrainPart part,
    CuvTrainer *trainer, const CuvTrainParams *params,
    const CuvSampleOptions *options);

/* Called with the pixels of each sample; returns FALSE if memory runs out. */
typedef gboolean (*CuvSampleVisit) (
    gpointer data, const CuvDatasetPicture *picture, const guint8 *pixels);

/* Visits, for any role, the samples that cuv_dataset_add_samples() would add,
 * and returns the same. cascade: see cuv_train_plan_new(). */
gint cuv_dataset_visit_samples (const CuvDataset *dataset, CuvDatasetRole role,
    gint window_width, gint window_height, gboolean cascade,
    const CuvSampleOptions *options, CuvSampleVisit visit, gpointer data);

/* ---- found.c ---- */

/* An object of the data set, or a box of the detector without an object. */
typedef struct {
  const CuvDatasetPicture *picture;
  CuvTrainBox box; /* objects: the box of cuv_sample_box() */
  /* objects: score of the box that found it; -INFINITY: missed */
  gdouble score;
} CuvDatasetBox;

/* The results of a detector. Objects and mistakes are sorted by descending
 * score. n_pictures does not count windows, and boxes on objects that are not
 * learnt are ignored. */
typedef struct {
  guint n_pictures;
  /* number of pictures with more hits than the detector lists */
  guint n_overflows;
  /* all boxes have higher scores; 0 without overflows */
  gdouble least;
  GArray *objects;  /* CuvDatasetBox: all objects */
  GArray *mistakes; /* CuvDatasetBox: boxes without an object */
  /* mean number of weak classifiers evaluated per window */
  gdouble weak_per_window;
} CuvDatasetFound;

/* How windows are grouped into boxes. */
typedef enum {
  /* the best windows; a higher threshold only drops boxes */
  CUV_DATASET_NMS,
  /* groups of at least four similar windows, as in OpenCV's cascades; a
   * higher threshold changes boxes */
  CUV_DATASET_NEIGHBOURS,
} CuvDatasetGrouping;

/* Runs the detector on the pictures of a role. A box finds an object if its
 * intersection over union with cuv_sample_box() (for trees on channels, with
 * the object's own box) is 0.5 or more; each object is found at most once. If a
 * picture has more hits than the detector can list, the threshold is raised.
 * Returns NULL if memory runs out. */
CuvDatasetFound *cuv_dataset_find (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvDatasetGrouping grouping);
void cuv_dataset_found_free (CuvDatasetFound *self); /* NULL is allowed */

/* Subtracts `by` from all scores, as if the model's threshold were raised by
 * it: boxes below the new threshold get negative scores. */
void cuv_dataset_found_lower (CuvDatasetFound *self, gdouble by);

/* Returns the intersection over union. */
gdouble cuv_dataset_overlap (const CuvTrainBox *a, const CuvTrainBox *b);

/* ---- rates.c ---- */

typedef struct {
  guint64 n, of;
} CuvCount;

/* A ratio and its 95 % confidence interval. */
typedef struct {
  gdouble value, low, high;
} CuvShare;

/* Returns the ratio of the sums of all counts; there is one count per
 * picture. As samples of a picture are correlated, the interval is Wilson's
 * with Student's quantile and the effective number of samples, which is
 * estimated from the variance between pictures. If there is only one
 * picture, or the ratio is 0 or 1, the variance cannot be estimated, and
 * cluster is used instead: the number of samples that agree with each other
 * (1: independent). */
CuvShare cuv_share (const CuvCount *counts, guint n, gdouble cluster);

typedef struct {
  gdouble score, false_positives; /* false_positives: mean number per picture */
  CuvShare recall;
} CuvTrainRate;

/* Returns the receiver operating characteristic: an array of CuvTrainRate by
 * descending score. */
GArray *cuv_dataset_rates (const CuvDatasetFound *found);

/* Returns the rates in the test pictures, as cuv_dataset_rates() does, and sets
 * *weak_per_window to the mean number of weak classifiers evaluated per window.
 * Returns NULL if memory runs out. */
GArray *cuv_dataset_measure (const CuvDataset *dataset,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    gdouble *weak_per_window);

/* Typical number of hits around a mistake, at adjacent positions and sizes.
 * This is an assumption, not a measurement; it only widens intervals for which
 * cuv_share() cannot estimate the variance. */
#define CUV_MISTAKE_CLUSTER 10

/* Rates of windows before they are grouped into boxes. */
typedef struct {
  CuvShare false_positives; /* fraction of negative windows that are accepted */
  /* fraction of samples that are accepted, see CuvSampleOptions */
  CuvShare recall;
  guint64 n_negatives, n_positives;
} CuvWindowRates;

/* Measures the rates of windows in the pictures of a role. Returns FALSE if
 * memory runs out. */
gboolean cuv_dataset_window_rates (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvWindowRates *rates);

/* ---- confidence.c ---- */

/* Of the boxes with a score, the fraction 1 / (1 + exp (-(score - even) /
 * spread)) is right. */
typedef struct {
  gdouble even, spread;
} CuvConfidence;

/* Fits the curve to accepted boxes, whose score is 0 or more. If fewer than 20
 * of these are mistakes, boxes with lower scores are added, down to the 20th
 * mistake. spread is 0 if there are no boxes. Source: J. Platt, Probabilistic
 * Outputs for Support Vector Machines, 1999. */
CuvConfidence cuv_dataset_confidence (const CuvDatasetFound *found);

/* Writes the confidence to a model. threshold: sum of a window whose score is
 * 0. */
void cuv_dataset_set_confidence (const CuvDatasetFound *found,
    gdouble threshold, CuvChannelsModel *channels);

/* ---- colour.c ---- */

/* Adds a picture of any format. matrix: converts its YUV, see
 * cuv_channels_planes_make(). Returns NULL with an error. */
CuvDatasetPicture *cuv_dataset_add_frame (CuvDataset *self, const gchar *path,
    const CuvFrame *frame, const CuvRgbMatrix *matrix, CuvStoreKeep keep,
    GError **error);

/* Trains trees on channels from a data set in colour. Copies, mirror and seed
 * come from options, all other parameters from params. See
 * cuv_train_channels(). */
CuvTrainChannelsState cuv_dataset_train_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    CuvChannelsModel **model);

/* Call cuv_train_channels_save_header() and _check_header() for this
 * training. */
void cuv_dataset_save_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    guint8 *bytes);
gboolean cuv_dataset_check_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    const guint8 *bytes, gsize size, gchar *problem);

/* Measures for trees on channels what cuv_dataset_window_rates() measures for
 * other models. Windows that overlap an object by more than
 * CUV_TRAIN_MAX_OVERLAP are not negatives. Returns FALSE if memory runs out. */
gboolean cuv_dataset_channels_rates (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvWindowRates *rates);

/* Converts parameters to those of trees on channels: window, numbers of trees
 * and negatives, and alpha. */
CuvTrainChannelsParams cuv_dataset_channels_params (
    const CuvTrainParams *params);

/* ---- choice.c ---- */

/* The results of one kind of features. */
typedef struct {
  const gchar *name;
  const GArray *rates; /* rates in the pictures kept out of training */
  guint n_objects;     /* number of objects in these pictures */
} CuvFeaturesFound;

/* Returns whether channels are better. They are if their recall is higher at
 * this number of false positives per picture. If recall is the same there, the
 * mean recall from 0 to that number of false positives decides if it differs by
 * more than one object, otherwise the caller's preference. Times are not
 * compared, because the model would then depend on the machine. *why is set to
 * a text that begins with "took"; free it. */
gboolean cuv_features_choose (const CuvFeaturesFound *patterns,
    const CuvFeaturesFound *channels, gdouble false_positives,
    gboolean prefers_channels, gchar **why);

/* ---- training.c ---- */

/* Passes samples and pictures of both parts to the trainer; returns the same as
 * cuv_dataset_add_samples(). */
gint cuv_dataset_feed (const CuvDataset *dataset, CuvTrainer *trainer,
    const CuvTrainParams *params, const CuvSampleOptions *options);

/* Returns why training ended, as text for messages. */
const gchar *cuv_train_describe_end (CuvTrainState state);

/* Writes the model to a file, which is replaced atomically. comment: a text
 * without "--". */
gboolean cuv_train_save (const CuvGridClassifier *classifier, const gchar *path,
    const gchar *comment, GError **error);

gboolean cuv_train_save_channels (const CuvChannelsModel *channels,
    const gchar *path, const gchar *comment, GError **error);

/* Returns the rate with the highest recall among those with at most this many
 * false positives per picture; all fields are 0 if there is none. */
CuvTrainRate cuv_train_rate_at (const GArray *rates, gdouble false_positives);

/* Returns the score that about this many mistakes per picture exceed; see
 * cuv_dataset_threshold(). */
gdouble cuv_dataset_limit (
    const CuvDatasetFound *found, gdouble false_positives);

/* Returns the threshold of scores, a multiple of 2^-CUV_TRAIN_LEAF_BITS, at
 * which pictures have about this many false positives each: the score that this
 * many mistakes exceed. If fewer than 20 mistakes are allowed in all of these
 * pictures, the score is estimated from the best 20 scores, with an exponential
 * tail: I. Weissman, Estimation of Parameters and Large Quantiles Based on the
 * k Largest Observations, JASA 73, 1978. If objects and mistakes are separated,
 * the threshold lies between them, because in other pictures objects may have
 * lower scores and mistakes higher ones: it is the geometric mean of that score
 * and of the score that all objects except the fraction alpha reach. The
 * threshold rejects at most the fraction most_missed of the objects. */
gdouble cuv_dataset_threshold (const CuvDatasetFound *found,
    gdouble false_positives, gdouble alpha, gdouble most_missed);

/* Returns the threshold of a cascade, whose windows are grouped by neighbours,
 * or -1 if memory runs out. */
gdouble cuv_dataset_cascade_threshold (const CuvDataset *dataset,
    const CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives);

/* Raises the classifier's final threshold to suit the calibration pictures;
 * this rejects at most half of their objects. Returns FALSE if memory runs
 * out. */
gboolean cuv_dataset_raise_threshold (const CuvDataset *dataset,
    CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha);

/* Does what cuv_dataset_raise_threshold() does, for trees on channels. */
gboolean cuv_dataset_raise_channels (const CuvDataset *dataset,
    CuvChannelsModel *channels, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha);

#endif
