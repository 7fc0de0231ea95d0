/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the cases, compares their results and prints the report. */
#include "verify.h"

#include <stdio.h>

typedef struct {
  const VerifyPlan *plan;
  const VerifyCase *current;
  const VerifyRow *row; /* of the current case, or NULL */
  VerifyRun *runs[N_TARGETS];
  const gchar *missing[N_TARGETS]; /* why targets are not run, or NULL */
  guint n_same[N_TARGETS], n_differ, n_failed, n_not_on_gpu;
} Report;

static gboolean
is_run (const Report *self, VerifyTarget target)
{
  return self->plan->targets[target] && self->missing[target] == NULL
      && !(target == ON_CUDA && self->current->cpu_only);
}

/* ---- comparing a case ---- */

/* Returns a target other than this one whose results can be compared, or
 * N_TARGETS. */
static VerifyTarget
find_other (const Report *self, VerifyTarget target)
{
  for (VerifyTarget t = 0; t < N_TARGETS; t++) {
    if (t != target && self->runs[t] != NULL && self->runs[t]->problem == NULL)
      return t;
  }
  return N_TARGETS;
}

static gchar *
compare_with_other (Report *self, VerifyTarget target, gdouble tolerance)
{
  const VerifyTarget other = find_other (self, target);

  if (other == N_TARGETS)
    return NULL;
  return verify_compare_runs (self->runs[target], verify_target_names[target],
      self->runs[other], verify_target_names[other], tolerance);
}

/* Returns NULL, or what differs: from the table, and on this machine. */
static gchar *
describe_difference (Report *self, VerifyTarget target)
{
  gchar *problem, *detail, *text;

  if (target == ON_CUDA && self->current->gpu_tolerance > 0)
    return compare_with_other (self, target, self->current->gpu_tolerance);
  if (self->row == NULL)
    return g_strdup ("the table does not have this case");
  problem = verify_compare_row (self->runs[target], self->row);
  if (problem == NULL)
    return NULL;
  detail = compare_with_other (self, target, 0);
  text = g_strdup_printf ("%s; %s", problem,
      detail != NULL                              ? detail
          : find_other (self, target) < N_TARGETS ? "the results of this "
                                                    "machine are equal"
                                                  : "nothing to compare with");
  g_free (detail);
  g_free (problem);
  return text;
}

static void
print_result (const Report *self, const gchar *result, VerifyTarget target)
{
  const gchar *ours = self->row != NULL ? self->row->milliseconds[target] : "-";

  printf ("%-7s %-18s %-5s %9.1f %9s\n", result, self->current->name,
      verify_target_names[target], self->runs[target]->milliseconds, ours);
}

static void
report_run (Report *self, VerifyTarget target)
{
  const VerifyRun *run = self->runs[target];
  gchar *difference = NULL;

  if (run->problem != NULL) {
    print_result (self, "FAILED", target);
    printf ("  %s\n", run->problem);
    self->n_failed++;
  } else if (target == ON_CUDA && !run->on_gpu) {
    print_result (self, "NOT RUN", target);
    printf ("  the elements ran on the CPU; GST_DEBUG='*cuv*:4,*cuda*:4' "
            "shows why\n");
    self->n_not_on_gpu++;
  } else if ((difference = describe_difference (self, target)) != NULL) {
    print_result (self, "FAIL", target);
    printf ("  %s\n", difference);
    self->n_differ++;
  } else {
    print_result (self, "PASS", target);
    self->n_same[target]++;
  }
  fflush (stdout);
  g_free (difference);
}

/* ---- running ---- */

static void
run_case (Report *self, const VerifyCase *current)
{
  self->current = current;
  self->row = self->plan->table != NULL
      ? verify_table_find (self->plan->table, current->name)
      : NULL;
  for (VerifyTarget t = 0; t < N_TARGETS; t++)
    self->runs[t] = is_run (self, t) ? verify_run (current, t) : NULL;
}

