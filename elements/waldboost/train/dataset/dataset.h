/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures with objects, to train and measure a classifier with.
 *
 *   store.c    pixels of all pictures, in a mapped file
 *   dataset.c  pictures, divided into learning, calibration and test
 *   samples.c  objects -> positive samples
 *   found.c    objects that a classifier finds in pictures, and its mistakes
 *   rates.c    recall and false positives, with confidence intervals
 *   confidence.c  the share of boxes that are right, by score
 *   colour.c   pictures in colour; trains and measures trees on channels
 *   choice.c   patterns or trees on channels, by what they find
 *   training.c shared by cuvision-train and waldboosttrain: feeds a trainer,
 *              sets the final threshold, saves the model */
#ifndef CUV_DATASET_H
#define CUV_DATASET_H

#include <glib.h>
#include "train/channels/trainer.h"
#include "train/train.h"

/* ---- store.c ---- */

typedef struct _CuvStore CuvStore;

/* What is kept of a picture. */
typedef enum {
  CUV_STORE_GREY = 1,    /* for patterns: a byte per pixel */
  CUV_STORE_COLOURS = 2, /* red, green and blue for trees on channels: three */
  CUV_STORE_BOTH = CUV_STORE_GREY | CUV_STORE_COLOURS,
} CuvStoreKeep;

/* Creates a store in a folder for temporary files. Returns NULL with an
 * error. */
CuvStore *cuv_store_new (const gchar *folder, GError **error);
void cuv_store_free (CuvStore *self); /* NULL is allowed */

/* Adds a picture: the grey values of one frame and the planes of another, of R,
 * G and B. Either may be NULL. Both are in host memory. Returns the picture's
 * number, or -1 with an error if there is no space left. */
gint64 cuv_store_add (CuvStore *self, const CuvFrame *grey,
    const CuvFrame *colours, GError **error);

/* Frames without components if that was not kept. */
CuvFrame cuv_store_grey (const CuvStore *self, gint64 number);
CuvFrame cuv_store_colours (const CuvStore *self, gint64 number);

/* ---- dataset.c ---- */

/* What pictures are used for. The first two are the parts of a CuvTrainer, in
 * this order. */
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
  gchar *path;            /* path for use in messages */
  CuvFrame grey, colours; /* without components if not kept */
  struct _CuvDataset *dataset;
  gint width, height;
  gboolean is_window; /* an object without a picture around it */
  guint64 block;      /* frames of a video with the same number stay together;
                       * 0: none */
  GArray *objects;    /* of CuvTrainBox: the objects to learn */
  GArray *boxes;      /* of CuvTrainBox: windows that overlap them are not
                       * negatives */
  GArray *others;     /* of CuvDatasetOther: objects that are negatives; for
                       * reports */
} CuvDatasetPicture;

typedef struct _CuvDataset {
  CuvStore *store;
  GPtrArray *pictures; /* CuvDatasetPicture, of all pictures */
  GPtrArray *roles[CUV_DATASET_N_ROLES]; /* the pictures of each role */
  gint stop; /* atomic: if set, training and measuring end soon; their results
              * must not be used */
  gint n_scanned; /* atomic: grows with each picture that is scanned or cut,
                   * for progress */
} CuvDataset;

/* folder: for temporary files. Returns NULL with an error. */
CuvDataset *cuv_dataset_new (const gchar *folder, GError **error);
void cuv_dataset_free (CuvDataset *self); /* NULL is allowed */

/* Adds a picture, see cuv_store_add(). Returns NULL with an error. */
CuvDatasetPicture *cuv_dataset_add (CuvDataset *self, const gchar *path,
    const CuvFrame *grey, const CuvFrame *colours, GError **error);

/* The pixels that a model sees. */
static inline const CuvFrame *
cuv_dataset_frame (
    const CuvDatasetPicture *picture, const CuvWaldboostModel *model)
{
  return model->channels != NULL ? &picture->colours : &picture->grey;
}

