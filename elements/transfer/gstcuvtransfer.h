/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvTransfer: base of cudaupload and cudadownload; and a map of the folder.
 *
 *   plugin.c              registers the elements
 *   gstcuvcudatransfer.c  the four elements: cudaupload, cudadownload and their
 *                         unambiguous names cuvcudaupload, cuvcudadownload
 *   gstcuvtransfer.c      their base class: caps, copies, statistics
 *
 * The copies themselves are in gst/context/gstcuvcontext-copy.c. */
#ifndef GST_CUV_TRANSFER_H
#define GST_CUV_TRANSFER_H

#include "base/gstcuvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_TRANSFER (gst_cuv_transfer_get_type ())
G_DECLARE_DERIVABLE_TYPE (
    GstCuvTransfer, gst_cuv_transfer, GST, CUV_TRANSFER, GstCuvTransform)

struct _GstCuvTransferClass {
  GstCuvTransformClass parent_class;

  gboolean upload; /* host to device; otherwise device to host */
};

/* The formats of CUDA memory; frames of other formats pass in host memory. */
#define GST_CUV_TRANSFER_CUDA_CAPS                                             \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES (                                          \
      GST_CUV_FEATURE_CUDA, GST_CUV_CUDA_MEMORY_FORMATS)
#define GST_CUV_TRANSFER_HOST_CAPS GST_VIDEO_CAPS_MAKE (GST_VIDEO_FORMATS_ALL)

GST_ELEMENT_REGISTER_DECLARE (cudaupload);
GST_ELEMENT_REGISTER_DECLARE (cuvcudaupload);
GST_ELEMENT_REGISTER_DECLARE (cudadownload);
GST_ELEMENT_REGISTER_DECLARE (cuvcudadownload);

G_END_DECLS

#endif
