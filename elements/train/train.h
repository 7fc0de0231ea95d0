/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training of WaldBoost classifiers (J. Sochman, J. Matas, WaldBoost - Learning
 * for Time Constrained Sequential Detection, CVPR 2005), and a map of this
 * folder.
 *
 * The element waldboosttrain:
 *   gstwaldboosttrain.c          the element
 *   gstwaldboosttrainsettings.c  its properties
 *   gstwaldboostcollector.c      keeps frames with their regions
 *   gstwaldboosttraining.c       trains in a thread, writes the model
 *   gstwaldboostlearner.c        learns one kind of features
 *
 * The element and the program cuvision-train (tools/train) fill a data set
 * (dataset/), which feeds a CuvTrainer with positives and with pictures in
 * which to find negatives, and call cuv_trainer_step() until the training is
 * done.
 *
 * A step, in the order in which it runs:
 *   learner.c    one step: chooses a feature, sets leaves and threshold
 *   pool.c       the samples; replaces rejected negatives by new ones
 *   negatives.c  draws windows that the classifier does not reject
 *   exclude.c    windows that overlap an object and thus are not negatives
 *   reservoir.c  windows drawn: those with the smallest random ranks
 *   pictures.c   pictures -> windows, as the detector sees them
 *   backend.c    the choice of a feature, on the CPU or the GPU; also of the
 *                nodes of a tree on channels
 * Also:
 *   sample-memory.c  memory for samples, which may be backed by a file
 *   state.c      saves a training and resumes it; identity.c: its header
 *   trees/       trees on channels; see trees/trees.h
 *   reference/   the definition of what is learnt, in plain C
 *     features.c   all features of a window, and their codes
 *     boost.c      weights of samples, weak classifiers
 *     threshold.c  when a window is rejected
 *   cpu/         the inner loops optimised, with threads and AVX2
 *     feature-chooser*.c  the choice of a feature; on the GPU
 *                         cuda/train/feature-chooser.cu
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
  CUV_TRAIN_MIN_WINDOW = 8, /* pixels, width and height */
  CUV_TRAIN_MAX_WINDOW = 128,
  CUV_TRAIN_MAX_CODES = 256,
  CUV_TRAIN_MAX_SUM = 100000, /* maximum magnitude of a sum of leaves */
  CUV_TRAIN_PROBLEM = 512,    /* size in bytes of an error's text */
};

/* Returns the next random number of S. Vigna's SplitMix64; state may start with
 * any value. */
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
  int32_t n_codes; /* codes are 0 to n_codes - 1 */
  int32_t n;
  CuvGridNode *nodes;
  /* LBP for an OpenCV cascade: codes are inclusive, weak classifiers are
   * stumps; cuv_train_features_init() sets it to false */
  bool cascade;
} CuvTrainFeatures;

/* Enumerates every position and size of 3x3 blocks that fits the window, and
 * for LRD and LRP every pair of blocks a < b; keeps at most n_max of them,
 * chosen at random by seed. Returns false if memory runs out. */
bool cuv_train_features_init (CuvTrainFeatures *self, CuvFeature feature,
    int window_width, int window_height, int32_t n_max, uint64_t seed);
void cuv_train_features_clear (CuvTrainFeatures *self);

/* Computes the codes of a sample: codes[f * pitch] is the code of feature f.
 * pixels: rows of window_width bytes. */
void cuv_train_codes (const CuvTrainFeatures *self, const uint8_t *pixels,
    uint8_t *codes, size_t pitch);

/* ---- samples ---- */

/* The samples of a round, positives first. */
typedef struct {
  int32_t n, n_positives;
  int32_t n_alive;      /* number of samples with a mass above 0 */
  const uint8_t *codes; /* code of feature f, sample i: codes[f * pitch + i] */
  size_t pitch;
  double *masses;    /* products of all rounds' factors; 0: rejected */
  uint32_t *weights; /* masses times a power of two, rounded */
  int32_t *sums;     /* sums of leaves */
} CuvTrainSet;

/* Sets the masses of all samples as before the first round: the masses of
 * positives add up to 1/2, and so do those of negatives. */
void cuv_train_begin (CuvTrainSet *set);

/* Sets the masses of samples first to end - 1, which must be of one class. */
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

/* Rounds the masses to weights; the largest weight is at least 2^31 and below
 * 2^32. */
void cuv_train_weigh (CuvTrainSet *set);

void cuv_train_count (
    const CuvTrainSet *set, int32_t feature, CuvTrainHistogram *histogram);

/* Returns the error bound of real AdaBoost, up to a factor: the sum over the
 * codes of sqrt (positives * negatives), in double and in order of the
 * codes. */
