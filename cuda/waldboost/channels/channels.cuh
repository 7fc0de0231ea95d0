// SPDX-License-Identifier: LGPL-2.1-or-later
// Aggregated channels of all levels on the GPU, and a map of this folder. The
// definition is docs/definitions/channels.md; results equal those of
// elements/waldboost/channels/, bit by bit.
//
//   channels-types.h      the model, as C and CUDA know it
//   channels-scanner.cu   makes the channels that its models share: lays out
//                         the images, launches the kernels
//   trees-scan.cuh        scans them with the trees of a model
//   channels-layout.cuh   where the images of all plans are
//   frame-kernels.cuh     frame -> its picture in RGB, turned if asked for, and
//                         halves of it -> the pictures of all levels
//   gradient-kernel.cuh   picture -> magnitudes and directions of a level's
//                         gradients, and the sums of its blocks' colours
//   sums-kernel.cuh       magnitudes relative to their surroundings -> sums of
//                         blocks
//   smooth-kernel.cuh     sums of blocks -> channels
//   trees-kernels.cuh     channels -> hits
//   bytes.cuh             four bytes of a word at once
//
// All levels share each launch, so that the small ones fill the gaps.
#ifndef CUV_CHANNELS_CUH
#define CUV_CHANNELS_CUH

#include "cuv-cuda.cuh"
#include "waldboost/channels/channels-types.h"

// A tile of a level: what a warp or a block of a kernel makes. The unit of x
// and y depends on the kernel.
struct CuvChannelsTile {
  int32_t level, x, y;
};

// Where an image is in its buffer, in elements. An image of blocks has
// CUV_CHANNELS_N rows of pitch elements for each row of blocks, one per
// channel.
struct CuvChannelsImage {
  int64_t first;
  int32_t pitch;
};

// A level of the pyramid.
struct CuvChannelsDeviceLevel {
  int32_t width, height; // pixels
  int32_t columns, rows; // blocks
  int32_t n_x, n_y;      // windows of the model that is searched for
  // Its picture, pixels of R, G, B, 0 in a word, and that it is resized from.
  CuvChannelsImage picture, source;
  int32_t first_x_tap, first_y_tap;
  // All begin at pixel or block 0, 0.
  CuvChannelsImage pixels;   // magnitudes, directions; padded on both sides
  CuvChannelsImage sums;     // of blocks
  CuvChannelsImage channels; // padded on all sides, at least by the overhang
};

// One output sample of a linear resize: samples index and index + next, their
// weights 1/256. Neither weight is 256: an exact copy has the same sample
// twice. Weights are the lower two bytes.
struct CuvChannelsTap {
  int32_t index;
  uint32_t weights;
  int32_t next;   // 0 or 1
  int32_t unused; // for alignment: a tap is one load
};

#define CUV_CHANNELS_LANE_PIXELS 4    // adjacent pixels of a thread
#define CUV_CHANNELS_PIXELS_PADDING 8 // columns on each side, for surroundings

#endif
