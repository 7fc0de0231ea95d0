/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of sliding-window detection shared by CPU and GPU: model, plan, result.
 */
#ifndef CUV_WALDBOOST_TYPES_H
#define CUV_WALDBOOST_TYPES_H

#include <stdint.h>

/* The feature of a weak classifier. LBP, LRD and LRP compare the values V of a
 * grid of 3x3 equal blocks, which are numbered row by row, the centre being 4;
 * rank (k) = number of blocks j with V[k] > V[j]. */
typedef enum {
  CUV_FEATURE_LBP,      /* local binary pattern: 8 bits, most significant first,
                         * clockwise from the top left neighbour; set where the
                         * neighbour's V > the centre's, or >= if inclusive */
  CUV_FEATURE_LRD,      /* local rank differences: rank (a) - rank (b) + 8 */
  CUV_FEATURE_LRP,      /* local rank patterns: rank (a) + 10 * rank (b) */
  CUV_FEATURE_HAAR,     /* weighted sum of rectangles, divided by the window's
                         * contrast */
  CUV_FEATURE_CHANNELS, /* trees on channels of colour and gradients: no grid
                         * and no rectangles, see channels of the model */
} CuvFeature;

/* How responses are summed, which also determines what a weak classifier is.
 *
 * STAGES: OpenCV cascades; LBP features are inclusive and use block sums. A
 * weak classifier is a tree. Its leaves are summed in double, starting at 0 in
 * each stage; a window is rejected if a stage's sum is below its threshold.
 * FIXED, FLOAT: WaldBoost. A weak classifier is one feature whose code selects
 * a leaf. Leaves are summed from the first to the last weak classifier, as
 * integers with fixed_bits fraction bits or as floats; a window is rejected if
 * the sum is below a weak classifier's threshold, or at the end unless it is
 * above final_threshold. */
typedef enum {
  CUV_SUM_STAGES,
  CUV_SUM_FIXED,
  CUV_SUM_FLOAT,
} CuvArithmetic;

/* A block's value V: the sum of its pixels, or their mean, rounded down or to
 * the nearest integer, halves up. */
typedef enum {
  CUV_BLOCK_SUM,
  CUV_BLOCK_MEAN_TRUNC,
  CUV_BLOCK_MEAN_ROUND,
} CuvBlockValue;

/* Which windows are visited. */
typedef enum {
  CUV_SCAN_AUTO,   /* for which the model was trained */
  CUV_SCAN_OPENCV, /* as cv::CascadeClassifier does */
  CUV_SCAN_WBD,    /* as cv::xobjdetect::WBDetector does */
  CUV_SCAN_DENSE,  /* every position of every level, octaves of levels */
} CuvScan;

/* How the GPU compacts the surviving windows of a WaldBoost model after a
 * segment of weak classifiers. All give the same result. */
typedef enum {
  CUV_REARRANGE_AUTO,       /* the fastest in docs/benchmarks/waldboost.md */
  CUV_REARRANGE_NONE,       /* a thread keeps its window to the end */
  CUV_REARRANGE_GLOBAL,     /* one counter, a kernel per segment */
  CUV_REARRANGE_SHARED,     /* a counter and a list per block, one kernel */
  CUV_REARRANGE_HYBRID,     /* a counter per block, a kernel per segment */
  CUV_REARRANGE_PREFIX_SUM, /* a scan per block, a kernel per segment */
  CUV_REARRANGE_BALLOT, /* a ballot per warp, a list per block, one kernel */
} CuvRearrangement;

/* A grid of 3x3 blocks, each width x height pixels, the first with its corner
 * at (x, y) in the window. In STAGES models also a node of a tree. */
typedef struct {
  int16_t x, y, width, height;
  int16_t a, b; /* LRD, LRP: the two blocks */
  /* STAGES: */
  uint32_t subset[8]; /* left if the bit of this code is set */
  int32_t left;       /* > 0: node of the tree, <= 0: leaf -left */
  int32_t right;
} CuvGridNode;

