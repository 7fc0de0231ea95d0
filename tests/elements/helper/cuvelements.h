/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of elements share. */
#ifndef CUV_ELEMENTS_H
#define CUV_ELEMENTS_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include "fakecuda/fakecuda.h"

/* What fail_unless() and the like do: print what failed, end the program. A
 * failed test leaves its pipelines playing, and check's tear-down would wait
 * for them for ever. */
G_NORETURN void cuv_test_failed (
    const gchar *file, gint line, const gchar *expression, ...);
#define _ck_assert_failed cuv_test_failed

#define CUDA_FEATURE "memory:CUDAMemory"

/* The names of all elements of this project, sorted: the registry says. */
GPtrArray *cuv_element_names (void);

/* Of those that take frames and pass them on. */
GPtrArray *cuv_frame_element_names (void);

/* Those that work in host memory only. */
gboolean cuv_element_is_host_only (const gchar *name);

/* Gives the element what it cannot work without: a model or an index, where it
 * has that property, a place to write other than stdout, and a grid that frames
 * of one pixel have room for. */
void cuv_element_configure (GstElement *element);
GstElement *cuv_element_new (const gchar *name);
GstHarness *cuv_element_harness (const gchar *name);

/* The path of an index for ldpretrieve, of one picture; it is gone when the
 * program ends. */
const gchar *cuv_index_path (void);

/* Sets the caps of what the harness pushes. */
void cuv_harness_caps (
    GstHarness *h, const gchar *format, gint width, gint height);

/* Parses the line, configures our elements in it, and fails the test if it does
 * not parse. */
GstElement *cuv_pipeline_new (const gchar *line);
GstElement *cuv_bin_new (const gchar *line); /* with ghost pads */

/* Plays to the end or to an error. NULL, or the error's text; free it. The
 * pipeline is in NULL afterwards. */
gchar *cuv_pipeline_play (GstElement *pipeline);

/* Plays a live line to its end, as an application does that follows changes of
 * the latency. The longest time that an element with stats-interval=1 took for
 * a frame. The pipeline is left playing. */
GstClockTime cuv_pipeline_play_live (GstElement *pipeline);

/* cuv_pipeline_new, play, unref; fails the test on an error. */
void cuv_play (const gchar *line);

/* The path of a file of opencv-doc, or of the folder CUV_TEST_DATA; free it.
 * Fails the test if it is not there. */
gchar *cuv_test_file (const gchar *name);

/* The next sample of the appsink "sink" of a line that plays. Fails the test on
 * an error, and at the end. */
GstSample *cuv_pull_sample (GstElement *pipeline);

gboolean cuv_pad_has_cuda (GstElement *element, const gchar *pad);
guint64 cuv_stat (GstElement *element, const gchar *field);
gboolean cuv_stat_is (
    GstElement *element, const gchar *field, const gchar *text);

/* The text of the first warning or error on the bus, NULL if none; free it. */
gchar *pop_problem (GstBus *bus, GstMessageType type);
void expect_problem (GstBus *bus, GstMessageType type, const gchar *part);

/* A frame of random pixels, rows padded beyond what caps say, in one memory,
 * with a GstVideoMeta; and whether two frames show the same pixels. */
GstBuffer *cuv_frame_new (const gchar *format, gint width, gint height);
gboolean cuv_frames_equal (
    const gchar *format, gint width, gint height, GstBuffer *a, GstBuffer *b);

/* A frame of 64x48 NV12 with a ROI that has params, custom metas with all kinds
 * of tags, crop, time code, reference time, flags and times; and whether all of
 * that is still there after the line. */
GstBuffer *cuv_frame_with_metas (void);
void cuv_check_metas (const gchar *line, GstBuffer *buffer);

/* The stand-in driver's counts; fails the test if that is not what is loaded.
 */
FakecudaCounts cuv_fake_counts (void);
void cuv_fake_fail_allocation (int n);
/* Nothing is left of what was made, and nothing was misused. */
void cuv_fake_check_clean (void);

/* Runs the suite and prints the seed of all that is random; CUV_TEST_SEED gives
 * it again. cuv_elements_main() initialises GStreamer before. */
int cuv_elements_run (Suite *suite, const gchar *program);
int cuv_elements_main (int argc, char **argv, Suite *(*make) (void) );
#define CUV_ELEMENTS_MAIN(make)                                                \
  int main (int argc, char **argv)                                             \
  {                                                                            \
    return cuv_elements_main (argc, argv, make);                               \
  }

#endif
