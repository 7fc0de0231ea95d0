/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What CPU and GPU share of the sliding-window detector: model, plan, results.
 */
#ifndef CUV_WALDBOOST_TYPES_H
#define CUV_WALDBOOST_TYPES_H

#include <stdint.h>

/* A decision on one local binary pattern: 3x3 blocks of width x height pixels,
 * the first at (x, y) of the window. The code is 8 bits, most significant
 * first, clockwise from the top left neighbour; a bit is set where the
 * neighbour's sum >= the centre's. */
typedef struct {
  int16_t x, y, width, height;
  uint32_t subset[8]; /* go left if bit code is set */
  int32_t left;       /* > 0: that node of the tree, <= 0: leaf -left */
  int32_t right;
} CuvLbpNode;

/* A weak classifier is a tree of nodes whose leaf is added to a running sum. */
typedef struct {
  int32_t first_node; /* in CuvWaldboostModel.nodes; the tree's root */
  int32_t first_leaf; /* in CuvWaldboostModel.leaves */
  int32_t restart;    /* the sum is set to 0 before this one */
  float threshold;    /* reject if the sum is then below; -INFINITY = no test */
} CuvWeak;

/* Immutable. Stages are a file's grouping of weak classifiers: a stage ends
 * where a threshold is finite. */
typedef struct {
  int32_t window_width, window_height;
  int32_t n_weak, n_nodes, n_leaves, n_stages;
  int32_t stumps;         /* every tree has one node */
  int32_t max_block_area; /* pixels of the largest block */
  const CuvWeak *weak;
  const CuvLbpNode *nodes;
  const float *leaves;
  const int32_t *stage_first; /* n_stages + 1 indices into weak */
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
  float scale;           /* frame pixels for a level pixel */
  int32_t step;          /* level pixels from a window to the next */
  int32_t n_x, n_y;      /* window positions across and down */
  int32_t box_width;     /* of a window on this level, frame pixels */
  int32_t box_height;
  int32_t first_x_tap; /* in CuvWaldboostPlan.taps, width of them */
  int32_t first_y_tap; /* height of them */
} CuvWaldboostLevel;

/* What to scan in frames of one size. Immutable. */
typedef struct {
  int32_t width, height; /* of the frame, or of the part of it to look at */
  int32_t n_levels, n_taps;
  const CuvWaldboostLevel *levels;
  const CuvTap *taps;
} CuvWaldboostPlan;

/* A window that passed every stage. */
typedef struct {
  int32_t level;
  int32_t x, y; /* of the window, level pixels */
  float score;  /* the last stage's sum minus its threshold */
} CuvWaldboostHit;

/* Hits in order of level, y, x, and what the work was. hits belongs to who made
 * the result and lives until its next run. */
typedef struct {
  const CuvWaldboostHit *hits;
  int32_t n_hits;
  int32_t overflow; /* hits that did not fit and were lost */
  uint64_t windows; /* visited */
  uint64_t stage_0; /* of those, passed the first stage */
} CuvWaldboostResult;

/* More hits than this on one frame are lost, and counted. */
#define CUV_WALDBOOST_MAX_HITS (1 << 17)

#endif
