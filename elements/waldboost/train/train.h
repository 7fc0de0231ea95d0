/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training of WaldBoost classifiers (J. Sochman, J. Matas, WaldBoost - Learning
 * for Time Constrained Sequential Detection, CVPR 2005), and a map of this
 * folder.
 *
 * Callers: sink/gstwaldboosttraining.c and tools/train. They fill a data set
 * (dataset/), which feeds a CuvTrainer with positives and with pictures to
 * find negatives in, and call cuv_trainer_step() until it is done.
 *
 * A step, in the order in which it runs:
 *   learner.c    one step: chooses a feature, sets leaves and threshold
 *   pool.c       the samples; replaces rejected negatives by new ones
 *   negatives.c  draws windows that the classifier does not reject
 * exclude.c windows that overlap an object and thus are not negatives
 *   reservoir.c  the windows drawn: those of the smallest random ranks
 *   pictures.c   pictures -> windows, as the detector sees them
 *   backend.c    the choice of a feature, on the CPU or the GPU; also of the
 *                nodes of a tree on channels
 * Also:
 *   memory.c     memory for samples, which may be backed by a file
 *   state.c      saves a training and resumes it; identity.c: its header
 *   channels/    trees on channels; see channels/trees.h
 *   reference/   the definition of what is learnt, in plain C
 *     features.c   all features of a window, and their codes
 *     boost.c      weights of samples, weak classifiers
 *     threshold.c  when a window is rejected
 *   cpu/         the hot loops made fast, with threads and AVX2
 *     feature-chooser*.c  the choice of a feature; on the GPU
 *                         cuda/waldboost/feature-chooser.cu
 *     codes*.c     the codes of many samples
 *   dataset/     pictures with objects; see dataset/dataset.h
 *
 * A sample is a window's grey pixels, cut out of a level of the pyramid that
 * the detector scans. A classifier adds up leaves, one for each weak
 * classifier; leaves, their sums and the thresholds are integers in units of
 * 2^-CUV_TRAIN_LEAF_BITS, which float and fixed-point detectors represent
 * exactly. */
#ifndef CUV_TRAIN_H
#define CUV_TRAIN_H

#include <pthread.h>
#include "cuvbackend.h"
#include "model/model.h"
#include "waldboost.h"

enum {
  CUV_TRAIN_LEAF_BITS = 12,
  CUV_TRAIN_MIN_WINDOW = 8, /* pixels, each side */
  CUV_TRAIN_MAX_WINDOW = 128,
  CUV_TRAIN_MAX_CODES = 256,
  CUV_TRAIN_MAX_SUM = 100000, /* limit of the magnitude of a sum of leaves */
  CUV_TRAIN_PROBLEM = 512,    /* bytes of the text of an error */
};

/* The next random number of S. Vigna's SplitMix64; state may start with any
 * value. */
static inline uint64_t
cuv_train_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* ---- features ---- */

/* The features to choose from. */
typedef struct {
  CuvFeature feature; /* LBP, LRD or LRP */
  int32_t window_width, window_height;
  int32_t n_codes; /* codes are 0 .. n_codes - 1 */
  int32_t n;
  CuvGridNode *nodes;
  /* LBP for an OpenCV cascade: codes are inclusive, weak classifiers are
   * stumps; cuv_train_features_init() sets it to false */
  bool cascade;
} CuvTrainFeatures;

/* Every position and size of 3x3 blocks that fits the window, and for LRD and
 * LRP every pair of blocks a < b; at most n_max of them, chosen at random by
 * seed. Returns false if memory runs out. */
bool cuv_train_features_init (CuvTrainFeatures *self, CuvFeature feature,
    int window_width, int window_height, int32_t n_max, uint64_t seed);
void cuv_train_features_clear (CuvTrainFeatures *self);

/* The codes of a sample: codes[f * pitch] is that of feature f. pixels: rows of
 * window_width bytes. */
