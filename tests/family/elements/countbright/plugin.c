/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers countbright, the element of the family that docs/adding-an-
 * element.md adds. */
#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (countbright)

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (countbright, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvcountbright,
    "Bright pixel counter", plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME,
    GST_PACKAGE_ORIGIN)
