/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main() of programs of CUV_TEST()s that do not define one. */
#include "cuvtest.h"

int
main (int argc, char **argv)
{
  gst_check_init (&argc, &argv);
  return cuv_tests_run (argv[0]);
}
