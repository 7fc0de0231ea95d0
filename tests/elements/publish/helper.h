/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the tests of visionpublish. */
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

/* visionpublish, playing, writing to the file. */
GstHarness *harness_new_for (const gchar *caps, const gchar *format);
GstHarness *harness_new (const gchar *format);
GstBuffer *frame_new (GstClockTime pts);
void push (GstHarness *h, GstBuffer *buffer);
/* EOS, and a seek. */
void end_and_go_on (GstHarness *h);

/* The file's text with every time of day replaced by T. */
gchar *contents (void);
void fail_unless_file (const gchar *expected);
/* Ends the stream, compares the file and frees the harness. */
void fail_unless_written (GstHarness *h, const gchar *expected);
/* jq reads the file and finds its keys sorted. */
void fail_unless_jq_agrees (void);

/* A tracking id. */
void set_id (GstVideoRegionOfInterestMeta *roi, gint id);
/* A table of the kind lines: the first n of two. */
GstStructure *add_lines (GstBuffer *buffer, guint n, guint width);

#endif
