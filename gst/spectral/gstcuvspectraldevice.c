/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "spectral/gstcuvspectraldevice.h"

#include "cuvthreads.h"
#include "spectral/gstcuvspectralcaps.h"
#if HAVE_CUDA
#include "cuv-upload.h"
#endif

void
gst_cuv_spectral_device_leave (GstCuvSpectralDevice *self)
{
#if HAVE_CUDA
  g_clear_pointer (&self->upload, cuv_upload_free);
#endif
}

#if HAVE_CUDA
/* Returns the memory range from a cube's lowest to its highest sample. */
static const guint8 *
span_of (const CuvCube *cube, gsize *size)
{
  const gint64 reach[] = { (cube->width - 1) * cube->pixel_step,
    (cube->height - 1) * cube->row_step, (cube->bands - 1) * cube->band_step };
  gint64 low = 0, high = cuv_cube_sample_size (cube->format);

  for (guint i = 0; i < G_N_ELEMENTS (reach); i++)
    *(reach[i] < 0 ? &low : &high) += reach[i];
  *size = (gsize) (high - low);
  return cube->data + low;
}

typedef struct {
  GstCuvSpectralDevice *device;
  const guint8 *data;
  gsize size;
  gpointer stream;
  gint failed;
} Upload;

/* Keeps the message of the first failure. */
static void
note_failure (Upload *self, const gchar *problem)
{
  if (g_atomic_int_compare_and_exchange (&self->failed, FALSE, TRUE))
    g_strlcpy (self->device->problem, problem, sizeof self->device->problem);
}

static void
upload_task (void *data, int worker, int task)
{
  Upload *self = data;
  const gsize at = (gsize) task * CUV_UPLOAD_CHUNK;

  if (g_atomic_int_get (&self->failed))
    return;
  if (!gst_cuv_context_push (self->device->context)) {
    note_failure (self, "the CUDA context was lost");
    return;
  }
  if (cuv_upload_chunk (self->device->upload, worker, self->data + at, at,
          MIN (CUV_UPLOAD_CHUNK, self->size - at), self->stream)
      != 0)
    note_failure (self, cuv_cuda_error ());
  gst_cuv_context_pop (self->device->context);
}

static const gchar *
upload_staged (GstCuvSpectralDevice *self, const guint8 *data, gsize size,
    gpointer stream, gint n_threads)
{
  Upload work = { self, data, size, stream, FALSE };

  if (cuv_upload_begin_chunks (self->upload) != 0)
    return cuv_cuda_error ();
  cuv_threads_run_workers (n_threads, CUV_UPLOAD_WORKERS,
      (gint) ((size - 1) / CUV_UPLOAD_CHUNK + 1), upload_task, &work);
  self->staged += size;
  return work.failed ? self->problem : NULL;
}

static const gchar *
device_upload (GstCuvSpectralDevice *self, const GstCuvSpectralInput *input,
    gpointer stream, gint n_threads, CuvCube *cube)
{
  gsize size;
  const guint8 *data = span_of (&input->cube, &size);
  guint8 *memory;

  if (self->upload == NULL)
    self->upload = cuv_upload_new ();
  memory =
      self->upload != NULL ? cuv_upload_reserve (self->upload, size) : NULL;
  if (memory == NULL)
    return cuv_cuda_error ();
  cube->data = memory + (input->cube.data - data);
  self->uploaded += size;
  if (!gst_cuv_buffer_is_pinned (input->buffer))
    return upload_staged (self, data, size, stream, n_threads);
  return cuv_upload_pinned (self->upload, data, size, stream) == 0
      ? NULL
      : cuv_cuda_error ();
}
#endif

const gchar *
gst_cuv_spectral_device_place (GstCuvSpectralDevice *self,
    const GstCuvSpectralInput *input, gint n_threads, CuvCube *cube,
    gpointer *stream)
{
  *cube = input->cube;
  if (input->is_cuda) {
    *stream = gst_cuv_context_stream (self->context, input->buffer);
    return NULL;
  }
  *stream = self->context->stream;
#if HAVE_CUDA
  return device_upload (self, input, *stream, n_threads, cube);
#else
  return "this build has no CUDA";
#endif
}

void
gst_cuv_spectral_device_add_pool (GstCuvSpectralDevice *self, GstQuery *query)
{
  GstBufferPool *pool;
  GstCaps *caps;
  gsize size;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) > 0
      || !gst_cuv_spectral_caps_unit_size (caps, &size) || size > G_MAXUINT)
    return;
  pool = gst_cuv_context_new_pinned_pool (self->context, caps, (guint) size);
  if (pool != NULL)
    gst_query_add_allocation_pool (query, pool, (guint) size, 0, 0);
  gst_clear_object (&pool);
}
