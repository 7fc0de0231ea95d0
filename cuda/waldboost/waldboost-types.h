/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What CPU and GPU share of the sliding-window detector: model, plan, results.
 */
#ifndef CUV_WALDBOOST_TYPES_H
#define CUV_WALDBOOST_TYPES_H

#include <stdint.h>

/* What a weak classifier looks at. All but HAAR compare the sums V of a grid of
 * 3x3 equal blocks; rank (k) = number of blocks with V[k] > V[j]. Blocks count
 * row by row, the centre is 4. */
typedef enum {
  CUV_FEATURE_LBP,  /* local binary pattern: 8 bits, most significant first,
                     * clockwise from the top left neighbour; set where the
                     * neighbour's V > the centre's, or >= if inclusive */
  CUV_FEATURE_LRD,  /* local rank differences: rank (a) - rank (b) + 8 */
  CUV_FEATURE_LRP,  /* local rank patterns: rank (a) + 10 * rank (b) */
  CUV_FEATURE_HAAR, /* a weighted sum of rectangles over the window's contrast
                     */
} CuvFeature;

/* How responses add up, and with it what a weak classifier is.
 *
 * STAGES: OpenCV's cascades; LBP is inclusive, of sums. A weak classifier is a
 * tree; its leaves add up in
 * double, from 0 again in each stage. A window fails below the stage's
 * threshold.
 * FIXED, FLOAT: WaldBoost. A weak classifier is one feature whose code picks a
 * leaf; leaves add up from the first to the last, as integers of fixed_bits
 * fraction bits or as floats. A window fails below a weak classifier's
 * threshold, and at the end unless the sum > final_threshold. */
typedef enum {
  CUV_SUM_STAGES,
  CUV_SUM_FIXED,
  CUV_SUM_FLOAT,
} CuvArithmetic;

/* What a block's value V is: its pixels' sum, or their mean, rounded down or to
 * the nearest integer, halves up. */
typedef enum {
  CUV_BLOCK_SUM,
  CUV_BLOCK_MEAN_TRUNC,
  CUV_BLOCK_MEAN_ROUND,
} CuvBlockValue;

/* Which windows are visited. */
typedef enum {
  CUV_SCAN_AUTO,   /* as the model was made for */
  CUV_SCAN_OPENCV, /* as cv::CascadeClassifier does */
  CUV_SCAN_WBD,    /* as cv::xobjdetect::WBDetector does */
  CUV_SCAN_DENSE,  /* every position of every level, octaves of levels */
} CuvScan;

/* How the GPU closes up the windows that are left after a segment of weak
 * classifiers. All find the same. */
typedef enum {
  CUV_REARRANGE_AUTO,       /* what measured fastest */
  CUV_REARRANGE_NONE,       /* a thread keeps its window to the end */
  CUV_REARRANGE_GLOBAL,     /* one counter for all, a kernel per segment */
  CUV_REARRANGE_SHARED,     /* a counter and a list per block, one kernel */
  CUV_REARRANGE_HYBRID,     /* a counter per block, a kernel per segment */
  CUV_REARRANGE_PREFIX_SUM, /* a scan per block, a kernel per segment */
  CUV_REARRANGE_BALLOT,     /* a vote per warp, a list per block, one kernel */
} CuvRearrangement;

/* A grid of 3x3 blocks of width x height pixels, the first at (x, y) of the
 * window; in STAGES models a node of a tree as well. */
typedef struct {
  int16_t x, y, width, height;
  int16_t a, b; /* LRD, LRP: which blocks' ranks */
  /* of a tree: */
  uint32_t subset[8]; /* go left if bit code is set */
  int32_t left;       /* > 0: that node of the tree, <= 0: leaf -left */
  int32_t right;
} CuvGridNode;

typedef struct {
  int16_t x, y, width, height;
  float weight; /* an integer in FIXED and FLOAT models */
} CuvHaarRect;

/* The third rectangle is there if its weight is not 0. Tilted ones are turned
 * by 45 degrees about (x, y), their top corner: width runs down to the right,
 * height down to the left.
 *
 * STAGES: value = (w0 * S0 + w1 * S1 (+ w2 * S2)) * f in float, in this order,
 * S the pixel sums; go left if value < threshold. f = (float) (1 / sqrt (nf)),
 * nf = area * sum of squares - sum^2 in double over the window without its
 * outer pixels; a window fails, but does not make the next one be skipped, if
 * nf <= 0 or area * f >= 0.1, that product in double.
 *
 * FIXED, FLOAT: value = (float) (w0 * S0 + ..) / divisor / sigma, sigma =
 * (float) (sqrt (n * sum of squares - sum^2) / n), the root and quotient in
 * double, n the window's pixels, at least the model's least_sigma;
 * code = (int) ((value - minimum) / (maximum - minimum) * (bins - 1) + 0.5f)
 * in float, cut to 0 .. bins - 1. */
