/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of waldboostdetect, a photo, and the boxes found by the library. */
#ifndef CUV_TEST_PICTURE_H
#define CUV_TEST_PICTURE_H

#include "backend.h"
#include "cuv-cuda.h"
#include "device.h"
#include "model/model.h"

#define MODEL "lbpcascade_frontalface.xml"

typedef struct {
  const gchar *model;
  CuvModelOptions options;
  CuvWaldboostParams params;
  CuvGrouping grouping;
  CuvRoi roi;
  gboolean in_colour; /* the model is of trees on channels */
} Wanted;

extern const Wanted defaults;

GstSample *decode_picture (const gchar *caps);
/* Return a harness of a pipeline for frames of the sample's caps; one of its
 * elements is named d. */
GstHarness *new_line (const gchar *line, GstSample *sample);
GstHarness *new_harness (const gchar *properties, GstSample *sample);
GstElement *detector (GstHarness *h);
GstBuffer *push (GstHarness *h, GstSample *sample);

/* Return the boxes that the library's CPU path finds in the frame, or in a
 * picture of only this region; in coordinates of the frame. */
GArray *expect (GstSample *sample, const Wanted *wanted);
GArray *expect_in (
    GstSample *sample, const Wanted *wanted, const CuvRoi *region);
guint n_objects (GstBuffer *buffer);
void check_objects (
    GstBuffer *buffer, GArray *boxes, const gchar *label, const gchar *what);
void check_frame (
    GstHarness *h, GstSample *sample, const Wanted *wanted, const gchar *what);

#endif