/* Adds an object without a picture around it, in grey. Returns FALSE with an
 * error. */
gboolean cuv_dataset_add_window (
    CuvDataset *self, const gchar *path, const CuvFrame *frame, GError **error);

guint cuv_dataset_count_with_objects (const CuvDataset *self);
/* Those in colour. */
guint cuv_dataset_count_in_colour (const CuvDataset *self);

/* Minimum number of pictures with objects, so that each role has some. */
#define CUV_DATASET_LEAST_PICTURES 7

/* Divides the pictures with objects, and those without, among the roles at
 * random: 70, 15 and 15 %. Windows are divided in their order, as neighbours
 * may be variants of one picture. */
void cuv_dataset_divide (CuvDataset *self, guint64 seed);

/* Divides the frames of one video among the roles in their order. Neighbours
 * look alike, so roles get whole blocks of 25 frames or more: five to learn
 * from, one to calibrate, one to test, and so on in turn. A video of less than
 * 350 frames is divided into seven blocks. in_colour: leaves out pictures
 * without colours. */
void cuv_dataset_divide_in_time (CuvDataset *self, gboolean in_colour);

/* The pictures of a role, for the trainer. */
CuvTrainPictures cuv_dataset_pictures (
    const CuvDataset *self, CuvDatasetRole role);

/* ---- samples.c ---- */

typedef struct {
  gdouble margin; /* added to the box on either side, as a share of its size */
  gint n_copies;  /* samples of an object; all but the first are moved and
                   * scaled */
  gboolean mirror;
  guint64 seed;
} CuvSampleOptions;

/* The box of a sample: with the margin, and its shorter side extended to the
 * window's aspect. */
CuvTrainBox cuv_sample_box (const CuvTrainBox *box, gdouble margin,
    gint window_width, gint window_height);

/* Adds the samples of a part to the trainer. Returns the number of objects that
 * are left out because they are smaller than the window, -1 if memory runs
 * out. */
gint cuv_dataset_add_samples (const CuvDataset *dataset, CuvTrainPart part,
    CuvTrainer *trainer, const CuvTrainParams *params,
    const CuvSampleOptions *options);

/* Called with the pixels of each sample; FALSE if memory runs out. */
typedef gboolean (*CuvSampleVisit) (
    gpointer data, const CuvDatasetPicture *picture, const guint8 *pixels);

/* Visits the samples that cuv_dataset_add_samples() adds, of any role. cascade:
 * see cuv_train_plan_new(). */
gint cuv_dataset_visit_samples (const CuvDataset *dataset, CuvDatasetRole role,
    gint window_width, gint window_height, gboolean cascade,
    const CuvSampleOptions *options, CuvSampleVisit visit, gpointer data);

/* ---- found.c ---- */

/* An object of the data set, or a box of the detector without an object. */
typedef struct {
  const CuvDatasetPicture *picture;
  CuvTrainBox box; /* of an object: cuv_sample_box() */
  gdouble score;   /* score of the box that found the object; -INFINITY:
                    * missed */
} CuvDatasetBox;

/* Objects and mistakes are sorted by descending score. Pictures that are
 * windows are left out, and so are boxes on objects that are not learnt. */
typedef struct {
  guint n_pictures;
  guint n_overflows;       /* pictures with more hits than the detector lists */
  gdouble least;           /* all boxes have higher scores; 0 without
                            * overflows */
  GArray *objects;         /* of CuvDatasetBox: all objects */
  GArray *mistakes;        /* CuvDatasetBox: boxes without an object */
  gdouble weak_per_window; /* mean number of weak classifiers evaluated */
} CuvDatasetFound;

/* How windows become boxes. */
typedef enum {
  CUV_DATASET_NMS,        /* the best windows: raising the threshold only drops
                           * boxes */
  CUV_DATASET_NEIGHBOURS, /* as OpenCV's cascades do: groups of four similar
                           * windows or more. Raising the threshold changes the
                           * boxes */
} CuvDatasetGrouping;

