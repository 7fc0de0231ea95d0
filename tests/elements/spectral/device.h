/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU for tests of the spectral elements: with CUV_TEST_CUDA=1 there must
 * be one, and cubes must be looked at there. */
#ifndef SPECTRAL_DEVICE_H
#define SPECTRAL_DEVICE_H

#include "cuvelements.h"

extern gboolean use_cuda;

/* Fails the test if the harness's element of this name has not looked at the
 * last cube where it was to. */
void device_check (GstHarness *h, const gchar *name);

/* As cuv_elements_main(), 77 without the device that is to be there. */
int device_main (Suite *(*make) (void), int argc, char **argv);
#define DEVICE_MAIN(make)                                                      \
  int main (int argc, char **argv)                                             \
  {                                                                            \
    return device_main (make, argc, argv);                                     \
  }

#endif
