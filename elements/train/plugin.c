/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers waldboosttrain. */
#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (waldboosttrain)

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (waldboosttrain, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvtrain,
    "Learns boosted classifiers from video", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
