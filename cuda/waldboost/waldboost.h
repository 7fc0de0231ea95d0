/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sliding-window detection on the GPU, and a map of this folder.
 *
 * Cascades: P. Viola, M. Jones, Rapid Object Detection using a Boosted Cascade
 * of Simple Features, CVPR 2001; with LBP features: S. Liao et al., Learning
 * Multi-scale Block Local Binary Patterns for Face Recognition, ICB 2007.
 * WaldBoost: J. Sochman, J. Matas, WaldBoost - Learning for Time Constrained
 * Sequential Detection, CVPR 2005. Results equal those of the C reference in
 * detect/reference/, bit by bit.
 *
 * detect/backend.c calls the functions below. cuv_waldboost_cuda_submit()
 * enqueues for a frame: the pyramid's pictures, their integral images if the
 * model reads them, the scan, which appends hits in any order, and
 * report_kernel, which writes sorted hits to pinned memory.
 * cuv_waldboost_cuda_collect() waits for that.
 *
 *   waldboost.cu          a detector: its memory, a frame, the report
 *   scanner.cuh           interface of the scanners; counters and hits
 *   image-pool.*          device memory of a frame's images, shared by the
 *                         detectors of a context
 *   feature-chooser.*     training: the feature with the least loss
 *   tree-chooser.*        training: the nodes of a tree on channels
 *   chooser-sums.cuh      what both choosers share
 *   pyramid.cuh           levels and their images
 *   pyramid-layout.cu     places images in memory; tables for the kernels
 *   pyramid.cu            launches the kernels of the pyramid:
 *     resize.cuh            frame -> grey, turned if required -> pictures:
 *                             cuv_halves_kernel: up to five levels, each half
 *                               the size of the previous one, in one launch;
 *                               for models that need no integral images
 *                             cuv_picture_kernel: all other levels; also sums
 *                               columns, for the integral images
 *     integral-kernel.cuh   integral images of pixels, and of squares (Haar)
 *     tilted-kernels.cuh    tilted integral images (Haar)
 *     turn.h                a pixel of the turned frame, on CPU and GPU
 *   features.cuh          block sums and LBP codes from integral images
 *
 * OpenCV cascades: cascade/cascade-scanner.cu chooses, in submit() and
 * scan_tiles(). A block has a tile of the integral images in shared memory.
 *
 *   model and size                    kernels (file), why
 *   LBP stumps, blocks of up to 257   pair_kernel (window-pair-kernels.cuh):
 *   pixels, stage 0 of up to 12         sums fit 16 bits, so a word serves two
 *                                       windows
 *   other LBP                         dense_kernel, survivor_kernel
 *                                       (single-window-kernels.cuh)
 *   Haar stumps, windows up to 62     the same with tiles of fixed pitch: a
 *   wide, steps 1 and 2                 thread evaluates two rows at once
 *   other Haar; trees                 the same, one window per thread
 *   windows too large for a tile      the same, reading global memory
 *
 *     cascade-plan.cuh      tiles, node format and tables of a plan
 *     host-tables.cuh       functions that fill the tables
 *     packed-nodes.cuh      nodes in 8 (LBP) or 16 bytes (Haar) where their
 *                           values fit, otherwise unpacked
 *     cascade.cuh           a cascade on the device; stages of one window
 *     tile.cuh              a block's tile; a window's contrast
 *     pair-tile.cuh         a tile that a block makes from the level's picture
 *     pair-visits.cuh       which windows the scan visits, across tiles
 *
 * WaldBoost models: waldboost-scanner.cu chooses, in choose() and submit_as();
 * waldboost-model.cuh has what its kernels share.
 *
 *   model and plan                    kernel (file), why
 *   rearrangement auto, step 1,       plane_kernel (planes/plane-kernel.cuh):
 *   blocks of up to 2x2 pixels,         one value per position serves all
 *   windows up to 64 wide               weak classifiers
 *     LBP                               of codes (planes/lbp-planes.cuh)
 *     LRD, LRP                          of block sums (planes/rank-planes.cuh)
 *   none, shared, ballot; also auto   block_kernel (variants/block-kernel.cuh):
 *   for other models                    survivors stay in their block
 *   global, hybrid, prefix-sum        segment_kernel, then finish_kernel
 *                                       (variants/segment-kernels.cuh): lists
 *                                       of the whole frame, for comparison
 *
 *     planes/planes.cuh, planes/plane-tables.cu   which models planes support,
 *                           their layout and tables
 *     variants/feature-codes.cuh    codes from integral images
 *     variants/launch-variants.cuh  chooses and launches the variant
 *
 * Models of trees on channels: channels/, which makes its own images; see
 * channels/channels.cuh.
 *
 * Every device runs the same kernels; its shared memory limits the height of
 * the tiles. Macros of these parts begin with CUV_CASCADE_, CUV_PLANE_,
 * CUV_VARIANT_, CUV_PYRAMID_, CUV_CHANNELS_ or CUV_CHOOSER_, others with
 * CUV_WALDBOOST_.
 *
 * All functions use the current CUDA context. */
#ifndef CUV_WALDBOOST_CUDA_H
#define CUV_WALDBOOST_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "cuv-rgb.h"
#include "waldboost/waldboost-types.h"

CUV_BEGIN

typedef struct _CuvWaldboostCuda CuvWaldboostCuda;

/* Uploads models and plans and allocates memory; all of them may be freed
 * afterwards. n is 1, or 1 to CUV_WALDBOOST_MAX_MODELS for models of trees on
 * channels of the same shrink, which then share channels; their plans may
 * differ in what depends on the model and in object sizes. The detectors of a
 * context share the device memory of pending frames, which is enough for at
 * least one frame when this returns. Returns NULL on failure, see
 * cuv_cuda_error(). */
CuvWaldboostCuda *cuv_waldboost_cuda_new (
    const CuvWaldboostSearch *searches, int n);
void cuv_waldboost_cuda_free (CuvWaldboostCuda *self); /* NULL is allowed */

/* Changes to other plans of the same models. Memory only grows. A frame that
 * was submitted but not collected is dropped and must not be collected. Returns
 * 0 or -1; after -1 only cuv_waldboost_cuda_free() is allowed. */
int cuv_waldboost_cuda_set_plans (
    CuvWaldboostCuda *self, const CuvWaldboostSearch *searches);

/* Enqueues the scan of a frame in device memory that has the plan's width and
 * height; the same thread must collect it. At most four frames of a context can
 * be pending, fewer if memory is short: waits until another thread has
 * collected one. After a failure, waits for the work that was enqueued. Returns
 * 0 or -1. */
int cuv_waldboost_cuda_submit (
    CuvWaldboostCuda *self, const CuvFrame *frame, CuvCudaStream stream);

/* A part of a frame that has the plan's width and height. matrix: converts YUV
 * to RGB. */
typedef struct {
  int32_t left, top, width, height;
  const CuvRgbMatrix *matrix;
} CuvWaldboostPart;

/* Like cuv_waldboost_cuda_submit(), but for a part of a frame and models on
 * channels. As pixels of the part may share their chroma with others, it cannot
 * be passed as a frame. */
int cuv_waldboost_cuda_submit_part (CuvWaldboostCuda *self,
    const CuvFrame *frame, const CuvWaldboostPart *part, CuvCudaStream stream);

/* Waits for the last submit; call it exactly once per submit. Writes a result
 * for each model, valid until the next submit; the first result includes the
 * time of the pyramid. Returns 0 or -1. */
int cuv_waldboost_cuda_collect (
    CuvWaldboostCuda *self, CuvWaldboostResult *results);

CUV_END

#endif
