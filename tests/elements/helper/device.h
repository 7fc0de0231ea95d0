/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that also run on a GPU: with CUV_TEST_CUDA=1 frames must be analysed
 * on the GPU, with the same results. Without a GPU such a run is skipped. */
#ifndef CUV_DEVICE_H
#define CUV_DEVICE_H

#include "cuvelements.h"

extern gboolean use_cuda; /* CUV_TEST_CUDA is set */

/* Fails the test if the harness's element of this factory did not analyse the
 * last frame on the required device. */
void device_check (GstHarness *h, const gchar *factory);

#endif
