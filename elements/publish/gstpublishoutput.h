/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where visionpublish's records go: to a file by a CuvWriter or to a broker by
 * a CuvOutbox. */
#ifndef GST_CUV_PUBLISH_OUTPUT_H
#define GST_CUV_PUBLISH_OUTPUT_H

#include "gstpublishsettings.h"
#include "record/record.h"

G_BEGIN_DECLS

typedef struct _GstCuvPublishOutput GstCuvPublishOutput;

/* name stands for a source that is not set. NULL after an element error. */
GstCuvPublishOutput *gst_cuv_publish_output_new (
    GstElement *element, const GstCuvPublishSettings *settings);

/* Writes one record on a thread of its own. */
void gst_cuv_publish_output_push (GstCuvPublishOutput *self, CuvJson *json,
    const CuvRecordFrame *frame, GstBuffer *buffer);

/* Waits for what is written, as EOS does. */
void gst_cuv_publish_output_finish (GstCuvPublishOutput *self);

/* Leaves a file that was renamed or removed. */
void gst_cuv_publish_output_reopen (GstCuvPublishOutput *self);

/* From any thread: TRUE ends all waiting, until FALSE is set. */
void gst_cuv_publish_output_interrupt (
    GstCuvPublishOutput *self, gboolean interrupt);

/* Posts pending warnings on the bus. */
void gst_cuv_publish_output_post_warning (GstCuvPublishOutput *self);

/* Adds records, dropped, bytes, queue and what a broker has to say. */
void gst_cuv_publish_output_get_stats (
    GstCuvPublishOutput *self, GstStructure *stats);

/* Writes what is left within two seconds and frees the output. The last warning
 * is posted, the last statistics are added. */
void gst_cuv_publish_output_stop (
    GstCuvPublishOutput *self, GstStructure *stats);

G_END_DECLS

#endif
