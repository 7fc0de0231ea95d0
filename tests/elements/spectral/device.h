/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the spectral elements on the GPU: CUV_TEST_CUDA=1 requires one, and
 * requires that cubes are analysed there. */
#ifndef SPECTRAL_DEVICE_H
#define SPECTRAL_DEVICE_H

#include "cuvelements.h"

extern gboolean use_cuda;

/* Fails the test if the harness's element of this name did not analyse the last
 * cube on the required device. */
void device_check (GstHarness *h, const gchar *name);

/* As cuv_elements_main(); returns 77 if the required GPU is missing. */
int device_main (Suite *(*make) (void), int argc, char **argv);
#define DEVICE_MAIN(make)                                                      \
  int main (int argc, char **argv)                                             \
  {                                                                            \
    return device_main (make, argc, argv);                                     \
  }

#endif
