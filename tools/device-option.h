/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The option --device; cuvision-search and cuvision-train have it. */
#ifndef DEVICE_OPTION_H
#define DEVICE_OPTION_H

#include <glib.h>

typedef enum {
  DEVICE_AUTO, /* the GPU, if there is one */
  DEVICE_CPU,
  DEVICE_CUDA,
} DeviceOption;

/* Parses the value of the option `name`: auto, cpu or cuda. Returns FALSE and
 * an error if it is none of these. */
gboolean device_option_parse (const gchar *name, const gchar *value,
    DeviceOption *device, GError **error);

#endif
