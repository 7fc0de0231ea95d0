/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A libcuda.so.1 without a driver in it. */
int cuv_no_driver (void);

int
cuv_no_driver (void)
{
  return 0;
}
