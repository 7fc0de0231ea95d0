/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensor factorisation: the C reference against known results, and fast
 * versions against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "ntf-tests.h"

static void
run (void)
{
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench)
      bench_ntf_cuda ();
    check_ntf_cuda ();
    check_ntf_cuda_runs ();
    check_ntf_matrix_cuda ();
    return;
  }
#endif
  if (cuv_check_options.bench) {
    bench_ntf ();
    return;
  }
  check_ntf_random ();
  check_ntf_loading ();
  check_ntf_planted ();
  check_ntf_monotone ();
  check_ntf_axes ();
  check_ntf_edge_cases ();
  check_ntf_params ();
  check_ntf_sparsity ();
  check_ntf_normalised ();
  check_ntf_residual ();
  check_ntf_versions ();
  check_ntf_matrix ();
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
