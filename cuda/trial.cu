// SPDX-License-Identifier: LGPL-2.1-or-later
// Meson compiles this to see whether nvcc works, and with which options.
#if CUDART_VERSION < 12040
#error "CUDA 12.4 or later is needed"
#endif

// nvcc 13.5 cannot compile __dp4a() with -Ofc.
__global__ void
trial_kernel (int *value)
{
  *value = __dp4a (*value, *value, *value);
}
