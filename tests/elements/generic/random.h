/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers and properties, from the seed that the test prints. */
#ifndef CUV_RANDOM_H
#define CUV_RANDOM_H

#include "cuvelements.h"

guint below (guint n);
gboolean once_in (guint n);

/* The GParamSpec of what random_set() sets: not what opens files. Free the
 * array. */
GPtrArray *random_properties (GstElement *element);

/* One of them, often to an extreme, always within its range. */
void random_set (GstElement *element, GPtrArray *properties);
void random_get (GstElement *element); /* all that can be read */

#endif
