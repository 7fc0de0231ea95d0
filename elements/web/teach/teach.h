/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Teach: viewers draw boxes, the sink keeps the pictures of these frames,
 * trains a detector in the background, and sets it in the pipeline.
 *
 *   teach.c     start and stop; requests in the server's thread
 *   service.c   a thread that carries them out, and what pages are sent
 *   example.c   parses and clips boxes; not trusted
 *   ring.c      frames that pages were sent a short while ago
 *   cut.c       a picture, or a part that is cut out of it
 *   dataset.c   pictures and annotations.json
 *   coco.c      its format
 *   folder.c    files in the folder
 *   trainer.c   cuvision-train as a child process
 *   texts.c     what pages are sent
 *
 * A request: the server's thread parses it, takes the frame from the ring and
 * queues both. The thread writes files, starts the training and answers. It
 * runs a main loop, and sleeps while there is nothing to do. */
#ifndef CUV_TEACH_H
#define CUV_TEACH_H

#include "controls/controls.h"

G_BEGIN_DECLS

typedef struct _CuvTeach CuvTeach;

/* Opens the folder, which it creates if its parent exists. detector: as in
 * CuvControlsTeach. Returns NULL and the problem, to be freed. */
CuvTeach *cuv_teach_new (
    const gchar *folder, const gchar *detector, gchar **problem);
void cuv_teach_free (CuvTeach *self);

/* Starts the thread, which answers through the stream and sets the detector
 * through the controls. */
void cuv_teach_start (
    CuvTeach *self, CuvWebStream *stream, CuvControls *controls);
/* Ends the thread and the training. Afterwards messages are refused. */
void cuv_teach_stop (CuvTeach *self);

/* Call when the frames are numbered from 0 again. */
void cuv_teach_restart (CuvTeach *self);

/* In the encoder's thread: a frame will be published; width and height are
 * those of its record. */
void cuv_teach_frame (CuvTeach *self, guint64 number, gint width, gint height,
    CuvWebFrame *frame);

/* In the server's thread: a client has come; the last client that may change
 * has gone; for CuvControlsTeach; a file of the last report, to be unreffed, or
 * NULL. */
void cuv_teach_join (CuvTeach *self, guint64 client);
void cuv_teach_leave (CuvTeach *self);
gchar *cuv_teach_message (
    gpointer self, guint64 client, const CuvControlMessage *message);
GBytes *cuv_teach_report (CuvTeach *self, gboolean json);

G_END_DECLS

#endif
