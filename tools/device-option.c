/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device-option.h"

gboolean
device_option_parse (
    const gchar *name, const gchar *value, DeviceOption *device, GError **error)
{
  static const gchar *const names[] = {
    [DEVICE_AUTO] = "auto", [DEVICE_CPU] = "cpu", [DEVICE_CUDA] = "cuda"
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_str_equal (value, names[i])) {
      *device = (DeviceOption) i;
      return TRUE;
    }
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s '%s' is not auto, cpu or cuda", name, value);
  return FALSE;
}
