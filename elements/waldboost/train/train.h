/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training of WaldBoost classifiers: J. Sochman, J. Matas, WaldBoost - Learning
 * for Time Constrained Sequential Detection, CVPR 2005.
 *
 *   reference/  the definition of what is learnt, in plain C
 *     features.c   all features of a window, and their codes
 *     boost.c      weights of samples, weak classifiers
 *     threshold.c  when a window is rejected
 *   cpu/        the hot loops made fast: threads, AVX2; the GPU's version is
 *               cuda/waldboost/choose.cu
 *   pictures.c  pictures -> windows, as the detector sees them
 *   negatives.c windows of pictures that a classifier does not reject
 *   reservoir.c some of them, at random
 *   memory.c    room for samples, in a file
 *   pool.c      samples that are learnt from, negatives among them replaced
 *   backend.c   the choice of a feature, on the CPU or the GPU
 *   state.c     what a training that was stopped goes on from
 *   learner.c   round after round, until the classifier is good enough
 *   dataset/    pictures with objects, to train and measure with
 *
 * A sample is a window's grey pixels, cut out of a level of the pyramid that
 * the detector scans. A classifier adds up leaves, one for each weak
 * classifier; leaves, their sums and the thresholds are whole numbers in units
 * of 2^-CUV_TRAIN_LEAF_BITS, which float and fixed-point detectors represent
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
  CUV_TRAIN_MAX_SUM = 100000, /* no sum of leaves is larger */
  CUV_TRAIN_PROBLEM = 512,    /* bytes of a text that names a problem */
};

/* S. Vigna's SplitMix64: the next random number; state: any to begin with. */
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
  /* LBP, for an OpenCV cascade: codes are inclusive, weak classifiers stumps;
   * false after cuv_train_features_init() */
  bool cascade;
} CuvTrainFeatures;

/* Every position and size of 3x3 blocks that fits the window, and for LRD and
 * LRP every pair of blocks a < b; at most n_max of them, chosen at random by
 * seed. False if memory runs out. */
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
  int32_t n_alive;      /* with a mass that is not 0 */
  const uint8_t *codes; /* of feature f, sample i: codes[f * pitch + i] */
  size_t pitch;
  double *masses;    /* products of the factors of all rounds; 0: rejected */
  uint32_t *weights; /* masses, times a power of two */
  int32_t *sums;     /* of leaves */
} CuvTrainSet;

/* Gives all samples the masses before the first round: 1/2 for the positives
 * together, 1/2 for the negatives. */
void cuv_train_begin (CuvTrainSet *set);

/* The same for the samples of one class, from first on, before end. */
void cuv_train_begin_class (CuvTrainSet *set, int32_t first, int32_t end);

/* ---- a round ---- */

/* Weights of the samples of either class, by code. */
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

/* The codes divided in two. */
typedef struct {
  bool high[CUV_TRAIN_MAX_CODES];      /* the part that each code is in */
  uint64_t positives[2], negatives[2]; /* weights of the low and high part */
} CuvTrainSplit;

/* The split of the least loss: the codes in order of the share of positives in
 * their weight, 0 for those without weight, equal ones by code, are cut; of
 * several cuts the first. Returns the loss, the sum over both parts of sqrt
 * (positives * negatives). No other split has a smaller one: L. Breiman et al.,
 * Classification and Regression Trees, 1984, theorem 4.5. */
double cuv_train_split (
    const CuvTrainHistogram *histogram, int n_codes, CuvTrainSplit *split);

/* The feature of the least loss, of its codes or, in a cascade, of its split;
 * of several, the first. */
int32_t cuv_train_choose (
    const CuvTrainFeatures *features, const CuvTrainSet *set);

/* leaf = 1/2 ln ((P + e) / (N + e)), where P and N are the weights of a code
 * divided by those of all samples, and e = 1 / (2 n). */
