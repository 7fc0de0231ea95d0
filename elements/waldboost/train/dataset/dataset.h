/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures with objects, to train and measure a classifier with.
 *
 *   store.c    grey pixels of all pictures, in a file that is mapped
 *   dataset.c  pictures, and which of them are learnt from
 *   samples.c  objects -> windows to learn from
 *   found.c    what a classifier finds and mistakes in pictures that it has not
 *              seen
 *   rates.c    how many of them, with confidence intervals
 *   training.c what the program and the element that train have in common */
#ifndef CUV_DATASET_H
#define CUV_DATASET_H

#include <glib.h>
#include "train/train.h"

/* ---- store.c ---- */

typedef struct _CuvStore CuvStore;

/* In a folder for temporary files; NULL with an error. */
CuvStore *cuv_store_new (const gchar *folder, GError **error);
void cuv_store_free (CuvStore *self); /* NULL is allowed */

/* Adds the grey of a frame in host memory. Returns the picture's number, or -1
 * with an error if there is no space left. */
gint64 cuv_store_add (CuvStore *self, const CuvFrame *frame, GError **error);

CuvFrame cuv_store_frame (const CuvStore *self, gint64 number);

/* ---- dataset.c ---- */

/* What pictures are used for. Those of the first two are in this order the
 * parts of a CuvTrainer. */
typedef enum {
  CUV_DATASET_LEARNING,
  CUV_DATASET_CALIBRATION,
  CUV_DATASET_TEST,
  CUV_DATASET_N_ROLES,
} CuvDatasetRole;

/* An object of a kind that is not learnt. */
typedef struct {
  CuvTrainBox box;
  const gchar *label; /* interned */
} CuvDatasetOther;

typedef struct {
  gchar *path; /* for messages */
  CuvFrame frame;
  struct _CuvDataset *dataset;
  gint width, height;
  gboolean is_window; /* an object without a picture around it */
  guint64 block;      /* frames of a film with the same number stay together;
                       * 0: none */
  GArray *objects;    /* of CuvTrainBox: those to learn */
  GArray *boxes;      /* of CuvTrainBox: no negatives */
  GArray *others;     /* of CuvDatasetOther: negatives; for reports */
} CuvDatasetPicture;

typedef struct _CuvDataset {
  CuvStore *store;
  GPtrArray *pictures;                   /* of CuvDatasetPicture */
  GPtrArray *roles[CUV_DATASET_N_ROLES]; /* the same, divided */
  gint stop; /* atomic: if set, training and measuring end soon, with results
              * that are not to be used */
  gint n_scanned; /* atomic: grows with each picture that is scanned or cut,
                   * for progress */
} CuvDataset;

/* folder: for temporary files. NULL with an error. */
CuvDataset *cuv_dataset_new (const gchar *folder, GError **error);
void cuv_dataset_free (CuvDataset *self); /* NULL is allowed */

/* Adds a frame in host memory, of which the grey is kept. NULL with an error.
 */
CuvDatasetPicture *cuv_dataset_add (
    CuvDataset *self, const gchar *path, const CuvFrame *frame, GError **error);

/* Adds an object without a picture around it. FALSE with an error. */
gboolean cuv_dataset_add_window (
    CuvDataset *self, const gchar *path, const CuvFrame *frame, GError **error);

guint cuv_dataset_count_with_objects (const CuvDataset *self);

/* Pictures with objects that are needed, for each role to have some. */
#define CUV_DATASET_LEAST_PICTURES 7

/* Gives each role its share of the pictures with objects, and of those
 * without, at random: 70, 15 and 15 %. Of windows, of which neighbours may be
 * variants of one picture, a role gets those that follow each other. */
void cuv_dataset_divide (CuvDataset *self, guint64 seed);

/* The same for frames of one film, in their order. As neighbours look alike,
 * roles get whole blocks of 25 frames or more: five to learn from, one to
 * calibrate, one to test, and again. A film of less than 350 frames has seven
 * shorter blocks. */
void cuv_dataset_divide_in_time (CuvDataset *self);

/* Of a role, for the trainer. */
CuvTrainPictures cuv_dataset_pictures (
    const CuvDataset *self, CuvDatasetRole role);

/* ---- samples.c ---- */

typedef struct {
  gdouble margin; /* shares of the box that are added on either side */
  gint n_copies;  /* windows of an object, the first one as it is */
  gboolean mirror;
  guint64 seed;
} CuvSampleOptions;

/* The box of a sample: with the margin, and its shorter side grown to the
 * window's aspect. */
CuvTrainBox cuv_sample_box (const CuvTrainBox *box, gdouble margin,
    gint window_width, gint window_height);

/* Adds windows of the objects of a part to the trainer. Returns the number of
 * objects that are smaller than the window, -1 if memory runs out. */
gint cuv_dataset_add_samples (const CuvDataset *dataset, CuvTrainPart part,
    CuvTrainer *trainer, const CuvTrainParams *params,
    const CuvSampleOptions *options);

/* To be called with the pixels of a sample; FALSE: memory ran out. */
typedef gboolean (*CuvSampleVisit) (
    gpointer data, const CuvDatasetPicture *picture, const guint8 *pixels);

/* The same samples, of any role. cascade: see cuv_train_plan_new(). */
gint cuv_dataset_visit_samples (const CuvDataset *dataset, CuvDatasetRole role,
    gint window_width, gint window_height, gboolean cascade,
    const CuvSampleOptions *options, CuvSampleVisit visit, gpointer data);

/* ---- found.c ---- */

