/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that register themselves: a program consists of CUV_TEST()s, and the
 * main() of this folder runs them in the order of their definition, each in a
 * process of its own. */
#ifndef CUV_TEST_H
#define CUV_TEST_H

#include <gst/check/gstcheck.h>

typedef struct _CuvTest CuvTest;
struct _CuvTest {
  void (*add) (TCase *tcase);
  CuvTest *next;
};

/* CUV_TEST (name) { ... } */
#define CUV_TEST(name) CUV_TEST_IF (name, TRUE)

/* A test that runs only if the condition holds when main() begins. */
#define CUV_TEST_IF(name, condition)                                           \
  static void name##_body (void);                                              \
  CUV_TEST_DEFINE (name, name##_body ())                                       \
  static void add_##name (TCase *tcase)                                        \
  {                                                                            \
    if (condition)                                                             \
      tcase_add_test (tcase, name);                                            \
  }                                                                            \
  static void name##_body (void)

/* A test that runs n times; `__i__` counts from 0. */
#define CUV_LOOP_TEST(name, n)                                                 \
  static void name##_body (gint __i__);                                        \
  CUV_TEST_DEFINE (name, name##_body (__i__))                                  \
  static void add_##name (TCase *tcase)                                        \
  {                                                                            \
    tcase_add_loop_test (tcase, name, 0, (gint) (n));                          \
  }                                                                            \
  static void name##_body (gint __i__)

#define CUV_TEST_DEFINE(name, run)                                             \
  GST_START_TEST (name)                                                        \
  {                                                                            \
    run;                                                                       \
  }                                                                            \
  GST_END_TEST                                                                 \
  CUV_TEST_REGISTER (name, FALSE)

#define CUV_TEST_REGISTER(name, first)                                         \
  static void add_##name (TCase *tcase);                                       \
  static void __attribute__ ((constructor)) register_##name (void)             \
  {                                                                            \
    static CuvTest test = { add_##name, NULL };                                \
                                                                               \
    cuv_test_register (&test, first);                                          \
  }

/* CUV_BEFORE_TESTS (name, tcase) { ... }: code that main() runs after
 * GStreamer is initialised and before the tests; sets fixtures and timeouts of
 * `tcase`, which all tests of the program share. */
#define CUV_BEFORE_TESTS(name, tcase)                                          \
  CUV_TEST_REGISTER (name, TRUE)                                               \
  static void add_##name (TCase *tcase G_GNUC_UNUSED)

/* Calls these functions before and after each test of the program. */
#define CUV_FIXTURE(set_up, tear_down)                                         \
  CUV_BEFORE_TESTS (fixture, tcase)                                            \
  {                                                                            \
    tcase_add_checked_fixture (tcase, set_up, tear_down);                      \
  }

void cuv_test_register (CuvTest *test, gboolean first);

/* Ends the program and reports it as skipped; for CUV_BEFORE_TESTS(). */
G_NORETURN void cuv_tests_skip (const gchar *reason);

/* Runs the tests with the random seed CUV_TEST_SEED, or a new one that is
 * printed, and returns the exit status. For programs with a main() of their
 * own, after gst_check_init(). */
int cuv_tests_run (const gchar *program);

#endif