void cuv_train_codes (const CuvTrainFeatures *self, const uint8_t *pixels,
    uint8_t *codes, size_t pitch);

/* ---- samples ---- */

/* The samples of a round; positives come first. */
typedef struct {
  int32_t n, n_positives;
  int32_t n_alive;      /* samples with a mass above 0 */
  const uint8_t *codes; /* code of feature f, sample i: codes[f * pitch + i] */
  size_t pitch;
  double *masses;    /* products of the factors of all rounds; 0: rejected */
  uint32_t *weights; /* masses, times a power of two */
  int32_t *sums;     /* sums of leaves */
} CuvTrainSet;

/* Sets the masses of all samples as before the first round: 1/2 for the
 * positives together, 1/2 for the negatives. */
void cuv_train_begin (CuvTrainSet *set);

/* Sets the masses of samples first .. end - 1, which must be of one class. */
void cuv_train_begin_class (CuvTrainSet *set, int32_t first, int32_t end);

/* ---- a round ---- */

/* Sums of weights by code, for each class. */
typedef struct {
  uint64_t positives[CUV_TRAIN_MAX_CODES];
  uint64_t negatives[CUV_TRAIN_MAX_CODES];
} CuvTrainHistogram;

typedef struct {
  int32_t feature;
  int32_t leaves[CUV_TRAIN_MAX_CODES];
} CuvTrainWeak;

/* Rounds the masses to weights; the largest is in 2^31 .. 2^32 - 1. */
void cuv_train_weigh (CuvTrainSet *set);

void cuv_train_count (
    const CuvTrainSet *set, int32_t feature, CuvTrainHistogram *histogram);

/* The error bound of real AdaBoost, up to a factor: the sum over the codes of
 * sqrt (positives * negatives), in double and in order of the codes. */
double cuv_train_loss (const CuvTrainHistogram *histogram, int n_codes);

/* The codes, divided into two parts. */
typedef struct {
  bool high[CUV_TRAIN_MAX_CODES];      /* whether a code is in the high part */
  uint64_t positives[2], negatives[2]; /* sums of weights of the low and the
                                        * high part */
} CuvTrainSplit;

/* Finds the split of least loss: sorts the codes by the share of positives in
 * their weight (0 without weight; equal shares by code) and cuts the sequence;
 * of several such cuts takes the first. Returns the loss, the sum over both
 * parts of sqrt (positives * negatives). No other split has a smaller loss: L.
 * Breiman et al., Classification and Regression Trees, 1984, theorem 4.5. */
double cuv_train_split (
    const CuvTrainHistogram *histogram, int n_codes, CuvTrainSplit *split);

/* The feature whose codes or, in a cascade, whose split has the least loss; of
 * several, the first. */
int32_t cuv_train_choose_feature (
    const CuvTrainFeatures *features, const CuvTrainSet *set);

/* leaf = 1/2 ln ((P + e) / (N + e)), where P and N are the weights of a code
 * divided by those of all samples, and e = 1 / (2 n). */
void cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Leaves of a split, likewise: all codes of a part have the same leaf. */
void cuv_train_split_leaves (const CuvTrainSplit *split, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Adds leaves by code to the sums of samples first .. end - 1, and multiplies
 * their masses by exp (-leaf), those of negatives by exp (leaf). codes: of
 * these samples. */
void cuv_train_add_leaves (CuvTrainSet *set, int32_t first, int32_t end,
    const int32_t *leaves, int n_codes, const uint8_t *codes);

/* A whole round without the threshold. */
void cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak);

/* Does a round with a feature that has already been chosen with the set's
 * weights. */
void cuv_train_learn (const CuvTrainFeatures *features, CuvTrainSet *set,
    int32_t feature, CuvTrainWeak *weak);

/* ---- rejection ---- */

/* Sums of the samples of one class that are not rejected, in ascending order,
 * and the share of that class not rejected so far. */