/* An object of the data set, or a box where no object is. */
typedef struct {
  const CuvDatasetPicture *picture;
  CuvTrainBox box; /* of an object: cuv_sample_box() */
  gdouble score;   /* of the box that found the object; -INFINITY: missed */
} CuvDatasetBox;

/* Both in the order of falling scores. Windows are no pictures. Boxes on
 * objects that are not to be learnt are left out. */
typedef struct {
  guint n_pictures;
  guint n_overflows;       /* pictures with more hits than the detector lists */
  gdouble least;           /* boxes have higher scores: 0 without overflows */
  GArray *objects;         /* of CuvDatasetBox: all objects */
  GArray *mistakes;        /* of CuvDatasetBox */
  gdouble weak_per_window; /* mean number of weak classifiers evaluated */
} CuvDatasetFound;

/* How windows become boxes. */
typedef enum {
  CUV_DATASET_NMS, /* the best ones: the boxes above a score are those of a
                    * higher threshold, too */
  CUV_DATASET_NEIGHBOURS, /* as OpenCV's cascades do: where four are alike. A
                           * higher threshold gives other boxes */
} CuvDatasetGrouping;

/* What the detector finds in the pictures of a role. A box finds an object if
 * its intersection over union with cuv_sample_box() is 0.5 or more; each object
 * is found once. Where the detector would lose hits, its threshold is raised.
 * NULL if memory runs out. */
CuvDatasetFound *cuv_dataset_find (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvDatasetGrouping grouping);
void cuv_dataset_found_free (CuvDatasetFound *self); /* NULL is allowed */

/* Makes scores those of a model whose threshold was raised: boxes below it have
 * negative ones. */
void cuv_dataset_found_lower (CuvDatasetFound *self, gdouble by);

/* Intersection over union. */
gdouble cuv_dataset_overlap (const CuvTrainBox *a, const CuvTrainBox *b);

/* ---- rates.c ---- */

typedef struct {
  guint64 n, of;
} CuvCount;

/* A share and its 95 % confidence interval. */
typedef struct {
  gdouble value, low, high;
} CuvShare;

/* The share of all counts together, each being that of a picture. Samples of a
 * picture are correlated, so the interval is Wilson's with the effective number
 * of samples, from the variance between pictures, and Student's quantile.
 * cluster: samples that agree with each other; takes the place of the variance
 * where all are alike (1: independent). */
CuvShare cuv_share (const CuvCount *counts, guint n, gdouble cluster);

typedef struct {
  gdouble score, false_positives; /* the latter: of a picture */
  CuvShare recall;
} CuvTrainRate;

/* The receiver operating characteristic: the rates at each score, falling. */
GArray *cuv_dataset_rates (const CuvDatasetFound *found);

/* The same of the test pictures, and the mean number of weak classifiers that a
 * window took; NULL if memory runs out. */
GArray *cuv_dataset_measure (const CuvDataset *dataset,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    gdouble *weak_per_window);

/* Of windows, before they are grouped to boxes. */
typedef struct {
  CuvShare false_positives; /* of the windows that are negatives */
  CuvShare recall;          /* of the samples, see CuvSampleOptions */
  guint64 n_negatives, n_positives;
} CuvWindowRates;

/* FALSE if memory runs out. */
gboolean cuv_dataset_window_rates (const CuvDataset *dataset,
    CuvDatasetRole role, const CuvWaldboostModel *model,
    const CuvSampleOptions *options, CuvWindowRates *rates);

/* ---- training.c ---- */

/* Gives the trainer the windows of objects and the negatives of both parts;
 * returns the same as cuv_dataset_add_samples(). */
gint cuv_dataset_feed (const CuvDataset *dataset, CuvTrainer *trainer,
    const CuvTrainParams *params, const CuvSampleOptions *options);

/* Why training ended, for messages. */
const gchar *cuv_train_describe_end (CuvTrainState state);

/* Writes the model to a file that is replaced at once. comment: text without
 * "--". */
gboolean cuv_train_save (const CuvGridClassifier *classifier, const gchar *path,
    const gchar *comment, GError **error);

/* The best recall at no more false positives of a picture; all 0 if there is
 * none. */
CuvTrainRate cuv_train_rate_at (const GArray *rates, gdouble false_positives);

/* The threshold of scores, in units of 2^-CUV_TRAIN_LEAF_BITS, for pictures to
 * have no more false positives each: the score that as many mistakes exceed. If
 * fewer than 20 are allowed in these pictures, it is estimated from the scores
 * of the best 20, whose tail is taken for exponential: I. Weissman, Estimation
 * of Parameters and Large Quantiles Based on the k Largest Observations, JASA
 * 73, 1978. Where objects and mistakes are apart, it is between them, as in
 * other pictures objects may have lower scores and mistakes higher ones: the
 * geometric mean of that score and of what all objects but the share alpha
 * reach. It rejects no more than the share most_missed of the objects. */
gdouble cuv_dataset_threshold (const CuvDatasetFound *found,
    gdouble false_positives, gdouble alpha, gdouble most_missed);

/* That of a cascade, whose windows are grouped by neighbours: for these
 * pictures to have no more false positives each. Returns -1 if memory runs out.
 */
gdouble cuv_dataset_cascade_threshold (const CuvDataset *dataset,
    const CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives);

/* Raises the classifier's final threshold by that of the calibration pictures,
 * which rejects no more than half of their objects. FALSE if memory runs out.
 */
gboolean cuv_dataset_raise_threshold (const CuvDataset *dataset,
    CuvGridClassifier *classifier, const CuvSampleOptions *options,
    gdouble false_positives, gdouble alpha);

#endif
