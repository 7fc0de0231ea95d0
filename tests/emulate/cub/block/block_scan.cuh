// SPDX-License-Identifier: LGPL-2.1-or-later
// CUB's prefix sum over a block, in the simplest way.
#ifndef CUV_EMULATE_BLOCK_SCAN_CUH
#define CUV_EMULATE_BLOCK_SCAN_CUH

#include "cuda_runtime.h"

namespace cub
{

template <typename T, int threads> class BlockScan
{
public:
  struct TempStorage {
    T items[threads];
  };

  explicit BlockScan (TempStorage &storage) : items (storage.items)
  {
  }

  void
  ExclusiveSum (T item, T &before, T &total)
  {
    items[threadIdx.x] = item;
    __syncthreads ();
    before = total = 0;
    for (unsigned i = 0; i < threads; i++) {
      before += i < threadIdx.x ? items[i] : 0;
      total += items[i];
    }
    __syncthreads ();
  }

private:
  T *items;
};

} // namespace cub

#endif
