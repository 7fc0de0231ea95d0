/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Correlation filters on the GPU: what elements/rcd/correlation does on the
 * CPU. All functions act on the current CUDA context. Those that return int
 * return 0, or -1 and set cuv_cuda_error().
 *
 * Each filter has a slot of memory, below max_targets. Nothing waits for
 * learning: the next search follows it on the stream. */
#ifndef CUV_RCD_FILTER_CUDA_H
#define CUV_RCD_FILTER_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "rcd/rcd-filter.h"

CUV_BEGIN

typedef struct _CuvRcdFilterCuda CuvRcdFilterCuda;

/* Allocates all memory, 1.4 MB for each target. NULL on failure, see
 * cuv_cuda_error(). */
CuvRcdFilterCuda *cuv_rcd_filter_cuda_new (int max_targets);
void cuv_rcd_filter_cuda_free (CuvRcdFilterCuda *self); /* NULL is allowed */

/* Enqueues n crops of a frame in device memory, 1 .. max_targets. To be called
 * before a draw over the same frame. */
int cuv_rcd_filter_cuda_crop (CuvRcdFilterCuda *self, const CuvFrame *frame,
    const CuvRcdCrop *crops, int n, CuvCudaStream stream);

/* A sample: the parts of one of the last crops that it is taken from, one
 * for each size; and the slot of its filter. */
typedef struct {
  CuvRcdCrop part[CUV_RCD_FILTER_SCALES];
  int32_t crop, slot;
} CuvRcdSample;

/* Enqueues the responses of n filters, 1 .. max_targets. */
int cuv_rcd_filter_cuda_find (CuvRcdFilterCuda *self,
    const CuvRcdSample *samples, int n, CuvCudaStream stream);

/* Waits for the responses: CUV_RCD_FILTER_SCALES maxima for each filter. */
int cuv_rcd_filter_cuda_collect (
    CuvRcdFilterCuda *self, CuvRcdFilterPeak *peaks);

/* Enqueues learning from the sample's first part. */
int cuv_rcd_filter_cuda_learn (CuvRcdFilterCuda *self,
    const CuvRcdSample *sample, float rate, CuvCudaStream stream);

/* Learns the sample's first part for a new target. Sets *peak to the response
 * there. Waits. */
int cuv_rcd_filter_cuda_start (CuvRcdFilterCuda *self,
    const CuvRcdSample *sample, const CuvRcdFilterGoal *goal,
    CuvCudaStream stream, double *peak);

/* Sets the model of a filter, and solves it. re, im: by frequency, then
 * channel. Waits. */
int cuv_rcd_filter_cuda_set (CuvRcdFilterCuda *self, int slot,
    const CuvRcdFilterGoal *goal, const float *re, const float *im,
    CuvCudaStream stream);

/* The model of a filter. Waits. */
int cuv_rcd_filter_cuda_get (
    CuvRcdFilterCuda *self, int slot, float *re, float *im);

/* For tests: the filter itself, and the last crops of CUV_RCD_CROP_PIXELS. */
int cuv_rcd_filter_cuda_get_filter (
    CuvRcdFilterCuda *self, int slot, float *re, float *im);
int cuv_rcd_filter_cuda_get_crops (
    CuvRcdFilterCuda *self, int n, uint8_t *pixels);

CUV_END

#endif