/* Runs the detector on the pictures of a role. A box finds an object if its
 * intersection over union with cuv_sample_box(), or of trees on channels with
 * the object's own box, is 0.5 or more; each object is
 * found at most once. If a picture has too many hits for the detector's list,
 * the threshold is raised. Returns NULL if memory runs out. */
CuvDatasetFound *cuv_dataset_find (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvDatasetGrouping grouping);
void cuv_dataset_found_free (CuvDatasetFound *self); /* NULL is allowed */

/* Subtracts `by` from all scores, as if the model's threshold were raised:
 * boxes below the new threshold have negative scores. */
void cuv_dataset_found_lower (CuvDatasetFound *self, gdouble by);

/* Intersection over union. */
gdouble cuv_dataset_overlap (const CuvTrainBox *a, const CuvTrainBox *b);

/* ---- rates.c ---- */

typedef struct {
  guint64 n, of;
} CuvCount;

/* A ratio and its 95 % confidence interval. */
typedef struct {
  gdouble value, low, high;
} CuvShare;

/* The ratio of the sums of all counts; there is one count per picture. Samples
 * of a picture are correlated, so the interval is Wilson's with the effective
 * number of samples, from the variance between pictures, and Student's
 * quantile. cluster: the number of samples that agree with each other (1:
 * independent); used if the variance cannot be estimated: with one picture, or
 * if the ratio is 0 or 1. */
CuvShare cuv_share (const CuvCount *counts, guint n, gdouble cluster);

typedef struct {
  gdouble score, false_positives; /* false_positives: per picture */
  CuvShare recall;
} CuvTrainRate;

/* The receiver operating characteristic: an array of CuvTrainRate, by
 * descending score. */
GArray *cuv_dataset_rates (const CuvDatasetFound *found);

/* Returns the rates in the test pictures, as cuv_dataset_rates() does, and sets
 * *weak_per_window to the mean number of weak classifiers evaluated per window.
 * Returns NULL if memory runs out. */
GArray *cuv_dataset_measure (const CuvDataset *dataset,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    gdouble *weak_per_window);

/* Typical number of hits around a mistake, at adjacent positions and sizes. An
 * assumption, not measured; it only widens intervals for which cuv_share()
 * cannot estimate the variance. */
#define CUV_MISTAKE_CLUSTER 10

/* Rates of windows, before these are grouped into boxes. */
typedef struct {
  CuvShare false_positives; /* share of the negative windows that are
                             * accepted */
  CuvShare recall;          /* share of the samples that are accepted, see
                             * CuvSampleOptions */
  guint64 n_negatives, n_positives;
} CuvWindowRates;

/* Returns FALSE if memory runs out. */
gboolean cuv_dataset_window_rates (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvWindowRates *rates);

/* ---- confidence.c ---- */

/* 1 / (1 + exp (-(score - even) / spread)) of the boxes with a score are right.
 */
typedef struct {
  gdouble even, spread;
} CuvConfidence;

/* From accepted boxes, whose score is 0 or more, but from 20 mistakes at least
 * if there are any below. spread is 0 if there are no boxes. Source: J. Platt,
 * Probabilistic Outputs for Support Vector Machines, 1999. */
CuvConfidence cuv_dataset_confidence (const CuvDatasetFound *found);

/* Writes it to a model. threshold: sum of a window whose score is 0. */
void cuv_dataset_set_confidence (const CuvDatasetFound *found,
    gdouble threshold, CuvChannelsModel *channels);

/* ---- colour.c ---- */

/* Adds a picture of any format; matrix: that of its YUV, see
 * cuv_channels_planes_make(). Returns NULL with an error. */
CuvDatasetPicture *cuv_dataset_add_frame (CuvDataset *self, const gchar *path,
    const CuvFrame *frame, const CuvRgbMatrix *matrix, CuvStoreKeep keep,
    GError **error);

