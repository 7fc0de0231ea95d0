/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudadownload
 * @title: cudadownload
 * @short_description: Copies frames from CUDA memory to host memory
 *
 * Copies frames from the GPU, by way of pinned memory, and keeps every meta.
 * Frames that are in host memory already pass untouched, so a line that ends in
 * it runs with and without a GPU.
 *
 * The same element is also called cuvcudadownload, a name that no other plugin
 * has: GStreamer's own nvcodec plugin brings a cudadownload too.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudaupload ! cudadownload ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstcuvtransfer.h"

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_TRANSFER_CUDA_CAPS "; " GST_CUV_TRANSFER_HOST_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            GST_CUV_TRANSFER_HOST_CAPS "; " GST_CUV_TRANSFER_CUDA_CAPS));

typedef struct {
  GstCuvTransfer parent;
} GstCuvCudaDownload;

typedef struct {
  GstCuvTransferClass parent_class;
} GstCuvCudaDownloadClass;

GType gst_cuv_cuda_download_get_type (void);
G_DEFINE_TYPE (GstCuvCudaDownload, gst_cuv_cuda_download, GST_TYPE_CUV_TRANSFER)
GST_ELEMENT_REGISTER_DEFINE (cuvcudadownload, "cuvcudadownload", GST_RANK_NONE,
    gst_cuv_cuda_download_get_type ())

/* Each factory needs its own type. GStreamer derives default element names from
 * the type's name. */
typedef GstCuvCudaDownload GstCudadownload;
typedef GstCuvCudaDownloadClass GstCudadownloadClass;

GType gst_cudadownload_get_type (void);
G_DEFINE_TYPE (
    GstCudadownload, gst_cudadownload, gst_cuv_cuda_download_get_type ())
GST_ELEMENT_REGISTER_DEFINE (
    cudadownload, "cudadownload", GST_RANK_NONE, gst_cudadownload_get_type ())

static void
gst_cuv_cuda_download_class_init (GstCuvCudaDownloadClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_CUV_TRANSFER_CLASS (klass)->upload = FALSE;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA downloader",
      "Filter/Video", "Copies frames from CUDA memory to host memory",
      "The gst-cuvision authors");
}

static void
gst_cuv_cuda_download_init (GstCuvCudaDownload *self)
{
}

static void
gst_cudadownload_class_init (GstCudadownloadClass *klass)
{
}

static void
gst_cudadownload_init (GstCudadownload *self)
{
}
