/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of the build with emulated kernels: that of config.h, with
 * CUDA. */
#ifndef CUV_EMULATE_CONFIG_H
#define CUV_EMULATE_CONFIG_H

#include_next "config.h"
#undef HAVE_CUDA
#define HAVE_CUDA 1

#endif
