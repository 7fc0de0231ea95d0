/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's result as the C reference has it, to compare other versions with. */
#ifndef HOUGH_VERSIONS_H
#define HOUGH_VERSIONS_H

#include "hough-inputs.h"

typedef struct {
  CuvHoughLayout layout;
  CuvHoughParams params;
  CuvCanny *canny;
  uint8_t *map; /* edges */
  uint32_t *votes;
  CuvHoughPeak *peaks;
  CuvHoughSegment *segments;
  CuvHoughResult result; /* of the above; no method, no times */
} HoughExpected;

/* Of all kinds. */
CuvHoughParams hough_random_params (void);

/* false, and a failed check, if the config is refused. */
bool hough_expected_init (HoughExpected *self, const CuvHoughConfig *config);
void hough_expected_run (
    HoughExpected *self, const CuvFrame *frame, const CuvHoughParams *params);
void hough_expected_clear (HoughExpected *self);

/* Peaks, segments and counts are equal. */
void hough_check_result (
    const HoughExpected *self, const CuvHoughResult *result, const char *name);

#endif
