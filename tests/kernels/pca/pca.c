/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Principal components: the C reference against literal implementations of the
 * definitions, and fast versions against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "pca-tests.h"

static void
run (void)
{
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench)
      bench_pca_cuda ();
    check_pca_cuda ();
    check_nv12_cuda ();
    check_wait_cuda ();
    return;
  }
#endif
  if (cuv_check_options.bench)
    bench_pca ();
  check_pca_sums ();
  check_pca_moments ();
  check_pca_frames ();
  check_pca_jacobi ();
  check_pca_basis ();
  check_pca_pictures ();
  check_pca_films ();
  check_pca_tiles ();
  check_pca_runs ();
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
