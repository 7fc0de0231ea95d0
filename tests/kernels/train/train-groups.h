/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of tests of training, called by train.c. */
#ifndef CUV_TEST_TRAIN_GROUPS_H
#define CUV_TEST_TRAIN_GROUPS_H

#include "cuvcheck.h"
#include "train.h"

void check_draw (int width, int height, bool cascade); /* train-draw.c */
void check_draw_of_some (int32_t capacity);
void check_written (CuvFeature feature); /* train-written.c */
void check_full_list (void);

#endif
