/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <string.h>

#define BOUNDARY_LINE "--" CUV_WEB_BOUNDARY "\r\n"
#define SIZE_BYTES 4 /* size of the record in a message, in bytes */

struct _CuvWebFrame {
  gint refs;
  guint64 serial;
  gsize record_size, jpeg_size;
  GBytes *form[CUV_WEB_N_FORMS]; /* NULL: not made yet; the message always
                                  * exists */
};

static GBytes *
make_message (
    gconstpointer record, gsize record_size, gconstpointer jpeg, gsize size)
{
  guint8 *data = g_malloc (SIZE_BYTES + record_size + size);
  guint32 header = GUINT32_TO_LE ((guint32) record_size);

  memcpy (data, &header, SIZE_BYTES);
  memcpy (data + SIZE_BYTES, record, record_size);
  memcpy (data + SIZE_BYTES + record_size, jpeg, size);
  return g_bytes_new_take (data, SIZE_BYTES + record_size + size);
}

CuvWebFrame *
cuv_web_frame_new (guint64 serial, const gchar *record, gsize record_size,
    gconstpointer jpeg, gsize jpeg_size)
{
  CuvWebFrame *self = g_new0 (CuvWebFrame, 1);

  self->refs = 1;
  self->serial = serial;
  self->record_size = record_size;
  self->jpeg_size = jpeg_size;
  self->form[CUV_WEB_MESSAGE] =
      make_message (record, record_size, jpeg, jpeg_size);
  return self;
}

CuvWebFrame *
cuv_web_frame_ref (CuvWebFrame *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
cuv_web_frame_unref (CuvWebFrame *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  for (guint i = 0; i < CUV_WEB_N_FORMS; i++)
    g_clear_pointer (&self->form[i], g_bytes_unref);
  g_free (self);
}

guint64
cuv_web_frame_serial (const CuvWebFrame *self)
{
  return self->serial;
}

gconstpointer
cuv_web_frame_jpeg (const CuvWebFrame *self, gsize *size)
{
  const guint8 *message = g_bytes_get_data (self->form[CUV_WEB_MESSAGE], NULL);

  *size = self->jpeg_size;
  return message + SIZE_BYTES + self->record_size;
}

static GBytes *
with_frame (const gchar *before, GBytes *bytes, const gchar *after)
{
  GByteArray *array = g_byte_array_new ();
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  g_byte_array_append (array, (const guint8 *) before, (guint) strlen (before));
  g_byte_array_append (array, data, (guint) size);
  g_byte_array_append (array, (const guint8 *) after, (guint) strlen (after));
  return g_byte_array_free_to_bytes (array);
}

static GBytes *
make_form (CuvWebFrame *self, CuvWebForm form)
{
  GBytes *message = self->form[CUV_WEB_MESSAGE], *bytes;
  gchar *before;

  switch (form) {
    case CUV_WEB_JPEG:
      return g_bytes_new_from_bytes (
          message, SIZE_BYTES + self->record_size, self->jpeg_size);
    case CUV_WEB_PART:
      before = g_strdup_printf ("Content-Type: image/jpeg\r\n"
                                "Content-Length: %" G_GSIZE_FORMAT "\r\n\r\n",
          self->jpeg_size);
      bytes = with_frame (before, cuv_web_frame_form (self, CUV_WEB_JPEG),
          "\r\n" BOUNDARY_LINE);
      g_free (before);
      return bytes;
    case CUV_WEB_FIRST_PART:
      return with_frame (
          BOUNDARY_LINE, cuv_web_frame_form (self, CUV_WEB_PART), "");
    case CUV_WEB_EVENT:
      return with_frame (
          "data: ", cuv_web_frame_form (self, CUV_WEB_RECORD), "\n\n");
    default:
      return g_bytes_new_from_bytes (message, SIZE_BYTES, self->record_size);
  }
}

GBytes *
cuv_web_frame_form (CuvWebFrame *self, CuvWebForm form)
{
  if (self->form[form] == NULL)
    self->form[form] = make_form (self, form);
  return self->form[form];
}
