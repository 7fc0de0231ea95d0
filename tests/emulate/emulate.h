// SPDX-License-Identifier: LGPL-2.1-or-later
// What the two halves of the emulator share: kernels (emulate.cpp) and the
// runtime (runtime.cpp).
#ifndef CUV_EMULATE_H
#define CUV_EMULATE_H

#include "cuda_runtime.h"

#define CUV_EMULATED_MAX_SHARED (227 << 10) // bytes per block

// Runs body in every thread of the grid.
void cuv_emulate (
    dim3 grid, dim3 block, size_t shared, const std::function<void ()> &body);

// Returns a number from 0 to n - 1. The sequence is the same in each run.
unsigned cuv_emulated_draw (unsigned n);

#endif
