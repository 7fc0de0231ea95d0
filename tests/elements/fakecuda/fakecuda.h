/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stand-in driver's interface for tests. Look the functions up in the
 * loaded libcuda.so.1: a real driver does not have them. */
#ifndef FAKECUDA_H
#define FAKECUDA_H

typedef struct {
  /* existing now */
  int contexts, streams, device_blocks, pinned_blocks;
  /* since the process began */
  int contexts_made, device_blocks_made, pinned_blocks_made;
  int blocking_sync_contexts;        /* set to CU_CTX_SCHED_BLOCKING_SYNC */
  int to_device, to_host, on_device; /* copies of a rectangle */
  /* calls that a real driver would refuse or that would corrupt memory: no
   * context current, a rectangle outside its block, a freed handle */
  int misuses;
  int abandoned_streams; /* destroyed before their copies were waited for */
} FakecudaCounts;

typedef void (*FakecudaCount) (FakecudaCounts *counts); /* fakecuda_count */
/* fakecuda_fail_allocation: the next n allocations succeed, later ones run out
 * of memory; n < 0: all succeed. fakecuda_fail_copy: the same for asynchronous
 * copies. */
typedef void (*FakecudaFail) (int n);

#endif
