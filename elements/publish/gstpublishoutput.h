/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where visionpublish's records go, and a map of the folder.
 *
 *   plugin.c               registers the element
 *   gstvisionpublish.c     the element: a record for each frame, EOS, states
 *   gstpublishsettings.c   its properties
 *   gstpublishsignals.c    its action signals, which read results for programs
 *   gstpublishmetrics.c    tables' metrics as messages that a broker retains
 *   homeassistant.c        messages that describe metrics to Home Assistant
 *   gstpublishoutput.c     this: formats; chooses writer or outbox by the
 *                          property target
 *   output/                knows nothing of GStreamer
 *     writer.c, -thread.c    a queue in memory and a thread that writes to a
 *                            file: target=file
 *     target-file.c          a file, FIFO, device or standard output
 *     outbox.c, -thread.c,   a queue and a thread that sends to a broker:
 *       -answers.c           target=mqtt or kafka
 *       -retained.c
 *     retained.c             newest messages of topics, for the broker to
 * retain spool.c, -file.c       the outbox's queue, in memory or in a file
 *     broker.c               what both brokers share
 *     broker-mqtt.c, broker-kafka.c   one broker each
 *     topic.c                topics from templates
 *     thread.h, warning.h    for both threads: signals, wake-ups; when to warn
 *   ../../gst/record/      a frame's metadata as JSON or CSV
 *
 * A record: gst_vision_publish_transform_ip() reads the buffer's objects and
 * calls gst_cuv_publish_output_push(), which makes the text on the streaming
 * thread and puts it into one of two queues.
 *
 * CuvWriter is for a byte stream: a written record is done, so it keeps at most
 * CUV_WRITER_MAX_RECORDS records in memory and never waits. CuvOutbox is for a
 * broker that answers later: a message stays in the spool until it is
 * acknowledged, and is sent again after a lost connection. */
#ifndef GST_CUV_PUBLISH_OUTPUT_H
#define GST_CUV_PUBLISH_OUTPUT_H

#include "gstpublishsettings.h"
#include "record/record.h"

G_BEGIN_DECLS

typedef struct _GstCuvPublishOutput GstCuvPublishOutput;

/* Opens the file, or begins to connect. The topic of records without a source
 * has the element's name. Returns NULL after an element error. */
GstCuvPublishOutput *gst_cuv_publish_output_new (
    GstElement *element, const GstCuvPublishSettings *settings);

/* Makes a record of the frame and queues it. Waits only with on-full=block. */
void gst_cuv_publish_output_push (GstCuvPublishOutput *self, CuvJson *json,
    const CuvRecordFrame *frame, GstBuffer *buffer);

/* Publishes the metrics of the buffer's tables, if that is set. */
void gst_cuv_publish_output_push_metrics (
    GstCuvPublishOutput *self, GstBuffer *buffer);

/* For EOS: waits until the queue is written or acknowledged, up to 10
 * seconds. */
void gst_cuv_publish_output_finish (GstCuvPublishOutput *self);

/* If the file was renamed or removed, ends it and opens a new one in its
 * place. */
void gst_cuv_publish_output_reopen (GstCuvPublishOutput *self);

/* May be called from any thread. TRUE ends all waits and prevents new ones
 * until FALSE is set. */
void gst_cuv_publish_output_interrupt (
    GstCuvPublishOutput *self, gboolean interrupt);

/* Posts pending warnings on the bus. */
void gst_cuv_publish_output_post_warning (GstCuvPublishOutput *self);

/* Adds the fields records, dropped, bytes and queue, and more for a broker. */
void gst_cuv_publish_output_get_stats (
    GstCuvPublishOutput *self, GstStructure *stats);

/* Writes or sends what is left, for at most two seconds, and frees the output.
 * Posts the last warning and adds the last statistics. */
void gst_cuv_publish_output_stop (
    GstCuvPublishOutput *self, GstStructure *stats);

G_END_DECLS

#endif
