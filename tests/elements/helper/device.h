/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that also run on a GPU: CUV_TEST_CUDA=1 requires one, and requires that
 * frames are analysed there, with the same results. */
#ifndef CUV_DEVICE_H
#define CUV_DEVICE_H

#include "cuvelements.h"

extern gboolean use_cuda; /* CUV_TEST_CUDA is set */

/* Fails the test if the harness's element of this factory did not analyse the
 * last frame on the required device. */
void device_check (GstHarness *h, const gchar *factory);

/* As cuv_elements_main(); returns 77 if the required GPU is missing. */
int device_main (Suite *(*make) (void), int argc, char **argv);
#define DEVICE_MAIN(make)                                                      \
  int main (int argc, char **argv)                                             \
  {                                                                            \
    return device_main (make, argc, argv);                                     \
  }

#endif
