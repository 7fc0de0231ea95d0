// SPDX-License-Identifier: LGPL-2.1-or-later
// Aggregated channels of all levels on the GPU, and a map of this folder.
// docs/definitions/channels.md defines the channels; results equal those of
// detect/channels/, bit by bit.
//
//   channels-types.h      the model, shared by C and CUDA
//   channels-scanner.cu   makes the channels that its models share: lays out
//                         the images, launches the kernels
//   trees-scan.cuh        scans channels with the trees of a model
//   channels-layout.cuh   places the images of all plans in memory
//   frame-kernels.cuh     frame -> its picture in RGB, turned if required, and
//                         halves of it -> the pictures of all levels
//   gradient-kernel.cuh   picture -> magnitudes and directions of a level's
//                         gradients, and the sums of its blocks' colours
//   sums-kernel.cuh       magnitudes relative to their surroundings -> sums of
//                         blocks
//   smooth-kernel.cuh     sums of blocks -> channels
//   trees-kernels.cuh     channels -> hits
//   bytes.cuh             arithmetic on the four bytes of a word
//
// All levels share each launch, so that the small ones fill the gaps.
#ifndef CUV_CHANNELS_CUH
#define CUV_CHANNELS_CUH

#include "cuv-cuda.cuh"
#include "waldboost/channels/channels-types.h"

// A tile of a level, which a warp or a block of a kernel makes. The unit of x
// and y depends on the kernel.
struct CuvChannelsTile {
  int32_t level, x, y;
};

// Place of an image in its buffer, in elements. An image of blocks has
// CUV_CHANNELS_N rows of pitch elements for each row of blocks, one per
// channel.
struct CuvChannelsImage {
  int64_t first;
  int32_t pitch;
};

// A level of the pyramid.
struct CuvChannelsDeviceLevel {
  int32_t width, height; // in pixels
  int32_t columns, rows; // in blocks
  int32_t n_x, n_y;      // windows of the model to scan
  // The level's picture, with R, G, B, 0 of a pixel in a word, and the picture
  // from which it is resized.
  CuvChannelsImage picture, source;
  int32_t first_x_tap, first_y_tap;
  // The images below begin at pixel or block (0, 0).
  CuvChannelsImage pixels;   // magnitudes, directions; padded left and right
  CuvChannelsImage sums;     // sums of blocks
  CuvChannelsImage channels; // padded on all sides, at least by the overhang
};

// One output sample of a linear resize, which mixes samples index and index +
// next. Their weights, in 1/256, are the lower two bytes of weights; neither is
// 256, so an exact copy has the same sample twice.
struct CuvChannelsTap {
  int32_t index;
  uint32_t weights;
  int32_t next;   // 0 or 1
  int32_t unused; // aligns taps, so that one load reads a tap
};

#define CUV_CHANNELS_LANE_PIXELS 4    // adjacent pixels per thread
#define CUV_CHANNELS_PIXELS_PADDING 8 // columns on each side, for surroundings

#endif
