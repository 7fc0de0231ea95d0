/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that wait for the GPU are counted together, whether they wait in
 * libcuvdetect or in libgstcuvision. */
#include "cuvelements.h"
#include "cuv-wait.h"
#include "detector.h"

CUV_TEST (test_waiters_are_counted_together)
{
  GstElement *element = gst_element_factory_make ("waldboostdetect", NULL);

  fail_unless (element != NULL);
  fail_unless (cuv_detector_join_waiters (cuv_waiters ()) == cuv_waiters ());
  gst_object_unref (element);
}
