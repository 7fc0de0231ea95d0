/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main() of programs of checks that have none of their own. */
#include "cuvcheck.h"

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv);
}