typedef struct {
  const int32_t *sums;
  int32_t n;
  double alive; /* share not rejected so far, 0 .. 1 */
} CuvTrainLiving;

#define CUV_TRAIN_NO_THRESHOLD INT32_MIN

/* Wald's sequential probability ratio test: the largest threshold, a sum of a
 * positive, for which the share of all negatives rejected so far, with those
 * below it, exceeds 1 / alpha times that of the positives.
 * CUV_TRAIN_NO_THRESHOLD if there is none. alpha: the share of positives that
 * all thresholds together may reject, 0 < alpha < 1. */
int32_t cuv_train_threshold (const CuvTrainLiving *positives,
    const CuvTrainLiving *negatives, double alpha);

/* ---- pictures ---- */

/* The levels of a picture's pyramid, as the detector scans them. */
typedef struct {
  const CuvWaldboostPlan *plan;
  uint8_t *grey;
  uint8_t **levels; /* rows of the level's width; NULL: not computed yet */
} CuvTrainPyramid;

/* The plan of a dense scan with as many octaves as fit or, for a cascade, of
 * OpenCV's scan with its usual scale factor of 1.1. model: NULL, or a model of
 * that kind and window. Returns NULL if memory runs out; free it with
 * cuv_waldboost_plan_free(). */
CuvWaldboostPlan *cuv_train_plan_new (const CuvWaldboostModel *model,
    bool cascade, int window_width, int window_height, int width, int height);

/* Returns false if memory runs out. frame: of the plan's size. */
bool cuv_train_pyramid_init (
    CuvTrainPyramid *self, const CuvWaldboostPlan *plan, const CuvFrame *frame);
void cuv_train_pyramid_clear (CuvTrainPyramid *self);

/* Computes a level unless that was done before. Returns false if memory runs
 * out. */
bool cuv_train_pyramid_make (CuvTrainPyramid *self, int level);

/* A window of a level. */
typedef struct {
  int32_t level, x, y; /* level pixels */
} CuvTrainWindow;

/* Copies the pixels of a window, row by row. Its level must have been
 * computed. */
void cuv_train_cut (const CuvTrainPyramid *self, const CuvTrainWindow *window,
    int window_width, int window_height, uint8_t *pixels);

/* An object in a picture, in pixels of the picture. */
typedef struct {
  double x, y, width, height;
} CuvTrainBox;

/* The window whose centre and size are nearest to those of the box, once its
 * shorter side is extended to the window's aspect. Returns false if the box is
 * smaller than the window, or the plan has no window there. */
bool cuv_train_place (const CuvWaldboostPlan *plan, const CuvTrainBox *box,
    int window_width, int window_height, CuvTrainWindow *window);

/* Intersection over union of the box and a window's box. */
double cuv_train_overlap (const CuvWaldboostPlan *plan,
    const CuvTrainWindow *window, const CuvTrainBox *box);

/* Parts of it. cuv_train_common() is the length of the intersection of two
 * intervals. cuv_train_share() is the intersection over union of two boxes
 * whose intersection is across * down and whose areas add up to areas. */
double cuv_train_common (double a, double a_size, double b, double b_size);
double cuv_train_share (double across, double down, double areas);

/* A picture to find negatives in: windows whose overlap with some box is above
 * CUV_TRAIN_MAX_OVERLAP are not negatives. */
typedef struct {
  CuvFrame frame;
  const CuvTrainBox *boxes;
  int32_t n_boxes;
} CuvTrainPicture;

#define CUV_TRAIN_MAX_OVERLAP 0.2

/* Pictures, in any number and size. */
typedef struct {
  int32_t n;
  /* Returns false if picture i cannot be read: it is left out. Called by
   * several threads at a time. The picture stays valid as long as data does. */
  bool (*load) (void *data, int32_t i, CuvTrainPicture *picture);
  void *data;
} CuvTrainPictures;

/* ---- negatives ---- */

