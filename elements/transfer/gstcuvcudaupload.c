/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudaupload
 * @title: cudaupload
 * @short_description: Copies frames from host memory to CUDA memory
 *
 * Copies frames to the GPU, by way of pinned memory, and keeps every meta.
 * Frames that are in CUDA memory already, formats that CUDA memory lacks where
 * the next element takes host memory, and all frames on a machine without a
 * usable GPU pass untouched: the same line runs everywhere.
 *
 * The same element is also called cuvcudaupload, a name that no other plugin
 * has: GStreamer's own nvcodec plugin brings a cudaupload too.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! cudaupload ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstcuvtransfer.h"

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_TRANSFER_HOST_CAPS "; " GST_CUV_TRANSFER_CUDA_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_TRANSFER_CUDA_CAPS "; " GST_CUV_TRANSFER_HOST_CAPS));

typedef struct {
  GstCuvTransfer parent;
} GstCuvCudaUpload;

typedef struct {
  GstCuvTransferClass parent_class;
} GstCuvCudaUploadClass;

GType gst_cuv_cuda_upload_get_type (void);
G_DEFINE_TYPE (GstCuvCudaUpload, gst_cuv_cuda_upload, GST_TYPE_CUV_TRANSFER)
GST_ELEMENT_REGISTER_DEFINE (cuvcudaupload, "cuvcudaupload", GST_RANK_NONE,
    gst_cuv_cuda_upload_get_type ())

/* Each factory needs its own type. GStreamer derives default element names from
 * the type's name. */
typedef GstCuvCudaUpload GstCudaupload;
typedef GstCuvCudaUploadClass GstCudauploadClass;

GType gst_cudaupload_get_type (void);
G_DEFINE_TYPE (GstCudaupload, gst_cudaupload, gst_cuv_cuda_upload_get_type ())
GST_ELEMENT_REGISTER_DEFINE (
    cudaupload, "cudaupload", GST_RANK_NONE, gst_cudaupload_get_type ())

static void
gst_cuv_cuda_upload_class_init (GstCuvCudaUploadClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_CUV_TRANSFER_CLASS (klass)->upload = TRUE;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA uploader",
      "Filter/Video", "Copies frames from host memory to CUDA memory",
      "The gst-cuvision authors");
}

static void
gst_cuv_cuda_upload_init (GstCuvCudaUpload *self)
{
}

static void
gst_cudaupload_class_init (GstCudauploadClass *klass)
{
}

static void
gst_cudaupload_init (GstCudaupload *self)
{
}
