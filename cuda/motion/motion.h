/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion detection on the GPU, and a map of this folder. Masks equal those of
 * the C reference in elements/motion/reference/, bit by bit.
 *
 * elements/motion/backend.c calls the functions below. A frame -> mog2_kernel
 * or average_kernel, a thread per value: the model learns the value, and a warp
 * writes 32 bits of the mask, without what params->unmasked hides ->
 * clean_kernel, which opens and closes tiles of the mask and counts moving
 * values -> host memory, where the CPU finds the parts.
 *
 *   motion.cu         memory, the models, the order of the kernels
 *   motion-mog2.cuh   the mixture of one value
 *   clean.cu          clean_kernel
 *   motion-pixel.h    values of a frame and averages, for gcc, too
 *   motion-types.h    structs for gcc and nvcc */
#ifndef CUV_MOTION_CUDA_H
#define CUV_MOTION_CUDA_H

#include "cuv-cuda.h"
#include "motion/motion-pixel.h"

CUV_BEGIN

typedef struct _CuvMotionCuda CuvMotionCuda;

/* Allocates memory for frames like this one in the current context: 61 bytes
 * per value for mixtures of luma, 101 of colours, 2 for averages. Returns NULL
 * on failure, see cuv_cuda_error(). */
CuvMotionCuda *cuv_motion_cuda_new (
    const CuvMotionConfig *config, const CuvFrame *frame);
void cuv_motion_cuda_free (CuvMotionCuda *self); /* NULL is allowed */

/* Forgets the background: the next frame is all of it. */
void cuv_motion_cuda_reset (CuvMotionCuda *self);

/* Enqueues the next frame. Returns 0 or -1. */
int cuv_motion_cuda_submit (CuvMotionCuda *self, const CuvFrame *frame,
    const CuvMotionParams *params, CuvCudaStream stream);

/* Waits for the frame. Returns 0, and sets the cleaned mask, of which only the
 * words that the marks name were written, and the number of moving values
 * before it was cleaned; or returns -1. The memory belongs to self. */
int cuv_motion_cuda_collect (CuvMotionCuda *self, CuvMotionBits *cleaned,
    const CuvMotionMark **marks, int64_t *n_moving);

/* Copies the mask as found, width x height bytes, to host memory. Waits.
 * Returns 0 or -1. */
int cuv_motion_cuda_get_mask (CuvMotionCuda *self, uint8_t *mask);

CUV_END

#endif