double cuv_train_loss (const CuvTrainHistogram *histogram, int n_codes);

/* A split: the codes divided into two parts. */
typedef struct {
  /* whether each code is in the high part */
  bool high[CUV_TRAIN_MAX_CODES];
  /* sums of weights in the low and in the high part */
  uint64_t positives[2], negatives[2];
} CuvTrainSplit;

/* Finds the split with the least loss: sorts the codes by the fraction of
 * positives in their weight (0 without weight; equal fractions by code) and
 * cuts the sequence; if several cuts have the least loss, takes the first.
 * Returns the loss, the sum over both parts of sqrt (positives * negatives). No
 * other split has a smaller loss: L. Breiman et al., Classification and
 * Regression Trees, 1984, theorem 4.5. */
double cuv_train_split (
    const CuvTrainHistogram *histogram, int n_codes, CuvTrainSplit *split);

/* Returns the feature whose codes or, in a cascade, whose split has the least
 * loss; if there are several, the first. */
int32_t cuv_train_choose_feature (
    const CuvTrainFeatures *features, const CuvTrainSet *set);

/* Computes leaves: leaf = 1/2 ln ((P + e) / (N + e)), where P and N are the
 * weights of a code divided by the weight of all samples, and e = 1 / (2 n). */
void cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Computes the leaves of a split in the same way: all codes of a part have the
 * same leaf. */
void cuv_train_split_leaves (const CuvTrainSplit *split, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Adds leaves by code to the sums of samples first to end - 1, and multiplies
 * the masses of positives by exp (-leaf) and those of negatives by exp (leaf).
 * codes: the codes of these samples. */
void cuv_train_add_leaves (CuvTrainSet *set, int32_t first, int32_t end,
    const int32_t *leaves, int n_codes, const uint8_t *codes);

/* Does a whole round except for the threshold. */
void cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak);

/* Does a round with a feature that has already been chosen with the set's
 * weights. */
void cuv_train_learn (const CuvTrainFeatures *features, CuvTrainSet *set,
    int32_t feature, CuvTrainWeak *weak);

/* ---- rejection ---- */

/* Sums of the samples of one class that are not rejected, in ascending order,
 * and the fraction of that class that is not rejected so far. */
typedef struct {
  const int32_t *sums;
  int32_t n;
  double alive; /* fraction not rejected so far, 0 to 1 */
} CuvTrainLiving;

#define CUV_TRAIN_NO_THRESHOLD INT32_MIN

/* Applies Wald's sequential probability ratio test. Returns the largest
 * threshold, a sum of a positive, at which the fraction of all negatives that
 * have been rejected or are below the threshold exceeds 1 / alpha times the
 * same fraction of all positives. Returns CUV_TRAIN_NO_THRESHOLD if there is
 * none. alpha: the fraction of positives that all thresholds together may
 * reject, 0 < alpha < 1. */
int32_t cuv_train_threshold (const CuvTrainLiving *positives,
    const CuvTrainLiving *negatives, double alpha);

/* ---- pictures ---- */

/* The levels of a picture's pyramid, as the detector scans them. */
typedef struct {
  const CuvWaldboostPlan *plan;
  uint8_t *grey;
  uint8_t **levels; /* rows with the level's width; NULL: not computed yet */
} CuvTrainPyramid;

/* Returns the plan of a dense scan with as many octaves as fit or, for a
 * cascade, of OpenCV's scan with its usual scale factor of 1.1. model: NULL, or
 * a model of that kind and window size. Returns NULL if memory runs out; free
 * the plan with cuv_waldboost_plan_free(). */
CuvWaldboostPlan *cuv_train_plan_new (const CuvWaldboostModel *model,
    bool cascade, int window_width, int window_height, int width, int height);

/* Starts a pyramid without computed levels. Returns false if memory runs out.
 * frame: has the plan's size. */
bool cuv_train_pyramid_init (
    CuvTrainPyramid *self, const CuvWaldboostPlan *plan, const CuvFrame *frame);
void cuv_train_pyramid_clear (CuvTrainPyramid *self);

/* Computes a level unless this was done before. Returns false if memory runs
 * out. */
bool cuv_train_pyramid_make (CuvTrainPyramid *self, int level);

/* A window of a level. */
typedef struct {
  int32_t level, x, y; /* x and y in level pixels */
} CuvTrainWindow;

/* Copies the pixels of a window, row by row. Its level must have been
 * computed. */
void cuv_train_cut (const CuvTrainPyramid *self, const CuvTrainWindow *window,
    int window_width, int window_height, uint8_t *pixels);

/* An object in a picture, in pixels of the picture. */
typedef struct {
  double x, y, width, height;
} CuvTrainBox;

