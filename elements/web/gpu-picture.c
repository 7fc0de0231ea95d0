/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gpu-picture.h"

#if HAVE_NVJPEG

#include <nvjpeg.h>

#include "context/gstcuvframe.h"
#include "cuvlibrary.h"
#include "bgr.h"
#include "web/web.h"

#define FUNCTIONS(F)                                                           \
  F (CreateSimple)                                                             \
  F (Destroy)                                                                  \
  F (EncodeImage)                                                              \
  F (EncodeRetrieveBitstream)                                                  \
  F (EncoderParamsCreate)                                                      \
  F (EncoderParamsDestroy)                                                     \
  F (EncoderParamsSetQuality)                                                  \
  F (EncoderParamsSetSamplingFactors)                                          \
  F (EncoderStateCreate)                                                       \
  F (EncoderStateDestroy)

#define DECLARE(name) static __typeof__ (nvjpeg##name) *nvjpeg_##name;
FUNCTIONS (DECLARE)

struct _CuvGpuPicture {
  GstElement *element;
  GstCuvContext context;
  gboolean failed;

  /* valid in the CUDA context */
  CuvWebCuda *converter;
  nvjpegHandle_t handle;
  nvjpegEncoderState_t state;
  nvjpegEncoderParams_t params;
};

/* ---- the library ---- */

static gpointer
nvjpeg_open_library (gpointer data)
{
#define SYMBOL(name) { "nvjpeg" #name, (gpointer *) &nvjpeg_##name },
  static const CuvSymbol symbols[] = { FUNCTIONS (SYMBOL) };
  gchar *file = g_strdup_printf ("libnvjpeg.so.%d", NVJPEG_VER_MAJOR);
  gboolean ok = cuv_library_open (
      file, "libnvjpeg", symbols, G_N_ELEMENTS (symbols), NULL);

  g_free (file);
  return GINT_TO_POINTER (ok);
}

/* Opens the library once per process. */
static gboolean
library_is_there (void)
{
  static GOnce once = G_ONCE_INIT;

  return GPOINTER_TO_INT (g_once (&once, nvjpeg_open_library, NULL));
}

/* ---- the encoder in a CUDA context ---- */

static void
close_encoder (CuvGpuPicture *self)
{
  g_clear_pointer (&self->params, nvjpeg_EncoderParamsDestroy);
  g_clear_pointer (&self->state, nvjpeg_EncoderStateDestroy);
  g_clear_pointer (&self->handle, nvjpeg_Destroy);
  g_clear_pointer (&self->converter, cuv_web_cuda_free);
}

static gboolean
open_encoder (CuvGpuPicture *self, cudaStream_t stream)
{
  if (self->params != NULL)
    return TRUE;
  self->converter = cuv_web_cuda_new ();
  return self->converter != NULL
      && nvjpeg_CreateSimple (&self->handle) == NVJPEG_STATUS_SUCCESS
      && nvjpeg_EncoderStateCreate (self->handle, &self->state, stream)
      == NVJPEG_STATUS_SUCCESS
      && nvjpeg_EncoderParamsCreate (self->handle, &self->params, stream)
      == NVJPEG_STATUS_SUCCESS
      && nvjpeg_EncoderParamsSetSamplingFactors (
             self->params, NVJPEG_CSS_420, stream)
      == NVJPEG_STATUS_SUCCESS;
}

/* Makes the context of the buffer's memory current. */
static gboolean
enter (CuvGpuPicture *self, GstBuffer *buffer)
{
  if (!gst_cuv_buffer_is_cuda (buffer)
      || !gst_cuv_context_follow (&self->context, buffer)
      || !self->context.kernels)
    return FALSE;
  return gst_cuv_context_push (&self->context);
}

/* ---- a frame ---- */

static gboolean
compress (CuvGpuPicture *self, const GstVideoFrame *video, guint quality,
    guint8 *jpeg, gsize *size, gpointer stream)
{
  CuvFrame frame = gst_cuv_frame_of_video (video);
  CuvRgbMatrix matrix = gst_cuv_frame_rgb_matrix (&video->info);
  nvjpegImage_t image = { .pitch = { 0 } };

  image.channel[0] =
      cuv_web_cuda_submit (self->converter, &frame, &matrix, stream);
  image.pitch[0] = 3 * (size_t) frame.width;
  return image.channel[0] != NULL
      && nvjpeg_EncoderParamsSetQuality (self->params, (int) quality, stream)
      == NVJPEG_STATUS_SUCCESS
      && nvjpeg_EncodeImage (self->handle, self->state, self->params, &image,
             NVJPEG_INPUT_BGRI, frame.width, frame.height, stream)
      == NVJPEG_STATUS_SUCCESS
      && gst_cuv_context_wait (&self->context, stream)
      && nvjpeg_EncodeRetrieveBitstream (
             self->handle, self->state, jpeg, size, stream)
      == NVJPEG_STATUS_SUCCESS
      && gst_cuv_context_wait (&self->context, stream);
}

static gboolean
encode (CuvGpuPicture *self, const GstVideoInfo *info, GstBuffer *buffer,
    guint quality, guint8 *jpeg, gsize *size)
{
  gpointer stream = gst_cuv_context_stream (&self->context, buffer);
  GstVideoFrame video;
  gchar *problem = gst_cuv_video_map (
      &video, info, buffer, GST_MAP_READ | gst_cuv_map_cuda ());
  gboolean ok;

  g_free (problem);
  if (problem != NULL)
    return FALSE;
  ok = open_encoder (self, stream)
      && compress (self, &video, quality, jpeg, size, stream);
  gst_video_frame_unmap (&video);
  return ok;
}

gboolean
cuv_gpu_picture_encode (CuvGpuPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint quality, guint8 *jpeg, gsize capacity, gsize *size)
{
  if (self->failed || !library_is_there () || !enter (self, buffer))
    return FALSE;
  *size = capacity;
  self->failed = !encode (self, info, buffer, quality, jpeg, size);
  if (self->failed)
    GST_WARNING_OBJECT (
        self->element, "nvJPEG failed: the CPU compresses all further frames");
  gst_cuv_context_pop (&self->context);
  return !self->failed;
}

/* ---- making and freeing ---- */

static GQuark
quark (void)
{
  return g_quark_from_static_string ("cuv-gpu-picture");
}

/* Called before the context is left. */
static void
leave (GstElement *element)
{
  close_encoder (g_object_get_qdata (G_OBJECT (element), quark ()));
}

CuvGpuPicture *
cuv_gpu_picture_new (GstElement *element)
{
  CuvGpuPicture *self = g_new0 (CuvGpuPicture, 1);

  self->element = element;
  g_object_set_qdata (G_OBJECT (element), quark (), self);
  gst_cuv_context_init (&self->context, element, leave);
  return self;
}

void
cuv_gpu_picture_free (CuvGpuPicture *self)
{
  if (self == NULL)
    return;
  gst_cuv_context_close (&self->context);
  g_object_set_qdata (G_OBJECT (self->element), quark (), NULL);
  g_free (self);
}

#else

CuvGpuPicture *
cuv_gpu_picture_new (GstElement *element)
{
  return NULL;
}

void
cuv_gpu_picture_free (CuvGpuPicture *self)
{
}

gboolean
cuv_gpu_picture_encode (CuvGpuPicture *self, const GstVideoInfo *info,
    GstBuffer *buffer, guint quality, guint8 *jpeg, gsize capacity, gsize *size)
{
  return FALSE;
}

#endif
