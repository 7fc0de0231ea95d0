/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostsettings.h"

/* Defines gst_waldboost_<name>_get_type(). */
#define ENUM(name, type_name, ...)                                             \
  GType gst_waldboost_##name##_get_type (void)                                 \
  {                                                                            \
    static gsize type = 0;                                                     \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } };     \
                                                                               \
    return gst_cuv_enum_register (&type, type_name, values);                   \
  }

ENUM (scan, "GstWaldboostScan",
    { CUV_SCAN_AUTO, "The scan that the model was trained for", "auto" },
    { CUV_SCAN_OPENCV, "Like OpenCV's CascadeClassifier: scale-factor",
        "opencv" },
    { CUV_SCAN_WBD, "Like opencv_contrib's WBDetector", "wbd" },
    { CUV_SCAN_DENSE, "Every position: octaves, levels-per-octave", "dense" })

ENUM (grouping, "GstWaldboostGrouping",
    { CUV_GROUPING_AUTO, "neighbors, wbd or nms, depending on the scan",
        "auto" },
    { CUV_GROUPING_NONE, "Every window is an object", "none" },
    { CUV_GROUPING_NEIGHBORS, "Like OpenCV's groupRectangles: min-neighbors",
        "neighbors" },
    { CUV_GROUPING_WBD, "Like opencv_contrib's WBDetector: min-neighbors",
        "wbd" },
    { CUV_GROUPING_NMS, "Non-maximum suppression: nms-iou", "nms" })

ENUM (rearrangement, "GstWaldboostRearrangement",
    { CUV_REARRANGE_AUTO, "The fastest measured", "auto" },
    { CUV_REARRANGE_NONE, "A thread keeps its window to the end", "none" },
    { CUV_REARRANGE_GLOBAL, "A global counter, a kernel per segment",
        "global" },
    { CUV_REARRANGE_SHARED, "A counter per block, one kernel", "shared" },
    { CUV_REARRANGE_HYBRID, "A counter per block, a kernel per segment",
        "hybrid" },
    { CUV_REARRANGE_PREFIX_SUM, "A scan per block, a kernel per segment",
        "prefix-sum" },
    { CUV_REARRANGE_BALLOT, "A ballot per warp, one kernel", "ballot" })

ENUM (block_size, "GstWaldboostBlockSize",
    { 0, "The fastest measured", "auto" }, { 8, "8x8 windows", "8" },
    { 16, "16x16 windows", "16" }, { 32, "32x32 windows", "32" })

ENUM (arithmetic, "GstWaldboostArithmetic",
    { CUV_ARITHMETIC_AUTO,
        "Fixed point for BUT FIT models, float for WBDetector", "auto" },
    { CUV_ARITHMETIC_FIXED, "32-bit integers", "fixed" },
    { CUV_ARITHMETIC_FLOAT, "Single precision, in the model's order", "float" })

ENUM (lrp_order, "GstWaldboostLrpOrder",
    { 0, "rank (a) + 10 rank (b)", "a10b" },
    { 1, "10 rank (a) + rank (b)", "10ab" })

ENUM (block_value, "GstWaldboostBlockValue",
    { CUV_BLOCK_SUM, "The sum of its pixels", "sum" },
    { CUV_BLOCK_MEAN_TRUNC, "Their mean, rounded down", "mean-trunc" },
    { CUV_BLOCK_MEAN_ROUND, "Their mean, rounded to the nearest",
        "mean-round" })

ENUM (region_mode, "GstWaldboostInferenceRegion",
    { GST_WALDBOOST_FULL_FRAME, "The frame, or roi", "full-frame" },
    { GST_WALDBOOST_ROI_LIST, "Each region of interest attached upstream",
        "roi-list" })