/* Finds the window whose centre and size are nearest to those of the box after
 * its shorter side has been extended to the window's aspect ratio. Returns
 * false if the box is smaller than the window, or if the plan has no window
 * there. */
bool cuv_train_place (const CuvWaldboostPlan *plan, const CuvTrainBox *box,
    int window_width, int window_height, CuvTrainWindow *window);

/* Returns the intersection over union of the box and a window's box. */
double cuv_train_overlap (const CuvWaldboostPlan *plan,
    const CuvTrainWindow *window, const CuvTrainBox *box);

/* Parts of cuv_train_overlap(). cuv_train_common() returns the length of the
 * intersection of two intervals. cuv_train_share() returns the intersection
 * over union of two boxes whose intersection is across * down and whose areas
 * add up to areas. */
double cuv_train_common (double a, double a_size, double b, double b_size);
double cuv_train_share (double across, double down, double areas);

/* A picture in which to find negatives: windows whose overlap with a box is
 * above CUV_TRAIN_MAX_OVERLAP are not negatives. */
typedef struct {
  CuvFrame frame;
  const CuvTrainBox *boxes;
  int32_t n_boxes;
} CuvTrainPicture;

#define CUV_TRAIN_MAX_OVERLAP 0.2

/* Any number of pictures of any size. */
typedef struct {
  int32_t n;
  /* Returns false if picture i cannot be read and is to be left out. Called by
   * several threads at the same time. The picture remains valid as long as data
   * does. */
  bool (*load) (void *data, int32_t i, CuvTrainPicture *picture);
  void *data;
} CuvTrainPictures;

/* ---- negatives ---- */

/* Windows drawn at random from those that a classifier does not reject: a
 * window's rank is a hash of seed, picture and position, and the windows with
 * the smallest ranks are drawn. */
typedef struct {
  int32_t window_width, window_height;
  bool cascade; /* see cuv_train_plan_new(); cuv_train_reservoir_init() sets it
                 * to false */
  int32_t capacity, n;
  uint64_t seed;
  /* windows with smaller ranks have been evaluated before */
  uint64_t floor;
  /* protects the fields below; limit may be read without it */
  pthread_mutex_t lock;
  _Atomic uint64_t limit; /* windows with smaller ranks are wanted */
  uint64_t *ranks;        /* a heap: the largest rank comes first */
  /* window i begins at i * window_width * window_height */
  uint8_t *pixels;
  uint64_t n_windows; /* number of negative windows in all pictures */
  /* number of negative windows that are not rejected; only set by
   * cuv_train_draw(). Windows that OpenCV's scan skips count as rejected */
  uint64_t n_alive;
} CuvTrainReservoir;

/* Starts without windows. Returns false if memory runs out. */
bool cuv_train_reservoir_init (CuvTrainReservoir *self, int window_width,
    int window_height, int32_t capacity, uint64_t seed);
void cuv_train_reservoir_clear (CuvTrainReservoir *self);

/* Returns whether a window of that rank would be drawn. */
static inline bool
cuv_train_reservoir_wants (const CuvTrainReservoir *self, uint64_t rank)
{
  return rank >= self->floor && rank < self->limit;
}

/* Draws a window if it is still wanted: other threads may have drawn windows
 * since cuv_train_reservoir_wants(). */
void cuv_train_reservoir_add (
    CuvTrainReservoir *self, uint64_t rank, const uint8_t *pixels);

/* Draws from a picture; number is its number, which is hashed. model: if NULL,
 * no window is rejected. Returns false if memory runs out. */
bool cuv_train_draw (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number);

/* Draws from all pictures, with all threads; call it once. share: fraction of
 * the windows to evaluate first, 0 to 1. If too many of them are rejected, more
 * are evaluated, so that share affects the time but not the result. Returns
 * false if memory runs out. */
bool cuv_train_draw_all (CuvTrainReservoir *self,
    const CuvWaldboostModel *model, const CuvTrainPictures *pictures,
    double share);

/* Returns the fraction of windows that are not rejected. If there are more such
 * windows than were drawn, the fraction is estimated from the largest rank,
 * with a relative standard error of 1 / sqrt (capacity - 2): E. Cohen, H.
 * Kaplan, Summarizing Data Using Bottom-k Sketches, PODC 2007. */
double cuv_train_reservoir_rate (const CuvTrainReservoir *self);

/* ---- the learner ---- */