/* Windows drawn at random from those that a classifier does not reject: a
 * window's rank is a hash of seed, picture and position, and the windows of the
 * smallest ranks are drawn. */
typedef struct {
  int32_t window_width, window_height;
  bool cascade; /* see cuv_train_plan_new(); cuv_train_reservoir_init() sets it
                 * to false */
  int32_t capacity, n;
  uint64_t seed;
  uint64_t floor;         /* smaller ranks have been evaluated before */
  pthread_mutex_t lock;   /* protects what follows; limit may be read without
                           * it */
  _Atomic uint64_t limit; /* windows of smaller ranks are wanted */
  uint64_t *ranks;        /* a heap: the largest comes first */
  uint8_t *pixels;        /* window i is at i * window_width * window_height */
  uint64_t n_windows;     /* number of windows of all pictures that are
                           * negatives */
  uint64_t n_alive;       /* number of those not rejected; only set by
                           * cuv_train_draw(). Windows that OpenCV's scan
                           * skips count as rejected */
} CuvTrainReservoir;

/* Returns false if memory runs out. */
bool cuv_train_reservoir_init (CuvTrainReservoir *self, int window_width,
    int window_height, int32_t capacity, uint64_t seed);
void cuv_train_reservoir_clear (CuvTrainReservoir *self);

/* Whether a window of that rank would be drawn. */
static inline bool
cuv_train_reservoir_wants (const CuvTrainReservoir *self, uint64_t rank)
{
  return rank >= self->floor && rank < self->limit;
}

/* Draws a window if it is still wanted: other threads may have drawn windows
 * since cuv_train_reservoir_wants(). */
void cuv_train_reservoir_add (
    CuvTrainReservoir *self, uint64_t rank, const uint8_t *pixels);

/* Draws from a picture; number is its number, a part of the hash. model: NULL
 * rejects nothing. Returns false if memory runs out. */
bool cuv_train_draw (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number);

/* Draws from all pictures, with all threads; call it once. share: share of the
 * windows to evaluate first, 0 .. 1. If too many of them are rejected, more are
 * evaluated, so share changes the time but not the result. Returns false if
 * memory runs out. */
bool cuv_train_draw_all (CuvTrainReservoir *self,
    const CuvWaldboostModel *model, const CuvTrainPictures *pictures,
    double share);

/* The share of the windows that are not rejected. If there are more of them
 * than were drawn, it is estimated from the largest rank, with a relative
 * standard error of 1 / sqrt (capacity - 2): E. Cohen, H. Kaplan, Summarizing
 * Data Using Bottom-k Sketches, PODC 2007. */
double cuv_train_reservoir_rate (const CuvTrainReservoir *self);

/* ---- the learner ---- */

typedef struct {
  CuvFeature feature;
  bool cascade; /* an OpenCV cascade; feature is LBP */
  int32_t window_width, window_height;
  int32_t n_features; /* maximum number of features, chosen at random */
  int32_t n_weak;
  int32_t n_negatives; /* at a time, of learning and of calibration each */
  double alpha;        /* see cuv_train_threshold() */
  double rate;         /* false-positive rate to end at, 0 = none */
  double refill;       /* new negatives are searched for when the share of those
                        * not rejected falls below this, 0 .. 1 */
  uint64_t seed;
  const char
      *folder; /* folder for temporary files with samples; NULL: in memory */
} CuvTrainParams;

/* Learning and calibration use different pictures. */
typedef enum {
  CUV_TRAIN_LEARNING,
  CUV_TRAIN_CALIBRATION,
  CUV_TRAIN_N_PARTS,
} CuvTrainPart;

typedef enum {
  CUV_TRAIN_CONTINUE,     /* a weak classifier was added */
  CUV_TRAIN_DONE,         /* n_weak or rate is reached */
  CUV_TRAIN_NO_NEGATIVES, /* all negative windows are rejected */
  CUV_TRAIN_NO_POSITIVES,
  CUV_TRAIN_NO_MEMORY,
  CUV_TRAIN_NO_SPACE,  /* no space in params.folder */
  CUV_TRAIN_NO_DEVICE, /* the GPU failed */
} CuvTrainState;

