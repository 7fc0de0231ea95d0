/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers waldboostdetect. */
#include "config.h"
#include "gstwaldboostdetect.h"
#include "detector.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#include "cuv-wait.h"
#endif

static gboolean
plugin_init (GstPlugin *plugin)
{
#if HAVE_CUDA
  cuv_cuda_count (cuv_detector_gpu_bytes);
  cuv_detector_join_waiters (cuv_waiters ());
#endif
  GST_ELEMENT_REGISTER (waldboostdetect, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvwaldboost,
    "Sliding-window object detection with boosted classifiers", plugin_init,
    VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
