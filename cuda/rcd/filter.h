/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Correlation filters on the GPU: they do what elements/rcd/correlation does on
 * the CPU. All functions act on the current CUDA context. Those that return int
 * return 0, or -1 and set cuv_cuda_error().
 *
 * Each filter has a slot of memory, numbered from 0 to max_targets - 1. The
 * host does not wait for learning; the next search follows it on the stream. */
#ifndef CUV_RCD_FILTER_CUDA_H
#define CUV_RCD_FILTER_CUDA_H

#include "cuv-cuda.h"
#include "cuv-frame.h"
#include "rcd/rcd-filter.h"

CUV_BEGIN

typedef struct _CuvRcdFilterCuda CuvRcdFilterCuda;

/* Allocates all memory, 1.4 MB for each target. Returns NULL on failure; see
 * cuv_cuda_error(). */
CuvRcdFilterCuda *cuv_rcd_filter_cuda_new (int max_targets);
void cuv_rcd_filter_cuda_free (CuvRcdFilterCuda *self); /* NULL is allowed */

/* Enqueues n crops, 1 .. max_targets, of a frame in device memory. If the frame
 * is also drawn on, call this first. */
int cuv_rcd_filter_cuda_crop (CuvRcdFilterCuda *self, const CuvFrame *frame,
    const CuvRcdCrop *crops, int n, CuvCudaStream stream);

/* A sample to be taken from one of the last crops: a part of the crop for each
 * size, and the slot of the sample's filter. */
typedef struct {
  CuvRcdCrop part[CUV_RCD_FILTER_SCALES];
  int32_t crop, slot;
} CuvRcdSample;

/* Enqueues the responses of n filters, 1 .. max_targets. */
int cuv_rcd_filter_cuda_find (CuvRcdFilterCuda *self,
    const CuvRcdSample *samples, int n, CuvCudaStream stream);

/* Waits for the responses, and writes CUV_RCD_FILTER_SCALES maxima for each
 * filter to peaks. */
int cuv_rcd_filter_cuda_collect (
    CuvRcdFilterCuda *self, CuvRcdFilterPeak *peaks);

/* Enqueues learning from the sample's first part. */
int cuv_rcd_filter_cuda_learn (CuvRcdFilterCuda *self,
    const CuvRcdSample *sample, float rate, CuvCudaStream stream);

/* Learns a new target from the sample's first part, sets *peak to the response
 * there, and waits. */
int cuv_rcd_filter_cuda_start (CuvRcdFilterCuda *self,
    const CuvRcdSample *sample, const CuvRcdFilterGoal *goal,
    CuvCudaStream stream, double *peak);

/* Sets the model of a filter, computes the filter, and waits. re and im are as
 * in CuvSpectrum: the channels of a frequency follow each other. */
int cuv_rcd_filter_cuda_set (CuvRcdFilterCuda *self, int slot,
    const CuvRcdFilterGoal *goal, const float *re, const float *im,
    CuvCudaStream stream);

/* Copies the model of a filter to the host, and waits. */
int cuv_rcd_filter_cuda_get (
    CuvRcdFilterCuda *self, int slot, float *re, float *im);

/* For tests: the filter itself, and the last crops of CUV_RCD_CROP_PIXELS. */
int cuv_rcd_filter_cuda_get_filter (
    CuvRcdFilterCuda *self, int slot, float *re, float *im);
int cuv_rcd_filter_cuda_get_crops (
    CuvRcdFilterCuda *self, int n, uint8_t *pixels);

CUV_END

#endif