static void
free_runs (Report *self)
{
  for (VerifyTarget t = 0; t < N_TARGETS; t++)
    g_clear_pointer (&self->runs[t], verify_run_free);
}

/* Floats from the GPU are compared with those of the CPU, also if it was not
 * selected. */
static void
report_case (Report *self, const VerifyCase *current)
{
  run_case (self, current);
  if (self->runs[ON_CUDA] != NULL && current->gpu_tolerance > 0
      && find_other (self, ON_CUDA) == N_TARGETS)
    self->runs[ON_C] = verify_run (current, ON_C);
  for (VerifyTarget t = 0; t < N_TARGETS; t++) {
    if (is_run (self, t))
      report_run (self, t);
  }
  free_runs (self);
}

/* Returns FALSE if a required target is missing. */
static gboolean
find_targets (Report *self)
{
  gboolean complete = TRUE;

  for (VerifyTarget t = 0; t < N_TARGETS; t++) {
    self->missing[t] = verify_target_problem (t);
    if (self->plan->targets[t] && self->missing[t] != NULL) {
      if (self->plan->required)
        g_printerr ("cuvision-verify: --on=%s: %s\n", verify_target_names[t],
            self->missing[t]);
      complete = FALSE;
    }
  }
  return complete || !self->plan->required;
}

/* ---- the whole report ---- */

static void
print_missing (const Report *self)
{
  for (VerifyTarget t = 0; t < N_TARGETS; t++) {
    if (self->plan->targets[t] && self->missing[t] != NULL)
      printf (
          "%s is not verified: %s\n", verify_target_names[t], self->missing[t]);
  }
  if (self->n_not_on_gpu > 0)
    printf ("cuda is not verified in %u cases, which ran on the CPU\n",
        self->n_not_on_gpu);
}

/* A GPU that was required and not used is trouble. */
static int
print_sum (const Report *self)
{
  print_missing (self);
  if (self->n_differ > 0 || self->n_failed > 0)
    printf ("FAIL: %u results differ, %u could not be computed\n",
        self->n_differ, self->n_failed);
  else if (self->n_not_on_gpu > 0 && self->plan->required)
    printf ("FAIL: the GPU was not used\n");
  else
    printf ("PASS: %u results on c, %u on simd, %u on cuda\n",
        self->n_same[ON_C], self->n_same[ON_SIMD], self->n_same[ON_CUDA]);
  if (self->n_differ > 0)
    return VERIFY_DIFFERS;
  if (self->n_failed > 0 || (self->n_not_on_gpu > 0 && self->plan->required))
    return VERIFY_TROUBLE;
  return VERIFY_SAME;
}

int
verify_report (const VerifyPlan *plan)
{
  Report self = { .plan = plan };

  if (!find_targets (&self))
    return VERIFY_TROUBLE;
  verify_machine_print ();
  printf ("\n%-7s %-18s %-5s %9s %9s\n", "result", "case", "on", "ms/frame",
      "table");
  for (guint i = 0; i < plan->cases->len; i++)
    report_case (&self, plan->cases->pdata[i]);
  printf ("\n");
  return print_sum (&self);
}

int
verify_report_rows (const VerifyPlan *plan)
{
  Report self = { .plan = plan };
  gboolean failed = !find_targets (&self);

  for (guint i = 0; i < plan->cases->len && !failed; i++) {
    run_case (&self, plan->cases->pdata[i]);
    for (VerifyTarget t = 0; t < N_TARGETS; t++) {
      if (self.runs[t] == NULL || self.runs[t]->problem == NULL)
        continue;
      g_printerr ("cuvision-verify: %s on %s: %s\n", self.current->name,
          verify_target_names[t], self.runs[t]->problem);
      failed = TRUE;
    }
    if (!failed)
      verify_table_print (self.current->name, self.runs);
    free_runs (&self);
  }
  return failed ? VERIFY_TROUBLE : VERIFY_SAME;
}
