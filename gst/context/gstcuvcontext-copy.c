/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies frames between host memory and CUDA memory. */
#include "config.h"
#include "context/gstcuvcontext-private.h"
#include "context/gstcuvframe.h"

static gboolean
map_host_or_device (GstCuvContext *self, GstVideoFrame *frame,
    const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  gchar *problem = gst_cuv_video_map (
      frame, info, buffer, flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);

  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self->element, STREAM, FORMAT, ("%s.", problem),
      ("%" GST_PTR_FORMAT, buffer));
  g_free (problem);
  return FALSE;
}

#if HAVE_CUDA

#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_cuv_copy_debug);
#define GST_CAT_DEFAULT gst_cuv_copy_category ()

static GstDebugCategory *
gst_cuv_copy_category (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (
        gst_cuv_copy_debug, "cuvcopy", 0, "frames to and from CUDA memory");
    g_once_init_leave (&once, 1);
  }
  return gst_cuv_copy_debug;
}

static gboolean
ensure_staging (GstCuvContext *self, gsize size)
{
  if (self->staging_size >= size)
    return TRUE;
  gst_cuv_context_free_staging (self);
  if (!gst_cuda_result (CuMemAllocHost (&self->staging, size))) {
    self->staging = NULL;
    return FALSE;
  }
  self->staging_size = size;
  return TRUE;
}

typedef struct {
  gpointer data;
  gint stride;
  CUmemorytype type;
} Plane;

static gboolean
copy_plane (
    const Plane *in, const Plane *out, gsize width, gsize rows, CUstream stream)
{
  CUDA_MEMCPY2D copy = { 0 };

  copy.srcMemoryType = in->type;
  copy.srcHost = in->data;
  copy.srcDevice = (CUdeviceptr) in->data;
  copy.srcPitch = in->stride;
  copy.dstMemoryType = out->type;
  copy.dstHost = out->data;
  copy.dstDevice = (CUdeviceptr) out->data;
  copy.dstPitch = out->stride;
  copy.WidthInBytes = width;
  copy.Height = rows;
  return gst_cuda_result (CuMemcpy2DAsync (&copy, stream));
}

static Plane
frame_plane (const GstVideoFrame *frame, guint p, gboolean cuda)
{
  return (Plane){ GST_VIDEO_FRAME_PLANE_DATA (frame, p),
    GST_VIDEO_FRAME_PLANE_STRIDE (frame, p),
    cuda ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST };
}

/* Sets the width in bytes and the number of rows of plane p, without
 * padding. */
static void
plane_size (const GstVideoInfo *info, guint p, gsize *width, gsize *rows)
{
  gint comp[GST_VIDEO_MAX_COMPONENTS];

  gst_video_format_info_component (info->finfo, p, comp);
  *width = (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, comp[0])
      * GST_VIDEO_INFO_COMP_PSTRIDE (info, comp[0]);
  *rows = GST_VIDEO_INFO_COMP_HEIGHT (info, comp[0]);
  if (GST_VIDEO_FORMAT_INFO_IS_YUV (info->finfo)
      && GST_VIDEO_INFO_N_PLANES (info) == 1) /* YUY2, UYVY: pairs of pixels */
    *width = GST_ROUND_UP_4 (*width);
}

static void
copy_rows (const Plane *in, const Plane *out, gsize width, gsize rows)
{
  for (gsize y = 0; y < rows; y++)
    memcpy ((guint8 *) out->data + y * out->stride,
        (guint8 *) in->data + y * in->stride, width);
}

/* Copies pageable planes through the pinned buffer: the driver would stage them
 * itself, which is slower and blocks the device. */
static gboolean
copy_planes_staged (GstCuvContext *self, const GstVideoInfo *info,
    const GstVideoFrame *in, gboolean in_cuda, const GstVideoFrame *out,
    gboolean out_cuda, CUstream stream)
{
  Plane pinned[GST_VIDEO_MAX_PLANES];
  gsize width, rows, used = 0;
  guint n = GST_VIDEO_INFO_N_PLANES (info);

  for (guint p = 0; p < n; p++) {
    Plane from = frame_plane (in, p, in_cuda);
    Plane to = frame_plane (out, p, out_cuda);

    plane_size (info, p, &width, &rows);
    pinned[p] = (Plane){ (guint8 *) self->staging + used, (gint) width,
      CU_MEMORYTYPE_HOST };
    used += width * rows;
    if (in_cuda) {
      to = pinned[p];
    } else {
      copy_rows (&from, &pinned[p], width, rows);
      from = pinned[p];
    }
    if (!copy_plane (&from, &to, width, rows, stream))
      return FALSE;
  }
  if (!gst_cuv_context_wait (self, stream))
    return FALSE;
  for (guint p = 0; p < n && !out_cuda; p++) {
    Plane to = frame_plane (out, p, FALSE);

    plane_size (info, p, &width, &rows);
    copy_rows (&pinned[p], &to, width, rows);
  }
  return TRUE;
}

static gboolean
continues (const Plane *plane, gsize rows, const Plane *next)
{
  return next->stride == plane->stride
      && (guint8 *) next->data
      == (guint8 *) plane->data + rows * (gsize) plane->stride;
}

