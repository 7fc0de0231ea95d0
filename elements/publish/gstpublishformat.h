/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property file-format: its values, and how files of each are written. */
#ifndef GST_PUBLISH_FORMAT_H
#define GST_PUBLISH_FORMAT_H

#include "record/record.h"
#include "output/writer.h"

G_BEGIN_DECLS

typedef enum {
  GST_CUV_PUBLISH_JSON = 1,
  GST_CUV_PUBLISH_JSON_LINES = 2,
  GST_CUV_PUBLISH_CSV = 3,
} GstCuvPublishFormat;

#define GST_TYPE_CUV_PUBLISH_FORMAT (gst_cuv_publish_format_get_type ())
GType gst_cuv_publish_format_get_type (void);

typedef struct {
  CuvFraming framing;
  CuvTargetMode mode;
  /* Returns the text of one record, to be freed; json is empty before and
   * after. */
  gchar *(*make_record) (CuvJson *json, const CuvRecordFrame *frame,
      GstBuffer *buffer, gsize *size);
} GstCuvPublishLayout;

const GstCuvPublishLayout *gst_cuv_publish_format_layout (
    GstCuvPublishFormat format);

G_END_DECLS

#endif
