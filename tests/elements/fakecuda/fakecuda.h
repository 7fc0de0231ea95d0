/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests ask the stand-in driver. Look the functions up in the
 * libcuda.so.1 that is loaded: a real one does not have them. */
#ifndef FAKECUDA_H
#define FAKECUDA_H

typedef struct {
  /* that exist now */
  int contexts, streams, device_blocks, pinned_blocks;
  /* since the process began */
  int contexts_made, device_blocks_made, pinned_blocks_made;
  int waits_made_to_sleep;           /* contexts */
  int to_device, to_host, on_device; /* copies of a rectangle */
  /* calls that a real driver would refuse or that would corrupt memory: no
   * context current, a rectangle outside its block, a handle that is gone */
  int misuses;
} FakecudaCounts;

typedef void (*FakecudaCount) (FakecudaCounts *counts); /* fakecuda_count */
typedef void (*FakecudaFail) (int n); /* fakecuda_fail_allocation: the next n
                                         allocations succeed, later ones run
                                         out of memory; n < 0: none does */

#endif
