/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread that compresses the newest buffer and writes its record, when
 * somebody waits for a frame. */
#ifndef CUV_WEB_ENCODER_H
#define CUV_WEB_ENCODER_H

#include <gst/video/video.h>
#include "server/server.h"

G_BEGIN_DECLS

typedef struct _CuvWebEncoder CuvWebEncoder;

/* A buffer and what its frame is made with. */
typedef struct {
  GstBuffer *buffer;
  GstVideoInfo info;
  guint64 number;
  gboolean again; /* it was given before, when the pipeline paused */
  GstClockTime stream_time;
  gint64 wallclock;    /* microseconds since 1970 */
  const gchar *source; /* or NULL */
  gdouble max_rate;    /* frames per second, 0: all */
  guint max_width;     /* of the picture, 0: the frame's */
  guint quality;       /* 1 to 100 */
} CuvWebInput;

/* Called from the thread, for the first of a row of frames that fail. */
typedef void (*CuvWebWarn) (gpointer data, const gchar *problem);

/* data is the element, which outlives the encoder. */
CuvWebEncoder *cuv_web_encoder_new (CuvWebWarn warn, gpointer data);
void cuv_web_encoder_free (CuvWebEncoder *self);

void cuv_web_encoder_start (CuvWebEncoder *self, CuvWebStream *stream);
/* Waits for the frame that is being made. */
void cuv_web_encoder_stop (CuvWebEncoder *self);

/* Keeps a reference of the buffer if the stream has viewers, until a newer one
 * comes. Does not wait. */
void cuv_web_encoder_offer (CuvWebEncoder *self, const CuvWebInput *input);
/* Somebody waits for a frame. */
void cuv_web_encoder_wake (CuvWebEncoder *self);
/* Gives up the buffer that waits. */
void cuv_web_encoder_flush (CuvWebEncoder *self);

typedef struct {
  guint64 encoded, skipped; /* frames; skipped ones had viewers */
  guint64 us;               /* time of all encoded ones */
} CuvWebEncoderCounts;

void cuv_web_encoder_get_counts (
    CuvWebEncoder *self, CuvWebEncoderCounts *counts);

G_END_DECLS

#endif
