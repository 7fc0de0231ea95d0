// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's cooperative groups for the emulator, which runs cooperative kernels in
// one block.
#ifndef CUV_EMULATE_COOPERATIVE_GROUPS_H
#define CUV_EMULATE_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups
{

struct grid_group {
  void
  sync () const
  {
    __syncthreads ();
  }
};

static inline grid_group
this_grid ()
{
  return {};
}

} // namespace cooperative_groups

#endif
