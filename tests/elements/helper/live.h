/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An element in a harness whose settings change while it plays, on the CPU or
 * with CUV_TEST_CUDA=1 between cuvcudaupload and cuvcudadownload. */
#ifndef CUV_LIVE_H
#define CUV_LIVE_H

#include "device.h"

typedef struct {
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  const gchar *format;
  gint width, height;
  guint n;      /* frames so far */
  gchar *shown; /* what the last frame shows, as text */
} CuvLive;

/* Returns a harness of the element with these properties, for frames of this
 * format. */
CuvLive cuv_live_new (const gchar *element, const gchar *properties,
    const gchar *format, gint width, gint height);
void cuv_live_clear (CuvLive *self);
void cuv_live_caps (
    CuvLive *self, const gchar *format, gint width, gint height);

/* Stops and starts the element, and sets properties in between. */
void cuv_live_restart (CuvLive *self, const gchar *settings);

/* Pushes a frame and returns the output. */
GstBuffer *cuv_live_push (CuvLive *self, GstBuffer *frame);

/* Pushes a frame, which must fail with this error. */
void cuv_live_push_error (
    CuvLive *self, GstBuffer *frame, const gchar *problem);

/* Fails the test unless `now` differs from what the previous frame showed, or
 * equals it. Takes `now`. */
void cuv_live_check (
    CuvLive *self, const gchar *what, gchar *now, gboolean differs);

/* Sets each property, and checks whether it changes what a frame shows: see
 * cuv_live_check(). The text that look() returns is freed. */
typedef struct {
  const gchar *set;
  gboolean differs;
} CuvLiveStep;
void cuv_live_steps (CuvLive *self, const CuvLiveStep *steps, guint n,
    gchar *(*look) (CuvLive *self));

/* Settings that contradict others, the problem that is posted, and a setting
 * that resolves it. */
typedef struct {
  const gchar *bad, *problem, *fix;
} CuvContradiction;

/* Returns a harness with the settings `bad`, or with valid ones if it is NULL.
 */
typedef CuvLive (*CuvLiveOpen) (const gchar *bad);

/* Checks that each contradiction is an error at start. frame() makes frames. */
void cuv_contradictions_at_start (const CuvContradiction *table, guint n,
    CuvLiveOpen open, GstBuffer *(*frame) (CuvLive *self));

/* Checks that each contradiction causes one warning while playing, and that the
 * previous settings stay in force until it is resolved. show() pushes a frame
 * and, unless `is_free`, checks that it shows the settings of open(). resize()
 * changes the caps, which repeats the warning; it may be NULL. */
void cuv_contradictions_live (const CuvContradiction *table, guint n,
    CuvLiveOpen open, void (*show) (CuvLive *self, gboolean is_free),
    void (*resize) (CuvLive *self));

/* Sets a property to n invalid values: each time a warning names it, and it
 * keeps its value. */
void cuv_live_kept (CuvLive *self, const gchar *property,
    const gchar *const *invalid, guint n, const gchar *kept);

/* Fails the test unless each setting of "a=1 b=2" is out of range. */
void cuv_expect_refused (const gchar *element, const gchar *settings);

/* Fails the test unless each setting of "a=1 b=2" causes a parse error. */
void cuv_expect_parse_errors (const gchar *element, const gchar *settings);

#endif
