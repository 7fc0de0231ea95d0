/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvprobe: an analysis element that counts the calls of its base class. */
#ifndef CUV_PROBE_H
#define CUV_PROBE_H

#include "cuvelements.h"
#include "base/gstcuvfilter.h"

#define FRAME_TIME (GST_SECOND / 30)

typedef struct {
  GstCuvFilter parent;
  GstCuvSettings settings;
  guint n_configure, n_analyse, n_publish, n_reset;
  guint n_messages; /* messages that publish() filled in */
  GstClockTime age; /* age of the results at the last publish() */
  guint64 luma;     /* the sum of the last frame's grey values */
  gboolean cuda;    /* the last frame was in device memory */
  guint change;     /* what change() returns */
  guint takes_us;   /* time that analyse() adds to the stopwatch; default 1
                     * ms */
  gboolean sleeps;  /* analyse() also sleeps for takes_us */
  gboolean wrote;   /* analyse() inverted the last frame */
  gboolean fail;    /* analyse() fails */
  gboolean submits; /* submit() starts analyses */
  gchar letter;     /* its name in cuv_probe_calls; 0: calls are not listed */

  /* the buffer of the last publish(), only to be compared */
  GstBuffer *published;
} CuvProbe;

/* Calls of the probes that have a letter: "configure A, submit A, ". */
extern GString *cuv_probe_calls;

/* Registers the element and returns a harness for it, with caps NV12 64x48. */
GstHarness *cuv_probe_harness (CuvProbe **probe);

/* Returns a frame of 64x48 NV12, the nth at 30 frames a second. */
GstBuffer *cuv_probe_frame (guint n);

/* Pushes the nth frame and checks that it comes out unchanged. Returns TRUE if
 * results are attached; *analysis is then the number of the analysis that made
 * them, counted from 1. */
gboolean cuv_probe_push (GstHarness *h, guint n, guint *analysis);

/* Registers cuvprobe, and the same under three more types: cuvprobeb, cuvprobec
 * and cuvquickprobe, whose analyses are quick. */
void cuv_probe_register (void);

#endif