typedef struct _CuvTrainer CuvTrainer;

/* Returns NULL if memory runs out. params->folder must outlive it. */
CuvTrainer *cuv_trainer_new (const CuvTrainParams *params);
void cuv_trainer_free (CuvTrainer *self); /* NULL is allowed */

/* Adds a window of window_width x window_height pixels. False on failure, see
 * cuv_trainer_failure(). */
bool cuv_trainer_add_positive (
    CuvTrainer *self, CuvTrainPart part, const uint8_t *pixels);

/* Call it once for each part; pictures->data must outlive the trainer. */
void cuv_trainer_set_negatives (
    CuvTrainer *self, CuvTrainPart part, const CuvTrainPictures *pictures);

/* Sets the processor to train with; by default it is the CPU, with a thread per
 * processor. May be called between steps. During steps the stream's context
 * must be current. */
void cuv_trainer_set_processor (
    CuvTrainer *self, const CuvProcessor *processor);

/* Adds a weak classifier. After a failure the trainer can only be freed, except
 * that after CUV_TRAIN_NO_DEVICE it can continue with another processor. */
CuvTrainState cuv_trainer_step (CuvTrainer *self);

/* The error of the GPU after CUV_TRAIN_NO_DEVICE. */
const char *cuv_trainer_problem (const CuvTrainer *self);

/* Returns NULL if CUDA's first device can be used, otherwise the reason why
 * not. */
const char *cuv_train_probe_cuda (void);

/* After a failure: CUV_TRAIN_NO_SPACE or CUV_TRAIN_NO_MEMORY. */
CuvTrainState cuv_trainer_failure (const CuvTrainer *self);

typedef struct {
  int32_t n_weak;
  int32_t alive[CUV_TRAIN_N_PARTS][2]; /* negatives, positives */
  double rate;   /* share of calibration's negative windows that are not
                  * rejected */
  double recall; /* share of calibration's positives that are not rejected */
} CuvTrainProgress;

CuvTrainProgress cuv_trainer_progress (const CuvTrainer *self);

/* The progress after the first n_weak > 0 weak classifiers. */
CuvTrainProgress cuv_trainer_progress_after (
    const CuvTrainer *self, int32_t n_weak);

/* ---- a saved state ---- */

/* A training resumes from saved bytes and ends as if it had not been stopped.
 * They are a header, which identifies the input of the trainer, and a record of
 * each weak classifier so far. Samples and sums follow from these. */
enum { CUV_TRAIN_HEADER = 160 }; /* bytes */

/* Writes CUV_TRAIN_HEADER bytes; reads all pictures. Call it when all samples
 * and pictures have been added. */
void cuv_trainer_save_header (const CuvTrainer *self, uint8_t *bytes);

size_t cuv_trainer_record_size (const CuvTrainer *self); /* bytes */

/* Writes the record of weak classifier k, cuv_trainer_record_size() bytes. */
void cuv_trainer_save_record (
    const CuvTrainer *self, int32_t k, uint8_t *bytes);

/* Call it when all samples and pictures have been added, before the first step.
 * Returns how many of the bytes were used; damaged or incomplete records at the
 * end are ignored. 0 if the bytes are not a state of this training; problem, of
 * CUV_TRAIN_PROBLEM bytes, says why. */
size_t cuv_trainer_restore (
    CuvTrainer *self, const uint8_t *bytes, size_t size, char *problem);

/* ---- the result ---- */

/* The classifier so far. Its final threshold rejects at most the share alpha of
 * those of calibration's positives that are not rejected before. Its arrays are
 * valid until the next step. */
CuvGridClassifier cuv_trainer_classifier (const CuvTrainer *self);

#endif
