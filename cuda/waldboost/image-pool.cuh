// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory for the images of a frame, shared by the detectors of a
// context: a detector needs it only while it processes a frame.
#ifndef CUV_WALDBOOST_IMAGE_POOL_CUH
#define CUV_WALDBOOST_IMAGE_POOL_CUH

#include <thread>
#include "cuv-cuda.cuh"

enum CuvImage {
  CUV_WALDBOOST_IMAGE_GREY, // if the frame has no usable grey plane
  CUV_WALDBOOST_IMAGE_PICTURES,
  CUV_WALDBOOST_IMAGE_SUMS,
  CUV_WALDBOOST_IMAGE_SQUARES,
  CUV_WALDBOOST_IMAGE_TILTED,
  CUV_WALDBOOST_IMAGE_DIAGONAL,   // the sums A of tilted-kernels.cuh
  CUV_WALDBOOST_IMAGE_STRIP_SUMS, // column sums of each strip
  CUV_WALDBOOST_IMAGE_STRIP_SQUARES,
  // for models on channels, see channels/channels.cuh
  CUV_WALDBOOST_IMAGE_COLORS,
  CUV_WALDBOOST_IMAGE_MAGNITUDES,
  CUV_WALDBOOST_IMAGE_DIRECTIONS,
  CUV_WALDBOOST_IMAGE_BLOCKS,
  CUV_WALDBOOST_IMAGE_CHANNELS,
  CUV_WALDBOOST_IMAGE_CANDIDATES,
  CUV_WALDBOOST_IMAGE_N
};

struct CuvImages {
  CuvBuffer of[CUV_WALDBOOST_IMAGE_N];
  std::thread::id owner; // the thread that acquired it; unset: not in use
};

struct CuvImagePool;

// Returns the pool of the current context, or NULL on failure. Unreferencing it
// for the last time frees its memory.
CuvImagePool *cuv_image_pool_ref (void);
void cuv_image_pool_unref (CuvImagePool *self); // NULL is allowed

// Acquires images of at least these sizes in bytes, with undefined content;
// returns NULL on failure. A thread that has none yet waits while other threads
// have four, or all device memory.
CuvImages *cuv_image_pool_acquire (
    CuvImagePool *self, const size_t sizes[CUV_WALDBOOST_IMAGE_N]);
// Call this when the GPU no longer uses the images.
void cuv_image_pool_release (CuvImagePool *self, CuvImages *images);

#endif
