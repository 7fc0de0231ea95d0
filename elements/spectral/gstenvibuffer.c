/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples of a file as a buffer. */
#include "gstenvifile.h"

/* Samples that need no conversion stay where they are mapped. */
static GstBuffer *
wrap (GstEnviFile *file)
{
  gsize size;
  gpointer data = (gpointer) g_bytes_get_data (file->samples, &size);

  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, data, size, 0,
      size, g_bytes_ref (file->samples), (GDestroyNotify) g_bytes_unref);
}

/* From the pool if its buffers are large enough. */
static GstFlowReturn
new_buffer (GstBufferPool *pool, gsize size, GstBuffer **buffer)
{
  GstFlowReturn flow = GST_FLOW_OK;

  if (pool != NULL)
    flow = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (flow != GST_FLOW_OK)
    return flow;
  if (*buffer != NULL && gst_buffer_get_size (*buffer) >= size) {
    gst_buffer_set_size (*buffer, (gssize) size);
    return GST_FLOW_OK;
  }
  gst_clear_buffer (buffer);
  *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  return *buffer != NULL ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static gboolean
convert (GstEnviFile *file, gsize n, GstBuffer *buffer)
{
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE))
    return FALSE;
  cuv_envi_convert (
      &file->envi, g_bytes_get_data (file->samples, NULL), map.data, n);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

GstFlowReturn
gst_envi_file_buffer (
    GstEnviFile *self, GstBufferPool *pool, GstBuffer **buffer)
{
  gsize n = g_bytes_get_size (self->samples)
      / (gsize) cuv_envi_sample_size (self->envi.type);
  gsize size =
      n * (gsize) cuv_cube_sample_size (cuv_envi_format (self->envi.type));
  GstFlowReturn flow;

  *buffer = NULL;
  if (pool == NULL && cuv_envi_is_plain (&self->envi)) {
    *buffer = wrap (self);
    return GST_FLOW_OK;
  }
  flow = new_buffer (pool, size, buffer);
  if (flow == GST_FLOW_OK && !convert (self, n, *buffer)) {
    gst_clear_buffer (buffer);
    flow = GST_FLOW_ERROR;
  }
  return flow;
}
