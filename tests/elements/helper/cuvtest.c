/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvtest.h"

#include <stdio.h>
#include <stdlib.h>

static CuvTest *preparations, *tests;

void
cuv_test_register (CuvTest *test, gboolean first)
{
  CuvTest **end = first ? &preparations : &tests;

  while (*end != NULL)
    end = &(*end)->next;
  *end = test;
}

void
cuv_tests_skip (const gchar *reason)
{
  g_print ("skipped: %s\n", reason);
  exit (77);
}

/* Uses CUV_TEST_SEED or a new seed, and prints it to reproduce a failure. */
static void
seed_random (void)
{
  const gchar *given = g_getenv ("CUV_TEST_SEED");
  guint32 seed = given != NULL ? (guint32) g_ascii_strtoull (given, NULL, 0)
                               : g_random_int ();

  g_random_set_seed (seed);
  g_print ("CUV_TEST_SEED=%u\n", seed);
}

int
cuv_tests_run (const gchar *program)
{
  Suite *suite = suite_create (g_get_prgname ());
  TCase *tcase = tcase_create ("general");

  setvbuf (stdout, NULL, _IOLBF, 0);
  suite_add_tcase (suite, tcase);
  for (CuvTest *t = preparations; t != NULL; t = t->next)
    t->add (tcase);
  seed_random ();
  for (CuvTest *t = tests; t != NULL; t = t->next)
    t->add (tcase);
  return gst_check_run_suite (suite, program, program) > 0;
}
