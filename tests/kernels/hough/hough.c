/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector: the C reference against straightforward implementations of
 * the definitions, and the fast versions against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "hough-tests.h"

static void
run (void)
{
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench)
      bench_hough_cuda ();
    check_cuda ();
    return;
  }
#endif
  if (cuv_check_options.bench) {
    bench_hough ();
    if (cuv_check_options.few)
      return;
  }
  check_edges ();
  check_known_edges ();
  check_bad_configs ();
  check_bins ();
  check_orientation_windows ();
  check_votes ();
  check_known_lines ();
  check_pclines ();
  check_cell_lines ();
  check_clip ();
  check_segments ();
  check_regions ();
  check_cpu_versions ();
  check_limits ();
  check_pairs ();
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
