/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread that compresses the newest buffer and writes its record while a
 * viewer waits for a frame. */
#ifndef CUV_WEB_ENCODER_H
#define CUV_WEB_ENCODER_H

#include <gst/video/video.h>
#include "server/server.h"

G_BEGIN_DECLS

typedef struct _CuvWebEncoder CuvWebEncoder;

/* A buffer, and how to make a frame of it. */
typedef struct {
  GstBuffer *buffer;
  GstVideoInfo info;
  guint64 number;
  gboolean again; /* offered before, while the pipeline was paused */
  GstClockTime stream_time;
  gint64 wallclock;    /* microseconds since 1970 */
  const gchar *source; /* the property source; NULL: not set */
  gdouble max_rate;    /* frames per second, 0: no limit */
  guint max_width;     /* maximum width of the picture, 0: no limit */
  guint quality;       /* 1 to 100 */
} CuvWebInput;

/* Called in the encoder's thread when a frame fails, and then not again until
 * one has succeeded. */
typedef void (*CuvWebWarn) (gpointer data, const gchar *problem);

/* Called in the encoder's thread with a frame that will be published. */
typedef void (*CuvWebMade) (
    gpointer data, const CuvWebInput *input, CuvWebFrame *frame);

/* Makes an encoder. data is the element, which outlives the encoder. */
CuvWebEncoder *cuv_web_encoder_new (
    CuvWebWarn warn, CuvWebMade made, gpointer data);
void cuv_web_encoder_free (CuvWebEncoder *self);

void cuv_web_encoder_start (CuvWebEncoder *self, CuvWebStream *stream);
/* Stops the thread, after its current frame. */
void cuv_web_encoder_stop (CuvWebEncoder *self);

/* Keeps a reference to the buffer until a newer one comes, if the stream has
 * viewers. Does not wait. */
void cuv_web_encoder_offer (CuvWebEncoder *self, const CuvWebInput *input);
/* Call when a viewer begins to wait for a frame. */
void cuv_web_encoder_wake (CuvWebEncoder *self);
/* Releases the newest buffer. */
void cuv_web_encoder_flush (CuvWebEncoder *self);

typedef struct {
  guint64 encoded, skipped; /* frames; skipped: replaced by a newer one */
  guint64 us;               /* microseconds for all encoded frames */
} CuvWebEncoderCounts;

void cuv_web_encoder_get_counts (
    CuvWebEncoder *self, CuvWebEncoderCounts *counts);

G_END_DECLS

#endif
