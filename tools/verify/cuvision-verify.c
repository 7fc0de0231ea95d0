/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: its command line. */
#include "config.h"
#include "verify.h"

#include <locale.h>
#include <stdio.h>

static gboolean option_list, option_records, option_rows, option_version;
static gchar **option_on, *option_table;

static const GOptionEntry entries[] = {
  { "list", 0, 0, G_OPTION_ARG_NONE, &option_list,
      "Print the cases and their pipelines", NULL },
  { "on", 0, 0, G_OPTION_ARG_STRING_ARRAY, &option_on,
      "Run on c, simd or cuda only; may be repeated (default: all that this "
      "machine has)",
      "TARGET" },
  { "table", 0, 0, G_OPTION_ARG_FILENAME, &option_table,
      "Compare with the table in FILE, such as docs/verified.md of another "
      "release",
      "FILE" },
  { "records", 0, 0, G_OPTION_ARG_NONE, &option_records,
      "Print the results of one CASE on one TARGET as JSON lines", NULL },
  { "rows", 0, 0, G_OPTION_ARG_NONE, &option_rows,
      "Print new rows for the table instead of comparing", NULL },
  { "version", 0, 0, G_OPTION_ARG_NONE, &option_version, "Print the version",
      NULL },
  { NULL, 0, 0, 0, NULL, NULL, NULL },
};

static gboolean
parse_verify_options (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new ("[CASE...]");
  GError *error = NULL;
  gboolean ok;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context,
      "Checks that results on this machine's processor and GPU are the same "
      "bits as in\nthe table of the release.");
  g_option_context_set_description (context,
      "Exit status: 0: all results are the same; 1: a result differs; 2: wrong "
      "command\nline, or something could not be run.");
  ok = g_option_context_parse (context, argc, argv, &error);
  if (!ok)
    g_printerr ("cuvision-verify: %s (see --help)\n", error->message);
  g_clear_error (&error);
  g_option_context_free (context);
  return ok;
}

/* ---- the plan ---- */

static gboolean
select_target (VerifyPlan *plan, const gchar *name)
{
  for (VerifyTarget t = 0; t < N_TARGETS; t++) {
    if (g_str_equal (verify_target_names[t], name)) {
      plan->targets[t] = TRUE;
      return TRUE;
    }
  }
  g_printerr ("cuvision-verify: --on=%s: expected c, simd or cuda\n", name);
  return FALSE;
}

static gboolean
select_targets (VerifyPlan *plan)
{
  plan->required = option_on != NULL;
  for (VerifyTarget t = 0; t < N_TARGETS; t++)
    plan->targets[t] = option_on == NULL;
  for (gchar **name = option_on; name != NULL && *name != NULL; name++) {
    if (!select_target (plan, *name))
      return FALSE;
  }
  return TRUE;
}

static gboolean
select_cases (VerifyPlan *plan, int n, char **names)
{
  for (guint i = 0; n == 0 && i < verify_n_cases; i++)
    g_ptr_array_add (plan->cases, (gpointer) &verify_cases[i]);
  for (int i = 0; i < n; i++) {
    const VerifyCase *found = verify_case_find (names[i]);

    if (found == NULL) {
      g_printerr (
          "cuvision-verify: unknown case '%s' (see --list)\n", names[i]);
      return FALSE;
    }
    g_ptr_array_add (plan->cases, (gpointer) found);
  }
  return TRUE;
}

static gboolean
load_table (VerifyPlan *plan)
{
  GError *error = NULL;

  plan->table = verify_table_read (option_table, &error);
  if (plan->table != NULL)
    return TRUE;
  g_printerr ("cuvision-verify: %s\n", error->message);
  g_error_free (error);
  return FALSE;
}

/* ---- what the options select ---- */

static int
list_cases (const VerifyPlan *plan)
{
  for (guint i = 0; i < plan->cases->len; i++) {
    const VerifyCase *self = plan->cases->pdata[i];

    printf ("%s: %u frames of %s\n  %s\n", self->name, self->main.n_frames,
        self->main.caps, self->main.line);
  }
  return VERIFY_SAME;
}

/* These variables have to be set before anything reads them. */
static void
hide_processors (const VerifyPlan *plan)
{
  if (plan->targets[ON_C])
    g_setenv ("CUV_CPU_MASK", "0", TRUE);
  if (!plan->targets[ON_CUDA])
    g_setenv ("CUDA_VISIBLE_DEVICES", "", TRUE);
}

static int
print_records (const VerifyPlan *plan)
{
  VerifyTarget target = ON_C;
  const gchar *problem;

  if (plan->cases->len != 1 || option_on == NULL || option_on[1] != NULL) {
    g_printerr ("cuvision-verify: --records needs one CASE and one --on\n");
    return VERIFY_TROUBLE;
  }
  while (!plan->targets[target])
    target++;
  problem = verify_target_problem (target);
  if (problem != NULL) {
    g_printerr ("cuvision-verify: --on=%s: %s\n", option_on[0], problem);
    return VERIFY_TROUBLE;
  }
  return verify_play (plan->cases->pdata[0], target);
}

static int
run_plan (VerifyPlan *plan)
{
  if (option_list)
    return list_cases (plan);
  if (option_records)
    hide_processors (plan);
  gst_init (NULL, NULL);
  if (option_records)
    return print_records (plan);
  if (option_rows)
    return verify_report_rows (plan);
  return load_table (plan) ? verify_report (plan) : VERIFY_TROUBLE;
}

int
main (int argc, char **argv)
{
  VerifyPlan plan = { .cases = g_ptr_array_new () };
  int status = VERIFY_TROUBLE;

  setlocale (LC_ALL, "");
  if (!parse_verify_options (&argc, &argv))
    return VERIFY_TROUBLE;
  if (option_version) {
    printf ("cuvision-verify %s\n", VERSION);
    return VERIFY_SAME;
  }
  if (select_targets (&plan) && select_cases (&plan, argc - 1, argv + 1))
    status = run_plan (&plan);
  g_clear_pointer (&plan.table, g_ptr_array_unref);
  g_ptr_array_unref (plan.cases);
  return status;
}
