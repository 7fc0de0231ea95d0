/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include "context/gstcuvcontext.h"

gboolean use_cuda;

void
device_check (GstHarness *h, const gchar *factory)
{
  GstElement *element = gst_harness_find_element (h, factory);
  GstStructure *stats;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "device"), use_cuda ? "cuda" : "cpu");
  gst_structure_free (stats);
  gst_object_unref (element);
}

int
device_main (Suite *(*make) (void), int argc, char **argv)
{
  use_cuda = g_getenv ("CUV_TEST_CUDA") != NULL;
  gst_check_init (&argc, &argv);
  if (use_cuda && !gst_cuv_cuda_usable ()) {
    g_print ("no CUDA device\n");
    return 77;
  }
  return cuv_elements_run (make (), argv[0]);
}