void cuv_train_leaves (const CuvTrainHistogram *histogram, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* The same of the parts of a split: all codes of a part have its leaf. */
void cuv_train_split_leaves (const CuvTrainSplit *split, int n_codes,
    int32_t n_samples, int32_t *leaves);

/* Adds leaves by code to the sums of samples from first on, before end, and
 * multiplies their masses by exp (-leaf) or, of negatives, exp (leaf). codes:
 * of these samples. */
void cuv_train_add_leaves (CuvTrainSet *set, int32_t first, int32_t end,
    const int32_t *leaves, int n_codes, const uint8_t *codes);

/* All of a round but the threshold. */
void cuv_train_round (
    const CuvTrainFeatures *features, CuvTrainSet *set, CuvTrainWeak *weak);

/* The same for a feature that was chosen by the set's weights. */
void cuv_train_learn (const CuvTrainFeatures *features, CuvTrainSet *set,
    int32_t feature, CuvTrainWeak *weak);

/* ---- rejection ---- */

/* Sums of the samples of one class that live, in ascending order, and the share
 * of that class that lived until now. */
typedef struct {
  const int32_t *sums;
  int32_t n;
  double alive; /* 0 .. 1 */
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
  uint8_t **levels; /* rows of the level's width; NULL: not made yet */
} CuvTrainPyramid;

/* The plan of a dense scan of as many octaves as fit or, of a cascade, of
 * OpenCV's with its usual scale factor of 1.1. model: NULL, or one of that kind
 * and window. NULL if memory runs out; free it with cuv_waldboost_plan_free().
 */
CuvWaldboostPlan *cuv_train_plan_new (const CuvWaldboostModel *model,
    bool cascade, int window_width, int window_height, int width, int height);

/* False if memory runs out. frame: of the plan's size. */
bool cuv_train_pyramid_init (
    CuvTrainPyramid *self, const CuvWaldboostPlan *plan, const CuvFrame *frame);
void cuv_train_pyramid_clear (CuvTrainPyramid *self);

/* Makes a level if it is not there. False if memory runs out. */
bool cuv_train_pyramid_make (CuvTrainPyramid *self, int level);

/* A window of a level. */
typedef struct {
  int32_t level, x, y; /* level pixels */
} CuvTrainWindow;

/* Copies the pixels of a window, row by row. Its level must be there. */
void cuv_train_cut (const CuvTrainPyramid *self, const CuvTrainWindow *window,
    int window_width, int window_height, uint8_t *pixels);

/* An object in a picture, in its pixels. */
typedef struct {
  double x, y, width, height;
} CuvTrainBox;

/* The window whose centre and size are nearest to those of the box, after its
 * shorter side was grown to the window's aspect. False if the box is smaller
 * than the window, or no window is there. */
bool cuv_train_place (const CuvWaldboostPlan *plan, const CuvTrainBox *box,
    int window_width, int window_height, CuvTrainWindow *window);

/* Intersection over union of the box and a window's box. */
double cuv_train_overlap (const CuvWaldboostPlan *plan,
    const CuvTrainWindow *window, const CuvTrainBox *box);

/* Its parts: what two intervals have in common; and the share of what two boxes
 * have in common, across and down, in their union. areas: the sum of both. */
double cuv_train_common (double a, double a_size, double b, double b_size);
double cuv_train_share (double across, double down, double areas);

/* A picture to find negatives in: no window that overlaps a box by more than
 * CUV_TRAIN_MAX_OVERLAP is one. */
typedef struct {
  CuvFrame frame;
  const CuvTrainBox *boxes;
  int32_t n_boxes;
} CuvTrainPicture;

#define CUV_TRAIN_MAX_OVERLAP 0.2

/* Pictures, in any number and size. */
typedef struct {
  int32_t n;
  /* False if picture i cannot be read: it is left out. Called by several
   * threads at a time; valid as long as data is. */
  bool (*load) (void *data, int32_t i, CuvTrainPicture *picture);
  void *data;
} CuvTrainPictures;

/* ---- negatives ---- */

/* Windows drawn at random from those that a classifier does not reject: each
 * window's rank in the draw is a hash of seed, picture and position, and the
 * windows of the smallest ranks are drawn. */
typedef struct {
  int32_t window_width, window_height;
  bool cascade; /* see cuv_train_plan_new(); false after init */
  int32_t capacity, n;
  uint64_t seed;
  uint64_t floor;         /* smaller ranks were looked at before */
  pthread_mutex_t lock;   /* of what follows; limit may be read without */
  _Atomic uint64_t limit; /* smaller ranks are wanted */
  uint64_t *ranks;        /* a heap: the largest comes first */
  uint8_t *pixels;        /* of window i, at i * window_width * window_height */
  uint64_t n_windows;     /* that are negatives, of all pictures */
  uint64_t n_alive; /* not rejected; only after cuv_train_draw(). Windows that
                     * OpenCV's scan skips count as rejected */
} CuvTrainReservoir;

/* False if memory runs out. */
bool cuv_train_reservoir_init (CuvTrainReservoir *self, int window_width,
    int window_height, int32_t capacity, uint64_t seed);
void cuv_train_reservoir_clear (CuvTrainReservoir *self);

/* Whether a window of that rank would be drawn. */
static inline bool
cuv_train_reservoir_wants (const CuvTrainReservoir *self, uint64_t rank)
{
  return rank >= self->floor && rank < self->limit;
}

/* Draws a window if it is wanted: other threads may have drawn some since that
 * was asked. */
void cuv_train_reservoir_add (
    CuvTrainReservoir *self, uint64_t rank, const uint8_t *pixels);

/* Draws from a picture, its number being part of the hash. model: NULL rejects
 * nothing. False if memory runs out. */
bool cuv_train_draw (CuvTrainReservoir *self, const CuvWaldboostModel *model,
    const CuvTrainPicture *picture, int32_t number);

/* Draws from all pictures, on all threads; to be called once. share: of the
 * windows, 0 .. 1, to look at first. If too few of them live, more are looked
 * at, so only the time depends on it, not what is drawn. False if memory runs
 * out. */
bool cuv_train_draw_all (CuvTrainReservoir *self,
    const CuvWaldboostModel *model, const CuvTrainPictures *pictures,
    double share);

/* The share of the windows that are not rejected; if more of them live than
 * were drawn, an estimate from the largest rank, whose relative standard error
 * is 1 / sqrt (capacity - 2): E. Cohen, H. Kaplan, Summarizing Data Using
 * Bottom-k Sketches, PODC 2007. */
double cuv_train_reservoir_rate (const CuvTrainReservoir *self);

/* ---- the learner ---- */

typedef struct {
  CuvFeature feature;
  bool cascade; /* an OpenCV cascade; feature is LBP */
  int32_t window_width, window_height;
  int32_t n_features; /* at most; chosen at random */
  int32_t n_weak;
  int32_t n_negatives; /* that learning, and calibration, hold at a time */
  double alpha;        /* see cuv_train_threshold() */
  double rate;         /* false-positive rate to end at, 0 = none */
  double refill;       /* share of living negatives, 0 .. 1, below which new
                        * ones are searched */
  uint64_t seed;
  const char *folder; /* for files that hold samples; NULL: memory does */
} CuvTrainParams;

/* Learning and calibration use pictures of their own. */
typedef enum {
  CUV_TRAIN_LEARNING,
  CUV_TRAIN_CALIBRATION,
  CUV_TRAIN_N_PARTS,
} CuvTrainPart;

typedef enum {
  CUV_TRAIN_CONTINUE,     /* a weak classifier was added */
  CUV_TRAIN_DONE,         /* n_weak or rate is reached */
  CUV_TRAIN_NO_NEGATIVES, /* all windows of the negatives are rejected */
  CUV_TRAIN_NO_POSITIVES,
  CUV_TRAIN_NO_MEMORY,
  CUV_TRAIN_NO_SPACE,  /* in params.folder */
  CUV_TRAIN_NO_DEVICE, /* the GPU failed */
} CuvTrainState;

typedef struct _CuvTrainer CuvTrainer;

/* NULL if memory runs out. params.folder must outlive it. */
CuvTrainer *cuv_trainer_new (const CuvTrainParams *params);
void cuv_trainer_free (CuvTrainer *self); /* NULL is allowed */

/* False if that fails, see cuv_trainer_failure(). */
bool cuv_trainer_add_positive (
    CuvTrainer *self, CuvTrainPart part, const uint8_t *pixels);

/* To be called once for each part; data must outlive the trainer. */
void cuv_trainer_set_negatives (
    CuvTrainer *self, CuvTrainPart part, const CuvTrainPictures *pictures);

/* What the work is done with; at first it is the CPU, with a thread per
 * processor. May change between steps, in which the stream's context must be
 * current. */
void cuv_trainer_set_processor (
    CuvTrainer *self, const CuvProcessor *processor);

/* Adds a weak classifier. When that failed, the trainer can only be freed; but
 * after CUV_TRAIN_NO_DEVICE it can go on with another processor. */
CuvTrainState cuv_trainer_step (CuvTrainer *self);

/* What the GPU failed with. */
const char *cuv_trainer_problem (const CuvTrainer *self);

/* NULL if CUDA's first device can be used, or why not. */
const char *cuv_train_probe_cuda (void);

/* What ran out, after a failure: CUV_TRAIN_NO_SPACE or CUV_TRAIN_NO_MEMORY. */
CuvTrainState cuv_trainer_failure (const CuvTrainer *self);

typedef struct {
  int32_t n_weak;
  int32_t alive[CUV_TRAIN_N_PARTS][2]; /* negatives, positives */
  double rate;   /* share of calibration's negatives that are not rejected */
  double recall; /* share of calibration's positives */
} CuvTrainProgress;

CuvTrainProgress cuv_trainer_progress (const CuvTrainer *self);

/* What it was after the first n_weak > 0 weak classifiers. */
CuvTrainProgress cuv_trainer_progress_after (
    const CuvTrainer *self, int32_t n_weak);

/* ---- a saved state ---- */

/* Training goes on from saved bytes, and ends as if it had not been stopped: a
 * header, which identifies what the trainer was given, and the record of each
 * weak classifier so far. Samples and sums follow from these. */
enum { CUV_TRAIN_HEADER = 160 }; /* bytes */

/* Reads all pictures. To be called when all was added to the trainer. */
void cuv_trainer_save_header (const CuvTrainer *self, uint8_t *bytes);

size_t cuv_trainer_record_size (const CuvTrainer *self); /* bytes */

/* The record of weak classifier k. */
void cuv_trainer_save_record (
    const CuvTrainer *self, int32_t k, uint8_t *bytes);

/* To be called when all was added to the trainer, before the first step.
 * Returns how many of the bytes were used: the last records are not if they are
 * damaged or incomplete. 0 if the bytes are no state of this training; problem,
 * of CUV_TRAIN_PROBLEM bytes, says why. */
size_t cuv_trainer_restore (
    CuvTrainer *self, const uint8_t *bytes, size_t size, char *problem);

/* ---- the result ---- */

/* The classifier so far; its final threshold misses at most the share alpha of
 * calibration's positives that are not rejected before. Its arrays are valid
 * until the next step. */
CuvGridClassifier cuv_trainer_classifier (const CuvTrainer *self);

#endif