/* Enqueues the copy. Planes that follow each other without a gap, as in most
 * NV12 on the device, take one call. */
static gboolean
copy_planes (const GstVideoInfo *info, const GstVideoFrame *in,
    gboolean in_cuda, const GstVideoFrame *out, gboolean out_cuda,
    CUstream stream)
{
  const guint n = GST_VIDEO_INFO_N_PLANES (info);
  gsize width, rows, next_width, next_rows;
  guint next;

  for (guint p = 0; p < n; p = next) {
    const Plane from = frame_plane (in, p, in_cuda);
    const Plane to = frame_plane (out, p, out_cuda);

    plane_size (info, p, &width, &rows);
    for (next = p + 1; next < n; next++) {
      const Plane next_from = frame_plane (in, next, in_cuda);
      const Plane next_to = frame_plane (out, next, out_cuda);

      plane_size (info, next, &next_width, &next_rows);
      if (next_width != width || !continues (&from, rows, &next_from)
          || !continues (&to, rows, &next_to))
        break;
      rows += next_rows;
    }
    if (!copy_plane (&from, &to, width, rows, stream))
      return FALSE;
  }
  return TRUE;
}

static gboolean
copy_with_device (GstCuvContext *self, const GstVideoInfo *info, GstBuffer *in,
    gboolean in_cuda, GstBuffer *out, gboolean out_cuda, gpointer *running)
{
  const gboolean keeps_running =
      running != NULL && in_cuda && out_cuda && self->kernels;
  const gboolean staged =
      in_cuda != out_cuda && !gst_cuv_buffer_is_pinned (in_cuda ? out : in);
  GstVideoFrame in_frame, out_frame;
  gboolean ok = FALSE;

  if (!map_host_or_device (self, &in_frame, info, in,
          in_cuda ? GST_MAP_READ | GST_MAP_CUDA : GST_MAP_READ))
    return FALSE;
  if (map_host_or_device (self, &out_frame, info, out,
          out_cuda ? GST_MAP_WRITE | GST_MAP_CUDA : GST_MAP_WRITE)) {
    if (gst_cuda_context_push (self->context)) {
      gpointer stream = gst_cuv_context_stream (self, in_cuda ? in : out);

      ok = staged
          ? ensure_staging (self, info->size)
              && copy_planes_staged (
                  self, info, &in_frame, in_cuda, &out_frame, out_cuda, stream)
          : copy_planes (info, &in_frame, in_cuda, &out_frame, out_cuda, stream)
              && (keeps_running || gst_cuv_context_wait (self, stream));
      if (!ok) /* waits for planes that are still being copied */
        gst_cuv_context_wait (self, stream);
      else if (keeps_running)
        *running = stream;
      gst_cuda_context_pop (NULL);
    }
    if (!ok)
      GST_ELEMENT_ERROR (self->element, RESOURCE, FAILED,
          ("Copying a frame of %dx%d (%" G_GSIZE_FORMAT
           " bytes) %s CUDA memory failed: the device was lost or is out of "
           "memory. Use smaller frames, or end other processes on the GPU; "
           "GST_DEBUG=2 shows the driver's error.",
              GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
              info->size, out_cuda ? "to" : "from"),
          ("%" GST_PTR_FORMAT, in));
    gst_video_frame_unmap (&out_frame);
  }
  gst_video_frame_unmap (&in_frame);
  if (ok && out_cuda)
    gst_cuv_context_written (self, out);
  return ok;
}

gboolean
gst_cuv_context_wait (GstCuvContext *self, gpointer stream)
{
  if (!self->kernels) /* the CUDA runtime does not work with this driver */
    return gst_cuda_result (CuStreamSynchronize (stream));
  if (cuv_wait_stream (&self->wait, stream) == 0)
    return TRUE;
  GST_ERROR_OBJECT (self->element, "%s", cuv_cuda_error ());
  return FALSE;
}

#else /* without CUDA */

gboolean
gst_cuv_context_wait (GstCuvContext *self, gpointer stream)
{
  return FALSE;
}

static gboolean
copy_with_device (GstCuvContext *self, const GstVideoInfo *info, GstBuffer *in,
    gboolean in_cuda, GstBuffer *out, gboolean out_cuda, gpointer *running)
{
  return FALSE;
}

#endif

gboolean
gst_cuv_context_copy_frame (GstCuvContext *self, const GstVideoInfo *info,
    GstBuffer *in, GstBuffer *out, gpointer *running)
{
  gboolean in_cuda = gst_cuv_buffer_is_cuda (in);
  gboolean out_cuda = gst_cuv_buffer_is_cuda (out);
  GstVideoFrame in_frame, out_frame;
  gboolean ok = FALSE;

  if (running != NULL)
    *running = NULL;
  if (in_cuda || out_cuda)
    return copy_with_device (self, info, in, in_cuda, out, out_cuda, running);
  if (!map_host_or_device (self, &in_frame, info, in, GST_MAP_READ))
    return FALSE;
  if (map_host_or_device (self, &out_frame, info, out, GST_MAP_WRITE)) {
    ok = gst_video_frame_copy (&out_frame, &in_frame);
    gst_video_frame_unmap (&out_frame);
  }
  gst_video_frame_unmap (&in_frame);
  return ok;
}
