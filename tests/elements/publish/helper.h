/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared code of the visionpublish tests. */
#ifndef PUBLISH_TEST_HELPER_H
#define PUBLISH_TEST_HELPER_H

#include "cuvelements.h"
#include "gstcuvmeta.h"

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"
#define FRAME "\"resolution\":{\"height\":480,\"width\":640}"

/* A file for each test, and the info of CAPS. */
extern gchar *path;
extern GstVideoInfo info;
void set_up (void);
void tear_down (void);

/* Return a harness of a playing visionpublish that writes to the file. */
GstHarness *harness_new_for (const gchar *caps, const gchar *format);
GstHarness *harness_new (const gchar *format);
GstBuffer *frame_new (GstClockTime pts);
void push (GstHarness *h, GstBuffer *buffer);
/* Sends EOS, then the events of a flushing seek. */
void end_and_seek (GstHarness *h);

/* Returns the file's text with every time of day replaced by T. */
gchar *contents (void);
void fail_unless_file (const gchar *expected);
/* Ends the stream, compares the file and frees the harness. */
void fail_unless_written (GstHarness *h, const gchar *expected);
/* Checks with jq that the file is JSON and its keys are sorted. */
void fail_unless_jq_agrees (void);

/* Adds a tracking id. */
void set_id (GstVideoRegionOfInterestMeta *roi, gint id);
/* Adds a table of kind "lines" with the first n of two rows. */
GstStructure *add_lines (GstBuffer *buffer, guint n, guint width);

#endif
