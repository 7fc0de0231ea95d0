/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame as it is sent: a record and a JPEG. Immutable and reference counted,
 * so that all viewers share it. */
#ifndef CUV_WEB_FRAME_H
#define CUV_WEB_FRAME_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CuvWebFrame CuvWebFrame;

/* The forms that frames are sent in. */
typedef enum {
  CUV_WEB_MESSAGE, /* WebSocket: size of the record (uint32, little endian), the
                    * record, the JPEG */
  CUV_WEB_PART,    /* a part of multipart/x-mixed-replace: the JPEG and the
                    * boundary after it, which makes browsers show it */
  CUV_WEB_FIRST_PART, /* a part with a boundary before it, too */
  CUV_WEB_EVENT,      /* a server-sent event: the record */
  CUV_WEB_JPEG,
  CUV_WEB_RECORD,
  CUV_WEB_N_FORMS,
} CuvWebForm;

/* The multipart boundary of CUV_WEB_PART. */
#define CUV_WEB_BOUNDARY "frame"

/* Copies record and jpeg. record is JSON text without line breaks. */
CuvWebFrame *cuv_web_frame_new (guint64 serial, const gchar *record,
    gsize record_size, gconstpointer jpeg, gsize jpeg_size);
CuvWebFrame *cuv_web_frame_ref (CuvWebFrame *self);
void cuv_web_frame_unref (CuvWebFrame *self);

/* Returns the serial number, which increases in a stream, from 1 on. */
guint64 cuv_web_frame_serial (const CuvWebFrame *self);

/* Returns the JPEG, which belongs to the frame. */
gconstpointer cuv_web_frame_jpeg (const CuvWebFrame *self, gsize *size);

/* Returns the frame in this form, which is made at the first call and belongs
 * to the frame. For the server's thread only. */
GBytes *cuv_web_frame_form (CuvWebFrame *self, CuvWebForm form);

G_END_DECLS

#endif
