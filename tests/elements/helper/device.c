/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include "context/gstcuvcontext.h"

gboolean use_cuda;

void
device_check (GstHarness *h, const gchar *factory)
{
  g_autoptr (GstElement) element = gst_harness_find_element (h, factory);
  GstStructure *stats;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "device"), use_cuda ? "cuda" : "cpu");
  gst_structure_free (stats);
}

static void __attribute__ ((constructor)) read_environment (void)
{
  use_cuda = g_getenv ("CUV_TEST_CUDA") != NULL;
}

CUV_BEFORE_TESTS (need_device, tcase)
{
  if (use_cuda && !gst_cuv_cuda_usable ())
    cuv_tests_skip ("no CUDA device");
}
