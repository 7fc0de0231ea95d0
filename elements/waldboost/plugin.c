/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers waldboostdetect and waldboosttrain. */
#include "config.h"
#include "gstwaldboostdetect.h"

GST_ELEMENT_REGISTER_DECLARE (waldboosttrain)

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (waldboostdetect, plugin);
  GST_ELEMENT_REGISTER (waldboosttrain, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvwaldboost,
    "Sliding-window object detection with boosted classifiers", plugin_init,
    VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
