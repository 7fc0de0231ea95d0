/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostsettings.h"

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_scan_get_type, "GstWaldboostScan",
    { CUV_SCAN_AUTO, "The scan that the model was trained for", "auto" },
    { CUV_SCAN_OPENCV, "Like OpenCV's CascadeClassifier: scale-factor",
        "opencv" },
    { CUV_SCAN_WBD, "Like opencv_contrib's WBDetector", "wbd" },
    { CUV_SCAN_DENSE, "Every position: octaves, levels-per-octave", "dense" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_grouping_get_type,
    "GstWaldboostGrouping",
    { CUV_GROUPING_AUTO, "neighbors, wbd or nms, depending on the scan",
        "auto" },
    { CUV_GROUPING_NONE, "Every window is an object", "none" },
    { CUV_GROUPING_NEIGHBORS, "Like OpenCV's groupRectangles: min-neighbors",
        "neighbors" },
    { CUV_GROUPING_WBD, "Like opencv_contrib's WBDetector: min-neighbors",
        "wbd" },
    { CUV_GROUPING_NMS, "Non-maximum suppression: nms-iou", "nms" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_rearrangement_get_type,
    "GstWaldboostRearrangement",
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

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_block_size_get_type,
    "GstWaldboostBlockSize", { 0, "The fastest measured", "auto" },
    { 8, "8x8 windows", "8" }, { 16, "16x16 windows", "16" },
    { 32, "32x32 windows", "32" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_arithmetic_get_type,
    "GstWaldboostArithmetic",
    { CUV_ARITHMETIC_AUTO,
        "Fixed point for BUT FIT models, float for WBDetector", "auto" },
    { CUV_ARITHMETIC_FIXED, "32-bit integers", "fixed" },
    { CUV_ARITHMETIC_FLOAT, "Single precision, in the model's order", "float" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_lrp_order_get_type,
    "GstWaldboostLrpOrder", { 0, "rank (a) + 10 rank (b)", "a10b" },
    { 1, "10 rank (a) + rank (b)", "10ab" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_block_value_get_type,
    "GstWaldboostBlockValue", { CUV_BLOCK_SUM, "The sum of its pixels", "sum" },
    { CUV_BLOCK_MEAN_TRUNC, "Their mean, rounded down", "mean-trunc" },
    { CUV_BLOCK_MEAN_ROUND, "Their mean, rounded to the nearest",
        "mean-round" })

GST_CUV_DEFINE_PUBLIC_ENUM (gst_waldboost_region_mode_get_type,
    "GstWaldboostInferenceRegion",
    { GST_WALDBOOST_FULL_FRAME, "The frame, or roi", "full-frame" },
    { GST_WALDBOOST_ROI_LIST, "Each region of interest attached upstream",
        "roi-list" })
