/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker: updates of models, search plans, targets, tracks. */
#include "rcd-tracker.h"

const char *
run_tracker (
    CuvTracker *self, const CuvCheckFrame *frame, CuvTrackerResult *result)
{
  const CuvProcessor processor = { .n_threads = 1 };
  CuvTrackerParams params;

  cuv_tracker_params_init (&params);
  return cuv_tracker_run (
      self, &frame->frame, &params, false, &processor, result);
}
