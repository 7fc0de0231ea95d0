/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An empty libcuda.so.1: loading it finds no driver function. */
int cuv_no_driver (void);

int
cuv_no_driver (void)
{
  return 0;
}
