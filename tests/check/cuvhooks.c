/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvhooks.h"

#include <stdatomic.h>

#define HOOK __attribute__ ((visibility ("default")))

HOOK int cuv_test_allocation_fails (void);
HOOK bool cuv_test_gpu_is_busy (void);
HOOK unsigned cuv_test_cpu_mask (void);

static atomic_int allocations_left = -1;
static atomic_bool gpu_is_busy;
static atomic_uint cpu_mask = ~0u;

void
cuv_cuda_fail_allocation (int n)
{
  allocations_left = n;
}

int
cuv_test_allocation_fails (void)
{
  int left = allocations_left;

  while (left > 0
      && !atomic_compare_exchange_weak (&allocations_left, &left, left - 1))
    ;
  return left == 0;
}

void
cuv_gpu_set_busy (bool busy)
{
  gpu_is_busy = busy;
}

bool
cuv_test_gpu_is_busy (void)
{
  return gpu_is_busy;
}

void
cuv_cpu_set_mask (unsigned mask)
{
  cpu_mask = mask;
}

unsigned
cuv_test_cpu_mask (void)
{
  return cpu_mask;
}
