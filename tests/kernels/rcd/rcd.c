/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region covariance: the C reference against its definitions, and the fast
 * versions against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "rcd-tests.h"

static void
run (void)
{
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench) {
      bench_rcd_cuda ();
      bench_filters ();
    }
    check_cuda ();
    check_filters ();
    return;
  }
#endif
  if (cuv_check_options.bench) {
    bench_rcd ();
    if (cuv_check_options.few)
      return;
  }
  check_features ();
  check_sums ();
  check_distances ();
  check_bad_configs ();
  check_levels ();
  check_rounds ();
  check_determinants ();
  check_jbld ();
  check_forstner ();
  check_affine ();
  check_few_pixels ();
  check_planted ();
  check_places ();
  check_ties ();
  check_maps ();
  check_versions ();
  check_large ();
  check_large_sums ();
  check_invalid_sums ();
  check_measured ();
  check_crops ();
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