typedef struct {
  CuvHaarRect rect[3];
  int32_t tilted;
  /* of a tree: */
  float threshold;
  int32_t left, right;
  /* of a table: */
  float divisor, minimum, maximum;
  int32_t bins;
} CuvHaarNode;

typedef struct {
  int32_t first_node; /* in nodes or haar_nodes; the tree's root */
  int32_t first_leaf; /* in leaves */
  int32_t restart;    /* the sum is set to 0 before this one */
  float threshold;    /* reject if the sum is then below; -INFINITY = no test */
  int32_t fixed_threshold; /* FIXED: the same; INT32_MIN = no test */
} CuvWeak;

/* Immutable. A stage ends where a cascade's threshold is finite; in WaldBoost
 * models every weak classifier is a stage. */
typedef struct {
  CuvFeature feature;
  CuvArithmetic arithmetic;
  CuvScan scan; /* what the model was made for, never AUTO */
  CuvBlockValue block_value;
  int32_t inclusive; /* LBP compares with >= */
  int32_t window_width, window_height;
  int32_t n_weak, n_nodes, n_leaves, n_stages;
  int32_t stumps;         /* every tree has one node: that of its number */
  int32_t tilted;         /* some Haar features are */
  int32_t max_block_area; /* pixels of the largest block of a grid */
  float final_threshold;
  int32_t fixed_final_threshold;
  int32_t fixed_bits;
  float least_sigma;
  const CuvWeak *weak;
  const CuvGridNode *nodes;      /* one of the two is NULL */
  const CuvHaarNode *haar_nodes; /* n_nodes of either */
  const float *leaves;
  const int32_t *fixed_leaves; /* FIXED: the leaves times 2^fixed_bits */
  const int32_t *stage_first;  /* n_stages + 1 indices into weak */
} CuvWaldboostModel;

/* One output sample of a linear resize: (256 - weight) * in[index] + weight *
 * in[index + 1], where weight 0 reads in[index] alone. */
typedef struct {
  int32_t index;
  int32_t weight;
} CuvTap;

/* One level of the pyramid and the windows that are visited on it. */
typedef struct {
  int32_t width, height; /* of the level, pixels */
  int32_t source;        /* the level it is resized from, -1 = the frame */
  float scale;           /* frame pixels for a level pixel */
  int32_t step;          /* level pixels from a window to the next */
  int32_t n_x, n_y;      /* window positions across and down; may be 0 */
  int32_t box_width;     /* of a window on this level, frame pixels */
  int32_t box_height;
  int32_t first_x_tap; /* in CuvWaldboostPlan.taps, width of them */
  int32_t first_y_tap; /* height of them */
  float factor;        /* WBD: level pixels for a frame pixel, else 0 */
} CuvWaldboostLevel;

/* What to scan in frames of one size. Immutable. */
typedef struct {
  CuvScan scan; /* never AUTO */
  int32_t skip; /* after a reject in the first stage pass the next one */
  int32_t width, height; /* of the frame, or of the part of it to look at */
  int32_t n_levels, n_taps;
  const CuvWaldboostLevel *levels; /* a source before what is made of it */
  const CuvTap *taps;
  /* After how many weak classifiers survivors are counted and the GPU closes
   * up: a cascade's stages, else as asked for. The last is the model's n_weak.
   */
  int32_t n_segments;
  const int32_t *segment_end;
  CuvRearrangement
      rearrangement;  /* of WaldBoost models; cascades have theirs */
  int32_t block_size; /* with it: 8, 16 or 32 windows square, or 0 = what
                       * measured fastest */
} CuvWaldboostPlan;

/* A window that passed every stage. */
typedef struct {
  int32_t level;
  int32_t x, y; /* of the window, level pixels */
  float score;  /* the last sum minus its threshold */
} CuvWaldboostHit;

/* Hits in order of level, y, x, and what the work was. hits and survivors
 * belong to who made the result and live until its next run. */
typedef struct {
  const CuvWaldboostHit *hits;
  int32_t n_hits;
  int32_t overflow; /* hits that did not fit and were lost */
  uint64_t windows; /* visited */
  uint64_t weak;    /* weak classifiers evaluated on them, trees count once */
  const uint64_t *survivors; /* of each of the plan's segments */
  /* Time spent. CPU: summed over the threads. CUDA: pyramid_us is all but the
   * scan, bringing the result included. */
  float pyramid_us, scan_us;
} CuvWaldboostResult;

/* More hits than this on one frame are lost, and counted. */
#define CUV_WALDBOOST_MAX_HITS (1 << 17)

#endif
