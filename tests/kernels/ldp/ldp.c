/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Local derivative patterns: the C reference against known results, and fast
 * versions against the C reference. */
#include "config.h"
#include "cuvcheck.h"
#include "ldp-tests.h"

static void
run (void)
{
#if HAVE_CUDA
  if (cuv_check_options.cuda) {
    if (cuv_check_options.bench) {
      bench_ldp_cuda ();
      bench_ldp_match_cuda ();
      bench_ldp_sizes ();
    }
    check_ldp_cuda ();
    check_ldp_match_cuda ();
    check_ldp_scan (&(CuvProcessor){ .on_device = true });
    return;
  }
#endif
  if (cuv_check_options.bench) {
    bench_ldp ();
    bench_ldp_match ();
    if (cuv_check_options.few)
      return;
  }
  check_ldp_codes ();
  check_ldp_layouts ();
  check_ldp_pictures ();
  check_ldp_similarity ();
  check_ldp_versions ();
  check_ldp_match ();
  check_ldp_scan (&(CuvProcessor){ .n_threads = 2 });
}

int
main (int argc, char **argv)
{
  return cuv_check_main (argc, argv, run);
}