/* Trains trees on channels from a data set in colour: options has copies,
 * mirror and seed, params the shape, and trees but for their seed. See
 * cuv_train_channels(). */
CuvTrainChannelsState cuv_dataset_train_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    CuvChannelsModel **model);

/* cuv_train_channels_save_header() and _check_header() for this training. */
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

/* The training of trees on channels with the window, number of trees and
 * negatives, and alpha of these. */
CuvTrainChannelsParams cuv_dataset_channels_params (
    const CuvTrainParams *params);

/* ---- choice.c ---- */

/* What one kind of features finds. */
typedef struct {
  const gchar *name;
  const GArray *rates; /* in the pictures kept out of training */
  guint n_objects;     /* in these */
} CuvFeaturesFound;

/* Whether channels are better. They are if their recall is higher at this
 * number of false positives per picture. If it is the same, the mean recall
 * from no false positives to that number decides, if it differs by more than
 * one object; otherwise what the caller prefers. Times are not compared: the
 * model would depend on the machine. *why: a text that begins with "took"; free
 * it.
 */
gboolean cuv_features_choose (const CuvFeaturesFound *patterns,
    const CuvFeaturesFound *channels, gdouble false_positives,
    gboolean prefers_channels, gchar **why);

/* ---- training.c ---- */

/* Passes samples and pictures of both parts to the trainer; returns the same as
 * cuv_dataset_add_samples(). */
gint cuv_dataset_feed (const CuvDataset *dataset, CuvTrainer *trainer,
    const CuvTrainParams *params, const CuvSampleOptions *options);

/* Why training ended, as text for messages. */
const gchar *cuv_train_describe_end (CuvTrainState state);

/* Writes the model to a file, which is replaced atomically. comment: text
 * without "--". */
gboolean cuv_train_save (const CuvGridClassifier *classifier, const gchar *path,
    const gchar *comment, GError **error);

gboolean cuv_train_save_channels (const CuvChannelsModel *channels,
    const gchar *path, const gchar *comment, GError **error);

/* The rate of best recall with at most this many false positives per picture;
 * all 0 if there is none. */
CuvTrainRate cuv_train_rate_at (const GArray *rates, gdouble false_positives);

/* The score that about this many mistakes per picture exceed; see
 * cuv_dataset_threshold(). */
gdouble cuv_dataset_limit (
    const CuvDatasetFound *found, gdouble false_positives);

/* The threshold of scores at which pictures have about this many false
 * positives each, a multiple of 2^-CUV_TRAIN_LEAF_BITS: the score that this
 * many mistakes exceed. If fewer than 20 mistakes are allowed in these
 * pictures, it is estimated from the best 20 scores, with an exponential tail:
 * I. Weissman, Estimation of Parameters and Large Quantiles Based on the k
 * Largest Observations, JASA 73, 1978. If objects and mistakes are separated,
 * the threshold lies between them, as in other pictures objects may have lower
 * scores and mistakes higher ones: it is the geometric mean of that score and
 * of the score that all objects but the share alpha reach. It rejects at most
 * the share most_missed of the objects. */
gdouble cuv_dataset_threshold (const CuvDatasetFound *found,
    gdouble false_positives, gdouble alpha, gdouble most_missed);

/* Returns the threshold of a cascade, whose windows are grouped by neighbours,
 * or -1 if memory runs out. */
gdouble cuv_dataset_cascade_threshold (const CuvDataset *dataset,
    const CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives);

/* Raises the classifier's final threshold to suit the calibration pictures;
 * rejects at most half of their objects. Returns FALSE if memory runs out. */
gboolean cuv_dataset_raise_threshold (const CuvDataset *dataset,
    CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha);

/* The same for trees on channels. */
gboolean cuv_dataset_raise_channels (const CuvDataset *dataset,
    CuvChannelsModel *channels, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha);

#endif
