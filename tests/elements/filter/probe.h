/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvprobe: an analysis element that notes what its base class has it do. */
#ifndef CUV_PROBE_H
#define CUV_PROBE_H

#include "cuvelements.h"
#include "base/gstcuvfilter.h"

#define FRAME_TIME (GST_SECOND / 30)

typedef struct {
  GstCuvFilter parent;
  GstCuvSettings settings;
  guint n_configure, n_analyse, n_publish, n_reset;
  GstClockTime age; /* of the last publish */
  guint64 luma;     /* the sum of the last frame's grey values */
  gboolean cuda;    /* and where it was read */
  guint change;     /* what publish is to return */
  guint takes_us;   /* what analyse is to take; 1 ms if nothing is said */
  gboolean sleeps;  /* and whether it really does */
  gboolean fail;    /* analyse is to fail */
  gboolean writes;  /* analyse is to turn luma into 255 - luma */
} CuvProbe;

/* Registers the element and makes a harness of it, for frames of 64x48 NV12. */
GstHarness *cuv_probe_harness (CuvProbe **probe);

/* A frame of 64x48 NV12, the nth at 30 frames a second. */
GstBuffer *cuv_probe_frame (guint n);

/* Pushes the nth frame and takes it back: what comes is what went in. TRUE if
 * results were attached, which are then of analysis number *of. */
gboolean cuv_probe_push (GstHarness *h, guint n, guint *of);

void cuv_probe_register (void);

#endif
