/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers and properties, reproducible from the printed seed. */
#ifndef CUV_RANDOM_H
#define CUV_RANDOM_H

#include "cuvelements.h"

guint below (guint n);
gboolean once_in (guint n);

/* Returns the GParamSpecs that random_set() may set, without those that open
 * files. Unref the array. */
GPtrArray *random_properties (GstElement *element);

/* Sets one of the properties to a value within its range, often to a limit. */
void random_set (GstElement *element, GPtrArray *properties);
void random_get (GstElement *element); /* reads all */

#endif
