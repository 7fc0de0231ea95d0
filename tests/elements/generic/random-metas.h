/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata with random values on a frame, for the fuzz test of all elements. */
#ifndef CUV_RANDOM_METAS_H
#define CUV_RANDOM_METAS_H

#include "cuvelements.h"

/* Adds metas of every kind that elements read, with random values. info: the
 * frame's; its format is UNKNOWN if the buffer is not raw video. */
void random_metas (GstBuffer *buffer, const GstVideoInfo *info);

#endif
