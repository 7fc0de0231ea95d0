/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of the C reference, with which other versions are compared. */
#ifndef HOUGH_EXPECTED_H
#define HOUGH_EXPECTED_H

#include "hough-inputs.h"

typedef struct {
  CuvHoughLayout layout;
  CuvHoughParams params;
  CuvCanny *canny;
  uint8_t *map; /* edges */
  uint32_t *votes;
  CuvHoughPeak *peaks;
  CuvHoughSegment *segments;
  CuvRegions *regions;
  CuvLineSegment *line_segments;
  int32_t n_line_segments; /* number found, even if segments are off */
  CuvHoughResult result;   /* except for method and times */
} HoughExpected;

/* Returns random values of all parameters. */
CuvHoughParams hough_random_params (void);

/* Fails a check and returns false if the config is rejected. */
bool hough_expected_init (HoughExpected *self, const CuvHoughConfig *config);
void hough_expected_run (
    HoughExpected *self, const CuvFrame *frame, const CuvHoughParams *params);
void hough_expected_clear (HoughExpected *self);

/* Checks that a result has the same peaks, segments and counts. */
void hough_check_result (
    const HoughExpected *self, const CuvHoughResult *result, const char *name);

/* Draws a bar with round ends; both sides are found as segments. */
CuvCheckFrame hough_bar_frame (int degrees, int radius);
extern const CuvHoughConfig hough_bar_config;
extern const CuvHoughParams hough_bar_params;

#endif
