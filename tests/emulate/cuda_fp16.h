// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers of half precision, two by two: as much as compares bits.
#ifndef CUV_EMULATE_FP16_H
#define CUV_EMULATE_FP16_H

#include <assert.h>
#include "cuda_runtime.h"

struct __half2 {
  uint16_t half[2];
};

// Of numbers that are not negative, where the bits have the same order.
static inline unsigned
__hge2_mask (__half2 a, __half2 b)
{
  for (uint16_t half : { a.half[0], a.half[1], b.half[0], b.half[1] })
    assert (half < 0x7c00); // infinity; what follows is no number
  return (a.half[0] >= b.half[0] ? 0xffffu : 0)
      | (a.half[1] >= b.half[1] ? 0xffff0000u : 0);
}

#endif