typedef struct {
  CuvFeature feature;
  bool cascade; /* trains an OpenCV cascade; feature must be LBP */
  int32_t window_width, window_height;
  int32_t n_features; /* maximum number of features, chosen at random */
  int32_t n_weak;
  int32_t n_negatives; /* number at a time, for learning and calibration each */
  double alpha;        /* see cuv_train_threshold() */
  double rate;         /* false-positive rate at which to end; 0 = none */
  /* new negatives are searched for when the fraction that is not rejected
   * falls below this, 0 to 1 */
  double refill;
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
  CUV_TRAIN_CONTINUE,     /* one weak classifier was added */
  CUV_TRAIN_DONE,         /* n_weak or rate has been reached */
  CUV_TRAIN_NO_NEGATIVES, /* all negative windows are rejected */
  CUV_TRAIN_NO_POSITIVES,
  CUV_TRAIN_NO_MEMORY,
  CUV_TRAIN_NO_SPACE,  /* params.folder has no space left */
  CUV_TRAIN_NO_DEVICE, /* the GPU failed */
} CuvTrainState;

typedef struct _CuvTrainer CuvTrainer;

/* Returns NULL if memory runs out. params->folder must outlive the trainer. */
CuvTrainer *cuv_trainer_new (const CuvTrainParams *params);
void cuv_trainer_free (CuvTrainer *self); /* NULL is allowed */

/* Adds a window of window_width x window_height pixels. Returns false on
 * failure, see cuv_trainer_failure(). */
bool cuv_trainer_add_positive (
    CuvTrainer *self, CuvTrainPart part, const uint8_t *pixels);

/* Sets the pictures in which to find negatives. Call it once for each part;
 * pictures->data must outlive the trainer. */
void cuv_trainer_set_negatives (
    CuvTrainer *self, CuvTrainPart part, const CuvTrainPictures *pictures);

/* Sets the processor for training; by default it is the CPU, with a thread per
 * processor. May be called between steps. During steps the stream's context
 * must be current. */
void cuv_trainer_set_processor (
    CuvTrainer *self, const CuvProcessor *processor);

/* Adds a weak classifier. After a failure the trainer can only be freed, except
 * that after CUV_TRAIN_NO_DEVICE it can continue with another processor. */
CuvTrainState cuv_trainer_step (CuvTrainer *self);

/* Returns the error of the GPU after CUV_TRAIN_NO_DEVICE. */
const char *cuv_trainer_problem (const CuvTrainer *self);

/* Returns NULL if CUDA's first device can be used, otherwise the reason. */
const char *cuv_train_probe_cuda (void);

/* Returns CUV_TRAIN_NO_SPACE or CUV_TRAIN_NO_MEMORY after a failure. */
CuvTrainState cuv_trainer_failure (const CuvTrainer *self);

typedef struct {
  int32_t n_weak;
  int32_t alive[CUV_TRAIN_N_PARTS][2]; /* [0]: negatives, [1]: positives */
  double rate;   /* fraction of calibration's negative windows not rejected */
  double recall; /* fraction of calibration's positives not rejected */
} CuvTrainProgress;

CuvTrainProgress cuv_trainer_progress (const CuvTrainer *self);

/* Returns the progress after the first n_weak > 0 weak classifiers. */
CuvTrainProgress cuv_trainer_progress_after (
    const CuvTrainer *self, int32_t n_weak);

/* ---- a saved state ---- */

/* A training can resume from saved bytes; its result is then the same as
 * without the interruption. The bytes are a header, which identifies the
 * trainer's input, and a record of each weak classifier so far, from which
 * samples and sums are recomputed. */
enum { CUV_TRAIN_HEADER = 160 }; /* size in bytes */

/* Writes CUV_TRAIN_HEADER bytes; reads all pictures. Call it after all samples
 * and pictures have been added. */
void cuv_trainer_save_header (const CuvTrainer *self, uint8_t *bytes);

size_t cuv_trainer_record_size (const CuvTrainer *self); /* in bytes */

/* Writes the record of weak classifier k, cuv_trainer_record_size() bytes. */
void cuv_trainer_save_record (
    const CuvTrainer *self, int32_t k, uint8_t *bytes);

/* Restores a saved state. Call it after all samples and pictures have been
 * added, before the first step. Returns how many of the bytes were used;
 * damaged or incomplete records at the end are ignored. If the bytes are not a
 * state of this training, returns 0 and writes the reason to problem, which has
 * CUV_TRAIN_PROBLEM bytes. */
size_t cuv_trainer_restore (
    CuvTrainer *self, const uint8_t *bytes, size_t size, char *problem);

/* ---- the result ---- */

/* Returns the classifier so far. Its final threshold rejects at most the
 * fraction alpha of calibration's positives that have not been rejected before.
 * Its arrays are valid until the next step. */
CuvGridClassifier cuv_trainer_classifier (const CuvTrainer *self);

#endif
