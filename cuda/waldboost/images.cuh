// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory for the images of a frame, which the detectors of a context
// share: a detector needs it only while it processes a frame.
#ifndef CUV_WALDBOOST_IMAGES_CUH
#define CUV_WALDBOOST_IMAGES_CUH

#include <thread>
#include "cuv-cuda.cuh"

enum CuvImage {
  CUV_GREY, // of frames without a usable grey plane
  CUV_PICTURES,
  CUV_SUMS,
  CUV_SQUARES,
  CUV_TILTED,
  CUV_DIAGONAL,   // A of the tilted kernels
  CUV_STRIP_SUMS, // column sums of each strip
  CUV_STRIP_SQUARES,
  CUV_N_IMAGES
};

struct CuvImages {
  CuvBuffer of[CUV_N_IMAGES];
  std::thread::id owner; // that took it; none: unused
};

struct CuvImagePool;

// That of the current context; NULL on failure. The last unref frees its
// memory.
CuvImagePool *cuv_image_pool_ref (void);
void cuv_image_pool_unref (CuvImagePool *self); // NULL is allowed

// Takes images of at least these bytes each, whose content is undefined. NULL
// on failure. While others have taken many, or as much as the device has, a
// thread waits, unless it has some itself, which nobody else would give back.
CuvImages *cuv_image_pool_take (
    CuvImagePool *self, const size_t sizes[CUV_N_IMAGES]);
// The work that used them must have ended.
void cuv_image_pool_give_back (CuvImagePool *self, CuvImages *images);

#endif