/* A rectangle in the window, in pixels. */
typedef struct {
  int16_t x, y, width, height;
  float weight; /* an integer in FIXED and FLOAT models */
} CuvHaarRect;

/* A third rectangle with weight 0 is unused. Tilted rectangles are rotated by
 * 45 degrees about (x, y), their top corner: width runs down to the right,
 * height down to the left.
 *
 * STAGES: value = (w0 * S0 + w1 * S1 (+ w2 * S2)) * f in float, in this order,
 * S being the pixel sums; the window goes left if value < threshold. f =
 * (float) (1 / sqrt (nf)), nf = area * sum of squares - sum^2 in double over
 * the window without its outer pixels. A window is rejected, without skipping
 * the next one, if nf <= 0 or area * f >= 0.1, that product in double.
 *
 * FIXED, FLOAT: value = (float) (w0 * S0 + ..) / divisor / sigma, sigma =
 * (float) (sqrt (n * sum of squares - sum^2) / n), root and quotient in double,
 * n the number of pixels in the window, sigma at least least_sigma; code =
 * (int) ((value - minimum) / (maximum - minimum) * (bins - 1) + 0.5f) in float,
 * clamped to 0 .. bins - 1. */
typedef struct {
  CuvHaarRect rect[3];
  int32_t tilted;
  /* STAGES: */
  float threshold;
  int32_t left, right;
  /* FIXED, FLOAT: */
  float divisor, minimum, maximum;
  int32_t bins;
} CuvHaarNode;

/* A weak classifier. */
typedef struct {
  int32_t first_node;      /* index into nodes or haar_nodes: the root */
  int32_t first_leaf;      /* index into leaves */
  int32_t restart;         /* the sum is reset to 0 before this one */
  float threshold;         /* rejects sums below it; -INFINITY = no test */
  int32_t fixed_threshold; /* FIXED: the same as integer; INT32_MIN = no test */
} CuvWeak;

typedef struct _CuvChannelsModel CuvChannelsModel;

/* A model; immutable. In WaldBoost models every weak classifier is a stage. */
typedef struct {
  CuvFeature feature;
  CuvArithmetic arithmetic;
  CuvScan scan; /* for which it was trained; never AUTO */
  CuvBlockValue block_value;
  int32_t inclusive; /* boolean: LBP compares with >= */
  int32_t window_width, window_height;
  int32_t n_weak, n_nodes, n_leaves, n_stages;
  int32_t stumps;         /* boolean: tree i consists of node i alone */
  int32_t tilted;         /* boolean: some Haar features are tilted */
  int32_t max_block_area; /* pixels of the largest block of any grid */
  float final_threshold;
  int32_t fixed_final_threshold;
  int32_t fixed_bits;
  float least_sigma; /* HAAR, FIXED and FLOAT: lower bound of sigma */
  const CuvWeak *weak;
  const CuvGridNode *nodes;      /* n_nodes elements; NULL for HAAR */
  const CuvHaarNode *haar_nodes; /* n_nodes elements, only for HAAR */
  const float *leaves;
  const int32_t *fixed_leaves; /* FIXED: leaves times 2^fixed_bits */
  const int32_t *stage_first;  /* n_stages + 1 indices into weak */
  /* CHANNELS: n_weak trees; there are no nodes and leaves, and weak has only
   * the thresholds. NULL for other features. */
  const CuvChannelsModel *channels;
} CuvWaldboostModel;

/* One output sample of a linear resize, times 256: (256 - weight) * in[index] +
 * weight * in[index + 1]. With weight 0, in[index + 1] is not read. */
typedef struct {
  int32_t index;
  int32_t weight;
} CuvTap;

/* A range of windows in a row: positions first to end - 1. */
typedef struct {
  int32_t first, end;
} CuvRange;

