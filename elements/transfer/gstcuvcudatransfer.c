/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The elements cudaupload, cudadownload, cuvcudaupload and cuvcudadownload. */
#include "config.h"
#include "gstcuvtransfer.h"

#define CUDA_FIRST GST_CUV_TRANSFER_CUDA_CAPS "; " GST_CUV_TRANSFER_HOST_CAPS
#define HOST_FIRST GST_CUV_TRANSFER_HOST_CAPS "; " GST_CUV_TRANSFER_CUDA_CAPS

/* A factory and its type. Each factory needs a type of its own: GStreamer
 * derives default element names from the type's name. */
#define DEFINE_ELEMENT(Type, type, element, parent)                            \
  typedef GstCuvTransfer Type;                                                 \
  typedef GstCuvTransferClass Type##Class;                                     \
  static void type##_class_init (Type##Class *klass);                          \
  static void type##_init (Type *self)                                         \
  {                                                                            \
  }                                                                            \
  GType type##_get_type (void);                                                \
  G_DEFINE_TYPE (Type, type, parent)                                           \
  GST_ELEMENT_REGISTER_DEFINE (                                                \
      element, #element, GST_RANK_NONE, type##_get_type ())

DEFINE_ELEMENT (
    GstCuvCudaUpload, gst_cuv_cuda_upload, cuvcudaupload, GST_TYPE_CUV_TRANSFER)
DEFINE_ELEMENT (
    GstCudaupload, gst_cudaupload, cudaupload, gst_cuv_cuda_upload_get_type ())
DEFINE_ELEMENT (GstCuvCudaDownload, gst_cuv_cuda_download, cuvcudadownload,
    GST_TYPE_CUV_TRANSFER)
DEFINE_ELEMENT (GstCudadownload, gst_cudadownload, cudadownload,
    gst_cuv_cuda_download_get_type ())

static void
add_pad_template (GstElementClass *klass, const gchar *name,
    GstPadDirection direction, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);

  gst_element_class_add_pad_template (
      klass, gst_pad_template_new (name, direction, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
}

static void
gst_cuv_cuda_upload_class_init (GstCuvTransferClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  klass->upload = TRUE;
  add_pad_template (element_class, "sink", GST_PAD_SINK, HOST_FIRST);
  add_pad_template (element_class, "src", GST_PAD_SRC, CUDA_FIRST);
  gst_element_class_set_static_metadata (element_class, "CUDA uploader",
      "Filter/Video", "Copies frames from host memory to CUDA memory",
      "The gst-cuvision authors");
}

static void
gst_cuv_cuda_download_class_init (GstCuvTransferClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  klass->upload = FALSE;
  add_pad_template (element_class, "sink", GST_PAD_SINK, CUDA_FIRST);
  add_pad_template (element_class, "src", GST_PAD_SRC, HOST_FIRST);
  gst_element_class_set_static_metadata (element_class, "CUDA downloader",
      "Filter/Video", "Copies frames from CUDA memory to host memory",
      "The gst-cuvision authors");
}

static void
gst_cudaupload_class_init (GstCuvTransferClass *klass)
{
}

static void
gst_cudadownload_class_init (GstCuvTransferClass *klass)
{
}
