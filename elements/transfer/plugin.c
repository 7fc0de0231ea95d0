/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:plugin-cuvtransfer
 *
 * cudaupload and cudadownload, also as cuvcudaupload and cuvcudadownload.
 *
 * GStreamer's nvcodec plugin has elements of the short names as well, on
 * machines where its driver libraries load; a short name then creates one of
 * the two, and the pipeline works with either. Packages of a distribution,
 * which must not register a name twice, build with -Dshort-names=false. All
 * four have a plugin file of their own, so that loading another element of this
 * project never claims the names.
 */
#include "config.h"
#include "gstcuvtransfer.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (cuvcudaupload, plugin);
  GST_ELEMENT_REGISTER (cuvcudadownload, plugin);
#if HAVE_SHORT_NAMES
  GST_ELEMENT_REGISTER (cudaupload, plugin);
  GST_ELEMENT_REGISTER (cudadownload, plugin);
#endif
  return TRUE; /* FALSE would blacklist the file until the cache is deleted */
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvtransfer,
    "Copies frames between host and CUDA memory", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
