/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared code of the element tests. */
#ifndef CUV_ELEMENTS_H
#define CUV_ELEMENTS_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include "cuvtest.h"
#include "fakecuda/fakecuda.h"

/* The failure handler of fail_unless() and the like: prints the failure and
 * exits at once. A failed test leaves its pipelines playing, and check's
 * tear-down would wait for them for ever. */
G_NORETURN void cuv_test_failed (
    const gchar *file, gint line, const gchar *expression, ...);
#define _ck_assert_failed cuv_test_failed

/* check writes each assertion to a file, to name the last one before a crash.
 * That took most of the time of tests that compare many values. */
#define _mark_point(file, line) ((void) 0)

/* A variable of type g_autoptr (GstHarness) tears the harness down when its
 * function returns. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstHarness, gst_harness_teardown)

#define CUDA_FEATURE "memory:CUDAMemory"

/* Returns `few` with CUV_CHECK_FEW, which slow runs set: with sanitizers and
 * under valgrind. Otherwise returns `all`. */
guint cuv_rounds (guint few, guint all);

/* Returns the sorted names of all elements of this project in the registry. */
GPtrArray *cuv_element_names (void);

/* Returns the names of the elements that take video frames and pass them on. */
GPtrArray *cuv_frame_element_names (void);

/* Return TRUE if a sink or source pad template has raw video of this format. */
gboolean cuv_element_takes (const gchar *name, const gchar *format);
gboolean cuv_element_makes (const gchar *name, const gchar *format);

/* Returns TRUE if the element works in host memory only. */
gboolean cuv_element_is_host_only (const gchar *name);

/* Sets the properties without which the element cannot run: a model or an
 * index, an output file other than stdout, a free port, and a grid small enough
 * for frames of one pixel. */
void cuv_element_configure (GstElement *element);
GstElement *cuv_element_new (const gchar *name);
GstHarness *cuv_element_harness (const gchar *name);

/* Sets properties: "a=b c=d 'e=with spaces'". */
void cuv_element_set (GstElement *element, const gchar *settings);

/* cuv_reported() returns whether GLib has reported, since cuv_expect_report(),
 * that a property was set to a value out of range: GLib 2.74 warns, 2.84 logs a
 * critical message. fatal: the result of cuv_expect_report(). */
GLogLevelFlags cuv_expect_report (void);
gboolean cuv_reported (GLogLevelFlags fatal);

/* Fails the test unless "element a=b" is a parse error that names a. */
void cuv_expect_parse_error (const gchar *element, const gchar *setting);

/* Fails the test unless the element cannot start, with an error that contains
 * the part. Unrefs the element. */
void cuv_expect_no_start (GstElement *element, const gchar *part);

/* Returns the path of an index of one picture for ldpretrieve; deleted when the
 * program ends. */
const gchar *cuv_index_path (void);

/* Returns the path of a file that elements may write; deleted when the program
 * ends. */
const gchar *cuv_output_path (void);

/* Sets the caps of the harness's source pad. */
void cuv_harness_caps (
    GstHarness *h, const gchar *format, gint width, gint height);

/* Sends a flush and a segment. */
void cuv_harness_flush (GstHarness *h);

/* Set and remove a bus; pending messages are dropped. */
GstBus *cuv_harness_watch (GstHarness *h);
void cuv_harness_unwatch (GstHarness *h, GstBus *bus);

/* Fails the test unless the buffer causes an error that contains the part. */
void cuv_harness_push_error (
    GstHarness *h, GstBuffer *buffer, const gchar *part);

/* Parses the line, configures our elements in it, and fails the test if it does
 * not parse. */
GstElement *cuv_pipeline_new (const gchar *line);
GstElement *cuv_bin_new (const gchar *line); /* returns a bin with ghost pads */

/* Plays until EOS or an error, then sets the state to NULL. Returns NULL or the
 * error's text; free it. */
gchar *cuv_pipeline_play (GstElement *pipeline);

/* Plays a live pipeline until EOS and recalculates the latency on LATENCY
 * messages. Returns the longest time that an element with stats-interval=1 took
 * for a frame. Leaves the pipeline playing. */
GstClockTime cuv_pipeline_play_live (GstElement *pipeline);

/* Makes a pipeline, plays it and unrefs it. Fails the test on an error. */
void cuv_play (const gchar *line);

/* Fails the test unless the pipeline fails with an error that contains the
 * part. */
void cuv_expect_error (const gchar *line, const gchar *part);

/* Returns the path of a file of opencv-doc, or of the folder CUV_TEST_DATA;
 * free it. Fails the test if there is no such file. */
gchar *cuv_test_file (const gchar *name);

/* Changes to a new temporary folder; cuv_folder_leave() removes it. */
void cuv_folder_enter (void);
void cuv_folder_leave (void);

/* Returns the next sample of the appsink "sink" of a playing pipeline. Fails
 * the test on an error or EOS. */
GstSample *cuv_pull_sample (GstElement *pipeline);

gboolean cuv_pad_has_cuda (GstElement *element, const gchar *pad);
guint64 cuv_stat (GstElement *element, const gchar *field);
guint cuv_stat_uint (GstElement *element, const gchar *field);
gboolean cuv_stat_is (
    GstElement *element, const gchar *field, const gchar *text);

/* pop_problem() returns the text of the first warning or error on the bus, NULL
 * if there is none; free it. */
gchar *pop_problem (GstBus *bus, GstMessageType type);
void expect_problem (GstBus *bus, GstMessageType type, const gchar *part);
void expect_no_warning (GstBus *bus);

/* Returns a frame of random pixels in one memory, with padded rows and a
 * GstVideoMeta. cuv_frames_equal() compares without the padding. */
GstBuffer *cuv_frame_new (const gchar *format, gint width, gint height);
gboolean cuv_frames_equal (
    const gchar *format, gint width, gint height, GstBuffer *a, GstBuffer *b);

/* Returns a 64x48 NV12 frame that has a ROI with params, custom metas with all
 * kinds of tags, crop, time code, reference time, flags and times.
 * cuv_check_metas() fails the test if one of them is missing, and names the
 * line. */
GstBuffer *cuv_frame_with_metas (void);
void cuv_check_metas (const gchar *line, GstBuffer *buffer);

/* Returns the next region of interest; *state is NULL at first. */
GstVideoRegionOfInterestMeta *cuv_next_region (
    GstBuffer *buffer, gpointer *state);

/* Returns the stand-in driver's counters; fails the test if a real driver is
 * loaded. */
FakecudaCounts cuv_fake_counts (void);
void cuv_fake_fail_allocation (int n);
void cuv_fake_fail_copy (int n);
/* Fails the test if contexts, streams or memory are left, or on a misuse. */
void cuv_fake_check_clean (void);

#endif
