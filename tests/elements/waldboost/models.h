/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small models that tests write themselves. */
#ifndef CUV_TEST_MODELS_H
#define CUV_TEST_MODELS_H

#include <glib.h>

/* Writes a WaldBoostClassifier of local rank patterns with a window of 24x24
 * and blocks of 2x2, which accepts some windows of a picture. Returns the path;
 * remove the file and free the path. */
gchar *write_rank_model (void);

/* Like write_rank_model(), with trees on channels, and a window of 32x24 that
 * may exceed the picture. */
gchar *write_channels_model (void);

#endif
