/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the GPU, and a map of this folder. Results equal those
 * of the C reference in elements/hough/reference/, bit by bit.
 *
 * elements/hough/backend.c calls the functions below. cuv_hough_cuda_submit()
 * enqueues the kernels of a frame in this order; the last one writes lines or
 * segments to pinned memory, and cuv_hough_cuda_collect() waits for that:
 *
 *   canny_kernel, hysteresis_kernel     edge map; of an edge map as input:
 *     or input_kernel                     its nonzero pixels
 *   list_kernel                         edges as a list
 *   bin_kernel, sort_kernel             with an orientation window: edges
 *                                         sorted by direction
 *   vote_..., peak_kernel               accumulator and its peaks
 *     or ring_kernel                      both in one
 *   best_kernel                         the best peaks, sorted
 *   segment_kernel                      segments of their lines
 *
 * If segments are wanted and directions are known (edges=canny, window < 90:
 * cuv_hough_uses_regions()), after list_kernel:
 *
 *   regions_kernel                      segments of regions of the edges
 *   best_kernel                         the best segments, sorted
 *
 * Then votes are counted only to be drawn. While the GPU is busy, the kernels
 * from list_kernel on are replayed (cuv-replay.cuh).
 *
 * The kernel that votes is chosen by choose_method() in hough.cu:
 *
 *   method           kernel (file), why
 *   auto, shared,    vote_kernel (votes.cu): a block counts the votes of a part
 *   gather             of the edges in a slice, some rows in shared memory;
 *                      cuv_vote_plan() chooses how many
 *     with an        vote_window_kernel (votes.cu): a block counts the votes in
 *     orientation      a row, and reads only the edges that vote there
 *     window
 *   ring             ring_kernel (ring.cu): a slice and the rows next to it in
 *                      shared memory, so that peaks are found without an
 *                      accumulator; cuv_ring_plan() chooses how many. As
 *                      shared, if not even one row fits
 *   global; shared   vote_global_kernel (votes.cu): atomics in global memory
 *   if not even one
 *   row fits
 *
 *   hough.cu                memory, and the order of the kernels
 *   edge-maps.cuh           bitmaps of edges; connected components in them
 *   canny.cu                edges of a tile: canny_kernel; input_kernel
 *     canny-grey.cuh          grey values of a tile, blurred if asked for
 *     canny-gradients.cuh     gradients, non-maximum suppression
 *     canny-hysteresis.cuh    hysteresis within the tile
 *   hysteresis.cu           hysteresis across tiles
 *   list-edges.cu           the list of edges
 *   directions.cuh          the direction of an edge, its orientation bin
 *   sort-edges.cu           edges sorted by bin
 *   votes.cuh               structures and launchers of what follows the edges
 *   slice.cuh               voting in a slice, for votes.cu and ring.cu
 *   peaks.cuh, peaks.cu     which cells are peaks; peaks of an accumulator
 *   best-peaks.cu           selects and sorts the best peaks
 *   segments.cu             segments of the best peaks' lines
 *   regions.h, regions.cu   segments of regions of edges; geometry for CPU, too
 *     region-buffers.cuh      the buffers of regions.cu
 *     region-parts.cuh        splits regions in a block's shared memory
 *   draw.cu                 debug views
 *
 * All functions use the current CUDA context. */
#ifndef CUV_HOUGH_CUDA_H
#define CUV_HOUGH_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "hough/hough-types.h"

CUV_BEGIN

typedef struct _CuvHoughCuda CuvHoughCuda;

/* Allocates memory for frames of the layout's size; returns NULL on failure,
 * see cuv_cuda_error(). The layout may be freed afterwards. */
CuvHoughCuda *cuv_hough_cuda_new (const CuvHoughLayout *layout);
void cuv_hough_cuda_free (CuvHoughCuda *self); /* NULL is allowed */

/* Enqueues the detection in a frame in device memory, of the layout's width x
 * height. params->max_lines is clamped to 1 .. CUV_HOUGH_MAX_LINES. Waits only
 * after a failure. Returns 0 or -1. */
int cuv_hough_cuda_submit (CuvHoughCuda *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvCudaStream stream);

/* Waits for the last submit; call it once for each submit. *result is valid
 * until the next submit. Returns 0 or -1. */
int cuv_hough_cuda_collect (CuvHoughCuda *self, CuvHoughResult *result);

/* Enqueues drawing over a frame of the same size in device memory: its edges,
 * or the accumulator with cells above the threshold in white. Call it at most
 * once between submit and collect, which waits for it, too. Returns 0 or -1. */
int cuv_hough_cuda_draw (CuvHoughCuda *self, const CuvFrame *frame,
    CuvHoughDraw draw, CuvCudaStream stream);

/* For tests, after collect: copies the edge map (255 or 0, width x height), or
 * the votes (n_rows x n_cells; not after RING). Return 0 or -1. */
int cuv_hough_cuda_get_edges (CuvHoughCuda *self, uint8_t *map);
int cuv_hough_cuda_get_votes (CuvHoughCuda *self, uint32_t *accumulator);

CUV_END

#endif
