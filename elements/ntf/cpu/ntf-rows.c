/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of the tensor, split over tasks on several threads. */
#include "cpu/ntf-cpu-private.h"

#include <string.h>
#include "cuvthreads.h"

typedef struct {
  CuvNtfCpu *cpu;
  CuvNtfRowFunc func;
  int n_rows;
} Rows;

static bool
ntf_cpu_is_cancelled (const CuvNtfCpu *self)
{
  return __atomic_load_n (self->cancel, __ATOMIC_RELAXED) != 0;
}

static void
rows_task (void *data, int task)
{
  const Rows *rows = data;
  const int64_t n = rows->n_rows;
  const int end = (int) (n * (task + 1) / CUV_NTF_TASKS);

  for (int y = (int) (n * task / CUV_NTF_TASKS); y < end; y++) {
    if (ntf_cpu_is_cancelled (rows->cpu))
      return;
    rows->func (rows->cpu, &rows->cpu->tasks[task], y);
  }
}

bool
cuv_ntf_cpu_rows (CuvNtfCpu *self, int n_rows, CuvNtfRowFunc func)
{
  Rows rows = { self, func, n_rows };

  cuv_threads_run (self->n_threads, CUV_NTF_TASKS, rows_task, &rows);
  return !ntf_cpu_is_cancelled (self);
}

void
cuv_ntf_cpu_clear_sums (CuvNtfCpu *self, int mode)
{
  const size_t n =
      (size_t) self->factors.size[mode] * (size_t) self->factors.stride;

  for (int i = 0; i < CUV_NTF_TASKS; i++)
    memset (self->tasks[i].sums[mode], 0, n * sizeof (float));
}