/* One level of the pyramid and its window positions. */
typedef struct {
  int32_t width, height; /* of the level, pixels */
  int32_t source;        /* level it is resized from, -1 = the turned frame */
  float scale;           /* pixels of the plan's picture per level pixel */
  int32_t step;          /* level pixels between windows */
  int32_t n_x, n_y;      /* window positions across and down; may be 0 */
  int32_t box_width;     /* box size in the plan's picture, pixels */
  int32_t box_height;
  int32_t first_x_tap; /* index of its `width` taps in CuvWaldboostPlan.taps */
  int32_t first_y_tap; /* index of its `height` taps */
  float factor;        /* WBD: 1 / scale, otherwise 0 */
  int32_t first_range; /* index of its n_y ranges in CuvWaldboostPlan.ranges */
} CuvWaldboostLevel;

/* A rotation of the frame about its centre; the turned picture contains the
 * whole frame. */
typedef struct {
  int32_t degrees;       /* clockwise rotation of the objects; 0 = none */
  int32_t cos, sin;      /* times 2^16 */
  int32_t width, height; /* size of the turned picture */
} CuvTurn;

/* The pyramid and the windows to scan in frames of one size; immutable. */
typedef struct {
  CuvScan scan; /* never AUTO */
  int32_t skip; /* boolean: a reject in stage 0 skips the next window */
  int32_t width, height; /* size of the frame or region to scan */
  CuvTurn turn;          /* how the frame is turned before the scan */
  /* The picture whose windows are scanned: the turned frame, enlarged. If its
   * size differs from the turned frame's, the picture is level 0, without
   * windows, from which others are resized. */
  int32_t picture_width, picture_height;
  int32_t upright_width, upright_height; /* the frame, enlarged */
  int32_t window_width, window_height;   /* size of the model's window */
  /* The box of a hit: a part of the window, usually all of it. */
  int32_t box_x, box_y, box_width, box_height;
  /* position of the first window across and down in level pixels; negative
   * if windows may exceed the picture */
  int32_t first;
  int32_t n_levels, n_taps;
  const CuvWaldboostLevel *levels; /* a level's source comes before the level */
  const CuvTap *taps;
  /* Haar cascades in turned frames: the windows whose boxes are in the frame.
   * The others count as windows without contrast. NULL: all windows are
   * scanned. */
  int32_t n_ranges;
  const CuvRange *ranges;
  /* Survivors are counted, and on the GPU compacted, after these numbers of
   * weak classifiers: at the end of each stage of a cascade, otherwise as
   * requested. The last is n_weak. */
  int32_t n_segments;
  const int32_t *segment_end;
  CuvRearrangement rearrangement; /* WaldBoost models only */
  /* width and height of a thread block's tile: 8, 16 or 32 windows; 0 =
   * default */
  int32_t block_size;
} CuvWaldboostPlan;

/* A model to search for, and the plan of its scan. */
typedef struct {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
} CuvWaldboostSearch;

/* A window that passed every stage. */
typedef struct {
  int32_t level;
  int32_t x, y; /* of the window, level pixels; may be negative */
  float score;  /* last sum minus the last threshold */
} CuvWaldboostHit;

/* Hits in order of level, y, x, and statistics. hits and survivors belong to
 * the producer and are valid until its next run. */
typedef struct {
  const CuvWaldboostHit *hits;
  int32_t n_hits;
  int32_t overflow; /* hits beyond CUV_WALDBOOST_MAX_HITS, dropped */
  uint64_t windows; /* number of visited windows */
  uint64_t weak;    /* weak classifiers evaluated; a tree counts once */
  const uint64_t *survivors; /* one count per segment of the plan */
  /* Microseconds. CPU: thread time, summed over the threads. CUDA: pyramid_us
   * is everything but the scan and the copy of the result. */
  float pyramid_us, scan_us;
} CuvWaldboostResult;

/* The maximum number of hits per frame; further hits are counted and
 * dropped. */
#define CUV_WALDBOOST_MAX_HITS (1 << 17)

#endif
