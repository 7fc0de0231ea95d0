/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main() of check programs that do not define one. */
#include "cuvcheck.h"

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv);
}
