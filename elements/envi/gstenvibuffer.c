/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes buffers of a file's samples: wraps, reads or converts them. */
#include "gstenvifile.h"

#include <errno.h>
#include <unistd.h>

#include "cuvthreads.h"

/* ---- memory ---- */

static guint64
converted_size (const CuvEnvi *envi)
{
  return cuv_envi_data_size (envi) / (guint64) cuv_envi_sample_size (envi->type)
      * (guint64) cuv_cube_sample_size (cuv_envi_format (envi->type));
}

/* Without this limit a tiny header beside a sparse file could allocate any
 * amount of memory. */
gboolean
gst_envi_file_fits (const GstEnviFile *self, const gchar *path,
    guint64 max_bytes, GError **error)
{
  const CuvCubeFormat format = cuv_envi_format (self->envi.type);
  const guint64 size = converted_size (&self->envi);

  if (size <= max_bytes)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "The cube of '%s' needs %" G_GUINT64_FORMAT
      " bytes of memory as %s, but max-bytes is %" G_GUINT64_FORMAT
      ": raise max-bytes if the machine has enough memory, or set "
      "lines-per-cube to read fewer lines at a time.",
      path, size, gst_cuv_spectral_format_name (format), max_bytes);
  return FALSE;
}

/* Samples that need no conversion are not copied from the mapping. */
static GstBuffer *
wrap (GstEnviFile *file)
{
  gsize size;
  gpointer data = (gpointer) g_bytes_get_data (file->samples, &size);

  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, data, size, 0,
      size, g_bytes_ref (file->samples), (GDestroyNotify) g_bytes_unref);
}

/* Allocates from the pool if its buffers are large enough. */
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

/* ---- reading ----
 *
 * pread() instead of copying from the mapping: no page faults, and a truncated
 * file is an error instead of SIGBUS. */

enum { TASK_BYTES = 4 << 20, READERS = 4 };

typedef struct {
  const GstEnviFile *file;
  guint8 *to;
  gsize size;
  gint number; /* errno of the first failure; -1: end of file */
} Reading;

static void
read_task (void *data, int task)
{
  Reading *self = data;
  gsize at = (gsize) task * TASK_BYTES;
  const gsize end = MIN (at + TASK_BYTES, self->size);

  while (at < end && g_atomic_int_get (&self->number) == 0) {
    gssize n = pread (self->file->fd, self->to + at, end - at,
        (off_t) (self->file->envi.header_offset + at));

    if (n > 0)
      at += (gsize) n;
    else if (n == 0 || errno != EINTR)
      g_atomic_int_compare_and_exchange (&self->number, 0, n == 0 ? -1 : errno);
  }
}

static gboolean
read_samples (GstEnviFile *file, guint8 *to, gsize size, GError **error)
{
  Reading reading = { file, to, size, 0 };

  cuv_threads_run (READERS, (int) ((size + TASK_BYTES - 1) / TASK_BYTES),
      read_task, &reading);
  if (reading.number != 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Cannot read the samples of a cube: %s.",
        reading.number < 0
            ? "the file was truncated while it was read: copy it again"
            : g_strerror (reading.number));
  return reading.number == 0;
}

static void
gst_envi_convert (GstEnviFile *file, guint8 *to, gsize size)
{
  const gsize step = size / (gsize) file->n_runs;
  const gsize n = (gsize) (cuv_envi_data_size (&file->envi)
      / (guint64) cuv_envi_sample_size (file->envi.type)
      / (guint64) file->n_runs);
  const guint8 *from = g_bytes_get_data (file->samples, NULL);

  for (gint i = 0; i < file->n_runs; i++)
    cuv_envi_convert (&file->envi, from + (gsize) i * file->run_step,
        to + (gsize) i * step, n);
}

static gboolean
is_contiguous (const GstEnviFile *file)
{
  return cuv_envi_is_plain (&file->envi) && file->n_runs == 1;
}

static gboolean
gst_envi_fill (GstEnviFile *file, GstBuffer *buffer, GError **error)
{
  gboolean ok = TRUE;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "Cannot map a buffer for writing: the next element's buffer pool "
        "provides memory that the CPU cannot write.");
    return FALSE;
  }
  if (is_contiguous (file))
    ok = read_samples (file, map.data, map.size, error);
  else
    gst_envi_convert (file, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return ok;
}

GstFlowReturn
gst_envi_file_buffer (
    GstEnviFile *self, GstBufferPool *pool, GstBuffer **buffer, GError **error)
{
  const gsize size = (gsize) converted_size (&self->envi);
  GstFlowReturn flow;

  *buffer = NULL;
  if (pool == NULL && is_contiguous (self)) {
    *buffer = wrap (self);
    return GST_FLOW_OK;
  }
  flow = new_buffer (pool, size, buffer);
  if (flow == GST_FLOW_ERROR)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "Out of memory for a cube of %d x %d pixels and %d bands: set "
        "lines-per-cube to read smaller cubes, or lower max-bytes to reject "
        "such files.",
        (int) self->envi.samples, (int) self->envi.lines,
        (int) self->envi.bands);
  if (flow == GST_FLOW_OK && !gst_envi_fill (self, *buffer, error)) {
    gst_clear_buffer (buffer);
    flow = GST_FLOW_ERROR;
  }
  return flow;
}
